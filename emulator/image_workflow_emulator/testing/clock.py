"""The clock of a sandbox, as a test moves it."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from image_workflow_emulator.client.control_client import (
    ControlClient,
    mode_of,
    timestamp_text,
)
from image_workflow_emulator.client.local_files import EmulatorError, is_refusal
from image_workflow_emulator.kernel.timestamps import SECOND_MS, parse_duration_ms

__tracebackhide__ = is_refusal


class Clock:
    """The clock of a sandbox.

    It governs every timestamp, expiry, window and Retry-After in the sandbox. Each move
    returns how many events fired, and raises EmulatorError for a move that cannot be
    made, such as one backwards.

        >>> clock = create_app(clock="manual").sandbox.clock
        >>> clock.advance("90s")
        0
        >>> clock.now.isoformat()
        '2026-01-01T00:01:30+00:00'
    """

    def __init__(self, plane: ControlClient) -> None:
        self._plane = plane

    @property
    def now(self) -> datetime:
        """The emulator's time, aware (UTC)."""
        return datetime.fromisoformat(self.show()["now"])

    @property
    def mode(self) -> str:
        """How it runs: `real`, `manual`, `auto`, or a rate such as `x60`.

        It can be set.
        """
        return mode_of(self.show())

    @mode.setter
    def mode(self, mode: str) -> None:
        self._plane.call("PUT", "clock", {"mode": mode})

    @property
    def pending(self) -> int:
        """The number of events that are due later."""
        return int(self.show()["pending"])

    @property
    def next_event_at(self) -> datetime | None:
        """When the next of them is due; None if there is none."""
        due = self.show()["next_event_at"]
        if due is None:
            return None
        return datetime.fromisoformat(due)

    def advance(self, span: "float | str | timedelta") -> int:
        """Move forward by a `span`. It can stand in for `time.sleep`.

        `span`: seconds, a text such as `90s`, `250ms` or `2m`, or a timedelta.

        Raises EmulatorError for a span that cannot be read, or is negative.

            >>> clock = create_app(clock="manual").sandbox.clock
            >>> clock.advance(1.5)
            0
        """
        return self._move({"seconds": _seconds_of(span)})

    def to(self, moment: datetime | str) -> int:
        """Move forward to a `moment`: an aware datetime, or a timestamp.

        Raises EmulatorError for a moment in the past, ValueError for a datetime without a
        time zone.

            >>> clock = create_app(clock="manual").sandbox.clock
            >>> clock.to("2026-01-01T00:15:00.000Z")
            0
        """
        if isinstance(moment, datetime):
            moment = timestamp_text(moment)
        return self._move({"to": moment})

    def next(self) -> int:
        """Move forward to the next event."""
        return self._move({"next_event": True})

    def idle(self) -> int:
        """Move forward until no work is unfinished, except what a scenario stalls."""
        return self._move({"until_idle": True})

    def show(self) -> dict[str, Any]:
        """Return all of it, as the control plane shows it."""
        return self._plane.call("GET", "clock")

    def _move(self, move: Mapping[str, Any]) -> int:
        answer = self._plane.call("POST", "clock/advance", move)
        return int(answer["fired"])


def _seconds_of(span: "float | str | timedelta") -> float:
    """Return a span of time in seconds. Raises EmulatorError for an unreadable text."""
    if isinstance(span, timedelta):
        return span.total_seconds()
    if not isinstance(span, str):
        return span
    try:
        return parse_duration_ms(span) / SECOND_MS
    except ValueError as error:
        detail = f"clock.advance: {error}"
        raise EmulatorError("invalid_request", detail) from None
