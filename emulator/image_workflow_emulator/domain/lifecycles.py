"""The states of Upload Sessions, of work and of outputs, and the moves between them
(section 3).

Theory of operation. A lifecycle is a table: for each state, the state that follows each
event. A terminal state has an empty row. A move that the table does not have raises and
changes nothing. A slip in a table is an error when this module is imported.

What follows from several outputs together ("all are terminal") is worked out where an
output ends (`service/resources/generations.py`). Where the specification shows no moves
(sessions, Operations, outputs before their end), they are our own choice.
"""

from collections.abc import Mapping
from typing import Any, Final, Generic, Literal, TypeAlias, TypeVar, get_args

SessionStatus: TypeAlias = Literal["awaiting_upload", "received", "completed", "failed"]
SessionEvent: TypeAlias = Literal["bytes_accepted", "exchanged", "refused"]
WorkStatus: TypeAlias = Literal["queued", "processing", "completed", "failed"]
OutputStatus: TypeAlias = Literal["pending", "processing", "completed", "failed"]
WorkEvent: TypeAlias = Literal["started", "succeeded", "failed"]
"""The events of an Operation, a Generation and an output."""

Status = TypeVar("Status", bound=str)
Event = TypeVar("Event", bound=str)


class IllegalMoveError(RuntimeError):
    """An event in a state that does not have it: a defect of the emulator."""


class Lifecycle(Generic[Status, Event]):
    """The moves between the states of one kind of thing."""

    def __init__(
        self,
        statuses: Any,
        events: Any,
        moves: Mapping[Status, Mapping[Event, Status]],
    ) -> None:
        """`statuses` and `events` are the Literal types whose words the table uses.

        Raises:
            ValueError: the table has other words than these, or misses one.
        """
        targets = set[Status]()
        used_events = set[Event]()
        for row in moves.values():
            targets.update(row.values())
            used_events.update(row)
        if moves.keys() != set(get_args(statuses)) or not targets <= moves.keys():
            raise ValueError(f"the rows must be those of {statuses}")
        if used_events != set(get_args(events)):
            raise ValueError(f"the events must be those of {events}")
        self._moves = moves
        self.terminal: Final = frozenset(
            status for status, row in moves.items() if not row
        )
        """The states in which nothing happens any more."""

    def after(self, status: Status, event: Event) -> Status:
        """Return the state that follows an event.

        Raises:
            IllegalMoveError: the state does not have the event.
        """
        row = self._moves[status]
        if event not in row:
            raise IllegalMoveError(f"{event} in the state {status}")
        return row[event]


UPLOAD_SESSION: Final = Lifecycle[SessionStatus, SessionEvent](
    SessionStatus,
    SessionEvent,
    {
        "awaiting_upload": {"bytes_accepted": "received"},
        "received": {"exchanged": "completed", "refused": "failed"},
        "completed": {},
        "failed": {},
    },
)
WORK: Final = Lifecycle[WorkStatus, WorkEvent](
    WorkStatus,
    WorkEvent,
    {
        "queued": {"started": "processing"},
        "processing": {"succeeded": "completed", "failed": "failed"},
        "completed": {},
        "failed": {},
    },
)
OUTPUT: Final = Lifecycle[OutputStatus, WorkEvent](
    OutputStatus,
    WorkEvent,
    {
        "pending": {"started": "processing"},
        "processing": {"succeeded": "completed", "failed": "failed"},
        "completed": {},
        "failed": {},
    },
)
TERMINAL: Final[frozenset[str]] = WORK.terminal
"""The states in which work and outputs end; Upload Sessions have the same."""
