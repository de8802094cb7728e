"""What looks like a misdeed and is none, and what is one though it hides: clients that were misjudged once, and sound
ones.

Sound clients stay clean, whatever their habits, under every scenario of the library. One that backs off as libraries do
is accused less than once in 10,000 times.
"""

import itertools
import random
import time
from collections.abc import Callable
from typing import Final

import pytest

from image_workflow_emulator.examiner.rules.backoff import does_not_grow, has_no_pause
from image_workflow_emulator.testing import Emulator
from tests.examiner.example_client import ONCE, POLL, SEND, errands, load, play
from tests.examiner.rule_examples import (
    LIBRARY,
    SLOW,
    Ask,
    Example,
    ExampleClient,
    Wait,
    rules_found,
    upscale,
)
from tests.support.emulator_client import EmulatorUnderTest

ANOTHER: Final = Ask(
    "POST", "/products", {"name": "Shirt", "asset_ids": ("{asset}",)}, "another"
)
LOOK: Final = Ask("GET", "{work}")
LOST: Final = {
    "match": {"operation": "createUpscaleGeneration"},
    "when": {"nth": 1},
    "then": {"problem": "internal_error", "at": "after_commit"},
}
BROKEN: Final = {**LOST, "when": {"nth": "1-6"}}
TWICE_LOST: Final = {**LOST, "when": {"nth": "1-2"}}


def retried(attempts: int) -> tuple[Ask | Wait, ...]:
    """Return an upscale that is asked for again and again, each time after twice the wait."""
    return tuple(
        step for power in range(attempts) for step in (upscale("one"), Wait(2**power))
    )


def other_program(ask: Ask) -> Ask:
    """Return a request as another program with the same credential sends it."""
    return Ask(ask.method, ask.path, ask.body, ask.key, {"User-Agent": "other/1"})


SOUND: Final = {
    "looks, and stops before the work has ended": Example(
        (upscale("one"), Wait(2), LOOK)
    ),
    "reads the result again every quarter of an hour": Example(
        (upscale("one"), Wait(10), *(LOOK, Wait(900)) * 5)
    ),
    "is started anew after a lost answer, under another name": Example(
        (upscale("one"), other_program(upscale("one")), Wait(20), other_program(LOOK)),
        (LOST,),
    ),
    "waits longer each time, by the emulator's clock alone": Example(
        (*retried(7), LOOK), (BROKEN,)
    ),
    "gives a wish up after two failures, orders something else, and has the wish again later": Example(
        (*retried(2), ANOTHER, upscale("two"), Wait(20), LOOK), (TWICE_LOST,)
    ),
    "gives a wish up after three failures, and has it again later": Example(
        (*retried(3), upscale("two"), Wait(20), LOOK),
        (
            {
                **LOST,
                "when": {"nth": "1-3"},
                "then": {"problem": "internal_error", "at": "before_commit"},
            },
        ),
    ),
}
UNSOUND: Final = {
    "double-spend": Example(
        (*retried(2), upscale("two"), Wait(20), LOOK), (TWICE_LOST,)
    ),
    "no-backoff": Example((*(upscale("one"), Wait(1)) * 7, Wait(20), LOOK), (BROKEN,)),
    "key-not-sent-again": Example(
        (upscale("one"), Ask("POST", "/generations/upscale", upscale("one").body)),
        (LOST,),
    ),
}


@pytest.mark.parametrize("example", SOUND.values(), ids=SOUND)
def test_a_sound_client_raises_no_alarm(
    emulator: EmulatorUnderTest, example: Example
) -> None:
    ExampleClient(emulator).play(example)
    assert [] == rules_found(emulator)


@pytest.mark.parametrize(("rule", "example"), UNSOUND.items(), ids=UNSOUND)
def test_an_unsound_client_is_found(
    emulator: EmulatorUnderTest, rule: str, example: Example
) -> None:
    ExampleClient(emulator).play(example)
    assert [rule] == rules_found(emulator)


LINKS: Final = "self._links = httpx.Client(timeout=timeout)"
CLOSING: Final = "self._links.close()"
PATIENCE: Final = "patience: float = 1200.0"
HEDGED: Final = """\
            from concurrent.futures import ThreadPoolExecutor

            clients = (self._api, self._second) if headers else (self._api,)
            with ThreadPoolExecutor(2) as pool:
                sent = [pool.submit(one.request, method, path, json=body, params=query, headers=headers) for one in clients]
            answers = [one.result() for one in sent if one.exception() is None]
            if not answers:
                raise httpx.ReadError("neither was answered")
            return min(answers, key=lambda answer: answer.status_code)
"""

HABITS: Final[dict[str, tuple[tuple[str, str], ...]]] = {
    "waits as told": (),
    "looks at its work every eleven minutes": (
        (POLL, "pause = 660.0"),
        (PATIENCE, "patience: float = 20_000.0"),
    ),
    "sends every write a second time, with the same key, and takes the better answer": (
        (
            LINKS,
            f"{LINKS}\n        self._second = httpx.Client(base_url=base_url, headers=headers, timeout=timeout)",
        ),
        (CLOSING, f"{CLOSING}\n        self._second.close()"),
        (SEND, HEDGED),
    ),
    "tries twice, looks for a minute, and then tells its user": (
        (ONCE[0], "attempts: int = 2"),
        (PATIENCE, "patience: float = 61.0"),
    ),
}
"""The changes, by what they do."""

CLOCKS: Final = ("manual", "auto")
SPEED: Final = 60
"""The rate of a clock that runs by itself, by which the client's pauses are shorter."""
CASES = [
    *itertools.product(LIBRARY, HABITS, CLOCKS),
    *itertools.product(LIBRARY, ["waits as told"], [f"x{SPEED}"]),
]
USUAL = [case for case in CASES[::19] if case[0] not in SLOW and case[2] in CLOCKS]
"""Every client under some scenarios of the library; all cases belong to the long verification."""


@pytest.mark.parametrize(
    ("scenario", "habit", "clock"),
    [
        pytest.param(*case, marks=() if case in USUAL else pytest.mark.verify)
        for case in CASES
    ],
)
def test_a_sound_client_is_clean(
    server: Emulator, scenario: str, habit: str, clock: str
) -> None:
    with server.sandbox(
        scenario=scenario, clock=clock, evolution=clock == "auto"
    ) as sandbox:
        pause = (
            sandbox.clock.advance
            if clock in CLOCKS
            else lambda seconds: time.sleep(seconds / SPEED)
        )
        play(load(*HABITS[habit]), sandbox, errands, pause)
        assert [] == list(map(str, sandbox.conduct().findings))


# Backoff is judged by chance ------------------------------------------------------------------------------------------

CHAINS: Final = 30_000
LENGTHS: Final = (
    3,
    *(pytest.param(length, marks=pytest.mark.verify) for length in (4, 5, 7, 8, 12)),
)
"""Number of pauses in a chain."""
Style = Callable[[random.Random, int], list[float]]


def each(pause: Callable[[random.Random, int], float]) -> Style:
    """Return the style whose pauses each follow from their number alone."""
    return lambda chance, length: [pause(chance, number) for number in range(length)]


def decorrelated(chance: random.Random, length: int) -> list[float]:
    """Return the pauses of AWS's decorrelated jitter, from 1 s on and at most 60 s."""
    pauses = [1000.0]
    for _ in range(length):
        pauses.append(min(60_000.0, chance.uniform(1000, pauses[-1] * 3)))
    return pauses[1:]


STYLES: Final[dict[str, Style]] = {
    "stamina": each(
        lambda chance, number: min(5000.0, 100 * 2**number + chance.uniform(0, 1000))
    ),
    "tenacity, random exponential": each(
        lambda chance, number: chance.uniform(0, min(60_000, 1000 * 2**number))
    ),
    "tenacity, with jitter": each(
        lambda chance, number: min(60_000, 1000 * 2**number + chance.uniform(0, 1000))
    ),
    "tenacity, 2^n between 4 s and 10 s, without jitter": lambda _, length: [
        max(4000.0, min(10_000.0, 1000.0 * 2**number))
        for number in range(length)
        if length > 3
    ],
    "AWS full jitter from 0.1 s": each(
        lambda chance, number: chance.uniform(0, min(20_000, 100 * 2**number))
    ),
    "AWS full jitter, capped low": each(
        lambda chance, number: chance.uniform(0, min(4000, 1000 * 2**number))
    ),
    "AWS equal jitter": each(
        lambda chance, number: min(20_000, 500 * 2**number) * chance.uniform(0.5, 1)
    ),
    "AWS decorrelated jitter": decorrelated,
    "resilience4j": each(
        lambda chance, number: 500 * 1.5**number * chance.uniform(0.5, 1.5)
    ),
    "urllib3, with a first retry at once": each(
        lambda _, number: 1000.0 * 2**number if number else 0.0
    ),
}
"""Pauses of a chain, in milliseconds, by library or style."""


@pytest.mark.parametrize("style", STYLES.values(), ids=STYLES)
@pytest.mark.parametrize("length", LENGTHS)
def test_who_backs_off_is_hardly_ever_accused(style: Style, length: int) -> None:
    chance = random.Random(25)  # a simulation
    chains = (style(chance, length) for _ in range(CHAINS))
    accused = sum(
        bool(pauses) and (does_not_grow(pauses) or has_no_pause(pauses))
        for pauses in chains
    )
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
    ids=[
        "fixed",
        "slow at first",
        "none after a slow one",
        "none",
        "short",
        "on a busy machine",
    ],
)
def test_fixed_and_empty_pauses_are_found(pauses: list[float]) -> None:
    assert does_not_grow(pauses) or has_no_pause(pauses)
