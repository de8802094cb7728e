"""The kinds of values that options, bodies and files have in common: one parser and one
set of bounds for each.

Every parser takes text and raises ValueError. Instants and spans are
`kernel.timestamps`'; the bound of a span is here.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from image_workflow_emulator.kernel.clock import CLOCK_MODES, MAX_RATE, ClockSetting
from image_workflow_emulator.kernel.seed import MAX_SEED
from image_workflow_emulator.kernel.timestamps import (
    DAY_MS,
    parse_duration_ms,
    parse_timestamp,
)

MAX_INTEGER: Final = 2**53 - 1
"""The largest whole number that every JSON reader keeps exact."""
MAX_NAME_CHARACTERS: Final = 200
MAX_SPAN_MS: Final = 3_650 * DAY_MS

_RATE: Final = re.compile(r"\d{1,7}(?:\.\d{1,20})?(?:e-\d{1,3})?", re.ASCII)
_PROBABILITY: Final = re.compile(
    r"(?:\d{1,3}(?:\.\d{0,30})?|\.\d{1,30})(?:e-\d{1,3})?%?",
    re.ASCII,
)
_SIZE: Final = re.compile(
    r"(\d{1,15}(?:\.\d{1,9})?)\s*([KMGT]i?)?B?",
    re.IGNORECASE | re.ASCII,
)
_SEED: Final = re.compile(r"\+?\d{1,19}", re.ASCII)
_POWERS: Final = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}


def parse_clock(text: str) -> ClockSetting:
    """Read `real`, `manual`, `auto` or a rate such as `x60`."""
    for mode in CLOCK_MODES:
        if text == mode:
            return ClockSetting(mode)
    if not text.startswith("x"):
        raise ValueError(text)
    return ClockSetting("real", parse_rate(text[1:]))


def parse_rate(text: str) -> float:
    """Read how many times as fast as the host a clock runs: a number above 0 and up to
    `MAX_RATE`.
    """
    if not _RATE.fullmatch(text):
        raise ValueError(text)
    rate = float(text)
    if not 0 < rate <= MAX_RATE:
        raise ValueError(text)
    return rate


def parse_size(text: str) -> int:
    """Read a number of bytes such as `2GiB`, `512MB` or `1048576`."""
    match = _SIZE.fullmatch(text.strip())
    if not match:
        raise ValueError(text)
    number, unit = match.groups(default="")
    base = 1000
    if unit.endswith(("i", "I")):
        base = 1024
    power = _POWERS[unit[:1].lower()]
    return int(float(number) * base**power)


def parse_seed(text: str) -> int:
    """Read a whole number from 0 to 2^63-1."""
    if not _SEED.fullmatch(text):
        raise ValueError(text)
    seed = int(text)
    if seed > MAX_SEED:
        raise ValueError(text)
    return seed


def parse_span_ms(text: str) -> int:
    """Read a span such as `250ms`, `90s`, `2m` or `1h`, in milliseconds; a bare number
    is seconds.
    """
    span_ms = parse_duration_ms(text)
    if span_ms > MAX_SPAN_MS:
        raise ValueError(text)
    return span_ms


def parse_range_ms(text: str) -> tuple[int, int]:
    """Read a span, or a range such as `100ms-2s`, in milliseconds: its least and its
    greatest value.
    """
    parts = re.split("(?<!e)-", text, maxsplit=1)  # 1e-7 is a number
    least = parse_span_ms(parts[0])
    greatest = parse_span_ms(parts[-1])
    if greatest < least:
        raise ValueError(text)
    return least, greatest


def parse_probability(text: str) -> float:
    """Read a number from 0 to 1, or a percentage such as `10%`."""
    if not _PROBABILITY.fullmatch(text):
        raise ValueError(text)
    chance = float(text.removesuffix("%"))
    if text.endswith("%"):
        chance /= 100
    if chance > 1:
        raise ValueError(text)
    return chance


def clock_setting(setting: ClockSetting, rate: float | None = None) -> ClockSetting:
    """Return a clock setting with another rate. Raises ValueError for one that the mode
    cannot have.
    """
    if rate is None or rate == setting.rate:
        return setting
    if setting != ClockSetting("real"):
        raise ValueError(rate)
    return ClockSetting("real", float(rate))


FORMATS: Final[Mapping[str, Callable[[str], Any]]] = {
    "clock-mode": parse_clock,
    "instant": parse_timestamp,
    "probability": parse_probability,
    "range": parse_range_ms,
    "rate": parse_rate,
    "seed": parse_seed,
    "span": parse_span_ms,
    "speed": lambda text: max(parse_size(text), 1),
    "switch": lambda text: text in ("true", "on"),
}
"""The parsers of texts by their name in a schema's `format`, for kinds of which no
pattern says enough."""
