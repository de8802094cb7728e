"""The ledger of a Team over the control plane.

It has every change of the Team's Credits, with what the change left.
"""

from typing import Any

import pytest

from image_workflow_emulator.domain import credit_changes
from tests.control.test_state_files import saved
from tests.support.emulator_under_test import EmulatorUnderTest

PARTLY_FAILED = {
    "scenario": "partly-failed",
    "rules": [
        {
            "match": {"work": "product_photography"},
            "then": {"outputs": {"2": "timed_out"}},
        }
    ],
}


def ledger(emulator: EmulatorUnderTest, query: str = "") -> Any:
    return emulator.told("GET", f"/teams/Demo/ledger{query}")


def change_credits(emulator: EmulatorUnderTest, *amounts: int) -> None:
    for amount in amounts:
        emulator.told("PATCH", "/teams/Demo", {"credits": amount})


def sequences(answer: Any) -> list[int]:
    return [change["sequence"] for change in answer["data"]]


def test_a_new_team_begins_with_the_grant_of_its_world(
    emulator: EmulatorUnderTest,
) -> None:
    answer = ledger(emulator)

    assert answer["data"] == [
        {
            "sequence": 1,
            "at": "2026-01-01T00:00:00.000Z",
            "change": 100,
            "available": 100,
            "reserved": 0,
            "reason": "start",
            "id": None,
        }
    ]


def test_work_reserves_its_credits_when_it_is_admitted(
    emulator: EmulatorUnderTest,
) -> None:
    work = emulator.photograph(image_count=3)

    _, reserved = ledger(emulator)["data"]

    assert reserved == {
        "sequence": 2,
        "at": "2026-01-01T00:00:00.000Z",
        "change": -3,
        "available": 97,
        "reserved": 3,
        "reason": "reserved",
        "id": work.id,
    }


def test_a_charge_of_what_was_reserved_changes_nothing_that_is_available(
    emulator: EmulatorUnderTest,
) -> None:
    work = emulator.photograph(image_count=3)
    emulator.advance(60)

    charged = ledger(emulator)["data"][-1]

    assert charged["reason"] == "charged"
    assert charged["change"] == 0
    assert charged["available"] == 97
    assert charged["reserved"] == 0
    assert charged["id"] == work.id


def test_what_failed_outputs_had_reserved_is_released(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.use(PARTLY_FAILED)
    emulator.photograph(image_count=3)
    emulator.advance(60)

    _, charged, released = ledger(emulator)["data"][1:]

    assert charged["reason"] == "charged"
    assert charged["reserved"] == 1
    assert released["reason"] == "released"
    assert released["change"] == 1
    assert released["available"] == 98
    assert released["reserved"] == 0


def test_changes_by_hand_and_by_a_scenario_are_told_apart(
    emulator: EmulatorUnderTest,
) -> None:
    timeline = [{"at": "30s", "set": {"team": "Demo", "credits": 1}}]
    emulator.use({"scenario": "poorer", "rules": [], "timeline": timeline})
    change_credits(emulator, 40)
    emulator.advance(90)

    by_hand, by_scenario = ledger(emulator)["data"][1:]

    assert by_hand["reason"] == "set"
    assert by_hand["change"] == -60
    assert by_hand["at"] == "2026-01-01T00:00:00.000Z"
    assert by_scenario["reason"] == "scenario"
    assert by_scenario["change"] == -39
    assert by_scenario["at"] == "2026-01-01T00:00:30.000Z"


def test_what_leaves_the_credits_as_they_are_is_no_change(
    emulator: EmulatorUnderTest,
) -> None:
    change_credits(emulator, 100)

    assert sequences(ledger(emulator)) == [1]


def test_it_is_read_in_pages_from_the_newest_back(emulator: EmulatorUnderTest) -> None:
    change_credits(emulator, 90, 80, 70, 60)

    newest = ledger(emulator, "?limit=2")
    older = ledger(emulator, "?limit=2&before=4")

    assert sequences(newest) == [4, 5]
    assert sequences(older) == [2, 3]
    assert older["total"] == 3


def test_the_newest_changes_are_kept_and_the_older_ones_counted(
    emulator: EmulatorUnderTest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(credit_changes, "MAX_CREDIT_CHANGES", 3)
    change_credits(emulator, 90, 80, 70, 60)

    answer = ledger(emulator)

    assert sequences(answer) == [3, 4, 5]
    assert answer["left"] == 2


def test_a_state_file_has_it(emulator: EmulatorUnderTest) -> None:
    change_credits(emulator, 90)
    before = ledger(emulator)
    file = saved(emulator)
    emulator.reset()

    emulator.told("PUT", "/state", content=file)

    assert ledger(emulator) == before


def test_a_reset_begins_a_new_one(emulator: EmulatorUnderTest) -> None:
    change_credits(emulator, 90, 80)

    emulator.reset()

    assert sequences(ledger(emulator)) == [1]
