"""The changes of a sandbox for its watchers: a bounded record in their order, and the
watchers to wake.

Each change has a number, so that a watcher goes on where it stopped. The record reaches
as far back as the journal does. Must not know how a change is worded or sent; nothing
here waits. Recording one costs the same for any number of watchers.
"""

from collections import deque
from collections.abc import Callable
from itertools import islice
from typing import Any, Final, Literal, TypeAlias

Kind: TypeAlias = Literal[
    "arrived", "left", "work", "clock", "team", "scenario", "cleared", "reset"
]
Change: TypeAlias = tuple[Kind, Any]
"""A kind and its subject: for a request that arrived its sequence number, for one that
left its record, for work its id and status, for the clock its instant and setting, for
a Team its id, for a scenario the id of the Team that it is limited to, for a cleared
journal the number of its last request."""

MAX_CHANGES: Final = 100_000


class Feed:
    """The changes of one sandbox, also over resets and the loading of a state file."""

    def __init__(self) -> None:
        self.last_number = 0
        self.listeners: set[Callable[[], object]] = set()
        """Called at each change. They must be quick, and must not raise."""
        self.is_closed = False
        """Whether the sandbox is gone, so that nothing will ever change again."""
        self._changes: deque[Change] = deque(maxlen=MAX_CHANGES)

    @property
    def first_number(self) -> int:
        """The number of the oldest change that is known; one more than the last where
        none is.
        """
        return self.last_number - len(self._changes) + 1

    def note(self, kind: Kind, subject: Any = None) -> int:
        """Record a change, and return its number. Nothing is recorded of a sandbox that
        is gone.
        """
        self.last_number += 1
        if not self.is_closed:
            self._changes.append((kind, subject))
        for listener in self.listeners:
            listener()
        return self.last_number

    def after(self, number: int, count: int) -> list[tuple[int, Change]]:
        """Return the recorded changes after a number, oldest first, at most `count`."""
        first = max(number + 1, self.first_number)
        skipped = first - self.first_number
        changes = islice(self._changes, skipped, skipped + count)
        return list(enumerate(changes, start=first))

    def missed_after(self, number: int) -> int:
        """Count the changes after a number that are no longer known; those before a
        reset are not counted.
        """
        if self._changes:
            oldest_kind, _ = self._changes[0]
            if oldest_kind == "reset":
                return 0
        return max(self.first_number - number - 1, 0)

    def forget_before(self, number: int) -> None:
        """Drop the changes before a number: the journal no longer has them."""
        outdated = number - self.first_number
        for _ in range(min(outdated, len(self._changes))):
            self._changes.popleft()

    def restart(self) -> None:
        """Record a reset; earlier changes are dropped."""
        self._changes.clear()
        self.note("reset")

    def close(self) -> None:
        """Notify all listeners that the sandbox is gone, and drop its changes: they
        know requests, which know the sandbox.
        """
        self.is_closed = True
        self._changes.clear()
        for listener in self.listeners:
            listener()
