"""The states of uploads, work and outputs, and the only moves between them (section 3).

How it works: an event is looked up in the row of the present state. A terminal state is an empty row. An event that the
row does not have raises and changes nothing. What follows from several outputs together ("all are terminal") is worked
out again after every event by `generation_status`, apart from the events themselves.

Where the specification shows no moves (sessions, Operations, outputs before their end), the rows are our own choice.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TypeVar

from emulator.domain.resources import Output, OutputStatus, UploadStatus, WorkStatus

UPLOAD: Mapping[UploadStatus, Mapping[str, UploadStatus]] = MappingProxyType(
    {
        "awaiting_upload": {"bytes_accepted": "received"},
        "received": {"exchanged": "completed", "refused": "failed"},
        "completed": {},
        "failed": {},
    }
)

WORK: Mapping[WorkStatus, Mapping[str, WorkStatus]] = MappingProxyType(
    {
        "queued": {"started": "processing"},
        "processing": {"succeeded": "completed", "failed": "failed"},
        "completed": {},
        "failed": {},
    }
)

OUTPUT: Mapping[OutputStatus, Mapping[str, OutputStatus]] = MappingProxyType(
    {
        "pending": {"started": "processing"},
        "processing": {"succeeded": "completed", "failed": "failed"},
        "completed": {},
        "failed": {},
    }
)

TERMINAL = frozenset({"completed", "failed"})


State = TypeVar("State", bound=str)


class IllegalMoveError(RuntimeError):
    """A state was asked for a move that it does not have: a defect of the emulator, never of a client."""


def move(table: Mapping[State, Mapping[str, State]], state: State, event: str) -> State:
    """Return the state that follows an event.

    Raises:
        IllegalMoveError: the state has no such move.
    """
    try:
        return table[state][event]
    except KeyError:
        raise IllegalMoveError(f"{state} has no move on {event}") from None


def generation_status(current: WorkStatus, outputs: Iterable[Output]) -> WorkStatus:
    """Return what a Generation's outputs make of it.

    Terminal once every output is; completed if at least one output completed, failed if none did (section 3, rule 1).
    """
    statuses = {output.status for output in outputs}
    if not statuses <= TERMINAL:
        return current
    return "completed" if "completed" in statuses else "failed"
