"""Runs Schemathesis over the contract, in a process of its own: it keeps its hooks for the whole process."""

import json
import sys
from pathlib import Path
from typing import Any

from tests.support.contract_check import shipped_checker
from tests.support.served import ROOT, Outcome, run_program

IN_PROCESS = "http://emulator.test/v1"
"""The base URL of an application that the hooks call directly."""
HOOKS = "tests.contract_runs.schemathesis_hooks"
TIME_LIMIT_SECONDS = 600


def run_schemathesis(
    folder: Path, *options: str, hooks: str = HOOKS, url: str = IN_PROCESS, **variables: str
) -> Outcome:
    """Run it as a person would from the command line, in a folder where it has never run, with the variables of its hooks."""
    configuration = ROOT / "tests" / "contract_runs" / "schemathesis.toml"
    command = (sys.executable, "-m", "schemathesis.cli", "--config-file", str(configuration), "run")
    variables |= {"SCHEMATHESIS_HOOKS": hooks, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "0"}
    variables |= {"CONTRACT_RUN_REPORT": str(folder / "report.json")}
    contract = str(ROOT / "contract" / "openapi.yaml")
    return run_program(
        *command, contract, "--url", url, *options, folder=folder, seconds=TIME_LIMIT_SECONDS, **variables
    )


def told_by_all_phases(folder: Path, *options: str, url: str = IN_PROCESS, **variables: str) -> dict[str, Any]:
    """Make examples, boundaries and random requests, which must find nothing; return what the hooks tell."""
    run = run_schemathesis(folder, "--phases", "examples,coverage,fuzzing", *options, url=url, **variables)
    assert run.status == 0, run.output[-20_000:] + run.complaint[-5_000:]
    told: dict[str, Any] = json.loads((folder / "report.json").read_text())
    assert told["statuses"].keys() == {operation["operationId"] for _, _, operation in shipped_checker().operations()}
    return told


def assert_all_served(statuses: dict[str, dict[str, int]]) -> None:
    """Every operation has succeeded at least once, no key was used twice, and no limit was met."""
    assert [] == [operation for operation, seen in statuses.items() if not any(code.startswith("2") for code in seen)]
    assert {"409", "429"}.isdisjoint({code for seen in statuses.values() for code in seen})
