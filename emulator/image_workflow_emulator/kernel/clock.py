"""The clock of one sandbox; the only place that reads the host's time.

Modes: `real` follows the host, at a rate; `manual` stands still until it is moved; `auto` is like `manual`, but skips
each wait that the service asks of its client (the request that asks for the wait moves the clock). It never runs
backwards.
"""

import time
from collections.abc import Callable
from typing import Annotated, Literal, get_args

from msgspec import Meta, Struct

from image_workflow_emulator.kernel.timestamps import LATEST_INSTANT

ClockMode = Literal["real", "manual", "auto"]
CLOCK_MODES: tuple[ClockMode, ...] = get_args(ClockMode)
MAX_RATE = 1_000_000.0
"""How many times as fast as the host a clock may run."""
DEFAULT_START = 1_767_225_600_000
"""2026-01-01T00:00:00.000Z, where a manual or auto clock starts if nothing else is said."""


def host_now() -> int:
    """Return the host's time as an instant: where a real clock starts."""
    return time.time_ns() // 1_000_000


def host_elapsed_ms() -> float:
    """Return the host's monotonic time in milliseconds, to measure how long something took."""
    return time.monotonic_ns() / 1_000_000


class ClockSetting(Struct, frozen=True):
    """How a clock is to run: its mode, and for `real` how many times as fast as the host."""

    mode: ClockMode
    rate: Annotated[float, Meta(gt=0, le=MAX_RATE)] = 1.0


class Clock:
    """One sandbox's time.

    A request reads `now()` once, and passes the result on.
    """

    def __init__(
        self, setting: ClockSetting, start: int | None = None, elapsed_ms: Callable[[], float] = host_elapsed_ms
    ) -> None:
        self._elapsed_ms = elapsed_ms
        self.setting = setting
        """The mode and rate in force; `change_setting` changes them."""
        if start is None:
            start = host_now() if setting.mode == "real" else DEFAULT_START
        self._base = start
        self._base_elapsed = elapsed_ms()

    @property
    def skips_waits(self) -> bool:
        """Whether this clock skips the waits that the service asks of its client (`auto`)."""
        return self.setting.mode == "auto"

    def now(self) -> int:
        """Return the emulator's time as an instant."""
        setting = self.setting
        if setting.mode != "real":
            return self._base
        now = self._base + int((self._elapsed_ms() - self._base_elapsed) * setting.rate)
        return now if now < LATEST_INSTANT else LATEST_INSTANT

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
