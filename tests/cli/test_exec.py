"""`exec`: the emulator for as long as one command runs. Each test runs the real command."""

import contextlib
import io
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from image_workflow_emulator.server.server import GRACE_SECONDS
from tests.cli.command import PATIENCE, asking, request_bytes, run_command, run_here
from tests.support.emulator_client import UPLOAD
from tests.support.served import (
    EMULATOR,
    PATIENCE_SECONDS,
    ROOT,
    Outcome,
    environment,
    next_line,
    read_answer,
    run_program,
    started,
    unused_port,
)
from tests.support.served_client import ServedClient


def run_exec(
    options: Sequence[str], command: Sequence[str], **variables: str
) -> Outcome:
    return run_command("exec", *options, "--", *command, **variables)


@contextmanager
def running(
    options: Sequence[str], command: Sequence[str]
) -> Iterator["subprocess.Popen[str]"]:
    """Run `exec` with a command that says `ready`, and have it go on."""
    with started(*EMULATOR, "exec", *options, "--", *command) as process:
        assert next_line(process) == "ready\n"
        yield process


def shell(script: str) -> list[str]:
    return ["sh", "-c", script]


# The command ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("script", "status"), [("exit 0", 0), ("exit 3", 3), ("kill -KILL $$", 128 + 9)]
)
def test_the_status_of_the_command_is_passed_on(script: str, status: int) -> None:
    assert run_exec([], shell(script)).status == status


def test_the_streams_are_those_of_the_command_alone() -> None:
    with running(
        ["--quiet"], shell("echo ready; read line; echo $line; echo complaint >&2")
    ) as process:
        assert process.communicate("said\n", timeout=PATIENCE_SECONDS) == (
            "said\n",
            "complaint\n",
        )


def test_the_reason_of_a_failure_is_told_without_the_report_too() -> None:
    outcome = run_exec(["--quiet", "--coverage-fail-under", "5"], ["true"])
    assert (1, "") == (outcome.status, outcome.output)
    assert "error: coverage: 0 % of the contract; wanted 5 %" in outcome.complaint


def test_a_reader_of_the_report_that_has_left_does_not_change_the_status() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as unread:
        command = [*EMULATOR, "exec", "--", *shell("exit 3")]
        assert (
            3
            == subprocess.run(
                command, cwd=ROOT, env=environment(), stderr=unread, check=False
            ).returncode
        )


PRINT_VARIABLES = shell(
    'echo "$IMAGE_WORKFLOW_BASE_URL $IMAGE_WORKFLOW_API_KEY $EMULATOR_URL $EMULATOR_CONTROL_TOKEN <$EMULATOR_SANDBOX>"'
)


def test_the_command_has_the_addresses_a_key_the_control_token_and_no_sandbox_of_another_emulator() -> (
    None
):
    variables = {
        "IMAGE_WORKFLOW_API_KEY": "a real one",
        "EMULATOR_SANDBOX": "elsewhere",
    }
    outcome = run_exec(["--control-token", "secret"], PRINT_VARIABLES, **variables)
    base_url, key, url, token, sandbox = outcome.output.split()
    assert (key, token, sandbox) == ("iwe_demo_full", "secret", "<>")
    assert base_url == url + "/v1"
    assert url.startswith("http://127.0.0.1:")


def test_the_port_is_free_or_the_one_that_is_asked_for() -> None:
    with unused_port() as port:
        by_option = run_exec(["--port", str(port)], PRINT_VARIABLES)
        by_variable = run_exec([], PRINT_VARIABLES, EMULATOR_PORT=str(port))
    assert {f"http://127.0.0.1:{port}"} == {
        outcome.output.split()[2] for outcome in (by_option, by_variable)
    }


@pytest.mark.parametrize(
    ("demo", "key"),
    [
        ("{key: ours, name: Full, profile: full}", "ours"),
        ("{key: reader, profile: read_only}", "iwe_demo_full"),
    ],
)
def test_the_key_is_the_first_full_one_of_demo_if_possible_active(
    tmp_path: Path, demo: str, key: str
) -> None:
    world = tmp_path / "world.yaml"
    other = "Other: {credentials: [{key: theirs, name: Full, profile: full}]}"
    world.write_text(
        f"teams: {{Demo: {{credentials: [{{key: iwe_demo_full, state: revoked}}, {demo}]}}, {other}}}"
    )
    assert run_exec(["--world", str(world)], PRINT_VARIABLES).output.split()[1] == key


@pytest.mark.parametrize(
    ("command", "status", "complaint"),
    [
        ("no-such-command", 127, "no-such-command: command not found"),
        ("/", 126, "/: Permission denied"),
    ],
)
def test_a_command_that_cannot_be_started_is_told_as_a_shell_does(
    command: str, status: int, complaint: str
) -> None:
    outcome = run_exec([], [command])
    assert (outcome.status, outcome.output) == (status, "")
    assert outcome.complaint == f"image-workflow-emulator: {complaint}\n"


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--scenario", "no-such-scenario"], 'found "no-such-scenario"'),
        (
            ["--report", "no/such/report.json"],
            "--report: cannot write no/such/report.json: no such file or directory",
        ),
        (
            ["--journal", "no/such"],
            "--journal: cannot write no/such: no such file or directory",
        ),
        (
            ["--report", "/proc/none.xml"],
            "--report: cannot write /proc/none.xml: no such file or directory",
        ),
        (
            ["--report", "report.txt"],
            "--report: found 'report.txt', expected a file whose name ends in .json, .xml, .html",
        ),
        (
            ["--save-state", "no/such"],
            "--save-state: cannot write no/such: no such file or directory",
        ),
        (
            ["--coverage-fail-under", "lots"],
            "--coverage-fail-under: found 'lots', expected a percentage from 0 to 100",
        ),
        (
            ["--readings", "D66=silnt"],
            "--readings: found 'D66=silnt', expected one of D66=silent, D66=plain; did you",
        ),
        (
            ["--ignore", "no-such-rule"],
            "--ignore: found 'no-such-rule', expected one of ",
        ),
        (
            ["--state", "README.md"],
            "image-workflow-emulator: README.md: the file is not a state file",
        ),
        (["--sed", "1"], "no such option '--sed'; did you mean \"--seed\"?"),
    ],
)
def test_after_bad_usage_the_command_is_not_started(
    options: list[str], complaint: str
) -> None:
    outcome = run_here("exec", *options, "--", "echo", "started")
    assert (outcome.status, outcome.output) == (2, "")
    assert complaint in outcome.complaint


def test_without_a_command_the_usage_is_told() -> None:
    outcome = run_here("exec", "--")
    assert outcome.status == 2
    assert outcome.complaint.startswith(
        "Usage: image-workflow-emulator exec [OPTIONS] -- COMMAND"
    )


def test_a_command_needs_no_dashes_before_it() -> None:
    outcome = run_command("exec", "--quiet", "sh", "-c", "echo $0", "--format")
    assert outcome.status == 0
    assert outcome.output == "--format\n"


# Signals and what is left ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["INT", "TERM", "HUP"])
def test_a_signal_is_passed_on_and_its_consequences_are_the_commands_affair(
    name: str,
) -> None:
    with running(
        [],
        shell(
            f"trap 'echo told; exit 7' {name}; echo ready; while :; do sleep 0.01; done"
        ),
    ) as process:
        process.send_signal(signal.Signals[f"SIG{name}"])
        output, _ = process.communicate(timeout=PATIENCE_SECONDS)
    assert (output, process.returncode) == ("told\n", 7)


def test_a_signal_reaches_the_whole_process_group_of_the_command() -> None:
    with running([], shell("sleep 60 & echo ready; wait")) as process:
        process.send_signal(signal.SIGTERM)
        _, complaint = process.communicate(timeout=PATIENCE_SECONDS)
    assert (process.returncode, "left processes behind" in complaint) == (
        128 + signal.SIGTERM,
        False,
    )


def test_a_signal_that_was_ignored_at_the_start_is_ignored_by_the_command_too() -> None:
    report_hangup = f'{sys.executable} -m image_workflow_emulator exec --quiet -- sh -c "kill -HUP \\$\\$; echo alive"'
    assert run_program("sh", "-c", f"trap '' HUP; {report_hangup}").output == "alive\n"


def test_where_the_end_of_children_was_ignored_the_command_is_waited_for_all_the_same() -> (
    None
):
    ignore = "import os, signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN); os.execv(sys.executable, sys.argv[1:])"
    command = [
        sys.executable,
        "-c",
        ignore,
        *EMULATOR,
        "exec",
        "--quiet",
        "--",
        *shell("exit 3"),
    ]
    assert run_program(*command).status == 3


def test_a_command_that_is_stopped_hears_of_a_signal_all_the_same() -> None:
    with running([], shell("echo ready; kill -STOP $$; exit 3")) as process:
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE_SECONDS) == 128 + signal.SIGTERM


def test_what_the_command_leaves_running_is_ended() -> None:
    outcome = run_exec(
        [], shell("sleep 60 & echo left")
    )  # returns once nobody can write to its output any more
    assert (outcome.status, outcome.output) == (0, "left\n")
    assert (
        "image-workflow-emulator: the command left processes behind; they were ended\n"
        in outcome.complaint
    )


def test_what_does_not_end_when_it_is_asked_to_is_killed() -> None:
    stubborn = "trap '' TERM; echo left; while :; do sleep 1; done"
    with running([], shell(f"(echo ready; {stubborn}) & read line")) as process:
        assert next_line(process) == "left\n"
        output, complaint = process.communicate("go on\n", timeout=PATIENCE_SECONDS)
    assert (output, process.returncode) == ("", 0)
    assert (
        "image-workflow-emulator: the command left processes behind; they were ended\n"
        in complaint
    )


EXEC_WITH_PATIENCE = """
import sys
from image_workflow_emulator.cli import child_process, main
child_process.FINISH_SECONDS = 60
sys.exit(main.main(["exec", "--", *sys.argv[1:]]))
"""


def test_what_the_command_leaves_running_may_finish_what_it_does() -> None:
    late = "while kill -0 $$ 2>&-; do sleep 0.01; done; echo late"  # once the command itself has ended
    outcome = run_program(
        sys.executable, "-c", EXEC_WITH_PATIENCE, *shell(f"({late}) & echo early")
    )
    assert outcome.output == "early\nlate\n"
    assert "left processes behind" not in outcome.complaint


# The end --------------------------------------------------------------------------------------------------------------

TELL_PORT = "echo ready; echo ${EMULATOR_URL##*:}; read line; exit 5"


@pytest.mark.parametrize(
    ("line", "body", "told"),
    [
        ("GET /v1/team", "", "getTeam  no answer lost: 1"),
        ("POST /v1/uploads", json.dumps(UPLOAD), "createUpload  no answer: 1"),
    ],
    ids=["stalled", "held"],
)
def test_nothing_that_a_scenario_keeps_waiting_delays_the_end(
    line: str, body: str, told: str, tmp_path: Path
) -> None:
    scenario = tmp_path / "patience.yaml"
    scenario.write_text(PATIENCE)
    with (
        running(["--scenario", str(scenario)], shell(TELL_PORT)) as process,
        socket.create_connection(
            ("127.0.0.1", port := int(next_line(process))), PATIENCE_SECONDS
        ) as connection,
    ):
        connection.sendall(request_bytes(line, body))
        client = ServedClient(f"http://127.0.0.1:{port}/v1")
        assert any(
            client.told("GET", "/requests?status=none")["data"] for _ in range(1_000)
        )
        began_at = time.monotonic()
        _, complaint = process.communicate("go on\n", timeout=PATIENCE_SECONDS)
        took_seconds = time.monotonic() - began_at
        with contextlib.suppress(ConnectionResetError):
            assert read_answer(connection) == b""
    assert took_seconds < GRACE_SECONDS  # which `serve` gives requests
    assert process.returncode == 5
    assert told in complaint
    assert "Traceback" not in complaint
    assert "rror" not in complaint


# The report -----------------------------------------------------------------------------------------------------------

HALF = """\
scenario: half
rules:
- {name: the second upload, match: {operation: createUpload}, when: {nth: 2}, then: {problem: service_unavailable}}
- {name: the third upload, match: {operation: createUpload}, when: {nth: 3}, then: {problem: service_unavailable}}
- {name: any Product, match: {operation: createProduct}, then: {problem: service_unavailable}}
"""
NO_REQUEST = ": no-request: the command sent no request to its emulator"


@pytest.mark.parametrize(
    ("options", "status"),
    [([], 0), (["--conduct", "fail"], 1), (["--quiet", "--conduct", "fail"], 1)],
)
def test_a_command_without_requests_is_told_and_fails_where_conduct_does(
    options: list[str], status: int
) -> None:
    outcome = run_exec(options, ["true"])
    assert (outcome.status, " ".join(outcome.complaint.split()).count(NO_REQUEST)) == (
        status,
        1,
    )


def test_a_report_that_cannot_be_written_after_all_ends_as_one_that_is_refused_before(
    tmp_path: Path,
) -> None:
    file = tmp_path / "reports" / "report.json"
    file.parent.mkdir()
    outcome = run_exec(["--quiet", "--report", str(file)], ["rmdir", str(file.parent)])
    complaint = (
        f"image-workflow-emulator: cannot write {file}: no such file or directory\n"
    )
    assert (outcome.status, outcome.complaint) == (2, complaint)


@pytest.mark.parametrize("form", ["json", "har"])
def test_report_and_journal_are_about_all_sandboxes_also_those_that_were_reset_or_deleted(
    tmp_path: Path, form: str
) -> None:
    file, half, journal = (
        tmp_path / "report.json",
        tmp_path / "half.yaml",
        tmp_path / f"journal.{form}",
    )
    half.write_text(HALF)
    command = asking(
        ("GET", "/v1/team", None),
        ("POST", "/_emulator/reset", {}),
        ("GET", "/v1/team", None),
        ("DELETE", "/_emulator/requests", None),
        ("POST", "/_emulator/clock/advance", {"seconds": 60}),
        ("POST", "/_emulator/sandboxes", {"id": "other", "clock": {"mode": "manual"}}),
        ("POST", "/_emulator/sandboxes/other/clock/advance", {"seconds": 30}),
        ("DELETE", "/_emulator/sandboxes/other", None),
        ("POST", "/v1/uploads", UPLOAD),
        ("POST", "/v1/uploads?", {**UPLOAD, "size_bytes": 6}),
        ("DELETE", "/_emulator/scenario", None),
        ("GET", "/v1/team", None),
    )
    options = [
        "--clock",
        "manual",
        "--scenario",
        str(half),
        "--report",
        str(file),
        "--journal",
        str(journal),
    ]
    assert run_exec(options, command).status == 0
    report = json.loads(file.read_text())
    requests = dict(report["tables"][0]["rows"])
    assert (
        requests["getTeam"] == "200: 2"
    )  # that of before the journal was cleared is not counted
    assert requests["createUpload"] == "201: 1  503 service_unavailable: 1"
    assert report["counts"]["emulator_time_ms"] == 90_000
    assert report["data"]["rules_never_fired"] == [
        "half: the third upload",
        "half: any Product",
    ]
    kept = json.loads(journal.read_text())
    if form == "json":
        told = [
            (entry["sandbox"], entry["operation"], entry["status"])
            for entry in kept["data"]
        ]
        uploads = [("default", "createUpload", status) for status in (201, 503)]
        assert [
            ("default", "getTeam", 200),
            *uploads,
            ("default", "getTeam", 200),
        ] == told
    else:
        answers = [entry["response"] for entry in kept["log"]["entries"]]
        assert ("1.2", [200, 201, 503, 200]) == (
            kept["log"]["version"],
            [answer["status"] for answer in answers],
        )
        assert "application/problem+json" == answers[2]["content"]["mimeType"]


# The terminal ---------------------------------------------------------------------------------------------------------

TAKE_TERMINAL = "import os, sys; os.open(os.ttyname(0), os.O_RDWR); os.execvp(sys.argv[1], sys.argv[1:])"
"""Makes the terminal of its input its own, as the leader of a session does, and becomes another program."""


def test_a_command_can_read_from_the_terminal_and_an_interrupt_there_reaches_it() -> (
    None
):
    own, other = pytest.importorskip("pty").openpty()
    exec_ = [
        *EMULATOR,
        "exec",
        "--quiet",
        "--",
        *shell("echo name; read name; echo hello $name; exec sleep 60"),
    ]
    command = [sys.executable, "-c", TAKE_TERMINAL, *exec_]
    streams = {"stdin": other, "stdout": other, "stderr": other}
    with (
        io.FileIO(own, "r+") as terminal,
        subprocess.Popen(
            command, cwd=ROOT, env=environment(), **streams, start_new_session=True
        ) as process,
    ):
        os.close(other)
        try:
            for words, typed in ((b"name", b"Ada\n"), (b"hello Ada", b"\x03")):
                seen = b""
                while words not in seen:
                    assert select.select([terminal], [], [], PATIENCE_SECONDS)[0], (
                        f"nothing came after {seen!r}"
                    )
                    seen += terminal.read(4096)
                terminal.write(typed)
            assert process.wait(PATIENCE_SECONDS) == 128 + signal.SIGINT
        finally:
            process.kill()


# What is kept ---------------------------------------------------------------------------------------------------------


def test_a_session_at_the_end_shows_what_was_asked_and_hides_the_keys_and_the_token(
    tmp_path: Path,
) -> None:
    file = tmp_path / "end.json"
    command = asking(("POST", "/v1/products", {"name": "iwe_demo_full"}))
    assert (
        0
        == run_exec(
            ["--quiet", "--control-token", "secret", "--save-state", str(file)], command
        ).status
    )
    (entry,) = json.loads(file.read_text())["answers"]["requests"]["data"]
    assert entry["explanation"]["remedy"].startswith("add /asset_ids")
    assert not any(
        secret in file.read_text()
        for secret in ("iwe_demo_full", "iwe_other_full", '"secret"')
    )
