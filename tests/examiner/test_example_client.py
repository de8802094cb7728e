"""The example client is clean under every scenario of the library; each mutant of it is found with exactly its rule."""

import re
import time
from collections.abc import Iterator

import pytest

from emulator.testing import Emulator
from tests.cli.command import ROOT
from tests.examiner.example_client import MUTANTS, SOURCE, Mutant, load, play, tour

SPEED = 600
"""Of a clock that runs by itself: the client's pauses are so much shorter."""
LIBRARY = sorted(file.stem for file in (ROOT / "scenarios").glob("*.yaml"))
CASES = [
    (scenario, clock, evolution)
    for scenario in LIBRARY
    for clock in ("manual", "auto", f"x{SPEED}")
    for evolution in (False, True)
]
USUAL = [case for case in CASES[::17] if case[0] != "slow-service"]
"""The others belong to the long verification."""


@pytest.fixture(scope="module")
def emulator() -> Iterator[Emulator]:
    with Emulator.start() as emulator:
        yield emulator


@pytest.mark.parametrize(
    ("scenario", "clock", "evolution"),
    [pytest.param(*case, marks=() if case in USUAL else pytest.mark.verify) for case in CASES],
)
def test_the_example_client_is_clean(emulator: Emulator, scenario: str, clock: str, evolution: bool) -> None:
    with emulator.sandbox(scenario=scenario, clock=clock, evolution=evolution) as sandbox:
        runs_by_itself = clock.startswith("x")
        pause = (lambda seconds: time.sleep(seconds / SPEED)) if runs_by_itself else sandbox.clock.advance
        play(load(), sandbox, tour, pause)
        assert [] == list(map(str, sandbox.conduct().findings))


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: f"{mutant.name} ({mutant.rule})")
def test_a_mutant_is_found_with_exactly_its_rule(emulator: Emulator, mutant: Mutant) -> None:
    with emulator.sandbox(scenario=mutant.scenario, clock="manual") as sandbox:
        play(load(mutant.change), sandbox, mutant.act, sandbox.clock.advance)
        assert {mutant.rule} == {finding.rule for finding in sandbox.conduct().findings}


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: f"{mutant.name} ({mutant.rule})")
def test_the_client_itself_is_clean_where_its_mutant_is_not(emulator: Emulator, mutant: Mutant) -> None:
    with emulator.sandbox(scenario=mutant.scenario, clock="manual") as sandbox:
        play(load(), sandbox, mutant.act, sandbox.clock.advance)
        assert [] == list(map(str, sandbox.conduct().findings))


def test_the_page_on_survival_quotes_the_client() -> None:
    page = (ROOT / "docs/survive.md").read_text(encoding="utf-8")
    quotes = re.findall(r"^```py\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert len(quotes) > 10
    assert [] == [quote for quote in quotes if unindented(quote) not in unindented(SOURCE)]


def unindented(text: str) -> str:
    """The lines of a text that are not empty, without what indents them: formatters change that in quotes."""
    return "\n".join(line.strip() for line in text.splitlines() if line.strip())
