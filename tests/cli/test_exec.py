"""`exec`: the command that it runs, with its status, streams and variables."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.cli.command import run_command, run_exec, run_here, running_exec, shell
from tests.support.served import (
    EMULATOR,
    PATIENCE_SECONDS,
    ROOT,
    environment,
    unused_port,
)

PRINT_URL = shell("echo $EMULATOR_URL")


# Status and streams ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("script", "status"),
    [("exit 0", 0), ("exit 3", 3), ("kill -KILL $$", 128 + 9)],
)
def test_the_status_of_the_command_is_passed_on(script: str, status: int) -> None:
    assert run_exec([], shell(script)).status == status


def test_the_streams_are_those_of_the_command_alone() -> None:
    script = "echo ready; read line; echo $line; echo complaint >&2"

    with running_exec(["--quiet"], shell(script)) as process:
        output, complaint = process.communicate("said\n", timeout=PATIENCE_SECONDS)

    assert output == "said\n"
    assert complaint == "complaint\n"


def test_the_reason_of_a_failure_is_told_without_the_report_too() -> None:
    outcome = run_exec(["--quiet", "--coverage-fail-under", "5"], ["true"])

    assert outcome.status == 1
    assert outcome.output == ""
    assert "error: coverage: 0 % of the contract; wanted 5 %" in outcome.complaint


def test_a_reader_of_the_report_that_has_left_does_not_change_the_status() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = [*EMULATOR, "exec", "--", *shell("exit 3")]

    with os.fdopen(writer, "w") as unread:
        finished = subprocess.run(
            command,
            cwd=ROOT,
            env=environment(),
            stderr=unread,
            check=False,
        )

    assert finished.returncode == 3


def test_a_command_needs_no_dashes_before_it() -> None:
    outcome = run_command("exec", "--quiet", "sh", "-c", "echo $0", "--format")

    assert outcome.status == 0
    assert outcome.output == "--format\n"


# Variables ---------------------------------------------------------------------------

PRINT_VARIABLES = """\
echo "$IMAGE_WORKFLOW_BASE_URL"
echo "$IMAGE_WORKFLOW_API_KEY"
echo "$EMULATOR_URL"
echo "$EMULATOR_CONTROL_TOKEN"
echo "$EMULATOR_SANDBOX"
"""


def test_the_command_has_the_addresses_a_key_and_the_control_token() -> None:
    variables = {
        "IMAGE_WORKFLOW_API_KEY": "a real one",
        "EMULATOR_SANDBOX": "elsewhere",
    }

    outcome = run_exec(
        ["--control-token", "secret"],
        shell(PRINT_VARIABLES),
        **variables,
    )

    base_url, key, url, token, sandbox = outcome.output.splitlines()
    assert url.startswith("http://127.0.0.1:")
    assert base_url == f"{url}/v1"
    assert key == "iwe_demo_full"
    assert token == "secret"
    assert sandbox == ""  # one of another emulator would be none of this one


def test_the_port_is_the_one_that_the_option_names() -> None:
    with unused_port() as port:
        outcome = run_exec(["--port", str(port)], PRINT_URL)

    assert outcome.output == f"http://127.0.0.1:{port}\n"


def test_the_port_is_the_one_that_the_variable_names() -> None:
    with unused_port() as port:
        outcome = run_exec([], PRINT_URL, EMULATOR_PORT=str(port))

    assert outcome.output == f"http://127.0.0.1:{port}\n"


# Refusals ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "status", "complaint"),
    [
        ("no-such-command", 127, "no-such-command: command not found"),
        ("/", 126, "/: Permission denied"),
    ],
)
def test_a_command_that_cannot_be_started_is_told_as_a_shell_does(
    command: str,
    status: int,
    complaint: str,
) -> None:
    outcome = run_exec([], [command])

    assert outcome.status == status
    assert outcome.output == ""
    assert outcome.complaint == f"image-workflow-emulator: {complaint}\n"


@pytest.mark.parametrize(
    ("option", "value", "complaint"),
    [
        ("--report", "no/such.json", "cannot write no/such.json: no such file or dir"),
        ("--report", "/proc/none.xml", "cannot write /proc/none.xml: no such file"),
        (
            "--report",
            "report.txt",
            "found 'report.txt', expected a file whose name ends in .json, .xml, .html",
        ),
        ("--journal", "no/such", "cannot write no/such: no such file or directory"),
        ("--save-state", "no/such", "cannot write no/such: no such file or directory"),
        (
            "--coverage-fail-under",
            "lots",
            "found 'lots', expected a percentage from 0 to 100",
        ),
        (
            "--readings",
            "D66=silnt",
            "found 'D66=silnt', expected one of D66=silent, D66=plain; did you",
        ),
        ("--ignore", "no-such-rule", "found 'no-such-rule', expected one of "),
    ],
)
def test_after_a_bad_value_the_command_is_not_started(
    option: str,
    value: str,
    complaint: str,
) -> None:
    outcome = run_here("exec", option, value, "--", "echo", "started")

    assert outcome.status == 2
    assert outcome.output == ""
    assert f"{option}: {complaint}" in outcome.complaint


def test_after_an_unknown_scenario_the_command_is_not_started() -> None:
    outcome = run_here("exec", "--scenario", "no-such", "--", "echo", "started")

    assert outcome.status == 2
    assert outcome.output == ""
    assert 'found "no-such"' in outcome.complaint


def test_after_a_bad_state_file_the_command_is_not_started() -> None:
    outcome = run_here("exec", "--state", "README.md", "--", "echo", "started")

    complaint = "image-workflow-emulator: README.md: the file is not a state file"
    assert outcome.status == 2
    assert outcome.output == ""
    assert outcome.complaint.startswith(complaint)


def test_after_an_unknown_option_the_command_is_not_started() -> None:
    outcome = run_here("exec", "--sed", "1", "--", "echo", "started")

    assert outcome.status == 2
    assert outcome.output == ""
    assert "no such option '--sed'; did you mean \"--seed\"?" in outcome.complaint


def test_without_a_command_the_usage_is_told() -> None:
    outcome = run_here("exec", "--")

    usage = "Usage: image-workflow-emulator exec [OPTIONS] -- COMMAND"
    assert outcome.status == 2
    assert outcome.complaint.startswith(usage)


def test_a_report_that_cannot_be_written_after_all_ends_as_one_that_is_refused_before(
    tmp_path: Path,
) -> None:
    file = tmp_path / "reports" / "report.json"
    file.parent.mkdir()
    remove_folder = ["rmdir", str(file.parent)]

    outcome = run_exec(["--quiet", "--report", str(file)], remove_folder)

    reason = f"cannot write {file}: no such file or directory"
    assert outcome.status == 2
    assert outcome.complaint == f"image-workflow-emulator: {reason}\n"
