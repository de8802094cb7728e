"""The fault of a cell is in every sandbox that a command makes, unless it names a scenario of its own."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.sweep.commands import client, report_of, suite, written

CELL = "getTeam#1:internal_error"
ELSEWHERE = """
control = os.environ["EMULATOR_URL"] + "/_emulator/sandboxes"
headers = {"Content-Type": "application/json"}
request = urllib.request.Request(control, sys.argv[1].encode(), headers)
with urllib.request.urlopen(request) as answer:
    KEY = json.loads(answer.read())["env"]["IMAGE_WORKFLOW_API_KEY"]
send("GET", "/team")
"""
"""Makes a sandbox, and reads its Team once."""


def cell_of(
    tmp_path: Path,
    options: Any,
    *more: str,
) -> Any:
    """How the cell ended in a sandbox with some options."""
    command = [*client(ELSEWHERE), json.dumps(options)]
    report = report_of(tmp_path, ["--only", CELL, *more], command)
    (cell,) = report.content["cells"]
    return cell


@pytest.mark.parametrize("options", [{}, {"scenario": None}], ids=str)
def test_a_fault_is_in_a_sandbox_that_names_no_scenario(
    options: Any,
    tmp_path: Path,
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


# In tests -----------------------------------------------------------------------------

SUITE = """
from image_workflow_emulator.testing import Emulator

@pytest.fixture
def read_team(image_workflow_emulator):
    with image_workflow_emulator.sandbox() as sandbox:
        yield lambda: get(sandbox)

@pytest.fixture(scope="module")
def read_shared_team(image_workflow_emulator):
    with image_workflow_emulator.sandbox() as sandbox:
        yield lambda: get(sandbox)

def test_deleted(image_workflow_emulator):
    with image_workflow_emulator.sandbox() as sandbox:
        get(sandbox)

def test_left():
    get(Emulator.connect(os.environ["EMULATOR_URL"]).sandbox())

def test_behind_a_fixture(read_team):
    read_team()

def test_shared(read_shared_team):
    read_shared_team()
"""
"""Sandboxes that tests and fixtures make, and that no fixture returns."""


def test_a_fault_is_in_each_sandbox_that_a_test_or_a_fixture_makes(
    tmp_path: Path,
) -> None:
    command = suite(written(tmp_path, SUITE))

    report = report_of(tmp_path, ["--only", CELL], command)

    assert all(cell["struck"] for cell in report.content["cells"])
    assert {
        (CELL, "test_deleted"): "failed",
        (CELL, "test_left"): "failed",
        (CELL, "test_behind_a_fixture"): "failed",
        (CELL, "read_shared_team"): "failed",
    } == report.outcomes_by_test


ALIAS = """
@pytest.fixture
def shop(image_workflow):
    return image_workflow

def test_it(shop):
    post(shop)
    post(shop, "b")
"""


def test_a_sandbox_that_two_fixtures_return_is_judged_once(tmp_path: Path) -> None:
    options = ["--only", "createUpload#1:rate_limited"]

    report = report_of(tmp_path, options, suite(written(tmp_path, ALIAS)))

    (cell,) = report.content["cells"]
    rules = [finding["rule"] for finding in cell["findings"]]
    assert 1 == rules.count("gave-up-on-retryable")
