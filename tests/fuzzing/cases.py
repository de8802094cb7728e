"""The number of cases of a fuzz test, and the chance that each is made from: the same every time, known by a number.

`make test` tries some of each, `make verify` many; the some are the first of the many. A failure names the case, so
that it can be looked at by itself.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random

import pytest
from _pytest.mark.structures import ParameterSet

EPISODE = 100


@dataclass(frozen=True, slots=True)
class Case:
    """One case: what chooses in it depends on its name and number alone."""

    name: str
    number: int
    chance: Random

    @property
    def begins_an_episode(self) -> bool:
        """Whether to begin with a fresh emulator, lest what was accepted so far piles up."""
        return self.number > 0 and self.number % EPISODE == 0

    @contextmanager
    def told(self, **shown: object) -> Iterator[None]:
        """Name the case, and show what it was about, in whatever goes wrong meanwhile."""
        try:
            yield
        except BaseException as error:
            error.add_note(f"case {self.number} of {self.name!r}")
            for name, value in shown.items():
                error.add_note(f"{name}: {str(value)[:2000]}")
            raise


def amounts(some: int, many: int) -> list[ParameterSet]:
    """Return the amounts of cases to try in `make test` and in `make verify`, for `pytest.mark.parametrize`."""
    return [pytest.param(some, id="some"), pytest.param(many, id="many", marks=pytest.mark.verify)]


def cases(name: str, amount: int) -> Iterator[Case]:
    for number in range(amount):
        yield Case(name, number, Random(f"{name} {number}"))


def in_pieces(data: bytes, chance: Random, most: int = 8) -> list[bytes]:
    """Cut bytes at random places; none of the pieces is empty."""
    places = sorted(chance.randrange(len(data) + 1) for _ in range(chance.choice((0, 0, 1, 2, most))))
    return [data[start:end] for start, end in zip([0, *places], [*places, len(data)], strict=True) if start < end]


def changed_bytes(data: bytes, chance: Random, inserts: Sequence[bytes] = (b"\0", b"\xff")) -> bytes:
    """Return bytes with one change: something put in, left out, turned, cut off or said twice."""
    place = chance.randrange(len(data) + 1)
    match chance.randrange(5):
        case 0:
            return data[:place] + chance.choice(inserts) + data[place:]
        case 1:
            return data[:place] + data[place + chance.choice((1, 2, 10)) :]
        case 2 if place < len(data):
            return data[:place] + bytes([data[place] ^ (1 << chance.randrange(8))]) + data[place + 1 :]
        case 3:
            return data[:place]
        case _:
            return data[:place] + data[place : place + 20] + data[place:]
