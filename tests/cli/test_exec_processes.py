"""`exec`: signals and terminals for its command, and the processes that it leaves."""

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
from pathlib import Path

import pytest

from image_workflow_emulator.server.server import GRACE_SECONDS
from tests.cli.command import PATIENCE, request_bytes, run_exec, running_exec, shell
from tests.support.emulator_client import UPLOAD
from tests.support.served import (
    EMULATOR,
    PATIENCE_SECONDS,
    ROOT,
    environment,
    next_line,
    read_answer,
    run_program,
    started,
)
from tests.support.served_client import ServedClient

LEFT_BEHIND = (
    "image-workflow-emulator: the command left processes behind; they were ended\n"
)


# Signals -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["INT", "TERM", "HUP"])
def test_a_signal_is_passed_on_and_its_consequences_are_the_commands_affair(
    name: str,
) -> None:
    wait = "while :; do sleep 0.01; done"
    command = shell(f"trap 'echo told; exit 7' {name}; echo ready; {wait}")

    with running_exec([], command) as process:
        process.send_signal(signal.Signals[f"SIG{name}"])
        output, _ = process.communicate(timeout=PATIENCE_SECONDS)

    assert output == "told\n"
    assert process.returncode == 7


def test_a_signal_reaches_the_whole_process_group_of_the_command() -> None:
    with running_exec([], shell("sleep 60 & echo ready; wait")) as process:
        process.send_signal(signal.SIGTERM)
        _, complaint = process.communicate(timeout=PATIENCE_SECONDS)

    assert process.returncode == 128 + signal.SIGTERM
    assert LEFT_BEHIND not in complaint


def test_a_signal_that_was_ignored_at_the_start_is_ignored_by_the_command_too() -> None:
    command = 'sh -c "kill -HUP \\$\\$; echo alive"'
    exec_ = f"{sys.executable} -m image_workflow_emulator exec --quiet -- {command}"

    outcome = run_program("sh", "-c", f"trap '' HUP; {exec_}")

    assert outcome.output == "alive\n"


IGNORE_CHILDREN = """
import os, signal, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
os.execv(sys.executable, sys.argv[1:])
"""
"""Becomes another program, for which the system waits for children."""


def test_a_command_is_waited_for_where_the_end_of_children_was_ignored() -> None:
    exec_ = (*EMULATOR, "exec", "--quiet", "--", *shell("exit 3"))

    outcome = run_program(sys.executable, "-c", IGNORE_CHILDREN, *exec_)

    assert outcome.status == 3


def test_a_command_that_is_stopped_hears_of_a_signal_all_the_same() -> None:
    with running_exec([], shell("echo ready; kill -STOP $$; exit 3")) as process:
        process.send_signal(signal.SIGTERM)
        status = process.wait(PATIENCE_SECONDS)

    assert status == 128 + signal.SIGTERM


# What is left ------------------------------------------------------------------------


def test_what_the_command_leaves_running_is_ended() -> None:
    # It returns once nobody can write to its output any more.
    outcome = run_exec([], shell("sleep 60 & echo left"))

    assert outcome.status == 0
    assert outcome.output == "left\n"
    assert LEFT_BEHIND in outcome.complaint


def test_what_does_not_end_when_it_is_asked_to_is_killed() -> None:
    stubborn = "trap '' TERM; echo left; while :; do sleep 1; done"

    with running_exec([], shell(f"(echo ready; {stubborn}) & read line")) as process:
        assert next_line(process) == "left\n"
        output, complaint = process.communicate("go on\n", timeout=PATIENCE_SECONDS)

    assert output == ""
    assert process.returncode == 0
    assert LEFT_BEHIND in complaint


EXEC_WITH_PATIENCE = """
import sys
from image_workflow_emulator.cli import child_process, main
child_process.FINISH_SECONDS = 60
sys.exit(main.main(["exec", "--", *sys.argv[1:]]))
"""
UNTIL_COMMAND_HAS_ENDED = "while kill -0 $$ 2>&-; do sleep 0.01; done"


def test_what_the_command_leaves_running_may_finish_what_it_does() -> None:
    command = shell(f"({UNTIL_COMMAND_HAS_ENDED}; echo late) & echo early")

    outcome = run_program(sys.executable, "-c", EXEC_WITH_PATIENCE, *command)

    assert outcome.output == "early\nlate\n"
    assert LEFT_BEHIND not in outcome.complaint


TELL_PORT = "echo ready; echo ${EMULATOR_URL##*:}; read line; exit 5"


@pytest.mark.parametrize(
    ("line", "body", "summary"),
    [
        ("GET /v1/team", "", "getTeam  no answer lost: 1"),
        ("POST /v1/uploads", json.dumps(UPLOAD), "createUpload  no answer: 1"),
    ],
    ids=["stalled", "held"],
)
def test_nothing_that_a_scenario_keeps_waiting_delays_the_end(
    line: str,
    body: str,
    summary: str,
    tmp_path: Path,
) -> None:
    scenario = tmp_path / "patience.yaml"
    scenario.write_text(PATIENCE)

    with running_exec(["--scenario", str(scenario)], shell(TELL_PORT)) as process:
        address = ("127.0.0.1", int(next_line(process)))
        with socket.create_connection(address, PATIENCE_SECONDS) as connection:
            connection.sendall(request_bytes(line, body))
            wait_for_request(port=address[1])
            began_at = time.monotonic()
            _, complaint = process.communicate("go on\n", timeout=PATIENCE_SECONDS)
            took_seconds = time.monotonic() - began_at
            with contextlib.suppress(ConnectionResetError):
                assert read_answer(connection) == b""

    assert took_seconds < GRACE_SECONDS  # which `serve` gives requests
    assert process.returncode == 5
    assert summary in complaint
    assert "Traceback" not in complaint
    assert "rror" not in complaint


def wait_for_request(port: int) -> None:
    """Wait until the journal has a request that was not answered yet."""
    client = ServedClient(f"http://127.0.0.1:{port}/v1")
    polls = (client.told("GET", "/requests?status=none") for _ in range(1_000))
    assert any(answer["data"] for answer in polls)


# The terminal ------------------------------------------------------------------------

TAKE_TERMINAL = """
import os, sys
os.open(os.ttyname(0), os.O_RDWR)
os.execvp(sys.argv[1], sys.argv[1:])
"""
"""Makes the terminal of its input its own, as the leader of a session does.

Then it becomes another program.
"""


def read_until(terminal: io.FileIO, words: bytes) -> None:
    """Read from a terminal until these words have come."""
    seen = b""
    while words not in seen:
        readable, _, _ = select.select([terminal], [], [], PATIENCE_SECONDS)
        assert readable, f"nothing came after {seen!r}"
        seen += terminal.read(4096)


def test_a_command_can_read_from_the_terminal_and_an_interrupt_there_reaches_it() -> (
    None
):
    own, other = pytest.importorskip("pty").openpty()
    script = "echo name; read name; echo hello $name; exec sleep 60"
    exec_ = [*EMULATOR, "exec", "--quiet", "--", *shell(script)]

    with (
        io.FileIO(own, "r+") as terminal,
        subprocess.Popen(
            [sys.executable, "-c", TAKE_TERMINAL, *exec_],
            cwd=ROOT,
            env=environment(),
            stdin=other,
            stdout=other,
            stderr=other,
            start_new_session=True,
        ) as process,
    ):
        os.close(other)
        try:
            read_until(terminal, b"name")
            terminal.write(b"Ada\n")
            read_until(terminal, b"hello Ada")
            terminal.write(b"\x03")
            status = process.wait(PATIENCE_SECONDS)
        finally:
            process.kill()

    assert status == 128 + signal.SIGINT


# A signal before it is ready ---------------------------------------------------------


@pytest.mark.parametrize(
    ("number", "status"),
    [
        (signal.SIGTERM, -signal.SIGTERM),
        (signal.SIGINT, 128 + signal.SIGINT),
    ],
)
def test_a_signal_before_the_command_is_started_ends_it_silently(
    number: signal.Signals,
    status: int,
    tmp_path: Path,
) -> None:
    world = tmp_path / "world.yaml"
    os.mkfifo(world)
    options = ("--world", str(world))

    with (
        started(*EMULATOR, "exec", *options, "--", "echo", "started") as process,
        world.open("w"),  # which waits until it is being read
    ):
        process.send_signal(number)
        output, complaint = process.communicate(timeout=PATIENCE_SECONDS)

    assert process.returncode == status
    assert output == ""
    assert complaint == ""
