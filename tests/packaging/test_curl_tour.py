"""The tour of the documentation: run as it is written, by bash and curl against a real server; it prints what it promises.

On a manual clock the tour's `sleep` moves the clock: it waits exactly as long as it would in earnest, and no time passes.
"""

import os
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from PIL import Image

from emulator.settings import DEFAULT_URL
from tests.packaging.pages import fences, pattern_of
from tests.support.served import ROOT, run_program, serving

pytestmark = pytest.mark.skipif(
    not (shutil.which("bash") and shutil.which("curl")), reason="the tour is one for bash and curl"
)

END_OF_STEP = "\036\n"
SLEEP = """\
#!/bin/sh
echo "$1" >>"{log}"
exec curl -sSf -o /dev/null -H "Content-Type: application/json" --data '{{"seconds": '"$1"'}}' "{url}/_emulator/clock/advance"
"""


@dataclass(frozen=True, slots=True)
class Step:
    """A block of commands, and what the block after it promises to be printed."""

    commands: str
    promise: str

    @property
    def name(self) -> str:
        """Its last line."""
        return self.commands.splitlines()[-1].strip()[:40]


def tour_steps() -> list[Step]:
    """The steps of the tour."""
    steps: list[Step] = []
    for language, text in fences(ROOT / "docs/tour.md"):
        if language == "bash":
            steps.append(Step(text, ""))
        else:
            steps[-1] = Step(steps[-1].commands, text)
    return steps


STEPS = tour_steps()


SCRIPT = "".join(f"{step.commands}printf '{END_OF_STEP}'\n" for step in STEPS)


@dataclass(frozen=True, slots=True)
class Tour:
    """What came of the tour: what each step printed, what went to standard error, and the pictures."""

    clock: str
    printed: list[str]
    complaint: str
    pictures: list[Path]
    waits_seconds: list[int]


@pytest.fixture(scope="module", params=["manual", "auto"])
def tour(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Tour:
    """The tour, taken once on each clock that stands still."""
    place = tmp_path_factory.mktemp("tour")
    log, sleep, temporary = place / "waits", place / "bin" / "sleep", place / "temporary"
    sleep.parent.mkdir()
    temporary.mkdir()
    log.touch()
    with serving("--clock", request.param) as server:
        sleep.write_text(SLEEP.format(log=log, url=server.url))
        sleep.chmod(0o755)
        path = os.pathsep.join([str(sleep.parent), str(Path(sys.executable).parent), os.environ["PATH"]])
        script = SCRIPT.replace(DEFAULT_URL, server.url)
        shell = ("bash", "-eu", "-o", "pipefail")
        outcome = run_program(*shell, folder=place, given=script, PATH=path, TMPDIR=str(temporary))
    return Tour(
        request.param,
        outcome.output.split(END_OF_STEP),
        outcome.complaint,
        sorted(temporary.glob("*/picture-*")),
        [int(line) for line in log.read_text().split()],
    )


def test_the_tour_begins_where_make_serve_serves() -> None:
    assert f"EMULATOR={DEFAULT_URL}\n" in STEPS[0].commands


def test_every_step_succeeds_without_a_complaint(tour: Tour) -> None:
    assert tour.complaint == ""
    assert len(STEPS) + 1 == len(tour.printed)


@pytest.mark.parametrize("number", range(len(STEPS)), ids=[step.name for step in STEPS])
def test_a_step_prints_what_is_promised(number: int, tour: Tour) -> None:
    promise, printed = STEPS[number].promise, tour.printed[number]
    assert re.fullmatch(pattern_of(promise), printed), f"expected:\n{promise}\nfound:\n{printed}"


def test_the_tour_ends_with_four_pictures_of_a_photoshoot(tour: Tour) -> None:
    found = []
    for file in tour.pictures:
        with Image.open(file) as image:
            image.load()
            found.append((file.name, image.format, image.size))
    assert found == [(f"picture-{slot}.jpg", "JPEG", (820, 1024)) for slot in range(4)]


def test_the_tour_waits_as_long_as_it_says_and_on_an_auto_clock_not_at_all(tour: Tour) -> None:
    model_seconds, photoshoot_seconds = 1 + 6, 1 + 5 + 3 * 2
    expected = {"manual": model_seconds + photoshoot_seconds, "auto": 0}
    assert expected[tour.clock] == sum(tour.waits_seconds)
