"""The fault of a cell is in every sandbox that a command makes, unless it names a scenario of its own."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import run_command

CELL = "getTeam#1:internal_error"
CLIENT = """
import json, os, sys
from tests.support.served_client import ServedClient

url = os.environ["EMULATOR_URL"]
sandbox = ServedClient(url).told("POST", "/sandboxes", json.loads(sys.argv[1]))
client = ServedClient(f"{url}/v1", sandbox["env"]["IMAGE_WORKFLOW_API_KEY"])
sys.exit(client.get("/team").status != 200)
"""
"""Makes a sandbox, and reads its Team once."""


def cell_of(tmp_path: Path, options: Any, *more: str) -> Any:
    """How the cell ended in a sandbox with some options."""
    file = tmp_path / "report.json"
    command = (sys.executable, "-c", CLIENT, json.dumps(options))
    only = ("--only", CELL, "--report", str(file))
    run_command("sweep", *only, *more, "--", *command)
    (cell,) = json.loads(file.read_text())["cells"]
    return cell


@pytest.mark.parametrize("options", [{}, {"scenario": None}], ids=str)
def test_a_fault_is_in_a_sandbox_that_names_no_scenario(
    options: Any, tmp_path: Path
) -> None:
    cell = cell_of(tmp_path, options)

    assert cell["outcome"] == "failed"
    assert cell["struck"]


def test_a_fault_is_in_a_sandbox_without_the_scenario_of_the_sweep(
    tmp_path: Path,
) -> None:
    cell = cell_of(tmp_path, {"scenario": None}, "--scenario", "some-outputs-fail")

    assert cell["outcome"] == "failed"
    assert cell["struck"]


def test_a_fault_is_not_in_a_sandbox_with_a_scenario_of_its_own(tmp_path: Path) -> None:
    cell = cell_of(tmp_path, {"scenario": "some-outputs-fail"})

    assert not cell["struck"]
