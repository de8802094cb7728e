"""Backoff is judged by chance: a client that backs off as libraries do is accused less than once in 10,000 times."""

import random
from collections.abc import Callable
from typing import Final

import pytest

from image_workflow_emulator.examiner.rules.retries import does_not_grow, has_no_pause

CHAINS: Final = 30_000
LENGTHS: Final = (3, *(pytest.param(length, marks=pytest.mark.verify) for length in (4, 5, 7, 8, 12)))
"""Number of pauses in a chain."""
Style = Callable[[random.Random, int], list[float]]


def decorrelated(chance: random.Random, length: int) -> list[float]:
    """Return the pauses of AWS's decorrelated jitter, from 1 s on and at most 60 s."""
    pauses = [1000.0]
    for _ in range(length):
        pauses.append(min(60_000.0, chance.uniform(1000, pauses[-1] * 3)))
    return pauses[1:]


STYLES: Final[dict[str, Style]] = {
    "stamina": lambda chance, length: [
        min(5000.0, 100 * 2**number + chance.uniform(0, 1000)) for number in range(length)
    ],
    "tenacity, random exponential": lambda chance, length: [
        chance.uniform(0, min(60_000, 1000 * 2**number)) for number in range(length)
    ],
    "tenacity, exponential with jitter": lambda chance, length: [
        min(60_000, 1000 * 2**number + chance.uniform(0, 1000)) for number in range(length)
    ],
    "tenacity, 2^n between 4 s and 10 s, without jitter": lambda _, length: [
        max(4000.0, min(10_000.0, 1000.0 * 2**number)) for number in range(length) if length > 3
    ],
    "AWS full jitter from 0.1 s": lambda chance, length: [
        chance.uniform(0, min(20_000, 100 * 2**number)) for number in range(length)
    ],
    "AWS full jitter, capped at four times its base": lambda chance, length: [
        chance.uniform(0, min(4000, 1000 * 2**number)) for number in range(length)
    ],
    "AWS equal jitter": lambda chance, length: [
        min(20_000, 500 * 2**number) * chance.uniform(0.5, 1) for number in range(length)
    ],
    "AWS decorrelated jitter": decorrelated,
    "resilience4j": lambda chance, length: [500 * 1.5**number * chance.uniform(0.5, 1.5) for number in range(length)],
    "urllib3, with a first retry at once": lambda _, length: [0.0, *(1000.0 * 2**n for n in range(1, length))],
}
"""Pauses of a chain, in milliseconds, by library or style."""


@pytest.mark.parametrize("style", STYLES.values(), ids=STYLES)
@pytest.mark.parametrize("length", LENGTHS)
def test_who_backs_off_is_hardly_ever_accused(style: Style, length: int) -> None:
    chance = random.Random(25)  # a simulation
    chains = (style(chance, length) for _ in range(CHAINS))
    accused = sum(bool(pauses) and (does_not_grow(pauses) or has_no_pause(pauses)) for pauses in chains)
    assert accused * 10_000 < CHAINS


@pytest.mark.parametrize(
    "pauses",
    [
        [1000, 1003, 1001, 1008],
        [5000, 1000, 1004, 1002, 1001, 1003],
        [3000, 1, 2, 1],
        [7, 9, 3, 8],
        [100, 104, 101, 99, 103],
        [230, 215, 300, 204, 206, 221, 390, 210],
    ],
    ids=["fixed", "slow at first", "none after a slow one", "none", "short", "on a busy machine"],
)
def test_fixed_and_empty_pauses_are_found(pauses: list[float]) -> None:
    assert does_not_grow(pauses) or has_no_pause(pauses)
