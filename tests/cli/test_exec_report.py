"""The report of `exec`: the outcome, what the run did not show, and what to run next."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from image_workflow_emulator.cli.background_writer import written_in_background
from tests.cli.command import reading, run_command
from tests.cli.test_log import full_pipe
from tests.support.served import EMULATOR, ROOT, Outcome, environment

READ_TEAM = reading("/v1/team")
READ_IN_SHELL = (
    'curl -s -H "Authorization: Bearer $IMAGE_WORKFLOW_API_KEY" '
    '"$IMAGE_WORKFLOW_BASE_URL/team"'
)
FAILING = ["sh", "-c", "exit 3"]
OUTCOME = "the command ended with status 3; 0 requests"
FIRST_READ_FAILS = """\
scenario: mine
rules:
  - name: first read
    match: {operation: getTeam}
    when: {nth: 1}
    then: {problem: internal_error}
  - name: any upload
    match: {operation: createUpload}
    then: {problem: internal_error}
"""
READ_IN_SANDBOXES = """
import json
import os
from tests.support.served_client import ServedClient

url = os.environ["EMULATOR_URL"]
control = ServedClient(url)
for options in json.loads(os.environ["SANDBOXES"]):
    sandbox = control.told("POST", "/sandboxes", options)
    key = sandbox["env"]["IMAGE_WORKFLOW_API_KEY"]
    client = ServedClient(f"{url}/v1", key)
    client.get("/team")
    if options.get("id") == "deleted":
        control.told("DELETE", "/sandboxes/deleted")
"""
"""Makes sandboxes, and reads the Team in each."""


def run(
    *options: str,
    command: list[str] = READ_TEAM,
    **variables: str,
) -> Outcome:
    return run_command("exec", *options, "--", *command, **variables)


def report_of(
    *options: str,
    command: list[str] = READ_TEAM,
    **variables: str,
) -> Any:
    outcome = run(
        "--format",
        "json",
        *options,
        command=command,
        **variables,
    )
    return json.loads(outcome.output)


def reading_in_sandboxes(*sandboxes: Any) -> dict[str, Any]:
    """The arguments of `run` for a command that reads in sandboxes of its own."""
    command = [sys.executable, "-c", READ_IN_SANDBOXES]
    return {"command": command, "SANDBOXES": json.dumps(sandboxes)}


def findings(report: Any, rule: str) -> list[Any]:
    return [finding for finding in report["findings"] if finding["rule"] == rule]


@pytest.fixture
def scenario(tmp_path: Path) -> str:
    file = tmp_path / "mine.yaml"
    file.write_text(FIRST_READ_FAILS)
    return str(file)


# The outcome -------------------------------------------------------------------------


def test_the_outcome_is_first_in_the_text() -> None:
    outcome = run(command=FAILING)

    expected = f"Image Workflow Emulator: {OUTCOME}"
    assert outcome.complaint.startswith(expected)


def test_the_outcome_is_first_in_the_summary_of_the_json() -> None:
    report = report_of(command=FAILING)

    assert report["summary"].startswith(OUTCOME)


def test_the_outcome_is_first_in_the_page(tmp_path: Path) -> None:
    file = tmp_path / "report.html"

    run("--report", str(file), command=FAILING)

    page = file.read_text()
    assert f"<pre>{OUTCOME}" in page


def test_the_outcome_is_first_in_junit(tmp_path: Path) -> None:
    file = tmp_path / "report.xml"

    run("--report", str(file), command=FAILING)

    suites = ET.parse(file).getroot()
    outcome = suites[0][0]
    failure = outcome[0]
    message = str(failure.get("message"))
    assert outcome.get("name") == "outcome"
    assert failure.tag == "failure"
    assert message.startswith(OUTCOME)


# The next command --------------------------------------------------------------------


def next_words(
    *options: str,
    command: list[str] = READ_TEAM,
    **variables: str,
) -> Any:
    """The words of the next command after one with these options."""
    report = report_of(*options, command=command, **variables)
    (line,) = report["next"]
    assert "\n" not in line
    return shlex.split(line)


@pytest.mark.parametrize(
    ("options", "added"),
    [
        ([], ["--journal", "journal.json"]),
        (
            ["--clock", "manual", "--scenario=answer-lost"],
            ["--journal", "journal.json"],
        ),
        (["--journal", "j.har"], ["--save-state", "session.json"]),
    ],
)
def test_after_a_failure_the_same_command_shows_more(
    options: list[str],
    added: list[str],
    tmp_path: Path,
) -> None:
    journal = str(tmp_path / "j.har")
    options = [word.replace("j.har", journal) for word in options]

    words = next_words(*options, command=FAILING)

    typed = ["--format", "json", *options]
    program = ["image-workflow-emulator", "exec"]
    assert words == [*program, *typed, *added, "--", *FAILING]


@pytest.mark.parametrize(
    ("options", "added"),
    [
        ([], ["--conduct", "fail"]),
        (["--conduct", "fail"], ["--scenario", "flaky-network"]),
        (
            ["--conduct", "fail", "--scenario", "some-outputs-fail"],
            ["--coverage", "coverage.html"],
        ),
    ],
)
def test_after_a_success_the_same_command_asks_more(
    options: list[str],
    added: list[str],
) -> None:
    words = next_words(*options, command=["sh", "-c", READ_IN_SHELL])

    end_of_options = words.index("--")
    assert words[4:end_of_options] == [*options, *added]


def test_an_option_that_a_variable_gave_is_not_suggested() -> None:
    words = next_words(
        "--conduct",
        "fail",
        command=["sh", "-c", READ_IN_SHELL],
        EMULATOR_SCENARIO="some-outputs-fail",
    )

    options = words[: words.index("--")]
    assert "--scenario" not in options
    assert options[-2:] == ["--coverage", "coverage.html"]


def test_a_command_that_has_all_options_has_no_next_one(tmp_path: Path) -> None:
    options = ["--report", str(tmp_path / "report.json")]
    options += ["--journal", str(tmp_path / "journal.json")]
    options += ["--save-state", str(tmp_path / "state.zip")]

    report = report_of(*options, command=FAILING)

    assert report["next"] == []


@pytest.mark.parametrize(
    "option",
    [["--control-token", "abc"], ["--control-token=abc"]],
)
def test_the_next_command_does_not_tell_the_control_token(option: list[str]) -> None:
    words = next_words(*option, command=FAILING)

    line = " ".join(words)
    assert "abc" not in line
    assert line.count("TOKEN") == 1


# A scenario that the requests did not meet -------------------------------------------

MISSED = "scenario-missed"


def test_requests_in_sandboxes_without_the_scenario_are_a_warning(
    scenario: str,
) -> None:
    sandboxes = reading_in_sandboxes({"scenario": None}, {"scenario": "answer-lost"})

    report = report_of("--scenario", scenario, **sandboxes)

    (finding,) = findings(report, MISSED)
    assert finding["severity"] == "warning"
    assert finding["message"] == (
        "the rules of the scenario mine met no request; 2 requests went to sandboxes "
        "without it"
    )
    assert report["ok"]


def test_requests_in_sandboxes_without_the_scenario_are_an_error_where_conduct_fails(
    scenario: str,
) -> None:
    sandboxes = reading_in_sandboxes({"scenario": None})

    outcome = run("--scenario", scenario, "--conduct", "fail", **sandboxes)

    assert outcome.status == 1
    assert f"error: {MISSED}: the rules of the scenario mine" in outcome.complaint


def test_a_scenario_without_rules_is_missed_too() -> None:
    sandboxes = reading_in_sandboxes({"scenario": None})

    report = report_of("--scenario", "rate-limited", **sandboxes)

    (finding,) = findings(report, MISSED)
    assert finding["message"].startswith("the scenario rate-limited met no request")


@pytest.mark.parametrize(
    "sandboxes",
    [
        [{}],
        [{}, {"scenario": None}],
        [{"id": "deleted"}],
    ],
    ids=str,
)
def test_a_scenario_that_met_a_request_in_any_sandbox_is_not_missed(
    scenario: str,
    sandboxes: list[Any],
) -> None:
    command = reading_in_sandboxes(*sandboxes)

    report = report_of("--scenario", scenario, **command)

    assert findings(report, MISSED) == []


def test_a_command_without_a_scenario_misses_none() -> None:
    command = reading_in_sandboxes({"scenario": None})

    report = report_of(**command)

    assert findings(report, MISSED) == []


def test_rules_that_never_fired_are_told_of_all_sandboxes_together(
    scenario: str,
) -> None:
    sandboxes = reading_in_sandboxes({}, {"id": "deleted"}, {"scenario": None})

    report = report_of("--scenario", scenario, **sandboxes)

    assert report["data"]["rules_never_fired"] == ["mine: any upload"]


def test_nothing_is_said_of_requests_that_an_interrupted_command_did_not_send(
    scenario: str,
) -> None:
    command = ["sh", "-c", "kill -TERM $$"]

    report = report_of("--scenario", scenario, command=command)

    assert report["findings"] == []


# What is saved -----------------------------------------------------------------------


def saved_row(
    *options: str,
    file: Path,
    **arguments: Any,
) -> str:
    report = report_of("--save-state", str(file), *options, **arguments)
    first_table = report["tables"][0]
    words: str = dict(first_table["rows"])["saved"]
    return words


def test_the_report_says_which_sandbox_is_saved(tmp_path: Path) -> None:
    file = tmp_path / "end.zip"

    words = saved_row(file=file)

    assert words == f"the sandbox default, in {file}"


def test_the_report_says_which_requests_are_not_saved(tmp_path: Path) -> None:
    sandboxes = reading_in_sandboxes({"id": "a"}, {"id": "b"})

    words = saved_row(file=tmp_path / "end.zip", **sandboxes)

    assert words.endswith("; not saved: 2 requests to other sandboxes (a, b)")


# The environment of the command ------------------------------------------------------

PRINT_NO_PROXY = ["sh", "-c", 'echo "$NO_PROXY" "$no_proxy"']
LOCAL = "127.0.0.1,localhost"


@pytest.mark.parametrize(
    ("variables", "upper", "lower"),
    [
        ({}, LOCAL, LOCAL),
        ({"NO_PROXY": "corp"}, f"corp,{LOCAL}", f"corp,{LOCAL}"),
        ({"NO_PROXY": "a", "no_proxy": "b"}, f"a,{LOCAL}", f"b,{LOCAL}"),
        ({"no_proxy": "localhost"}, "localhost,127.0.0.1", "localhost,127.0.0.1"),
        ({"NO_PROXY": "*"}, "*", "*"),
    ],
)
def test_no_proxy_gets_the_requests_of_the_command(
    variables: dict[str, str],
    upper: str,
    lower: str,
) -> None:
    outcome = run("--quiet", command=PRINT_NO_PROXY, **variables)

    assert outcome.output.split() == [upper, lower]


def test_a_client_that_uses_the_proxy_of_the_environment_reaches_the_emulator() -> None:
    program = """
import os
import urllib.request

url = os.environ["EMULATOR_URL"]
urllib.request.urlopen(url + "/_emulator/health")
"""
    command = [sys.executable, "-c", program]

    outcome = run("--quiet", command=command, HTTP_PROXY="http://127.0.0.1:9")
    assert outcome.status == 0


# A slow reader -----------------------------------------------------------------------


def test_a_report_waits_for_a_slow_reader() -> None:
    command = [*EMULATOR, "exec", "--", "echo", "done"]
    with (
        full_pipe() as (reader, unread),
        subprocess.Popen(
            command,
            cwd=ROOT,
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=unread,
            text=True,
        ) as process,
    ):
        assert process.stdout is not None
        assert process.stdout.readline() == "done\n"
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(4)
        os.set_blocking(reader, False)
        complaint = b""
        while process.poll() is None or b"next: " not in complaint:
            complaint += _read_some(reader)

    assert b"Image Workflow Emulator: the command ended with status 0" in complaint
    assert b"next: " in complaint


def _read_some(reader: int) -> bytes:
    try:
        return os.read(reader, 65_536)
    except BlockingIOError:
        return b""


def test_a_reader_that_comes_too_late_is_told_what_was_left_out() -> None:
    with full_pipe() as (reader, unread):
        with (
            os.fdopen(unread, "w", closefd=False) as stream,
            written_in_background(stream, close_seconds=0.1) as unblocked,
        ):
            unblocked.write("a line\n" * 1000)
        taken = b""
        while not taken.endswith(b"left out: the reader was too slow\n"):
            taken += os.read(reader, 65_536)

    assert b"\n415 lines left out" in taken
