"""Lets random clients play, in two ways, and says what stands in for the drawing of pictures.

*Evenly*: all steps, each as often as `ALL_STEPS` says, from seeds that are counted up. This meets most in the least time.
*By Hypothesis*: a state machine, whose plays are one-sided in many ways, and whose failures shrink.
"""

import asyncio
import json
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, Final

from hypothesis import HealthCheck, Phase, note, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test
from PIL import Image

from emulator.imaging.helpers import Helpers
from emulator.imaging.messages import Head, Message
from emulator.imaging.worker import do
from tests.model.side_by_side import ALL_STEPS, SandboxesSideBySide, Step
from tests.support.pictures import encode

USUAL_STEPS: Final = 40
TURNS: Final = 20
"""Of the event loop, which image work takes here: more than any request needs that comes between."""

_FASTEST: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    "jpeg": ("L", {}),
    "png": ("L", {"compress_level": 1}),
    "webp": ("RGB", {"method": 0, "lossless": True}),
}
"""How a large picture of one colour is made in the least time: its mode, and how it is encoded."""


def play_evenly(folder: Path, plays: int, steps: int = USUAL_STEPS, *, shortens: bool = True) -> None:
    """Let random clients play, each time against an emulator of its own; the same plays every time.

    Raises:
        AssertionError: the emulator and the model differ. Its notes list the steps; if it `shortens`, only those that
            are needed to show it.
    """
    for play in range(plays):
        numbers = list(range(steps))
        try:
            _play(folder, play, numbers)
        except AssertionError:
            if not shortens:
                raise
            _play(folder, play, _shortened(folder, play, numbers))


def _shortened(folder: Path, play: int, numbers: list[int]) -> list[int]:
    """Leave out the steps of a play that are not needed for its failure."""
    kept = numbers
    for number in reversed(numbers):
        fewer = [other for other in kept if other != number]
        if not _agrees(folder, play, fewer):
            kept = fewer
    return kept


def _agrees(folder: Path, play: int, numbers: list[int]) -> bool:
    try:
        _play(folder, play, numbers)
    except AssertionError:
        return False
    return True


def _play(folder: Path, play: int, numbers: list[int]) -> None:
    """Play the steps of some numbers; what a step does depends on its number, not on the steps before it."""
    transcript: list[str] = []
    with closing(SandboxesSideBySide(folder, transcript.append)) as sandboxes:
        try:
            sandboxes.begin("auto" if play % 2 else "manual")
            for number in numbers:
                chance = Random(f"play {play}, step {number}")
                (step,) = chance.choices(list(ALL_STEPS), list(ALL_STEPS.values()))
                transcript.append(f"Step {number}:")
                sandboxes.play(step, chance)
        except AssertionError as error:
            error.add_note("\n".join([f"Play {play}, steps {numbers}:", *transcript]))
            raise


CHANCE: Final = st.builds(Random, st.integers(0, 2**24 - 1))
"""Seeds: what a step chooses is spread evenly. A failure shrinks by whole steps; its notes tell what each one did."""


class RandomClients(RuleBasedStateMachine):
    """The emulator, the models and the clients, with a rule for each of `ALL_STEPS`.

    `folder` is where the world file is put.
    """

    folder: Path

    def __init__(self) -> None:
        super().__init__()
        self.sandboxes = SandboxesSideBySide(self.folder, note)

    def teardown(self) -> None:
        self.sandboxes.close()

    @initialize()
    def begin(self) -> None:
        self.sandboxes.begin()


def _rule_of(step: Step) -> Callable[..., None]:
    def take(clients: RandomClients, chance: Random) -> None:
        clients.sandboxes.play(step, chance)

    return rule(chance=CHANCE)(take)


# Hypothesis takes some steps more often than others, and leaves some out, differently in each play.
for _step in ALL_STEPS:
    setattr(RandomClients, _step.__name__, _rule_of(_step))


def play_by_hypothesis(folder: Path, plays: int, steps: int = USUAL_STEPS, *, shortens: bool = True) -> None:
    """Let Hypothesis decide who does what; the same plays every time.

    Raises:
        AssertionError: the emulator and the model differ. Its notes list the steps; if it `shortens`, only those that
            are needed to show it, which takes minutes.
    """
    run_state_machine_as_test(
        type("PlayingClients", (RandomClients,), {"folder": folder}),
        settings=settings(
            max_examples=plays,
            stateful_step_count=steps,
            derandomize=True,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
            phases=(Phase.generate, Phase.shrink) if shortens else (Phase.generate,),
        ),
    )


async def draw_plainly(_: Helpers, head: Head, parts: Sequence[bytes]) -> Message:
    """Stand in for `Helpers.run`: every drawn picture is a plain one of the right size and format, whose scene is clean."""

    for _turn in range(TURNS):  # who asks waits, and others come between
        await asyncio.sleep(0)
    if head["job"] != "render":
        return _done(json.dumps(head), *parts)
    recipe = head["recipe"]
    assert len(recipe["inputs"]) == len(parts)
    return {}, [_plain(recipe["format"], (recipe["width"], recipe["height"]))]


@cache
def _done(head: str, *parts: bytes) -> Message:
    """Return the answer to a job, done once for all plays: the clients upload the same few files."""
    return do(json.loads(head), parts)


@cache
def _plain(picture_format: str, size: tuple[int, int]) -> bytes:
    """Return a picture of one colour, in the way that takes the least time."""
    mode, options = _FASTEST[picture_format]
    return encode(Image.new(mode, size), f"image/{picture_format}", **options)
