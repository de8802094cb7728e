"""The time of one sandbox: its clock, and the order in which things fall due. The only
place that reads the host's time.

Modes of a clock: `real` follows the host, at a rate; `manual` stands still until it is
moved; `auto` is like `manual`, but skips each wait that the service asks of its client
(the request that asks for the wait moves the clock). It never runs backwards.

Events are data: a kind, a subject and a number. What they do is the engine's business.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush, nsmallest
from typing import Annotated, Literal, NamedTuple, get_args

from msgspec import Meta, Struct

from image_workflow_emulator.kernel.timestamps import LATEST_INSTANT

ClockMode = Literal["real", "manual", "auto"]
CLOCK_MODES: tuple[ClockMode, ...] = get_args(ClockMode)
MAX_RATE = 1_000_000.0
"""How many times as fast as the host a clock may run."""
DEFAULT_START = 1_767_225_600_000
"""2026-01-01T00:00:00.000Z, where a manual or auto clock starts if nothing else is
said."""


def host_now() -> int:
    """Return the host's time as an instant: where a real clock starts."""
    return time.time_ns() // 1_000_000


def host_elapsed_ms() -> float:
    """Return the host's monotonic time in milliseconds, to measure how long something
    took.
    """
    return time.monotonic_ns() / 1_000_000


class ClockSetting(Struct, frozen=True):
    """How a clock is to run: its mode, and for `real` how many times as fast as the
    host.
    """

    mode: ClockMode
    rate: Annotated[float, Meta(gt=0, le=MAX_RATE)] = 1.0


class Clock:
    """One sandbox's time.

    A request reads `now()` once, and passes the result on.
    """

    def __init__(
        self,
        setting: ClockSetting,
        start: int | None = None,
        elapsed_ms: Callable[[], float] = host_elapsed_ms,
    ) -> None:
        self._elapsed_ms = elapsed_ms
        self.setting = setting
        """The mode and rate in force; `change_setting` changes them."""
        if start is None:
            start = _usual_start(setting)
        self._base = start
        self._base_elapsed = elapsed_ms()

    @property
    def skips_waits(self) -> bool:
        """Whether this clock skips the waits that the service asks of its client
        (`auto`).
        """
        return self.setting.mode == "auto"

    def now(self) -> int:
        """Return the emulator's time as an instant."""
        setting = self.setting
        if setting.mode != "real":
            return self._base
        host_ms = self._elapsed_ms() - self._base_elapsed
        elapsed_ms = int(host_ms * setting.rate)
        return min(self._base + elapsed_ms, LATEST_INSTANT)

    def advance_to(self, instant: int) -> None:
        """Move forward to an instant; one that has passed changes nothing."""
        if instant > self.now():
            self._base = min(instant, LATEST_INSTANT)
            self._base_elapsed = self._elapsed_ms()

    def change_setting(self, setting: ClockSetting) -> None:
        """Run in another mode or at another rate from now on, without a jump."""
        self._base = self.now()
        self._base_elapsed = self._elapsed_ms()
        self.setting = setting


def _usual_start(setting: ClockSetting) -> int:
    """Return where a clock starts if nothing else is said."""
    if setting.mode == "real":
        return host_now()
    return DEFAULT_START


class Event(NamedTuple):
    """Something that happens at its own instant, whenever it is applied."""

    due: int
    sequence: int
    kind: str
    subject: str
    detail: int = 0


@dataclass(slots=True, eq=False)
class Timeline:
    """The events that are still to come. Scheduling, taking and forgetting cost the
    same however many there are.
    """

    sequence: int = 0
    _queue: list[Event] = field(default_factory=list, init=False)
    _dues: dict[str, list[int]] = field(default_factory=dict, init=False)
    """By subject: when its events are due. A subject without any is forgotten: its
    events are dropped at their time."""

    def __len__(self) -> int:
        return sum(map(len, self._dues.values()))

    def schedule(
        self,
        due: int,
        kind: str,
        subject: str,
        detail: int = 0,
    ) -> None:
        """Schedule an event at an instant; those of one instant happen in the order in
        which they were scheduled.
        """
        self.sequence += 1
        event = Event(
            due=due,
            sequence=self.sequence,
            kind=kind,
            subject=subject,
            detail=detail,
        )
        heappush(self._queue, event)
        dues = self._dues.setdefault(subject, [])
        heappush(dues, due)

    @property
    def next_due(self) -> int | None:
        """The instant of the next event, or None if nothing is to come."""
        while self._queue and self._queue[0].subject not in self._dues:
            heappop(self._queue)
        if not self._queue:
            return None
        return self._queue[0].due

    def next_due_of(self, subject: str) -> int | None:
        """Return the instant of the next event of a subject, or None if nothing is to
        come.
        """
        dues = self._dues.get(subject)
        if not dues:
            return None
        return dues[0]

    def pop_due(self, now: int) -> Event | None:
        """Take the first event that is due by now, or None if there is none."""
        while self._queue and self._queue[0].due <= now:
            event = heappop(self._queue)
            dues = self._dues.get(event.subject)
            if dues is None:
                continue  # its subject was forgotten
            heappop(dues)
            if not dues:
                del self._dues[event.subject]
            return event
        return None

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
        """Cancel the events of a subject for which others may be scheduled; costs more
        the more is to come.
        """
        self._dues.pop(subject, None)
        self._queue = self.pending()
        heapify(self._queue)
