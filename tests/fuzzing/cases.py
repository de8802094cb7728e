"""The cases of a fuzz test, each made from a chance that is known by a number, and all state that a refused one must
leave as it was.

`make test` tries some of each, `make verify` many; the some are the first of the many. A failure names the case, so
that it can be looked at by itself. State is read as state files read it, so that nothing is forgotten; left out is what
tells of the requests themselves: the journal, and the number of the next Request-Id.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random
from typing import Any

import pytest
from _pytest.mark.structures import ParameterSet

from image_workflow_emulator.service.sandbox.sandbox import Sandbox
from image_workflow_emulator.service.state import archive
from tests.support.emulator_client import EmulatorUnderTest
from tests.support.state_files import parts_of

EPISODE = 100
COUNTERS_OF_REQUESTS = ("req", "unrouted", "hold")


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
    return [
        pytest.param(some, id="some"),
        pytest.param(many, id="many", marks=pytest.mark.verify),
    ]


def cases(name: str, amount: int) -> Iterator[Case]:
    for number in range(amount):
        yield Case(name, number, Random(f"{name} {number}"))


def in_pieces(data: bytes, chance: Random, most: int = 8) -> list[bytes]:
    """Cut bytes at random places; none of the pieces is empty."""
    places = sorted(
        chance.randrange(len(data) + 1)
        for _ in range(chance.choice((0, 0, 1, 2, most)))
    )
    return [
        data[start:end]
        for start, end in zip([0, *places], [*places, len(data)], strict=True)
        if start < end
    ]


def changed_bytes(
    data: bytes, chance: Random, inserts: Sequence[bytes] = (b"\0", b"\xff")
) -> bytes:
    """Return bytes with one change: something put in, left out, turned, cut off or said twice."""
    place = chance.randrange(len(data) + 1)
    match chance.randrange(5):
        case 0:
            return data[:place] + chance.choice(inserts) + data[place:]
        case 1:
            return data[:place] + data[place + chance.choice((1, 2, 10)) :]
        case 2 if place < len(data):
            return (
                data[:place]
                + bytes([data[place] ^ (1 << chance.randrange(8))])
                + data[place + 1 :]
            )
        case 3:
            return data[:place]
        case _:
            return data[:place] + data[place : place + 20] + data[place:]


def everything(emulator: EmulatorUnderTest) -> dict[str, Any]:
    """Return all that the emulator knows, as plain data."""
    sandboxes = emulator.application.sandboxes
    return {
        "held_bytes": sandboxes.memory.held_bytes,
        "keys": sorted(
            key
            for one in sandboxes.by_id.values()
            for key in one.credentials
            if sandboxes.find_caller(key)
        ),
        "sandboxes": {
            name: _all_of(sandbox) for name, sandbox in sandboxes.by_id.items()
        },
    }


def _all_of(sandbox: Sandbox) -> dict[str, Any]:
    content = b"".join(archive.save(sandbox, sandbox.clock.now()))
    parts = parts_of(content)
    found: dict[str, Any] = parts.pop("head")
    del found["last_sequence"]
    found |= found.pop("state")
    found["rows"] = {
        f"{table}/{index}": row
        for table, rows in parts.items()
        for index, row in enumerate(rows)
    }
    for name in COUNTERS_OF_REQUESTS:
        found["counters"].pop(name, None)
    sizes = {
        key: len(picture.data or b"")
        for key, picture in sandbox.images.pictures.items()
    }
    return {**found, "sizes": sizes, "held": list(sandbox.held_admissions)}


def differences(
    before: dict[str, Any], after: dict[str, Any], where: str = ""
) -> list[str]:
    found = []
    for name in before.keys() | after.keys():
        one, other = before.get(name), after.get(name)
        if isinstance(one, dict) and isinstance(other, dict):
            found += differences(one, other, f"{where}/{name}")
        elif one != other:
            found.append(f"{where}/{name}: {str(one)[:200]} is now {str(other)[:200]}")
    return found
