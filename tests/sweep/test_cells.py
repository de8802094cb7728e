"""A cell: how it is spelt, and the scenario that it is."""

import pytest
from msgspec import json

from image_workflow_emulator.contract import load_contract
from image_workflow_emulator.scenario.scenario_reader import parse_scenario
from image_workflow_emulator.sweep.candidates import cells_of
from image_workflow_emulator.sweep.cells import Cell
from tests.sweep.values import entry

RESET = {"network": "reset"}
RESET_AFTER = {"network": "reset", "at": "after_commit"}
LATE = {"network": {"latency": "30s"}, "at": "after_commit"}
FAILED_AFTER = {"problem": "internal_error", "at": "after_commit"}


@pytest.mark.parametrize(
    ("cell", "match", "nth", "then"),
    [
        ("getTeam#1:rate_limited", "getTeam", "1", {"problem": "rate_limited"}),
        ("getTeam#2+:rate_limited", "getTeam", ">=2", {"problem": "rate_limited"}),
        ("getTeam#2:lost-before-commit", "getTeam", "2", RESET),
        ("getTeam#1:lost-after-commit", "getTeam", "1", RESET_AFTER),
        ("getTeam#1:slow", "getTeam", "1", LATE),
        ("getTeam#1:internal_error-after-commit", "getTeam", "1", FAILED_AFTER),
    ],
)
def test_a_cell_of_a_call_is_a_rule_about_its_operation(
    cell: str,
    match: str,
    nth: str,
    then: object,
) -> None:
    scenario = Cell.read(cell).scenario({})

    (rule,) = scenario["rules"]
    assert cell == rule["name"]
    assert {"operation": match} == rule["match"]
    assert {"nth": nth, "per": "team"} == rule["when"]
    assert then == rule["then"]


def test_a_cell_of_bytes_is_a_rule_about_their_surface() -> None:
    scenario = Cell.read("upload#1:cut").scenario({})

    (rule,) = scenario["rules"]
    assert {"bytes": "upload"} == rule["match"]


@pytest.mark.parametrize(
    ("cell", "then"),
    [
        ("createPose#3:fail-timed_out", {"fail": "timed_out"}),
        ("createPose#3:output-1-timed_out", {"outputs": {"1": "timed_out"}}),
    ],
)
def test_a_cell_of_work_is_a_rule_about_its_kind(cell: str, then: object) -> None:
    kinds = {"createPose": "pose.create"}

    scenario = Cell.read(cell).scenario(kinds)

    (rule,) = scenario["rules"]
    assert {"work": "pose.create"} == rule["match"]
    assert then == rule["then"]


def test_every_cell_is_a_scenario_that_can_be_put_in_force() -> None:
    contract = load_contract()
    journal = [entry(name) for name in contract.operations]
    cells = cells_of({"": [journal]})[""]

    for cell in cells:
        text = json.encode(cell.scenario({}))
        parse_scenario(text, "cell", contract)
