"""The cases of a fuzz test, and the state that a refused one must leave as it was.

Each case is made from a source of chance that has a name and a number. `make test`
tries some of each, `make verify` many; the some are the first of the many. A failure
names the case, so that it can be run by itself. State is read as state files read it,
so that nothing is forgotten. Left out is what requests leave in any case: the journal,
and the number of the next Request-Id.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from random import Random
from typing import Any

import pytest
from _pytest.mark.structures import ParameterSet

from image_workflow_emulator.service.sandbox.sandbox import Sandbox
from image_workflow_emulator.service.state import archive
from tests.support.emulator_under_test import EmulatorUnderTest
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
        """Whether to begin with a fresh emulator, so that nothing piles up."""
        return self.number > 0 and self.number % EPISODE == 0

    @contextmanager
    def told(self, **shown: object) -> Iterator[None]:
        """Name the case, with what it is about, in whatever goes wrong meanwhile."""
        try:
            yield
        except BaseException as error:
            error.add_note(f"case {self.number} of {self.name!r}")
            for name, value in shown.items():
                error.add_note(f"{name}: {str(value)[:2000]}")
            raise


def amounts(some: int, many: int) -> list[ParameterSet]:
    """Return how many cases `make test` and `make verify` try, for `parametrize`."""
    return [
        pytest.param(some, id="some"),
        pytest.param(many, id="many", marks=pytest.mark.verify),
    ]


def cases(name: str, amount: int) -> Iterator[Case]:
    """Iterate over the first cases of a name."""
    for number in range(amount):
        chance = Random(f"{name} {number}")
        yield Case(name, number, chance)


def in_pieces(
    data: bytes,
    chance: Random,
    most: int = 8,
) -> list[bytes]:
    """Cut bytes at random places; none of the pieces is empty."""
    number = chance.choice((0, 0, 1, 2, most))
    cuts = [chance.randrange(len(data) + 1) for _ in range(number)]
    edges = [0, *sorted(cuts), len(data)]
    pieces = [data[start:end] for start, end in pairwise(edges)]
    return [piece for piece in pieces if piece]


def changed_bytes(
    data: bytes,
    chance: Random,
    inserts: Sequence[bytes] = (b"\0", b"\xff"),
) -> bytes:
    """Return bytes with one change.

    Something is inserted, left out, turned, cut off or repeated.
    """
    place = chance.randrange(len(data) + 1)
    before = data[:place]
    after = data[place:]
    match chance.randrange(5):
        case 0:
            insert = chance.choice(inserts)
            return before + insert + after
        case 1:
            left_out = chance.choice((1, 2, 10))
            return before + after[left_out:]
        case 2 if after:
            bit = 1 << chance.randrange(8)
            turned = after[0] ^ bit
            rest = after[1:]
            return before + bytes([turned]) + rest
        case 3:
            return before
        case _:
            return before + after[:20] + after


def everything(emulator: EmulatorUnderTest) -> dict[str, Any]:
    """Return all that the emulator knows, as plain data."""
    sandboxes = emulator.application.sandboxes
    keys: list[str] = []
    states: dict[str, Any] = {}
    for identifier, sandbox in sandboxes.by_id.items():
        keys += [key for key in sandbox.credentials if sandboxes.find_caller(key)]
        states[identifier] = _all_of(sandbox)
    return {
        "held_bytes": sandboxes.memory.held_bytes,
        "keys": sorted(keys),
        "sandboxes": states,
    }


def _all_of(sandbox: Sandbox) -> dict[str, Any]:
    """Return all that a sandbox knows."""
    pieces = archive.save(sandbox, sandbox.clock.now())
    tables = parts_of(b"".join(pieces))
    state: dict[str, Any] = tables.pop("head")
    del state["last_sequence"]
    state |= state.pop("state")
    for name in COUNTERS_OF_REQUESTS:
        state["counters"].pop(name, None)
    state["rows"] = {}
    for table, rows in tables.items():
        for index, row in enumerate(rows):
            state["rows"][f"{table}/{index}"] = row
    state["sizes"] = {}
    for key, picture in sandbox.images.pictures.items():
        state["sizes"][key] = len(picture.data or b"")
    state["held"] = list(sandbox.held_admissions)
    return state


def differences(
    before: dict[str, Any],
    after: dict[str, Any],
    where: str = "",
) -> list[str]:
    """Return where two states differ, with both values."""
    changes: list[str] = []
    for name in before.keys() | after.keys():
        old = before.get(name)
        new = after.get(name)
        if isinstance(old, dict) and isinstance(new, dict):
            changes += differences(old, new, f"{where}/{name}")
        elif old != new:
            old_text = str(old)[:200]
            new_text = str(new)[:200]
            changes.append(f"{where}/{name}: {old_text} is now {new_text}")
    return changes
