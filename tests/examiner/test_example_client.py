"""The example client is clean under every scenario of the library."""

import itertools
import time

import pytest

from image_workflow_emulator.testing import Emulator
from tests.examiner.example_client import SOURCE, load, play, tour
from tests.examiner.examples import LIBRARY, SLOW
from tests.packaging.pages import fences
from tests.support.served import ROOT

SPEED = 60
"""The rate of a clock that runs by itself, by which the client's pauses are shorter."""
CASES = list(itertools.product(LIBRARY, ("manual", "auto", f"x{SPEED}"), (False, True)))
USUAL = [case for case in CASES if case[0] not in SLOW and not case[1].startswith("x")][::19]
"""The others belong to the long verification."""


@pytest.mark.parametrize(
    ("scenario", "clock", "evolution"),
    [pytest.param(*case, marks=() if case in USUAL else pytest.mark.verify) for case in CASES],
)
def test_the_example_client_is_clean(server: Emulator, scenario: str, clock: str, evolution: bool) -> None:
    with server.sandbox(scenario=scenario, clock=clock, evolution=evolution) as sandbox:
        runs_by_itself = clock.startswith("x")
        pause = (lambda seconds: time.sleep(seconds / SPEED)) if runs_by_itself else sandbox.clock.advance
        play(load(), sandbox, tour, pause)
        assert [] == list(map(str, sandbox.conduct().findings))


def test_the_page_on_survival_quotes_the_client() -> None:
    quotes = [text for _, text in fences(ROOT / "docs/survive.md", "py")]
    assert len(quotes) > 10
    assert [] == [quote for quote in quotes if unindented(quote) not in unindented(SOURCE)]


def unindented(text: str) -> str:
    """The lines of a text that are not empty, without what indents them: formatters change that in quotes."""
    return "\n".join(line.strip() for line in text.splitlines() if line.strip())
