"""Signals before the emulator is ready, and while requests cannot be finished: no wait exceeds its limit."""

import json
import os
import re
import time
from contextlib import closing, suppress
from pathlib import Path
from signal import SIGINT, SIGTERM, Signals
from urllib.parse import urlsplit

import pytest

from image_workflow_emulator.cli.serving import GRACE_SECONDS
from tests.cli.command import PATIENCE, request_bytes
from tests.support.emulator_client import UPLOAD, completion_call
from tests.support.pictures import slow_jpeg
from tests.support.served import EMULATOR, PATIENCE_SECONDS, read_answer, serving, started
from tests.support.served_client import ServedClient


@pytest.mark.parametrize(
    ("command", "number", "status"),
    [
        ("serve --port 0 --world {world}", SIGTERM, 0),
        ("exec --world {world} -- echo started", SIGTERM, -SIGTERM),
        ("exec --world {world} -- echo started", SIGINT, 128 + SIGINT),
    ],
)
def test_a_signal_before_it_is_ready_ends_it_silently(command: str, number: int, status: int, tmp_path: Path) -> None:
    world = tmp_path / "world.yaml"
    os.mkfifo(world)
    words = command.format(world=world).split()
    with started(*EMULATOR, *words) as process, world.open("w"):  # which waits until it is being read
        process.send_signal(number)
        told = process.communicate(timeout=PATIENCE_SECONDS)
    assert (process.returncode, told) == (status, ("", ""))


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
def test_no_wait_of_a_scenario_delays_the_stop(request_line: str, body: str, answer: bytes, tmp_path: Path) -> None:
    scenario = tmp_path / "patience.yaml"
    scenario.write_text(PATIENCE)
    with (
        serving("--access-log", "off", "--scenario", str(scenario)) as server,
        server.connect() as connection,
        server.connect() as other,
    ):
        connection.sendall(request_bytes(request_line, body))
        # An answer that comes after it says that it has arrived.
        other.sendall(request_bytes("GET /v1/poses", ends=True))
        assert read_answer(other).startswith(b"HTTP/1.1 200 ")
        outcome = server.stop()
        seen = read_answer(connection)
    assert (outcome.status, outcome.complaint) == (0, "")  # a connection that is cut would be told
    assert seen.startswith(answer)
    assert bool(seen) == bool(answer)


STOP_SECONDS = 10
"""What the README promises, and what containers are given."""


def test_a_long_decode_does_not_delay_the_stop() -> None:
    with serving() as server:
        client = ServedClient(server.base_url)
        completion = completion_call(*client.ready_upload(slow_jpeg(9_000), "image/jpeg"))
        with closing(client.connect()) as connection:
            client.start(connection, completion)
            client.open_upload(5)  # by then, it has arrived
            outcome = server.stop()
    assert (outcome.status, "cut " in outcome.complaint) == (0, False)


def test_what_does_not_come_to_its_end_is_cut_and_told_in_one_line() -> None:
    with serving("--access-log", "off") as server:
        client = ServedClient(server.base_url)
        upload = client.open_upload(1_000_000)["upload"]
        with server.connect() as connection, server.connect() as other:
            lines = "".join(f"{name}: {value}\r\n" for name, value in upload["headers"].items())
            head = f"POST {urlsplit(upload['url']).path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n{lines}\r\n"
            connection.sendall(head.encode() + b"x" * 10)
            other.sendall(b"POST /v1/products HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{")
            client.open_upload(5)  # by then, both have arrived
            outcome = server.stop()
    assert (outcome.status, outcome.complaint.count("\n")) == (0, 1)
    told = re.search(r"cut 2 connections whose requests did not end within (\d+) s", outcome.complaint)
    assert told
    assert int(told[1]) < GRACE_SECONDS < STOP_SECONDS


@pytest.mark.parametrize("numbers", [(SIGINT, SIGINT), (SIGTERM, SIGTERM), (SIGINT, SIGTERM)])
def test_a_second_signal_ends_it_at_once_and_without_a_traceback(numbers: tuple[Signals, Signals]) -> None:
    with serving("--access-log", "off") as server:
        client = ServedClient(server.base_url)
        completion = completion_call(*client.ready_upload(slow_jpeg(9_000), "image/jpeg"))
        with server.connect() as connection, closing(client.connect()) as decoding:
            connection.sendall(b"POST /v1/products HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{")
            client.start(decoding, completion)
            client.open_upload(5)  # by then, both have arrived
            server.process.send_signal(numbers[0])
            with suppress(ConnectionError):  # once it is stopping
                while True:
                    server.connect().close()
            began = time.monotonic()
            outcome = server.stop(numbers[1])
            assert time.monotonic() - began < GRACE_SECONDS - 3
    assert (outcome.status, outcome.complaint) == (0, "")
