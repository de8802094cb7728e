"""`serve`: from the start-up message to its end by a signal; signals to `exec`."""

import json
import os
import re
import time
from contextlib import closing, suppress
from pathlib import Path
from signal import SIGINT, SIGTERM, Signals
from urllib.parse import urlsplit

import pytest

from image_workflow_emulator.server.server import GRACE_SECONDS
from tests.cli.command import PATIENCE, ask, request_bytes, run_command
from tests.support.emulator_client import UPLOAD, completion_call
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


def test_the_start_up_message_names_address_keys_and_clock_and_ends_with_the_ready_line(
    server: Server,
) -> None:
    message = "\n".join(server.start_up)
    assert server.start_up[-1] == f"ready http://127.0.0.1:{server.port}/v1"
    assert f"base URL  http://127.0.0.1:{server.port}/v1\n" in message
    assert "clock     manual, at 2026-01-01T00:00:00.000Z\n" in message
    for key in (
        "iwe_demo_full",
        "iwe_demo_read",
        "iwe_other_full",
        "iwe_lapsed_full",
        "iwe_broke_full",
    ):
        assert key in message


def test_once_ready_it_answers_without_headers_of_the_server_library(
    server: Server,
) -> None:
    head, _, body = server.converse(request_bytes("GET /v1/team", ends=True)).partition(
        b"\r\n\r\n"
    )
    assert head.startswith(b"HTTP/1.1 200 OK\r\n")
    assert json.loads(body)["name"] == "Demo"
    assert b"\r\nserver:" not in head.lower()
    assert b"\r\ndate:" not in head.lower()


@pytest.mark.parametrize("number", [SIGTERM, SIGINT])
def test_a_request_in_flight_is_finished_before_a_signal_stops_it(
    number: Signals,
) -> None:
    body = b'{"content_type":"image/png","size_bytes":5}'
    with serving() as server, server.connect() as connection, server.connect() as idle:
        connection.sendall(
            b"POST /v1/uploads HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer iwe_demo_full\r\nIdempotency-Key: last\r\n"
            b"Content-Type: application/json\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n"
            % len(body)
        )
        assert (
            connection.recv(1000) == b"HTTP/1.1 100 Continue\r\n\r\n"
        )  # the request is being read
        server.process.send_signal(number)
        assert read_answer(idle) == b""  # the server has begun to stop
        connection.sendall(body)
        assert read_answer(connection).startswith(b"HTTP/1.1 201 ")
        assert server.process.wait(PATIENCE_SECONDS) == 0


def test_a_name_with_addresses_of_both_kinds_is_served_at_the_older_one() -> None:
    with serving("--host", "localhost") as server:
        assert server.url == f"http://127.0.0.1:{server.port}"


def test_the_public_address_is_the_one_that_is_told() -> None:
    with serving("--public-url", "https://emulator.example/api/") as server:
        assert "  base URL  https://emulator.example/api/v1" in server.start_up
        assert server.start_up[-1] == f"ready http://127.0.0.1:{server.port}/v1"


@pytest.mark.parametrize(
    ("options", "is_warned"),
    [
        ("--host 0.0.0.0", True),
        ("--host 0.0.0.0 --control-token secret", False),
        ("--host 127.0.0.1", False),
    ],
)
def test_a_control_plane_that_other_machines_can_reach_is_warned_of(
    options: str, is_warned: bool
) -> None:
    complaint = run_command("exec", *options.split(), "--quiet", "--", "true").complaint
    assert is_warned == ("listening on 0.0.0.0: without --control-token" in complaint)


def test_what_a_file_gives_is_there_at_the_start_and_after_a_reset_off_the_record(
    tmp_path: Path,
) -> None:
    file = tmp_path / "given.yaml"
    file.write_text(
        "given: [{product: {name: Linen shirt, photos: 2}}, {photoshoot: {products: [Linen shirt]}}]"
    )
    with serving("--clock", "auto", EMULATOR_GIVEN=str(file)) as server:
        for _ in range(2):
            assert ["Linen shirt"] == [
                product["name"] for product in ask(server, "/v1/products")["data"]
            ]
            assert ["completed"] == [
                shoot["status"] for shoot in ask(server, "/v1/generations")["data"]
            ]
            assert 2 == ask(server, "/_emulator/requests")["total"]
            ask(server, "/_emulator/reset", method="POST")


@pytest.mark.parametrize(
    "command", [["serve", "--port", "0"], ["exec", "--", "echo", "started"]]
)
def test_a_bad_file_of_what_is_given_is_refused_before_it_is_ready(
    command: list[str], tmp_path: Path
) -> None:
    file = tmp_path / "given.yaml"
    file.write_text("given:\n- produkt: {name: Linen shirt}\n")
    outcome = run_command(*command, EMULATOR_GIVEN=str(file))
    assert (2, "") == (outcome.status, outcome.output)
    assert outcome.complaint.startswith(
        f"image-workflow-emulator: {file}:2:3: /given/0/produkt: found an unknown field"
    )


def test_what_a_terminal_would_obey_is_escaped_wherever_a_request_is_shown() -> None:
    path = "/v1/%1b%5b31mRED%0aFAKE%20200%20ok%e2%80%ae%c2%9b"
    shown = r"POST /v1/\u001b[31mRED\nFAKE 200 ok\u202e\u009b  "
    with serving() as server:
        headers = {"Idempotency-Key": "\x9b31m\xad"}
        assert (
            ServedClient(server.url)
            .post(path, {"name": "\u202e"}, headers=headers)
            .status
            == 404
        )
        listed = run_command("requests", EMULATOR_URL=server.url).output
        as_json = run_command(
            "requests", "--format", "json", EMULATOR_URL=server.url
        ).output
        explained = run_command(
            "requests", "show", "last", EMULATOR_URL=server.url
        ).output
        log = server.stop().complaint
    assert all(
        line.isprintable()
        for text in (log, listed, as_json, explained)
        for line in text.split("\n")
    )
    assert [True, True, True] == [
        shown.rstrip() in text for text in (log, listed, explained)
    ]
    assert (
        "/v1/\x1b[31mRED\nFAKE 200 ok\u202e\x9b"
        == json.loads(as_json)["data"][0]["path"]
    )


def test_a_variable_that_means_nothing_is_a_warning() -> None:
    with serving(
        EMULATOR_CLOK="auto", EMULATOR_FOO="1", EMULATOR_SANDBOX="default"
    ) as server:
        misspelled, unlike_any = server.stop().complaint.splitlines()
    assert misspelled.endswith(" unknown variable EMULATOR_CLOK")
    assert unlike_any.endswith(" unknown variable EMULATOR_FOO")


@pytest.mark.parametrize(
    ("command", "number", "status"),
    [
        ("serve --port 0 --world {world}", SIGTERM, 0),
        ("exec --world {world} -- echo started", SIGTERM, -SIGTERM),
        ("exec --world {world} -- echo started", SIGINT, 128 + SIGINT),
    ],
)
def test_a_signal_before_it_is_ready_ends_it_silently(
    command: str, number: int, status: int, tmp_path: Path
) -> None:
    world = tmp_path / "world.yaml"
    os.mkfifo(world)
    words = command.format(world=world).split()
    with (
        started(*EMULATOR, *words) as process,
        world.open("w"),
    ):  # which waits until it is being read
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
def test_no_wait_of_a_scenario_delays_the_stop(
    request_line: str, body: str, answer: bytes, tmp_path: Path
) -> None:
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
    assert (outcome.status, outcome.complaint) == (
        0,
        "",
    )  # a connection that is cut would be told
    assert seen.startswith(answer)
    assert bool(seen) == bool(answer)


STOP_SECONDS = 10
"""The limit in the documentation, and that of containers."""


def test_a_long_decode_does_not_delay_the_stop() -> None:
    with serving() as server:
        client = ServedClient(server.base_url)
        completion = completion_call(
            *client.ready_upload(slow_jpeg(9_000), "image/jpeg")
        )
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
            lines = "".join(
                f"{name}: {value}\r\n" for name, value in upload["headers"].items()
            )
            head = f"POST {urlsplit(upload['url']).path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n{lines}\r\n"
            connection.sendall(head.encode() + b"x" * 10)
            other.sendall(
                b"POST /v1/products HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{"
            )
            client.open_upload(5)  # by then, both have arrived
            outcome = server.stop()
    assert (outcome.status, outcome.complaint.count("\n")) == (0, 1)
    told = re.search(
        r"cut 2 connections whose requests did not end within (\d+) s",
        outcome.complaint,
    )
    assert told
    assert int(told[1]) == GRACE_SECONDS < STOP_SECONDS


@pytest.mark.parametrize(
    "numbers", [(SIGINT, SIGINT), (SIGTERM, SIGTERM), (SIGINT, SIGTERM)]
)
def test_a_second_signal_ends_it_at_once_and_without_a_traceback(
    numbers: tuple[Signals, Signals],
) -> None:
    with serving("--access-log", "off") as server:
        client = ServedClient(server.base_url)
        completion = completion_call(
            *client.ready_upload(slow_jpeg(9_000), "image/jpeg")
        )
        with server.connect() as connection, closing(client.connect()) as decoding:
            connection.sendall(
                b"POST /v1/products HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{"
            )
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
