"""`serve`: from the start-up message to its end by a signal."""

import ctypes
import json
import logging
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from signal import SIGINT, SIGTERM, Signals
from typing import NamedTuple
from urllib.parse import urlsplit

import pytest

from image_workflow_emulator.cli.serving import started as started_application
from image_workflow_emulator.cli.statuses import INTERRUPTED
from image_workflow_emulator.server.server import GRACE_SECONDS
from image_workflow_emulator.settings import Settings
from tests.cli.command import PATIENCE, ask, request_bytes, run_command, told
from tests.support.emulator_client import UPLOAD, Call, Json, completion_call
from tests.support.pictures import slow_jpeg
from tests.support.served import (
    EMULATOR,
    PATIENCE_SECONDS,
    Server,
    read_answer,
    serving,
    started,
)
from tests.support.served_client import ServedClient

UNFINISHED = (
    b"POST /v1/products HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{"
)
"""A request whose body does not come to its end."""


# Ready -------------------------------------------------------------------------------


def test_the_start_up_message_ends_with_the_ready_line(server: Server) -> None:
    assert server.start_up[-1] == f"ready http://127.0.0.1:{server.port}/v1"


@pytest.mark.parametrize(
    "words",
    [
        "clock     manual, at 2026-01-01T00:00:00.000Z\n",
        "iwe_demo_full",
        "iwe_demo_read",
        "iwe_other_full",
        "iwe_lapsed_full",
        "iwe_broke_full",
    ],
)
def test_the_start_up_message_names_the_clock_and_the_keys(
    server: Server,
    words: str,
) -> None:
    assert words in "\n".join(server.start_up)


def test_the_start_up_message_names_the_address(server: Server) -> None:
    message = "\n".join(server.start_up)

    assert f"base URL  http://127.0.0.1:{server.port}/v1\n" in message


def test_once_ready_it_answers_without_headers_of_the_server_library(
    server: Server,
) -> None:
    answer = server.converse(request_bytes("GET /v1/team", ends=True))

    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 OK\r\n")
    assert json.loads(body)["name"] == "Demo"
    assert b"\r\nserver:" not in head.lower()
    assert b"\r\ndate:" not in head.lower()


def test_a_name_with_addresses_of_both_kinds_is_served_at_the_older_one() -> None:
    with serving("--host", "localhost") as server:
        assert server.url == f"http://127.0.0.1:{server.port}"


def test_the_public_address_is_the_one_that_is_told() -> None:
    with serving("--public-url", "https://emulator.example/api/") as server:
        assert "  base URL  https://emulator.example/api/v1" in server.start_up
        assert server.start_up[-1] == f"ready http://127.0.0.1:{server.port}/v1"


# Warnings ----------------------------------------------------------------------------


def warnings_at_start(
    caplog: pytest.LogCaptureFixture,
    settings: Settings | None = None,
    **variables: str,
) -> list[str]:
    """Start an application as `serve` and `exec` do, and return what is logged."""
    caplog.set_level(logging.WARNING)
    with started_application(settings or Settings(port=0), variables):
        return caplog.messages


@pytest.mark.parametrize(
    ("host", "control_token", "is_warned"),
    [("0.0.0.0", None, True), ("0.0.0.0", "secret", False), ("127.0.0.1", None, False)],
)
def test_a_control_plane_that_other_machines_can_reach_is_warned_of(
    caplog: pytest.LogCaptureFixture,
    host: str,
    control_token: str | None,
    is_warned: bool,
) -> None:
    settings = Settings(
        port=0,
        host=host,
        control_token=control_token,
    )

    warnings = warnings_at_start(caplog, settings)

    warning = "listening on 0.0.0.0: without --control-token"
    assert is_warned == any(warning in message for message in warnings)


def test_a_variable_that_means_nothing_is_a_warning(
    caplog: pytest.LogCaptureFixture,
) -> None:
    warnings = warnings_at_start(caplog, EMULATOR_CLOK="auto", EMULATOR_SANDBOX="a")

    assert warnings == ["unknown variable EMULATOR_CLOK"]


def test_warnings_at_the_start_are_lines_of_the_log() -> None:
    with serving("--host", "0.0.0.0", EMULATOR_FOO="1") as server:
        unknown, reachable = server.stop().complaint.splitlines()

    assert unknown.endswith(" warning unknown variable EMULATOR_FOO")
    assert "listening on 0.0.0.0: without --control-token" in reachable


# What a file gives -------------------------------------------------------------------


def check_that_it_was_given(server: Server) -> None:
    (product,) = ask(server, "/v1/products")["data"]
    (shoot,) = ask(server, "/v1/generations")["data"]

    assert product["name"] == "Linen shirt"
    assert shoot["status"] == "completed"
    # The two reads, and nothing of what was given.
    assert ask(server, "/_emulator/requests")["total"] == 2


def test_what_a_file_gives_is_there_at_the_start_and_after_a_reset_off_the_record(
    tmp_path: Path,
) -> None:
    file = tmp_path / "given.yaml"
    file.write_text(
        "given:\n"
        "- product: {name: Linen shirt, photos: 2}\n"
        "- photoshoot: {products: [Linen shirt]}\n"
    )

    with serving("--clock", "auto", EMULATOR_GIVEN=str(file)) as server:
        check_that_it_was_given(server)
        ask(server, "/_emulator/reset", method="POST")
        check_that_it_was_given(server)


@pytest.mark.parametrize(
    "command",
    [["serve", "--port", "0"], ["exec", "--", "echo", "started"]],
    ids=["serve", "exec"],
)
def test_a_bad_file_of_what_is_given_is_refused_before_it_is_ready(
    command: list[str],
    tmp_path: Path,
) -> None:
    file = tmp_path / "given.yaml"
    file.write_text("given:\n- produkt: {name: Linen shirt}\n")

    outcome = run_command(*command, EMULATOR_GIVEN=str(file))

    complaint = f"{file}:2:3: /given/0/produkt: found an unknown field"
    assert outcome.status == 2
    assert outcome.output == ""
    assert outcome.complaint.startswith(f"image-workflow-emulator: {complaint}")


# What a terminal would obey ----------------------------------------------------------

CONTROL_CHARACTERS = "/v1/%1b%5b31mRED%0aFAKE%20200%20ok%e2%80%ae%c2%9b"
"""A path with the colour red, a line end, a change of direction and a C1 code."""
ESCAPED = r"POST /v1/\u001b[31mRED\nFAKE 200 ok\u202e\u009b"


class Texts(NamedTuple):
    """Where a request with control characters was shown."""

    log: str
    listed: str
    as_json: str
    explained: str


@pytest.fixture(scope="module")
def texts() -> Texts:
    with serving() as server:
        headers = {"Idempotency-Key": "\x9b31m\xad"}
        ServedClient(server.url).post(
            CONTROL_CHARACTERS,
            {"name": "\u202e"},
            headers=headers,
        )
        listed = told(server, "requests")
        as_json = told(server, "requests --format json")
        explained = told(server, "requests show last")
        log = server.stop().complaint
    return Texts(log, listed, as_json, explained)


@pytest.mark.parametrize("place", Texts._fields)
def test_no_control_character_is_shown(texts: Texts, place: str) -> None:
    text = texts._asdict()[place]

    for line in text.split("\n"):
        assert line.isprintable()


@pytest.mark.parametrize("place", ["log", "listed", "explained"])
def test_control_characters_are_escaped(texts: Texts, place: str) -> None:
    assert ESCAPED in texts._asdict()[place]


def test_json_has_control_characters_as_they_came(texts: Texts) -> None:
    (entry,) = json.loads(texts.as_json)["data"]

    assert entry["path"] == "/v1/\x1b[31mRED\nFAKE 200 ok\u202e\x9b"


# The end -----------------------------------------------------------------------------


@pytest.mark.parametrize("number", [SIGTERM, SIGINT])
def test_a_request_in_flight_is_finished_before_a_signal_stops_it(
    number: Signals,
) -> None:
    head, body = request_bytes("POST /v1/uploads", json.dumps(UPLOAD)).split(
        b"\r\n\r\n"
    )
    with serving() as server, server.connect() as connection, server.connect() as idle:
        connection.sendall(head + b"\r\nExpect: 100-continue\r\n\r\n")
        being_read = connection.recv(1000)
        server.process.send_signal(number)
        after_stop_began = read_answer(idle)
        connection.sendall(body)
        answer = read_answer(connection)
        status = server.process.wait(PATIENCE_SECONDS)

    assert being_read == b"HTTP/1.1 100 Continue\r\n\r\n"
    assert after_stop_began == b""
    assert answer.startswith(b"HTTP/1.1 201 ")
    assert status == 0


@contextmanager
def waiting_for_its_world(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Start a server that reads a pipe, to which nothing is written meanwhile."""
    world = folder / "world.yaml"
    os.mkfifo(world)
    with (
        started(*EMULATOR, "serve", "--port", "0", "--world", str(world)) as process,
        world.open("w"),  # which waits until it is being read
    ):
        yield process


@pytest.mark.parametrize(
    ("number", "status"),
    [(SIGTERM, 0), (SIGINT, INTERRUPTED)],
    ids=["SIGTERM", "SIGINT"],
)
def test_a_signal_before_it_is_ready_ends_it_silently(
    number: Signals,
    status: int,
    tmp_path: Path,
) -> None:
    with waiting_for_its_world(tmp_path) as process:
        process.send_signal(number)
        output, complaint = process.communicate(timeout=PATIENCE_SECONDS)

    assert process.returncode == status
    assert output == ""
    assert complaint == ""


@pytest.mark.skipif(
    sys.platform != "linux",
    reason="only Linux sends a signal to one thread of another process",
)
def test_a_signal_ends_it_while_its_main_thread_waits_for_a_file(
    tmp_path: Path,
) -> None:
    with waiting_for_its_world(tmp_path) as process:
        threads = {
            int(task.name) for task in Path(f"/proc/{process.pid}/task").iterdir()
        }
        other = min(threads - {process.pid})
        ctypes.CDLL(None).tgkill(process.pid, other, SIGTERM)
        status = process.wait(PATIENCE_SECONDS)

    assert status == 0


@pytest.mark.parametrize(
    ("request_line", "body", "answer"),
    [
        ("GET /v1/team", "", b""),
        ("GET /v1/products", "", b"HTTP/1.1 200 "),
        ("GET /v1/assets", "", b"HTTP/1.1 200 "),
        ("POST /v1/uploads", json.dumps(UPLOAD), b"HTTP/1.1 201 "),
    ],
    ids=["stalled", "late", "delayed", "held"],
)
def test_no_wait_of_a_scenario_delays_the_stop(
    request_line: str,
    body: str,
    answer: bytes,
    tmp_path: Path,
) -> None:
    scenario = tmp_path / "patience.yaml"
    scenario.write_text(PATIENCE)

    with (
        serving("--access-log", "off", "--scenario", str(scenario)) as server,
        server.connect() as connection,
    ):
        connection.sendall(request_bytes(request_line, body))
        # An answer that comes after it says that it has arrived.
        later = server.converse(request_bytes("GET /v1/poses", ends=True))
        outcome = server.stop()
        received = read_answer(connection)

    assert later.startswith(b"HTTP/1.1 200 ")
    assert outcome.status == 0
    assert outcome.complaint == ""  # a connection that is cut would be told
    assert received[: len(b"HTTP/1.1 200 ")] == answer


def slow_completion(client: ServedClient) -> Call:
    """Return the completion of an upload that takes seconds to decode."""
    session, token = client.ready_upload(slow_jpeg(9_000), "image/jpeg")
    return completion_call(session, token)


def test_a_long_decode_does_not_delay_the_stop() -> None:
    with serving() as server:
        client = ServedClient(server.base_url)
        completion = slow_completion(client)
        with closing(client.connect()) as connection:
            client.start(connection, completion)
            client.open_upload(5)  # by then, it has arrived
            outcome = server.stop()

    assert outcome.status == 0
    assert "cut " not in outcome.complaint


STOP_SECONDS = 10
"""The limit in the documentation, and that of containers."""
SERVE_WITH_SHORT_GRACE = """
import sys
from image_workflow_emulator.server import server
server.GRACE_SECONDS = 1
from image_workflow_emulator.cli.main import main
sys.exit(main(sys.argv[1:]))
"""
SHORT_GRACE = (sys.executable, "-c", SERVE_WITH_SHORT_GRACE)


def test_requests_in_flight_may_take_less_than_a_stop() -> None:
    assert GRACE_SECONDS < STOP_SECONDS


def test_what_does_not_come_to_its_end_is_cut_and_told_in_one_line() -> None:
    with serving("--access-log", "off", program=SHORT_GRACE) as server:
        client = ServedClient(server.base_url)
        upload = client.open_upload(1_000_000)["upload"]
        with server.connect() as connection, server.connect() as other:
            connection.sendall(beginning_of_upload(upload))
            other.sendall(UNFINISHED)
            client.open_upload(5)  # by then, both have arrived
            outcome = server.stop()

    (line,) = outcome.complaint.splitlines()
    assert outcome.status == 0
    assert line.endswith("cut 2 connections whose requests did not end within 1 s")


def beginning_of_upload(upload: Json) -> bytes:
    """Return the first ten bytes of a direct upload, with its headers."""
    lines = [
        f"POST {urlsplit(upload['url']).path} HTTP/1.1",
        "Host: localhost",
        "Content-Length: 1000000",
    ]
    for name, value in upload["headers"].items():
        lines.append(f"{name}: {value}")
    return "\r\n".join([*lines, "", "x" * 10]).encode()


@pytest.mark.parametrize(
    ("first", "second"),
    [(SIGINT, SIGINT), (SIGTERM, SIGTERM), (SIGINT, SIGTERM)],
)
def test_a_second_signal_ends_it_at_once_and_without_a_traceback(
    first: Signals,
    second: Signals,
) -> None:
    with serving("--access-log", "off") as server:
        client = ServedClient(server.base_url)
        completion = slow_completion(client)
        with server.connect() as connection, closing(client.connect()) as decoding:
            connection.sendall(UNFINISHED)
            client.start(decoding, completion)
            client.open_upload(5)  # by then, both have arrived
            server.process.send_signal(first)
            wait_until_it_is_stopping(server)
            began_at = time.monotonic()
            outcome = server.stop(second)
            took_seconds = time.monotonic() - began_at

    assert took_seconds < GRACE_SECONDS - 3
    assert outcome.status == 0
    assert outcome.complaint == ""


def wait_until_it_is_stopping(server: Server) -> None:
    with suppress(ConnectionError):
        while True:
            server.connect().close()
