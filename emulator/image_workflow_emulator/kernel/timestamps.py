"""Instants and spans as text. Owns the two notations: ISO 8601 UTC timestamps and
durations such as `90s`.

An instant is an `int`: milliseconds since the Unix epoch, UTC. A span is an `int` of
milliseconds.
"""

import math
import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache

SECOND_MS = 1_000
MINUTE_MS = 60 * SECOND_MS
HOUR_MS = 60 * MINUTE_MS
DAY_MS = 24 * HOUR_MS

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_UNITS_MS = {"ms": 1, "s": SECOND_MS, "m": MINUTE_MS, "h": HOUR_MS, "d": DAY_MS}
_DURATION = re.compile(
    r"(\d{1,12}(?:\.\d{1,30})?(?:e-\d{1,3})?)\s*(ms|s|m|h|d)?",
    re.ASCII,
)
_TIMESTAMP = re.compile(
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?(?:Z|[+-]\d\d:\d\d)",
    re.ASCII,
)
TIMESTAMP_WORDS = "a timestamp such as 2026-01-01T00:00:00.000Z, from 1970 to 9999"
"""What to expect, in words, where a timestamp is read."""
LATEST_INSTANT = 253_402_300_799_999
"""The last millisecond of the year 9999, beyond which a timestamp has no ISO 8601 form.
"""


def format_timestamp(instant: int) -> str:
    """Write an instant as the service does: UTC with milliseconds,
    `2026-01-01T00:00:00.000Z` (section 2, D73).

    What lies beyond the year 9999, such as the end of a window that begins there, is
    written as its last millisecond.
    """
    instant = min(instant, LATEST_INSTANT)
    return f"{_second(instant // SECOND_MS)}.{instant % SECOND_MS:03}Z"


@lru_cache(maxsize=4_096)
def _second(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()[:19]


def timestamp_or_none(instant: int | None) -> str | None:
    """Write an instant, if there is one."""
    if instant is None:
        return None
    return format_timestamp(instant)


def parse_timestamp(text: str) -> int:
    """Read an ISO 8601 timestamp that names its offset.

    Raises:
        ValueError: it is not one, or lies outside 1970 to 9999.
    """
    reason = ""
    if _TIMESTAMP.fullmatch(text):
        try:
            since_epoch = datetime.fromisoformat(text) - _EPOCH
        except ValueError as error:
            reason = f" ({error})"
        else:
            instant = since_epoch // timedelta(milliseconds=1)
            if 0 <= instant <= LATEST_INSTANT:
                return instant
    raise ValueError(f"found {text!r}{reason}; expected {TIMESTAMP_WORDS}")


def parse_duration_ms(text: str | int | float) -> int:
    """Read a span such as `250ms`, `90s`, `2m`, `1.5h` or `1d`; a bare number is
    seconds.

    Raises:
        ValueError: it is not a span.
    """
    span_ms = math.inf
    match = _DURATION.fullmatch(str(text).strip())
    if match:
        number, unit = match.groups(default="s")
        span_ms = float(number) * _UNITS_MS[unit]
    if span_ms > LATEST_INSTANT:
        raise ValueError(
            f"found {str(text)!r}; expected a duration such as 250ms, 90s, 2m or 1h"
        )
    return round(span_ms)


def seconds_up(span_ms: int) -> int:
    """Return a span in whole seconds, rounded up (D42)."""
    return -(-span_ms // SECOND_MS)
