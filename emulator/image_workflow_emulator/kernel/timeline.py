"""Order. Owns the queue of what falls due in a sandbox, and the order in which it does: by (due, sequence).

Events are data: a kind, a subject and a number. What they do is the engine's business.
"""

from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush, nsmallest
from typing import NamedTuple


class Event(NamedTuple):
    """Something that happens at its own instant, whenever it is applied."""

    due: int
    sequence: int
    kind: str
    subject: str
    detail: int = 0


@dataclass(slots=True, eq=False)
class Timeline:
    """The events that are still to come."""

    sequence: int = 0
    _queue: list[Event] = field(default_factory=list, init=False)

    def __len__(self) -> int:
        return len(self._queue)

    def schedule(self, due: int, kind: str, subject: str, detail: int = 0) -> None:
        """Schedule an event at an instant; those of one instant happen in the order in which they were scheduled."""
        self.sequence += 1
        heappush(self._queue, Event(due, self.sequence, kind, subject, detail))

    @property
    def next_due(self) -> int | None:
        """The instant of the next event, or None if nothing is to come."""
        return self._queue[0].due if self._queue else None

    def next_due_of(self, subject: str) -> int | None:
        """Return the instant of the next event of a subject, or None if nothing is to come."""
        return min((event.due for event in self._queue if event.subject == subject), default=None)

    def pop_due(self, now: int) -> Event | None:
        """Take the first event that is due by now, or None if there is none."""
        return heappop(self._queue) if self._queue and self._queue[0].due <= now else None

    def pending(self) -> list[Event]:
        """Return what is to come, in no particular order."""
        return self._queue.copy()

    def first(self, count: int) -> list[Event]:
        """Return the next events that are to come, in order."""
        return nsmallest(count, self._queue)

    def remove(self, kind: str, subject: str) -> None:
        """Forget every event of a kind and subject."""
        self._queue = [event for event in self._queue if (event.kind, event.subject) != (kind, subject)]
        heapify(self._queue)
