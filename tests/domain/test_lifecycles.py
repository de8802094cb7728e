"""The tables of states and moves: every state, every event, and slips in a table."""

from typing import Literal, get_args

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

SESSION_MOVES = {
    ("awaiting_upload", "bytes_accepted"): "received",
    ("received", "exchanged"): "completed",
    ("received", "refused"): "failed",
}
WORK_MOVES = {
    ("queued", "started"): "processing",
    ("processing", "succeeded"): "completed",
    ("processing", "failed"): "failed",
}
OUTPUT_MOVES = {
    ("pending", "started"): "processing",
    ("processing", "succeeded"): "completed",
    ("processing", "failed"): "failed",
}


@pytest.mark.parametrize("status", get_args(SessionStatus))
@pytest.mark.parametrize("event", get_args(SessionEvent))
def test_a_session_moves_by_its_table_alone(
    status: SessionStatus, event: SessionEvent
) -> None:
    expected = SESSION_MOVES.get((status, event))

    if expected is not None:
        assert UPLOAD_SESSION.after(status, event) == expected
        return
    with pytest.raises(IllegalMoveError):
        UPLOAD_SESSION.after(status, event)


@pytest.mark.parametrize("status", get_args(WorkStatus))
@pytest.mark.parametrize("event", get_args(WorkEvent))
def test_work_moves_by_its_table_alone(status: WorkStatus, event: WorkEvent) -> None:
    expected = WORK_MOVES.get((status, event))

    if expected is not None:
        assert WORK.after(status, event) == expected
        return
    with pytest.raises(IllegalMoveError):
        WORK.after(status, event)


@pytest.mark.parametrize("status", get_args(OutputStatus))
@pytest.mark.parametrize("event", get_args(WorkEvent))
def test_an_output_moves_by_its_table_alone(
    status: OutputStatus, event: WorkEvent
) -> None:
    expected = OUTPUT_MOVES.get((status, event))

    if expected is not None:
        assert OUTPUT.after(status, event) == expected
        return
    with pytest.raises(IllegalMoveError):
        OUTPUT.after(status, event)


@pytest.mark.parametrize("lifecycle", [UPLOAD_SESSION, WORK, OUTPUT])
def test_completed_and_failed_are_the_terminal_states(
    lifecycle: Lifecycle[str, str],
) -> None:
    assert lifecycle.terminal == {"completed", "failed"}


Light = Literal["red", "green"]
Press = Literal["pressed"]


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
