"""How sandboxes of the Python package and of the plugin begin under the scenario of their emulator."""

from pathlib import Path

import pytest

from image_workflow_emulator.testing import Emulator, create_app
from tests.support.served import run_pytest, serving

TEST_FILE = """
import pytest

def test_that_names_none(image_workflow):
    assert image_workflow.scenario == "rate-limited"

@pytest.mark.image_workflow(scenario=None)
def test_that_wants_none(image_workflow):
    assert image_workflow.scenario is None

@pytest.mark.image_workflow(scenario="answer-lost")
def test_that_names_its_own(image_workflow):
    assert image_workflow.scenario == "answer-lost"

def test_that_makes_a_sandbox_itself(image_workflow_emulator):
    with image_workflow_emulator.sandbox() as sandbox:
        assert sandbox.scenario == "rate-limited"
"""


@pytest.fixture
def emulator() -> Emulator:
    """An emulator whose scenario has a clock."""
    clock = {"mode": "auto", "start": "2030-01-01T00:00:00.000Z"}
    return create_app(scenario={"scenario": "mine", "clock": clock}).emulator


def test_a_sandbox_has_the_scenario_of_its_emulator(emulator: Emulator) -> None:
    sandbox = emulator.sandbox()

    assert sandbox.scenario == "mine"
    assert sandbox.clock.mode == "auto"
    assert sandbox.clock.now.year == 2030


def test_no_scenario_is_wanted_with_none(emulator: Emulator) -> None:
    sandbox = emulator.sandbox(scenario=None)

    assert sandbox.scenario is None
    assert sandbox.clock.mode == "real"


def test_the_clock_of_the_scenario_yields_to_an_option(emulator: Emulator) -> None:
    sandbox = emulator.sandbox(clock="manual", start="2031-01-01T00:00:00.000Z")

    assert sandbox.scenario == "mine"
    assert sandbox.clock.mode == "manual"
    assert sandbox.clock.now.year == 2031


def test_any_other_option_that_is_none_is_as_if_it_were_left_out(
    emulator: Emulator,
) -> None:
    sandbox = emulator.sandbox(clock=None, seed=None)

    assert sandbox.scenario == "mine"
    assert sandbox.clock.mode == "auto"


def test_tests_of_a_running_emulator_have_its_scenario_unless_they_say_otherwise(
    tmp_path: Path,
) -> None:
    (tmp_path / "test_mine.py").write_text(TEST_FILE)

    with serving("--scenario", "rate-limited") as server:
        outcome = run_pytest(tmp_path, EMULATOR_URL=server.url, seconds=120)

    assert " 4 passed in " in outcome.output
