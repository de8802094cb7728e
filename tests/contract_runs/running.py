"""Runs Schemathesis over the contract, in a process of its own: it keeps its hooks for the whole process."""

import sys
from pathlib import Path

from tests.support.served import ROOT, Outcome, run_program

IN_PROCESS = "http://emulator.test/v1"
"""The base URL of an application that the hooks call directly."""
HOOKS = "tests.contract_runs.schemathesis_hooks"
TIME_LIMIT_SECONDS = 600


def run_schemathesis(folder: Path, *options: str) -> Outcome:
    """Run it as a person would from the command line, in a folder where it has never run."""
    configuration = ROOT / "tests" / "contract_runs" / "schemathesis.toml"
    command = (sys.executable, "-m", "schemathesis.cli", "--config-file", str(configuration), "run")
    variables = {"SCHEMATHESIS_HOOKS": HOOKS, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "0"}
    variables |= {"CONTRACT_RUN_REPORT": str(folder / "report.json")}
    contract = str(ROOT / "contract" / "openapi.yaml")
    return run_program(
        *command, contract, "--url", IN_PROCESS, *options, folder=folder, seconds=TIME_LIMIT_SECONDS, **variables
    )
