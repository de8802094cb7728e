"""The example client is clean under every scenario of the library; each mutant of it is found with exactly its rule."""

import itertools
import time

import pytest

from emulator.testing import Emulator
from tests.examiner.example_client import MUTANTS, SOURCE, Mutant, load, play, tour
from tests.examiner.examples import LIBRARY
from tests.packaging.pages import fences
from tests.support.served import ROOT

SPEED = 60
"""Of a clock that runs by itself: the client's pauses are so much shorter."""
CASES = list(itertools.product(LIBRARY, ("manual", "auto", f"x{SPEED}"), (False, True)))
USUAL = [case for case in CASES if case[0] != "slow-service" and not case[1].startswith("x")][::11]
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


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: f"{mutant.name} ({mutant.rule})")
def test_a_mutant_is_found_with_exactly_its_rule_where_the_client_is_clean(server: Emulator, mutant: Mutant) -> None:
    for module, rules in ((load(mutant.change), {mutant.rule}), (load(), set[str]())):
        with server.sandbox(scenario=mutant.scenario, clock="manual") as sandbox:
            play(module, sandbox, mutant.act, sandbox.clock.advance)
            assert rules == {finding.rule for finding in sandbox.conduct().findings}


def test_the_page_on_survival_quotes_the_client() -> None:
    quotes = [text for _, text in fences(ROOT / "docs/survive.md", "py")]
    assert len(quotes) > 10
    assert [] == [quote for quote in quotes if unindented(quote) not in unindented(SOURCE)]


def unindented(text: str) -> str:
    """The lines of a text that are not empty, without what indents them: formatters change that in quotes."""
    return "\n".join(line.strip() for line in text.splitlines() if line.strip())
