"""Backoff is judged by chance: who backs off as libraries do is hardly ever accused.

The pauses of a chain are in milliseconds.
"""

import random
from collections.abc import Callable
from typing import Final

import pytest

from image_workflow_emulator.examiner.rules.backoff import does_not_grow, has_no_pause

CHAINS: Final = 30_000
MOST_ACCUSED: Final = CHAINS / 10_000
MORE_LENGTHS: Final = (4, 5, 7, 8, 12)
LENGTHS: Final = (
    3,
    *(pytest.param(length, marks=pytest.mark.verify) for length in MORE_LENGTHS),
)
"""Number of pauses in a chain."""
Chance = random.Random
Style = Callable[[Chance, int], list[float]]


def each(pause: Callable[[Chance, int], float]) -> Style:
    """Return the style whose pauses each follow from their number alone."""

    def pauses(chance: Chance, length: int) -> list[float]:
        return [pause(chance, number) for number in range(length)]

    return pauses


def doubled(
    first: float,
    most: float,
    number: int,
) -> float:
    """The pause after so many others, each of which is twice the one before."""
    pause = first * 2.0**number
    return min(most, pause)


@each
def stamina(chance: Chance, number: int) -> float:
    jitter = chance.uniform(0, 1000)
    return min(5000.0, 100 * 2.0**number + jitter)


@each
def tenacity_random_exponential(chance: Chance, number: int) -> float:
    most = doubled(1000, 60_000, number)
    return chance.uniform(0, most)


@each
def tenacity_with_jitter(chance: Chance, number: int) -> float:
    jitter = chance.uniform(0, 1000)
    return min(60_000.0, 1000 * 2.0**number + jitter)


def tenacity_between_4_and_10_seconds(_: Chance, length: int) -> list[float]:
    """Return the pauses without jitter, which are too few to tell below four."""
    if length <= 3:
        return []
    pauses = [doubled(1000, 10_000, number) for number in range(length)]
    return [max(4000.0, pause) for pause in pauses]


@each
def aws_full_jitter(chance: Chance, number: int) -> float:
    most = doubled(100, 20_000, number)
    return chance.uniform(0, most)


@each
def aws_full_jitter_capped_low(chance: Chance, number: int) -> float:
    most = doubled(1000, 4000, number)
    return chance.uniform(0, most)


@each
def aws_equal_jitter(chance: Chance, number: int) -> float:
    most = doubled(500, 20_000, number)
    return most * chance.uniform(0.5, 1)


def aws_decorrelated_jitter(chance: Chance, length: int) -> list[float]:
    pauses = []
    last = 1000.0
    for _ in range(length):
        last = min(60_000.0, chance.uniform(1000, last * 3))
        pauses.append(last)
    return pauses


@each
def resilience4j(chance: Chance, number: int) -> float:
    return 500 * 1.5**number * chance.uniform(0.5, 1.5)


@each
def urllib3_with_a_first_retry_at_once(_: Chance, number: int) -> float:
    if number == 0:
        return 0.0
    return 1000 * 2.0**number


STYLES: Final[dict[str, Style]] = {
    "stamina": stamina,
    "tenacity, random exponential": tenacity_random_exponential,
    "tenacity, with jitter": tenacity_with_jitter,
    "tenacity, between 4 s and 10 s": tenacity_between_4_and_10_seconds,
    "AWS full jitter from 0.1 s": aws_full_jitter,
    "AWS full jitter, capped low": aws_full_jitter_capped_low,
    "AWS equal jitter": aws_equal_jitter,
    "AWS decorrelated jitter": aws_decorrelated_jitter,
    "resilience4j": resilience4j,
    "urllib3, with a first retry at once": urllib3_with_a_first_retry_at_once,
}


def is_accused(pauses: list[float]) -> bool:
    if not pauses:
        return False
    return does_not_grow(pauses) or has_no_pause(pauses)


@pytest.mark.parametrize("style", STYLES.values(), ids=STYLES)
@pytest.mark.parametrize("length", LENGTHS)
def test_who_backs_off_is_accused_less_than_once_in_ten_thousand(
    style: Style,
    length: int,
) -> None:
    chance = Chance(25)  # a simulation

    chains = [style(chance, length) for _ in range(CHAINS)]

    accused = sum(is_accused(pauses) for pauses in chains)
    assert accused < MOST_ACCUSED


@pytest.mark.parametrize(
    "pauses",
    [
        pytest.param([1000, 1003, 1001, 1008], id="of a second"),
        pytest.param([100, 104, 101, 99, 103], id="short"),
        pytest.param([5000, 1000, 1004, 1002, 1001, 1003], id="slow at first"),
        pytest.param(
            [230, 215, 300, 204, 206, 221, 390, 210],
            id="on a busy machine",
        ),
    ],
)
def test_equal_pauses_do_not_grow(pauses: list[float]) -> None:
    assert does_not_grow(pauses)


@pytest.mark.parametrize(
    "pauses",
    [
        pytest.param([7, 9, 3, 8], id="none"),
        pytest.param([3000, 1, 2, 1], id="none after a slow one"),
    ],
)
def test_pauses_next_to_nothing_are_none(pauses: list[float]) -> None:
    assert has_no_pause(pauses)
