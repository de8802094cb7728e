"""Which readings a command has: the precedence of files, options, variables and scenarios."""

import json
from pathlib import Path

import pytest

from tests.cli.command import run_here
from tests.support.served import EMULATOR, PATIENCE_SECONDS, ROOT, Outcome, run_program

FOUND = "image-workflow.readings.yaml"
SHOW = """
import json, os, urllib.request
print(urllib.request.urlopen(os.environ["EMULATOR_URL"] + "/_emulator/sandboxes/default").read().decode())
"""
SCENARIO = "scenario: read\nreadings: {D26: always-a-cursor}\nrules: []\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with a scenario and a script that shows the sandbox."""
    monkeypatch.chdir(tmp_path)
    Path("show.py").write_text(SHOW)
    Path("read.yaml").write_text(SCENARIO)
    return tmp_path


def run(*arguments: str, **variables: str) -> Outcome:
    paths = {"PYTHONPATH": str(ROOT), **variables}
    return run_program(*EMULATOR, *arguments, folder=Path.cwd(), seconds=PATIENCE_SECONDS, given=None, **paths)


def executed(*options: str, **variables: str) -> Outcome:
    return run("exec", "--quiet", *options, "--", "python3", "show.py", **variables)


def readings(*options: str, **variables: str) -> list[str]:
    outcome = executed(*options, **variables)
    assert outcome.status == 0, outcome.complaint
    shown: list[str] = json.loads(outcome.output)["readings"]
    return shown


def test_a_found_file_gives_way_to_a_scenario_a_variable_and_an_option_in_this_order() -> None:
    assert readings() == []
    Path(FOUND).write_text("readings: {D66: silent}\n")
    assert readings() == ["D66=silent"]
    assert readings("--scenario", "read.yaml") == ["D26=always-a-cursor"]
    assert readings("--scenario", "read.yaml", EMULATOR_READINGS="D42=rough") == ["D42=rough"]
    assert readings("--scenario", "read.yaml", "--readings", "D73=offset", EMULATOR_READINGS="D42=rough") == [
        "D73=offset"
    ]


def test_the_report_of_exec_names_the_readings() -> None:
    outcome = run("exec", "--readings", "stingy", "--", "python3", "show.py")
    assert f"readings {', '.join(json.loads(outcome.output)['readings'])}" in " ".join(outcome.complaint.split())


def test_plain_switches_a_found_file_and_a_scenario_off() -> None:
    Path(FOUND).write_text("readings: {D66: silent}\n")
    assert readings("--readings", "plain") == []
    assert readings("--readings", "plain", "--scenario", "read.yaml") == []


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
    command = ("--", "python3", "show.py")
    for arguments in (("exec", *command), ("sweep", *command), ("serve", "--port", "0")):
        outcome = run_here(*arguments)
        assert (arguments, outcome.status) == (arguments, 2)
        assert complaint in outcome.complaint


def test_readings_that_do_not_exist_are_refused_with_those_that_are_near() -> None:
    outcome = executed("--readings", "D66=silnt")
    assert outcome.status == 2
    assert "--readings: found 'D66=silnt'" in outcome.complaint
    assert "D66=silent" in outcome.complaint
