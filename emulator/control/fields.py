"""The fields of a JSON body, each read strictly by its type; what does not fit is refused with 400 (interfaces, section 6).

A reader takes where a value stands (a JSON Pointer) and the value, and returns what it means. Knows no endpoint.
"""

import math
from collections.abc import Callable, Collection
from typing import Any, Final, TypeVar

from emulator.documents.values import LARGEST_INTEGER, LONGEST_NAME, parse_clock
from emulator.domain.problems import Problem, excerpt, pointer
from emulator.kernel.clock import CLOCK_MODES, HIGHEST_RATE, ClockSetting
from emulator.kernel.timestamps import TIMESTAMP_WORDS, parse_timestamp

T = TypeVar("T")
Reader = Callable[[str, Any], T]

_MODES: Final = f"one of {', '.join(CLOCK_MODES)}, or a rate such as x60"


def unfit(where: str, found: Any, expected: str) -> Problem:
    """Build the refusal of a value: where it stands, what is there, what should be."""
    return Problem("invalid_request", f"{where or '(body)'}: found {excerpt(found)}; expected {expected}")


class Fields:
    """The fields of one object, none of them unknown."""

    def __init__(self, value: Any, known: Collection[str], where: str = "") -> None:
        """Raises Problem invalid_request: the value is no object, or has a field that is not known."""
        self.where = where
        if not isinstance(value, dict):
            raise unfit(where, value, "an object")
        for name in value:
            if name not in known:
                expected = f"only {', '.join(known)}" if known else "no fields"
                raise Problem("invalid_request", f"{_at(where, name)}: found an unknown field; expected {expected}")
        self._values: dict[str, Any] = value

    def __contains__(self, name: str) -> bool:
        return name in self._values

    def __bool__(self) -> bool:
        return bool(self._values)

    def get(self, name: str, read: Reader[T]) -> T | None:
        """Read a field that may be absent; None if it is. Raises Problem invalid_request."""
        return read(_at(self.where, name), self._values[name]) if name in self._values else None

    def need(self, name: str, read: Reader[T]) -> T:
        """Read a field that must be there. Raises Problem invalid_request."""
        if name not in self._values:
            raise Problem("invalid_request", f"{_at(self.where, name)}: found nothing; expected this required field")
        return read(_at(self.where, name), self._values[name])


def _at(where: str, name: str) -> str:
    return where + pointer(name[:LONGEST_NAME])


def text(where: str, value: Any) -> str:
    """Read a text with a visible character, on one line and no longer than a name may be."""
    if isinstance(value, str) and value.strip() and value.isprintable() and len(value) <= LONGEST_NAME:
        return value
    raise unfit(where, value, f"a text of one line and 1 to {LONGEST_NAME} characters")


def switch(where: str, value: Any) -> bool:
    """Read true or false, also spelled as the option is: on or off."""
    if isinstance(value, bool):
        return value
    if value in ("on", "off"):
        return bool(value == "on")
    raise unfit(where, value, "true or false")


def only_true(where: str, value: Any) -> bool:
    """Read a field that is either true or left out."""
    if value is True:
        return True
    raise unfit(where, value, "true")


def whole_number(minimum: int, maximum: int = LARGEST_INTEGER) -> Reader[int]:
    """Return a reader of whole numbers within bounds, both of them allowed."""

    def read(where: str, value: Any) -> int:
        is_whole = (isinstance(value, int) and not isinstance(value, bool)) or (
            isinstance(value, float) and value.is_integer()
        )
        if not is_whole or not minimum <= value <= maximum:
            raise unfit(where, value, f"a whole number from {minimum} to {maximum}")
        return int(value)

    return read


def number(where: str, value: Any) -> float:
    """Read any finite number."""
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        return value
    raise unfit(where, value, "a number")


def word(*words: str) -> Reader[str]:
    """Return a reader of one of the given words."""

    def read(where: str, value: Any) -> str:
        if isinstance(value, str) and value in words:
            return value
        raise unfit(where, value, f"one of {', '.join(words)}")

    return read


def instant(where: str, value: Any) -> int:
    """Read a timestamp."""
    try:
        return parse_timestamp(value if isinstance(value, str) else "")
    except ValueError:
        raise unfit(where, value, TIMESTAMP_WORDS) from None


def clock_setting(where: str, value: Any) -> ClockSetting:
    """Read how a clock is to run: a text such as `manual` or `x60`, or an object of mode and rate."""
    if isinstance(value, dict):
        return clock_fields(Fields(value, ("mode", "rate"), where))
    return _clock_mode(where, value)


def clock_fields(fields: Fields) -> ClockSetting:
    """Read `mode` and `rate`; only a real clock has a rate other than 1."""
    setting = fields.need("mode", _clock_mode)
    rate = fields.get("rate", _rate)
    if rate is None or rate == setting.rate:
        return setting
    if setting != ClockSetting("real"):
        raise unfit(_at(fields.where, "rate"), rate, "it only with the mode real")
    return ClockSetting("real", rate)


def _clock_mode(where: str, value: Any) -> ClockSetting:
    try:
        return parse_clock(value if isinstance(value, str) else "")
    except ValueError:
        raise unfit(where, value, _MODES) from None


def _rate(where: str, value: Any) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= HIGHEST_RATE:
        return float(value)
    raise unfit(where, value, f"a number above 0 and up to {HIGHEST_RATE:g}")
