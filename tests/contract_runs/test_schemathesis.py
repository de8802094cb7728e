"""The contract as its own test: requests made from its schemas, answers held against it, for all 38 operations.

Breadth first: examples, every boundary of every schema, and random requests, each sent to the same freshly seeded service.
It runs in a process of its own, since Schemathesis keeps its hooks for the whole process; the application is called
directly, without a socket.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.support.contract_check import shipped_checker

CHECKOUT = Path(__file__).resolve().parents[2]
TIME_LIMIT_SECONDS = 150


def run_schemathesis(folder: Path, report: Path, *options: str) -> "subprocess.CompletedProcess[str]":
    """Run it over the contract, as a person would from the command line, in a folder where it has never run."""
    configuration = str(CHECKOUT / "tests" / "contract_runs" / "schemathesis.toml")
    command = [sys.executable, "-m", "schemathesis.cli", "--config-file", configuration, "run"]
    hooks = {"SCHEMATHESIS_HOOKS": "tests.contract_runs.schemathesis_hooks", "CONTRACT_RUN_REPORT": str(report)}
    return subprocess.run(
        [*command, str(CHECKOUT / "contract" / "openapi.yaml"), "--url", "http://emulator.test/v1", *options],
        cwd=folder,
        env={**os.environ, **hooks, "PYTHONPATH": str(CHECKOUT), "PYTHONHASHSEED": "0"},
        capture_output=True,
        text=True,
        timeout=TIME_LIMIT_SECONDS,
        check=False,
    )


def test_every_operation_keeps_to_the_contract_whatever_is_sent(tmp_path: Path) -> None:
    report = tmp_path / "statuses.json"
    run = run_schemathesis(tmp_path, report, "--phases", "examples,coverage,fuzzing")
    assert run.returncode == 0, run.stdout[-20_000:] + run.stderr[-5_000:]
    statuses = json.loads(report.read_text())
    operations = {operation["operationId"] for _, _, operation in shipped_checker().operations()}
    assert statuses.keys() == operations
    never_served = [operation for operation, seen in statuses.items() if not any(200 <= code < 300 for code in seen)]
    assert never_served == []
    assert {409, 429}.isdisjoint(set().union(*statuses.values())), "a key was used twice, or a limit was met"
