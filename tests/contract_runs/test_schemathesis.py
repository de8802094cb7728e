"""The contract as its own test: requests made from its schemas, answers held against it, for all operations.

Breadth first: examples, every boundary of every schema, and random requests, each sent to the same freshly seeded service.
The application is called directly, without a socket.
"""

import json
from pathlib import Path

from tests.contract_runs.running import run_schemathesis
from tests.support.contract_check import shipped_checker


def test_every_operation_keeps_to_the_contract_whatever_is_sent(tmp_path: Path) -> None:
    report = tmp_path / "statuses.json"
    hooks, phases = "tests.contract_runs.schemathesis_hooks", ("--phases", "examples,coverage,fuzzing")
    run = run_schemathesis(tmp_path, hooks, {"CONTRACT_RUN_REPORT": str(report)}, *phases)
    assert run.status == 0, run.output[-20_000:] + run.complaint[-5_000:]
    statuses = json.loads(report.read_text())
    operations = {operation["operationId"] for _, _, operation in shipped_checker().operations()}
    assert statuses.keys() == operations
    never_served = [operation for operation, seen in statuses.items() if not any(200 <= code < 300 for code in seen)]
    assert never_served == []
    assert {409, 429}.isdisjoint(set().union(*statuses.values())), "a key was used twice, or a limit was met"
