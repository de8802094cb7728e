"""The journal of a sandbox: every request, written when it arrives and completed when it leaves (interfaces, section 6).

Bounded by entries and by bytes of bodies; what is dropped is counted. Entries keep what happened, not how it reads: the
control plane words them when somebody asks. Never holds image bytes, and keys only masked.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from emulator.domain.problems import Check, Problem
from emulator.scenario.rules import RequestRule

if TYPE_CHECKING:
    from emulator.service.accounts import Caller

MAXIMUM_ENTRIES = 10_000
MAXIMUM_BYTES = 64 * 1024 * 1024
MAXIMUM_BODY_BYTES = 64 * 1024
"""A longer body is left out of an entry."""


@dataclass(slots=True)
class Entry:
    """One request. What is not known yet, or does not apply, is None."""

    sequence: int
    at: int
    request_id: str
    method: str
    path: str
    operation: str | None = None
    caller: "Caller | None" = None
    idempotency_key: str | None = None
    request_body: bytes | None = None
    checks: tuple[Check, ...] = ()
    """The checks that its operation has, in their order."""
    rule: RequestRule | None = None
    status: int | None = None
    problem: Problem | None = None
    replayed: bool = False
    response_body: bytes | None = None
    arrived_ms: float = 0.0
    duration_ms: float | None = None
    note: str | None = None
    """What else must be said: that an answer was lost on the wire, or that its client went away."""


@dataclass(slots=True)
class Journal:
    """The entries, oldest first."""

    entries: deque[Entry] = field(default_factory=deque)
    last_sequence: int = 0
    dropped: int = 0
    held_bytes: int = 0

    def arrive(self, entry: Entry) -> None:
        """Write down a request that has arrived."""
        self.entries.append(entry)
        if len(self.entries) > MAXIMUM_ENTRIES:
            self._drop_oldest()

    def next_sequence(self) -> int:
        """Return the number of the next entry; numbers are never used again, whatever is dropped or cleared."""
        self.last_sequence += 1
        return self.last_sequence

    def leave(self, entry: Entry) -> None:
        """Complete an entry's bodies, within the bounds."""
        entry.request_body = _bounded(entry.request_body)
        entry.response_body = _bounded(entry.response_body)
        self.held_bytes += _size_bytes(entry)
        while self.held_bytes > MAXIMUM_BYTES and self.entries:
            self._drop_oldest()

    def clear(self) -> None:
        """Forget every entry."""
        self.entries.clear()
        self.held_bytes = 0
        self.dropped = 0

    def find(self, request_id: str) -> Entry | None:
        """Return the entry of a request, or None if there is none (any more)."""
        return next((entry for entry in self.newest_first() if entry.request_id == request_id), None)

    def newest_first(self) -> Iterator[Entry]:
        """Go through the entries from the newest on."""
        return reversed(self.entries)

    def _drop_oldest(self) -> None:
        entry = self.entries.popleft()
        self.dropped += 1
        if entry.duration_ms is not None:
            self.held_bytes -= _size_bytes(entry)


def _bounded(body: bytes | None) -> bytes | None:
    return body if body is None or len(body) <= MAXIMUM_BODY_BYTES else None


def _size_bytes(entry: Entry) -> int:
    return len(entry.request_body or b"") + len(entry.response_body or b"")
