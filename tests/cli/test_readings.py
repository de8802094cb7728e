"""Which readings a command has: the precedence of files, options, variables and scenarios."""

import json
from pathlib import Path

import pytest

from tests.cli.command import run_here
from tests.support.served import EMULATOR, PATIENCE_SECONDS, Outcome, run_program

FOUND = "image-workflow.readings.yaml"
SCENARIO = "scenario: read\nreadings: {D26: always-a-cursor}\nrules: []\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with a scenario."""
    monkeypatch.chdir(tmp_path)
    Path("read.yaml").write_text(SCENARIO)
    return tmp_path


def executed(*options: str, **variables: str) -> Outcome:
    command = (*EMULATOR, "exec", "--format", "json", *options, "--", "true")
    return run_program(*command, folder=Path.cwd(), given=None, seconds=PATIENCE_SECONDS, **variables)


def readings(*options: str, **variables: str) -> list[str]:
    """Return the readings that the report of `exec` names."""
    outcome = executed(*options, **variables)
    assert outcome.status == 0, outcome.complaint
    return str(dict(json.loads(outcome.output)["tables"][0]["rows"]).get("readings", "none")).split(", ")


def test_a_found_file_gives_way_to_a_scenario_a_variable_and_an_option_in_this_order() -> None:
    assert readings() == ["none"]
    Path(FOUND).write_text("readings: {D66: silent}\n")
    assert readings() == ["D66=silent"]
    assert readings("--scenario", "read.yaml") == ["D26=always-a-cursor"]
    assert readings("--scenario", "read.yaml", EMULATOR_READINGS="D42=rough") == ["D42=rough"]
    assert readings("--scenario", "read.yaml", "--readings", "D73=offset", EMULATOR_READINGS="D42=rough") == [
        "D73=offset"
    ]


def test_plain_switches_a_found_file_and_a_scenario_off() -> None:
    Path(FOUND).write_text("readings: {D66: silent}\n")
    assert readings("--readings", "plain", "--scenario", "read.yaml") == ["none"]


def test_a_state_file_goes_before_everything() -> None:
    assert executed("--readings", "D66=silent", "--save-state", "state.zip").status == 0
    Path(FOUND).write_text("readings: {D42: rough}\n")
    assert readings("--state", "state.zip") == ["D66=silent"]
    assert readings("--state", "state.zip", "--readings", "D73=offset") == ["D66=silent"]


@pytest.mark.parametrize(
    ("content", "complaint"),
    [("readings:\n  D66: silnt\n", f"{FOUND}:2:"), ("readings: [", f"{FOUND}:2:1:"), ("{}", f"{FOUND}:1:")],
)
def test_a_broken_file_ends_a_command_with_its_place(content: str, complaint: str) -> None:
    Path(FOUND).write_text(content)
    for arguments in (("exec", "--", "true"), ("sweep", "--", "true"), ("serve", "--port", "0")):
        outcome = run_here(*arguments)
        assert (arguments, outcome.status) == (arguments, 2)
        assert complaint in outcome.complaint


def test_readings_that_do_not_exist_are_refused_with_those_that_are_near() -> None:
    outcome = executed("--readings", "D66=silnt")
    assert outcome.status == 2
    assert "--readings: found 'D66=silnt'" in outcome.complaint
    assert "D66=silent" in outcome.complaint
