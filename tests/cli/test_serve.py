"""`serve`: from the start-up message to the last answer."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.command import PATIENCE_SECONDS, ROOT, Server, environment, read_answer, serving

TEAM = b"GET /v1/team HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer iwe_demo_full\r\n"
NEEDS_SIGNALS = pytest.mark.skipif(sys.platform == "win32", reason="signals there end a process at once")


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving("--clock", "manual") as running:
        yield running


def test_the_start_up_message_names_address_keys_and_clock_and_ends_with_the_ready_line(server: Server) -> None:
    message = "\n".join(server.start_up)
    assert server.start_up[-1] == f"ready http://127.0.0.1:{server.port}/v1"
    assert f"base URL  http://127.0.0.1:{server.port}/v1\n" in message
    assert "clock     manual, at 2026-01-01T00:00:00.000Z\n" in message
    for key in ("iwe_demo_full", "iwe_demo_read", "iwe_other_full", "iwe_lapsed_full", "iwe_broke_full"):
        assert key in message


def test_once_ready_it_answers(server: Server) -> None:
    with server.connect() as connection:
        connection.sendall(TEAM + b"Connection: close\r\n\r\n")
        head, _, body = read_answer(connection).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 OK\r\n")
    assert json.loads(body)["name"] == "Demo"


def test_the_server_adds_no_headers_of_its_own(server: Server) -> None:
    with server.connect() as connection:
        connection.sendall(TEAM + b"Connection: close\r\n\r\n")
        head = read_answer(connection).partition(b"\r\n\r\n")[0].lower()
    assert b"\r\nserver:" not in head
    assert b"\r\ndate:" not in head


@pytest.mark.parametrize(
    "garbage",
    [
        b"hello\r\n",
        b"\x16\x03\x01\x02\x00\x01",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /v1/team HTTP/1.1\r\nBad header\r\n\r\n",
    ],
)
def test_bytes_that_are_no_request_are_answered_with_a_problem(server: Server, garbage: bytes) -> None:
    with server.connect() as connection:
        connection.sendall(garbage)
        head, _, body = read_answer(connection).partition(b"\r\n\r\n")
    problem = json.loads(body)
    assert head.startswith(b"HTTP/1.1 400 ")
    assert b"\r\ncontent-type: application/problem+json" in head
    assert (problem["code"], problem["status"]) == ("invalid_request", 400)
    assert f"\r\nrequest-id: {problem['request_id']}".encode() in head


def test_a_head_without_end_is_refused(server: Server) -> None:
    with server.connect() as connection:
        connection.sendall(TEAM + b"X-Long: " + b"a" * (64 * 1024))
        assert read_answer(connection).startswith(b"HTTP/1.1 400 ")


def test_a_head_that_comes_in_pieces_is_understood(server: Server) -> None:
    with server.connect() as connection:
        # The pauses let each piece arrive by itself; the answer is the same if they should not.
        for piece in (TEAM[:10], TEAM[10:60], TEAM[60:] + b"Connection: close\r\n\r", b"\n"):
            connection.sendall(piece)
            time.sleep(0.01)
        assert read_answer(connection).startswith(b"HTTP/1.1 200 ")


def test_requests_that_come_together_are_answered_in_order(server: Server) -> None:
    second = b"GET /v1/products HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer iwe_demo_full\r\nConnection: close\r\n\r\n"
    with server.connect() as connection:
        connection.sendall(TEAM + b"\r\n" + second[:30])
        time.sleep(0.01)
        connection.sendall(second[30:])
        answer = read_answer(connection)
    assert answer.count(b"HTTP/1.1 200 OK") == 2
    assert answer.index(b'"team"') < answer.index(b'"has_more"')


def test_an_offer_of_another_protocol_does_not_cost_the_body(server: Server) -> None:
    body = b'{"content_type":"image/png","size_bytes":5}'
    with server.connect() as connection:
        connection.sendall(
            b"POST /v1/uploads HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer iwe_demo_full\r\nIdempotency-Key: h2c\r\n"
            b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA\r\n"
            b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
        )
        connection.sendall(TEAM + b"Connection: close\r\n\r\n")
        answer = read_answer(connection)
    assert answer.startswith(b"HTTP/1.1 201 ")
    assert answer.count(b"HTTP/1.1 200 OK") == 1


@NEEDS_SIGNALS
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_it_cleanly(number: signal.Signals) -> None:
    with serving() as server:
        outcome = server.stop(number)
    assert (outcome.status, outcome.output, outcome.complaint) == (0, "", "")


@pytest.mark.skipif(sys.platform == "win32", reason="there are no named pipes in the file system")
def test_a_signal_before_it_is_ready_stops_it_cleanly_too(tmp_path: Path) -> None:
    world = tmp_path / "world.yaml"
    os.mkfifo(world)
    process = subprocess.Popen(
        [sys.executable, "-m", "emulator", "serve", "--port", "0", "--world", str(world)],
        cwd=ROOT,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with world.open("w"):  # waits until it is being read
        process.send_signal(signal.SIGTERM)
        told = process.communicate(timeout=PATIENCE_SECONDS)
    assert (process.returncode, told) == (0, (b"", b""))


@NEEDS_SIGNALS
def test_a_request_in_flight_is_finished_before_it_stops() -> None:
    body = b'{"content_type":"image/png","size_bytes":5}'
    with serving() as server, server.connect() as connection, server.connect() as idle:
        connection.sendall(
            b"POST /v1/uploads HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer iwe_demo_full\r\nIdempotency-Key: last\r\n"
            b"Content-Type: application/json\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n" % len(body)
        )
        assert connection.recv(1000) == b"HTTP/1.1 100 Continue\r\n\r\n"  # the request is being read
        server.process.send_signal(signal.SIGTERM)
        assert read_answer(idle) == b""  # the server has begun to stop
        connection.sendall(body)
        assert read_answer(connection).startswith(b"HTTP/1.1 201 ")
        assert server.process.wait(timeout=5) == 0


def test_a_name_with_addresses_of_both_kinds_is_served_at_the_older_one() -> None:
    with serving("--host", "localhost") as server:
        assert server.url == f"http://127.0.0.1:{server.port}"


def test_the_public_address_is_the_one_that_is_told() -> None:
    with serving("--public-url", "https://emulator.example/api/") as server:
        assert "  base URL  https://emulator.example/api/v1" in server.start_up
        assert server.start_up[-1] == f"ready http://127.0.0.1:{server.port}/v1"


def test_the_log_is_lines_that_begin_with_the_time() -> None:
    with serving() as server:
        with server.connect() as connection:
            connection.sendall(b"hello\r\n")
            read_answer(connection)
        outcome = server.stop()
    time_and_level, _, message = outcome.complaint.partition(" Invalid")
    assert (time_and_level[10:11], time_and_level[23:], message) == ("T", "Z warning", " HTTP request received.\n")


def test_the_log_can_be_lines_of_json() -> None:
    with serving("--log-format", "json") as server:
        with server.connect() as connection:
            connection.sendall(b"hello\r\n")
            read_answer(connection)
        outcome = server.stop()
    entry = json.loads(outcome.complaint)
    assert (entry["level"], entry["message"]) == ("warning", "Invalid HTTP request received.")
