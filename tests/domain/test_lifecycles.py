"""The table of states: all moves that there are, and no others."""

import pytest

from image_workflow_emulator.domain.lifecycles import MOVES, TERMINAL, IllegalMoveError, generation_status, move
from image_workflow_emulator.domain.resources import Output, OutputStatus

EXPECTED = {
    ("awaiting_upload", "bytes_accepted"): "received",
    ("received", "exchanged"): "completed",
    ("received", "refused"): "failed",
    ("queued", "started"): "processing",
    ("pending", "started"): "processing",
    ("processing", "succeeded"): "completed",
    ("processing", "failed"): "failed",
}


def test_there_are_the_listed_moves_alone_and_they_end_in_the_terminal_states() -> None:
    assert EXPECTED == MOVES
    assert set(EXPECTED.values()) - {state for state, _ in EXPECTED} == TERMINAL
    for (state, event), new in EXPECTED.items():
        assert new == move(state, event)
    for state in TERMINAL:
        with pytest.raises(IllegalMoveError):
            move(state, "started")


@pytest.mark.parametrize(
    ("expected", "statuses"),
    [
        ("processing", ("completed", "processing")),
        ("processing", ("failed", "pending")),
        ("completed", ("failed", "completed")),
        ("failed", ("failed", "failed")),
    ],
)
def test_a_generation_ends_with_its_last_output_and_fails_only_if_all_do(
    expected: str, statuses: tuple[OutputStatus, ...]
) -> None:
    assert expected == generation_status("processing", [Output(status) for status in statuses])
