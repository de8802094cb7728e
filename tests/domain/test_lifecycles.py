"""The tables of states and moves: every state, every event, and slips in a table."""

from collections.abc import Iterator
from typing import Any, Literal, get_args

import pytest

from image_workflow_emulator.domain.lifecycles import (
    OUTPUT,
    UPLOAD_SESSION,
    WORK,
    IllegalMoveError,
    Lifecycle,
    OutputStatus,
    SessionEvent,
    SessionStatus,
    WorkEvent,
    WorkStatus,
)

Moves = dict[tuple[str, str], str]
"""By state and event: the state that follows."""

SESSION_MOVES: Moves = {
    ("awaiting_upload", "bytes_accepted"): "received",
    ("received", "exchanged"): "completed",
    ("received", "refused"): "failed",
}
WORK_MOVES: Moves = {
    ("queued", "started"): "processing",
    ("processing", "succeeded"): "completed",
    ("processing", "failed"): "failed",
}
OUTPUT_MOVES: Moves = {
    ("pending", "started"): "processing",
    ("processing", "succeeded"): "completed",
    ("processing", "failed"): "failed",
}
LIFECYCLES: list[tuple[Any, Any, Any, Moves]] = [
    (UPLOAD_SESSION, SessionStatus, SessionEvent, SESSION_MOVES),
    (WORK, WorkStatus, WorkEvent, WORK_MOVES),
    (OUTPUT, OutputStatus, WorkEvent, OUTPUT_MOVES),
]


def legal_moves() -> Iterator[Any]:
    """Iterate over the moves of all tables, each with its lifecycle."""
    for lifecycle, statuses, _, moves in LIFECYCLES:
        for (status, event), following in moves.items():
            name = f"{statuses}: {event} in {status}"
            yield pytest.param(lifecycle, status, event, following, id=name)


def illegal_moves() -> Iterator[Any]:
    """Iterate over every state and event that no table has."""
    for lifecycle, statuses, events, moves in LIFECYCLES:
        for status in get_args(statuses):
            for event in get_args(events):
                if (status, event) not in moves:
                    name = f"{statuses}: {event} in {status}"
                    yield pytest.param(lifecycle, status, event, id=name)


@pytest.mark.parametrize(
    ("lifecycle", "status", "event", "following"),
    list(legal_moves()),
)
def test_an_event_of_the_table_leads_to_its_state(
    lifecycle: Lifecycle[str, str],
    status: str,
    event: str,
    following: str,
) -> None:
    assert lifecycle.after(status, event) == following


@pytest.mark.parametrize(("lifecycle", "status", "event"), list(illegal_moves()))
def test_any_other_event_is_refused(
    lifecycle: Lifecycle[str, str],
    status: str,
    event: str,
) -> None:
    with pytest.raises(IllegalMoveError, match=f"^{event} in the state {status}$"):
        lifecycle.after(status, event)


@pytest.mark.parametrize("lifecycle", [UPLOAD_SESSION, WORK, OUTPUT])
def test_completed_and_failed_are_the_terminal_states(
    lifecycle: Lifecycle[str, str],
) -> None:
    assert lifecycle.terminal == {"completed", "failed"}


Light = Literal["red", "green"]
Press = Literal["pressed"]


def test_a_lifecycle_follows_its_table_to_a_state_without_moves() -> None:
    light = Lifecycle[str, str](
        Light,
        Press,
        {"red": {"pressed": "green"}, "green": {}},
    )

    assert light.after("red", "pressed") == "green"
    assert light.terminal == {"green"}


def test_a_lifecycle_may_lead_to_every_state() -> None:
    light = Lifecycle[str, str](
        Light,
        Press,
        {"red": {"pressed": "green"}, "green": {"pressed": "red"}},
    )

    assert light.after("green", "pressed") == "red"
    assert light.terminal == frozenset()


@pytest.mark.parametrize(
    "moves",
    [
        {"red": {"pressed": "green"}},
        {"red": {"pressed": "gren"}, "green": {}},
        {"red": {"presed": "green"}, "green": {}},
        {"red": {}, "green": {}},
        {"red": {"pressed": "green"}, "green": {}, "blue": {}},
    ],
    ids=["no row", "misspelt state", "misspelt event", "unused event", "one row more"],
)
def test_a_slip_in_a_table_is_an_error_where_it_is_made(
    moves: dict[str, dict[str, str]],
) -> None:
    with pytest.raises(ValueError, match="must be those of"):
        Lifecycle[str, str](Light, Press, moves)
