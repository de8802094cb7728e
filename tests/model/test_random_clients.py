"""The emulator against the model: random clients find no difference between the two.

Two of three plays take each step as often as `STEPS` says, which covers most in the
least time. The third leaves out some steps and takes others often, so that it covers
what the others have no room for. Pictures are plain ones here.
"""

import asyncio
import json
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest
from PIL import Image

from image_workflow_emulator.imaging.helpers import Helpers
from image_workflow_emulator.imaging.messages import Head, Message
from image_workflow_emulator.imaging.worker import do
from tests.model.client_steps import STEPS, ClientSteps
from tests.model.comparison import WORLD, Comparison
from tests.support.emulator_under_test import EmulatorUnderTest, settings_of
from tests.support.pictures import encode

TURNS: Final = 20
"""Turns of the event loop that image work takes here.

They are more than a request in between needs.
"""

_MODE: Final = {
    "jpeg": "L",
    "png": "L",
    "webp": "RGB",
}
_ENCODING: Final[dict[str, dict[str, Any]]] = {
    "jpeg": {},
    "png": {"compress_level": 1},
    "webp": {"method": 0, "lossless": True},
}
"""With its mode, what makes a large picture of one colour in the least time."""


@pytest.fixture(autouse=True)
def plain_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "image_workflow_emulator.imaging.helpers.Helpers.run",
        draw_plainly,
    )


@pytest.mark.parametrize(
    ("first", "plays", "steps"),
    [
        (0, 9, 40),
        (9, 9, 40),
        pytest.param(18, 350, 80, marks=pytest.mark.verify),
        pytest.param(368, 350, 80, marks=pytest.mark.verify),
    ],
)
def test_random_clients_find_no_difference(
    tmp_path: Path,
    first: int,
    plays: int,
    steps: int,
) -> None:
    """Each play has an emulator of its own; they are the same plays every time."""
    numbers = list(range(steps))
    for number in range(first, first + plays):
        play = Play(tmp_path, number)
        try:
            play.take(numbers)
        except AssertionError:
            play.take(play.shortened(numbers))


@dataclass(frozen=True, slots=True)
class Play:
    """One history. What a step does depends on its number, not on earlier steps."""

    folder: Path
    number: int

    def take(self, numbers: list[int]) -> None:
        """Take some steps. An AssertionError has them all as a note."""
        transcript: list[str] = []
        settings = settings_of(self.folder, world=WORLD, rate_limits=False)
        with closing(EmulatorUnderTest(settings)) as emulator:
            try:
                self._play(Comparison(emulator, transcript.append), numbers)
            except AssertionError as error:
                error.add_note(f"play {self.number}, steps {numbers}:")
                error.add_note("\n".join(transcript))
                raise

    def _play(self, comparison: Comparison, numbers: list[int]) -> None:
        steps = list(STEPS)
        weights = self.weights()
        clients = ClientSteps(comparison)
        comparison.look()
        clients.begin()
        mode = "auto" if self.number % 2 else "manual"
        comparison.set_clock(mode)
        for number in numbers:
            chance = Random(f"play {self.number}, step {number}")
            (step,) = chance.choices(steps, weights)
            comparison.say(f"Step {number}, {step.__name__}:")
            clients.take(step, chance)
            comparison.look()

    def weights(self) -> list[int]:
        chance = Random(f"play {self.number}")
        if self.number % 3 != 2:
            return list(STEPS.values())
        factors = (0, 1, 1, 5)
        return [weight * chance.choice(factors) for weight in STEPS.values()]

    def shortened(self, numbers: list[int]) -> list[int]:
        kept = numbers
        for number in reversed(numbers):
            fewer = [other for other in kept if other != number]
            try:
                self.take(fewer)
            except AssertionError:
                kept = fewer
        return kept


async def draw_plainly(
    _: Helpers,
    head: Head,
    parts: Sequence[bytes],
) -> Message:
    """Stand in for `Helpers.run`: a drawn picture is a plain one, with a clean scene.

    Its size and format are right. Other requests come between while it is drawn.
    """
    for _turn in range(TURNS):
        await asyncio.sleep(0)
    if head["job"] != "render":
        return _done(json.dumps(head), *parts)
    recipe = head["recipe"]
    size = (recipe["width"], recipe["height"])
    drawn = _plain(recipe["format"], size)
    assert len(recipe["inputs"]) == len(parts)
    return {}, [drawn]


@cache
def _done(head: str, *parts: bytes) -> Message:
    return do(json.loads(head), parts)


@cache
def _plain(picture_format: str, size: tuple[int, int]) -> bytes:
    image = Image.new(_MODE[picture_format], size)
    options = _ENCODING[picture_format]
    return encode(image, f"image/{picture_format}", **options)
