"""The log of `serve` and `exec`: its lines, and readers that are slow or have gone."""

import json
import os
import pty
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from http.client import HTTPConnection
from signal import SIGINT, SIGTERM, Signals
from typing import Any
from urllib.parse import quote

import pytest

from tests.cli.command import ask, run_command
from tests.support.served import (
    EMULATOR,
    PATIENCE_SECONDS,
    ROOT,
    Server,
    environment,
    serving,
    unused_port,
)

MALFORMED = b"hello\r\n"
"""Bytes that the server library logs as an invalid request."""
STOP_SECONDS = 10
"""The limit in the documentation, and that of containers."""


@contextmanager
def full_pipe() -> Iterator[tuple[int, int]]:
    """Give the ends of a pipe that takes nothing more until it is read."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    with suppress(BlockingIOError):
        while True:
            os.write(writer, b"." * 4096)
    os.set_blocking(writer, True)
    try:
        yield reader, writer
    finally:
        os.close(reader)
        os.close(writer)


def send_malformed_and_sound(server: Server) -> None:
    server.converse(MALFORMED)
    assert ask(server, "/v1/team")["name"] == "Demo"


# Lines --------------------------------------------------------------------------------


LINK = f"/files/default/ast_1-{'0' * 32}.png"


def send_one_of_each(server: Server) -> None:
    """Send what is no request, and requests that are answered and refused."""
    server.converse(MALFORMED)
    ask(server, "/v1/team")
    ask(server, "/v1/team", "iwe_demo_expired")
    ask(server, LINK)


@pytest.fixture(scope="module")
def lines() -> list[str]:
    """The log of one of each."""
    with serving() as server:
        send_one_of_each(server)
        return server.stop().complaint.splitlines()


@pytest.fixture(scope="module")
def objects() -> list[Any]:
    """The same log as JSON."""
    with serving("--log-format", "json") as server:
        send_one_of_each(server)
        return [json.loads(line) for line in server.stop().complaint.splitlines()]


def test_a_record_is_a_line_with_time_and_level(lines: list[str]) -> None:
    time_and_level, _, message = lines[0].partition(" a client")

    assert time_and_level[10] == "T"
    assert time_and_level[23:] == "Z warning"
    assert message == " sent bytes that are no HTTP/1.1 request"


def test_the_line_of_a_request_names_status_operation_and_team(
    lines: list[str],
) -> None:
    words = lines[1].split()

    assert words[1:3] == ["200", "getTeam"]
    assert words[-1] == "Demo"


def test_the_line_of_a_refused_request_ends_with_the_remedy(lines: list[str]) -> None:
    words = lines[2].split()

    assert words[1:4] == ["401", "getTeam", "credential_expired"]
    assert lines[2].endswith("  Demo  -> use the Team's credential 'Full'")


def test_the_line_of_a_link_hides_its_signature(lines: list[str]) -> None:
    assert "  404  GET /files/default/ast_1-….png  not_found  " in lines[3]


def test_each_record_and_request_is_one_line(lines: list[str]) -> None:
    assert len(lines) == 4


def test_with_json_a_record_is_an_object(objects: list[Any]) -> None:
    record = objects[0]

    assert record["level"] == "warning"
    assert record["message"] == "a client sent bytes that are no HTTP/1.1 request"


def test_with_json_a_request_is_an_object(objects: list[Any]) -> None:
    request = objects[2]

    assert request["status"] == 401
    assert request["operation"] == "getTeam"
    assert request["code"] == "credential_expired"
    assert request["team"] == "Demo"
    assert request["sandbox"] == "default"


def test_records_and_requests_are_in_the_order_in_which_they_came() -> None:
    with serving() as server:
        for _ in range(3):
            send_malformed_and_sound(server)
        lines = server.stop().complaint.splitlines()

    assert ["getTeam" in line for line in lines] == [False, True] * 3


# Readers ------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [SIGTERM, SIGINT])
def test_a_server_whose_log_is_not_read_answers_and_stops(number: Signals) -> None:
    with full_pipe() as (_, unread), serving(stderr=unread) as server:
        for _ in range(5):
            send_malformed_and_sound(server)
        began_at = time.monotonic()
        status = server.stop(number).status
        stop_seconds = time.monotonic() - began_at

    assert status == 0
    assert stop_seconds < STOP_SECONDS


def test_a_server_whose_start_up_message_is_not_read_answers_and_stops() -> None:
    with (
        full_pipe() as (_, unread),
        unused_port() as port,
        subprocess.Popen(
            [*EMULATOR, "serve", "--port", str(port)],
            cwd=ROOT,
            env=environment(),
            stdout=unread,
            stderr=subprocess.DEVNULL,
        ) as process,
    ):
        try:
            waited = run_command("wait", EMULATOR_PORT=str(port))
            process.send_signal(SIGTERM)
            status = process.wait(STOP_SECONDS)
        finally:
            process.kill()

    assert waited.status == 0
    assert status == 0


SEND_MALFORMED_AND_SOUND = """
import os, socket
address = os.environ["EMULATOR_URL"].removeprefix("http://")
host, port = address.split(":")
for sent in b"hello\\r\\n", b"GET /v1/team HTTP/1.0\\r\\n\\r\\n":
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall(sent)
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
print(answer.decode().splitlines()[0])
raise SystemExit(3)
"""


@pytest.mark.parametrize("report", ["written", "not-written"])
def test_exec_whose_standard_error_is_not_read_ends_as_its_command(report: str) -> None:
    options = ["--access-log", "on"]
    if report == "not-written":
        options.append("--quiet")
    command = [sys.executable, "-c", SEND_MALFORMED_AND_SOUND]
    with full_pipe() as (_, unread):
        finished = subprocess.run(
            [*EMULATOR, "exec", *options, "--", *command],
            cwd=ROOT,
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=unread,
            text=True,
            timeout=PATIENCE_SECONDS,
            check=False,
        )

    assert finished.stdout == "HTTP/1.1 401 Unauthorized\n"
    assert finished.returncode == 3


def test_a_server_goes_on_when_the_reader_of_its_log_has_gone() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer) as unread, serving(stderr=unread.fileno()) as server:
        for _ in range(3):
            send_malformed_and_sound(server)
        status = server.stop().status

    assert status == 0


def test_lines_that_are_left_out_are_counted_once_the_log_is_read() -> None:
    # As JSON, a character outside of Unicode's first plane takes 12 bytes.
    path = f"/v1/{quote(chr(0x1F600) * 490)}"
    request_number = 800
    with (
        full_pipe() as (reader, unread),
        serving("--log-format", "json", stderr=unread) as server,
        os.fdopen(reader, "rb", closefd=False) as log,
        closing(HTTPConnection("127.0.0.1", server.port)) as connection,
    ):
        for _ in range(request_number):
            connection.request("GET", path)
            connection.getresponse().read()
        entries = [json.loads(log.readline().lstrip(b"."))]
        while entries[-1]["logger"] == "access":
            entries.append(json.loads(log.readline()))
        *requests, note = entries

    left_out = request_number - len(requests)
    assert left_out > 0
    assert note["level"] == "warning"
    assert note["message"] == f"{left_out} lines left out: the reader was too slow"


# At a terminal -----------------------------------------------------------------------

READS_TEAM = """\
import os
from urllib.request import Request, urlopen

key = os.environ["IMAGE_WORKFLOW_API_KEY"]
address = os.environ["IMAGE_WORKFLOW_BASE_URL"] + "/team"
urlopen(Request(address, headers={"Authorization": f"Bearer {key}"})).read()
"""


def log_at_a_terminal(**variables: str) -> bytes:
    """The log of a request, as a terminal gets it."""
    command = (sys.executable, "-c", READS_TEAM)
    terminal, standard_error = pty.openpty()
    try:
        subprocess.run(
            [*EMULATOR, "exec", "--access-log", "on", "--", *command],
            cwd=ROOT,
            env=environment(**variables),
            stdout=subprocess.DEVNULL,
            stderr=standard_error,
            timeout=PATIENCE_SECONDS,
            check=True,
        )
        return os.read(terminal, 65_536)
    finally:
        os.close(terminal)
        os.close(standard_error)


def test_a_status_has_its_colour_at_a_terminal() -> None:
    assert b"  \x1b[32m200\x1b[0m  getTeam" in log_at_a_terminal()


def test_no_colour_is_shown_at_a_terminal_that_wants_none() -> None:
    assert b"  200  getTeam" in log_at_a_terminal(NO_COLOR="1")
