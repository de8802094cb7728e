"""All 24 codes of section 7, each from its real cause."""

import re

import pytest

from tests.support.emulator_client import EmulatorUnderTest
from tests.support.every_problem import CAUSES
from tests.support.specification import STATUSES


@pytest.mark.parametrize("code", CAUSES)
def test_it_comes_of_its_cause(emulator: EmulatorUnderTest, code: str) -> None:
    problem = CAUSES[code](emulator)
    assert problem.outcome == (STATUSES[code], code)
    assert problem.json["title"]
    if code != "internal_error":  # whose cause is for the log alone
        assert re.fullmatch("[^:]+: found .+; expected .+", problem.json["detail"])


@pytest.mark.parametrize(
    ("code", "beginning"),
    [
        ("insufficient_credits", "the Team 'Broke': found 0 Credits available; expected at least 1, "),
        ("subscription_required", "the Team 'Lapsed': found "),
        ("concurrency_limit_reached", "the Team 'Demo': found 1 piece of creative work in progress; "),
        ("service_unavailable", "all Teams: found "),
    ],
)
def test_what_is_of_no_place_in_the_request_is_told_of_its_team(
    emulator: EmulatorUnderTest, code: str, beginning: str
) -> None:
    assert CAUSES[code](emulator).json["detail"].startswith(beginning)


def test_an_ingredient_at_work_is_told_with_what_is_expected(emulator: EmulatorUnderTest, asset_id: str) -> None:
    pose = emulator.author("pose", asset_id=asset_id)["id"]
    operation = emulator.patch(f"/poses/{pose}", {"asset_id": asset_id}).json["id"]
    answer = emulator.delete(f"/poses/{pose}")
    assert answer.outcome == (409, "resource_operation_in_progress")
    assert answer.json["detail"] == (
        f"pose_id: found {pose}, whose sources the unfinished Operation {operation} replaces; "
        "expected it to be finished"
    )
