"""Runs Schemathesis over the contract, in a process of its own: it keeps its hooks for the whole process."""

import sys
from collections.abc import Mapping
from pathlib import Path

from tests.support.served import ROOT, Outcome, run_program

IN_PROCESS = "http://emulator.test/v1"
"""The base URL of an application that the hooks call directly."""


def run_schemathesis(
    folder: Path,
    hooks: str,
    variables: Mapping[str, str],
    *options: str,
    url: str = IN_PROCESS,
    seconds: float = 300,
) -> Outcome:
    """Run it as a person would from the command line, in a folder where it has never run, with a module of hooks and their variables."""
    configuration = ROOT / "tests" / "contract_runs" / "schemathesis.toml"
    command = (sys.executable, "-m", "schemathesis.cli", "--config-file", str(configuration), "run")
    own = {"SCHEMATHESIS_HOOKS": hooks, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "0"}
    contract = str(ROOT / "contract" / "openapi.yaml")
    return run_program(*command, contract, "--url", url, *options, folder=folder, seconds=seconds, **own, **variables)
