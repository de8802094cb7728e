"""The states of uploads, work and outputs, and the only moves between them (section 3).

How it works: the present state and an event are looked up in one table. A terminal state has no moves. An event that
a state does not have raises and changes nothing. What follows from several outputs together ("all are terminal") is
worked out where an output ends (`service/resources/generations.py`).

Where the specification shows no moves (sessions, Operations, outputs before their end), they are our own choice.
"""

from collections.abc import Mapping
from typing import Any, TypeVar

MOVES: Mapping[tuple[str, str], Any] = {
    # Upload Sessions:
    ("awaiting_upload", "bytes_accepted"): "received",
    ("received", "exchanged"): "completed",
    ("received", "refused"): "failed",
    # Work, which begins queued, and outputs, which begin pending:
    ("queued", "started"): "processing",
    ("pending", "started"): "processing",
    ("processing", "succeeded"): "completed",
    ("processing", "failed"): "failed",
}
"""By state and event: the state that follows."""

TERMINAL = frozenset({"completed", "failed"})


State = TypeVar("State", bound=str)


class IllegalMoveError(RuntimeError):
    """A state was asked for a move that it does not have: a defect of the emulator, never of a client."""


def move(state: State, event: str) -> State:
    """Return the state that follows an event.

    Raises:
        IllegalMoveError: the state has no such move.
    """
    if (state, event) not in MOVES:
        raise IllegalMoveError(f"{state} has no move on {event}")
    following: State = MOVES[state, event]
    return following
