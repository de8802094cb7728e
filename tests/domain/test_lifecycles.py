"""The tables of states: all moves that there are, and no others."""

from collections.abc import Mapping
from typing import Any

import pytest

from emulator.domain.lifecycles import OUTPUT, TERMINAL, UPLOAD, WORK, IllegalMoveError, generation_status, move
from emulator.domain.resources import Output, OutputStatus

ENDS = {("processing", "succeeded"): "completed", ("processing", "failed"): "failed"}
MOVES: Mapping[str, tuple[Mapping[Any, Mapping[str, Any]], Mapping[tuple[str, str], str]]] = {
    "upload": (
        UPLOAD,
        {
            ("awaiting_upload", "bytes_accepted"): "received",
            ("received", "exchanged"): "completed",
            ("received", "refused"): "failed",
        },
    ),
    "work": (WORK, {("queued", "started"): "processing", **ENDS}),
    "output": (OUTPUT, {("pending", "started"): "processing", **ENDS}),
}


@pytest.mark.parametrize("name", MOVES)
def test_a_table_has_the_listed_moves_alone_and_ends_in_the_terminal_states(name: str) -> None:
    table, expected = MOVES[name]
    assert {(state, event): new for state, row in table.items() for event, new in row.items()} == expected
    assert {state for state, row in table.items() if not row} == TERMINAL
    for (state, event), new in expected.items():
        assert new == move(table, state, event)
    with pytest.raises(IllegalMoveError):
        move(table, "completed", "started")


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
