"""A cell: how it is spelt, and the scenario that it is."""

from typing import NamedTuple

import pytest
from msgspec import json

from image_workflow_emulator.contract import load_contract
from image_workflow_emulator.scenario.scenario_reader import parse_scenario
from image_workflow_emulator.sweep.candidates import cells_of
from image_workflow_emulator.sweep.cells import Cell
from tests.sweep.values import entry


class Spelling(NamedTuple):
    """A cell of a call of `getTeam`, and when and what its rule does."""

    cell: str
    nth: str
    then: object


@pytest.mark.parametrize(
    "spelling",
    [
        Spelling(
            cell="getTeam#1:rate_limited",
            nth="1",
            then={"problem": "rate_limited"},
        ),
        Spelling(
            cell="getTeam#2+:rate_limited",
            nth=">=2",
            then={"problem": "rate_limited"},
        ),
        Spelling(
            cell="getTeam#2:lost-before-commit",
            nth="2",
            then={"network": "reset"},
        ),
        Spelling(
            cell="getTeam#1:lost-after-commit",
            nth="1",
            then={"network": "reset", "at": "after_commit"},
        ),
        Spelling(
            cell="getTeam#1:slow",
            nth="1",
            then={"network": {"latency": "30s"}, "at": "after_commit"},
        ),
        Spelling(
            cell="getTeam#1:internal_error-after-commit",
            nth="1",
            then={"problem": "internal_error", "at": "after_commit"},
        ),
    ],
    ids=lambda spelling: spelling.cell,
)
def test_a_cell_of_a_call_is_a_rule_about_its_operation(spelling: Spelling) -> None:
    scenario = Cell.read(spelling.cell).scenario({})

    (rule,) = scenario["rules"]
    assert spelling.cell == rule["name"]
    assert {"operation": "getTeam"} == rule["match"]
    assert {"nth": spelling.nth, "per": "team"} == rule["when"]
    assert spelling.then == rule["then"]


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
