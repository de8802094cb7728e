"""The tables of states: every state met by every event, and what outputs make of a Generation."""

from collections.abc import Mapping
from itertools import product
from typing import Any

import pytest

from emulator.domain.lifecycles import OUTPUT, TERMINAL, UPLOAD, WORK, IllegalMoveError, generation_status, move
from emulator.domain.resources import Output

MOVES: Mapping[str, tuple[Mapping[Any, Mapping[str, Any]], Mapping[tuple[str, str], str]]] = {
    "upload": (
        UPLOAD,
        {
            ("awaiting_upload", "bytes_accepted"): "received",
            ("received", "exchanged"): "completed",
            ("received", "refused"): "failed",
        },
    ),
    "work": (
        WORK,
        {
            ("queued", "started"): "processing",
            ("processing", "succeeded"): "completed",
            ("processing", "failed"): "failed",
        },
    ),
    "output": (
        OUTPUT,
        {
            ("pending", "started"): "processing",
            ("processing", "succeeded"): "completed",
            ("processing", "failed"): "failed",
        },
    ),
}
EVENTS = ("bytes_accepted", "exchanged", "refused", "started", "succeeded", "failed", "cancelled", "")
STATUSES = ("pending", "processing", "completed", "failed")


@pytest.mark.parametrize("name", MOVES)
def test_every_state_met_by_every_event_moves_as_listed_or_not_at_all(name: str) -> None:
    table, expected = MOVES[name]
    for state, event in product(table, EVENTS):
        if (state, event) in expected:
            assert expected[state, event] == move(table, state, event)
        else:
            with pytest.raises(IllegalMoveError):
                move(table, state, event)


@pytest.mark.parametrize("name", MOVES)
def test_terminal_states_and_they_alone_have_no_moves(name: str) -> None:
    table = MOVES[name][0]
    assert {state for state, row in table.items() if not row} == TERMINAL


@pytest.mark.parametrize("name", MOVES)
def test_every_move_leads_to_a_state_of_the_same_table(name: str) -> None:
    table = MOVES[name][0]
    assert {state for row in table.values() for state in row.values()} <= table.keys()


def expected_status(statuses: tuple[str, ...]) -> str:
    if any(status in ("pending", "processing") for status in statuses):
        return "processing"
    return "completed" if "completed" in statuses else "failed"


@pytest.mark.parametrize("slots", [1, 2, 3, 4, 6])
def test_a_generation_is_terminal_with_its_last_output_and_failed_only_if_all_are(slots: int) -> None:
    for statuses in product(STATUSES, repeat=slots):
        outputs = [Output(status) for status in statuses]  # type: ignore[arg-type]  # each is one of the four
        assert expected_status(statuses) == generation_status("processing", outputs)
