"""The contract as its own test: requests made from its schemas, answers held against it, for all operations.

Breadth first: examples, every boundary of every schema, and random requests, each sent to the same freshly seeded service.
The application is called directly, without a socket.
"""

from pathlib import Path

from tests.contract_runs.running import assert_all_served, told_by_all_phases


def test_every_operation_keeps_to_the_contract_whatever_is_sent(tmp_path: Path) -> None:
    assert_all_served(told_by_all_phases(tmp_path)["statuses"])
