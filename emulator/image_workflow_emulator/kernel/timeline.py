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
    """The events that are still to come. Scheduling, taking and forgetting cost the same however many there are."""

    sequence: int = 0
    _queue: list[Event] = field(default_factory=list, init=False)
    _dues: dict[str, list[int]] = field(default_factory=dict, init=False)
    """By subject: when its events are due. A subject without any is forgotten: its events are dropped at their time."""

    def __len__(self) -> int:
        return sum(map(len, self._dues.values()))

    def schedule(self, due: int, kind: str, subject: str, detail: int = 0) -> None:
        """Schedule an event at an instant; those of one instant happen in the order in which they were scheduled."""
        self.sequence += 1
        heappush(self._queue, Event(due, self.sequence, kind, subject, detail))
        heappush(self._dues.setdefault(subject, []), due)

    @property
    def next_due(self) -> int | None:
        """The instant of the next event, or None if nothing is to come."""
        self._drop_forgotten()
        return self._queue[0].due if self._queue else None

    def next_due_of(self, subject: str) -> int | None:
        """Return the instant of the next event of a subject, or None if nothing is to come."""
        dues = self._dues.get(subject)
        return dues[0] if dues else None

    def pop_due(self, now: int) -> Event | None:
        """Take the first event that is due by now, or None if there is none."""
        if not self._queue or self._queue[0].due > now:
            return None
        self._drop_forgotten()
        if not self._queue or self._queue[0].due > now:
            return None
        event = heappop(self._queue)
        heappop(self._dues[event.subject])
        if not self._dues[event.subject]:
            del self._dues[event.subject]
        return event

    def pending(self) -> list[Event]:
        """Return what is to come, in no particular order."""
        return [event for event in self._queue if event.subject in self._dues]

    def first(self, count: int) -> list[Event]:
        """Return the next events that are to come, in order."""
        return nsmallest(count, self.pending())

    def forget(self, subject: str) -> None:
        """Cancel the events of a subject for which no other will be scheduled."""
        self._dues.pop(subject, None)

    def remove(self, subject: str) -> None:
        """Cancel the events of a subject for which others may be scheduled; costs more the more is to come."""
        self._dues.pop(subject, None)
        self._queue = self.pending()
        heapify(self._queue)

    def _drop_forgotten(self) -> None:
        while self._queue and self._queue[0].subject not in self._dues:
            heappop(self._queue)
