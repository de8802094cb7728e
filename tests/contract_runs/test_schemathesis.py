"""The contract as its own test: requests made from its schemas, answers held against it, for all operations.

Breadth first: examples, every boundary of every schema, and random requests, each sent to the same freshly seeded service.
The application is called directly, without a socket.
"""

import json
from pathlib import Path

import pytest

from tests.contract_runs.running import run_schemathesis
from tests.support.contract_check import shipped_checker


@pytest.mark.parametrize("examples", [4, pytest.param(100, marks=pytest.mark.verify)])
def test_every_operation_keeps_to_the_contract_whatever_is_sent(tmp_path: Path, examples: int) -> None:
    run = run_schemathesis(tmp_path, "--phases", "examples,coverage,fuzzing", "--max-examples", str(examples))
    assert run.status == 0, run.output[-20_000:] + run.complaint[-5_000:]
    statuses: dict[str, dict[str, int]] = json.loads((tmp_path / "report.json").read_text())
    assert statuses.keys() == {operation["operationId"] for _, _, operation in shipped_checker().operations()}
    assert [] == [operation for operation, seen in statuses.items() if not any(code.startswith("2") for code in seen)]
    assert {"409", "429"}.isdisjoint({code for seen in statuses.values() for code in seen})
