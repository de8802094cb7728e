"""Connections of a server: how many there may be, what is no request, who leaves."""

import asyncio
import gc
import re
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from http.client import HTTPConnection, HTTPResponse
from typing import Any
from unittest.mock import Mock

import pytest

from image_workflow_emulator.http.heads import Head
from image_workflow_emulator.server.connection import RequestConnection
from image_workflow_emulator.server.server import EmulatorServer
from tests.fuzzing.wire import Conversation, HandledRequest, converse
from tests.support.emulator_client import UPLOAD_CONTENT
from tests.support.emulator_under_test import EmulatorUnderTest
from tests.support.served import PATIENCE_SECONDS, Server, serving, started

GET = (
    b"GET /v1/team HTTP/1.1\r\n"
    b"Host: localhost\r\n"
    b"Authorization: Bearer iwe_demo_full\r\n"
    b"\r\n"
)
POST = b"POST /v1/products HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n"
CHUNKED = (
    b"POST /v1/products HTTP/1.1\r\n"
    b"Host: localhost\r\n"
    b"Transfer-Encoding: chunked\r\n"
    b"\r\n"
)
ONE_CHUNK = b"1\r\na\r\n"
LAST_CHUNK = b"0\r\n\r\n"


def talk(emulator: EmulatorUnderTest, *pieces: bytes) -> Conversation:
    return asyncio.run(converse(emulator.application, pieces))


def in_pieces(sent: bytes, size: int) -> list[bytes]:
    return [sent[start : start + size] for start in range(0, len(sent), size)]


# What is left of a request ------------------------------------------------------------


@pytest.fixture
def no_collector() -> Iterator[None]:
    """Let nothing be freed but what nothing refers to."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("no_collector")
@pytest.mark.parametrize("kind", [RequestConnection, Head])
def test_a_request_is_freed_when_the_next_one_comes_on_its_connection(
    emulator: EmulatorUnderTest,
    kind: type,
) -> None:
    talk(emulator, *[GET] * 5)

    kept = [each for each in gc.get_objects() if isinstance(each, kind)]

    assert len(kept) <= 1


# How many there may be ----------------------------------------------------------------


def test_a_connection_too_many_is_refused_by_a_problem(
    emulator: EmulatorUnderTest,
) -> None:
    conversation = asyncio.run(converse(emulator.application, [GET], limit=0))

    (answer,) = conversation.responses()
    assert answer.status == 503
    assert dict(answer.headers)[b"retry-after"] == b"5"
    assert b"service_unavailable" in answer.body
    assert conversation.was_closed


def ask(connection: HTTPConnection, path: str) -> HTTPResponse:
    connection.request("GET", path, headers={"Authorization": "Bearer iwe_demo_full"})
    answer = connection.getresponse()
    answer.read()
    return answer


def open_connections(
    stack: ExitStack,
    server: Server,
    number: int,
) -> None:
    for _ in range(number):
        stack.enter_context(server.connect())


def test_a_thousand_idle_connections_keep_no_old_one_from_its_answers() -> None:
    with serving("--access-log", "off") as server, ExitStack() as stack:
        first = HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE_SECONDS)
        second = HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE_SECONDS)
        stack.callback(first.close)
        stack.callback(second.close)
        first.connect()
        second.connect()
        open_connections(stack, server, 998)

        refused = HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE_SECONDS)
        stack.callback(refused.close)
        assert ask(refused, "/v1/team").status == 503
        assert ask(first, "/v1/team").status == 200
        assert ask(second, "/_emulator/health").status == 200


def test_there_may_be_fewer_connections_where_files_are_few() -> None:
    serve = (
        f"{sys.executable} -m image_workflow_emulator serve --port 0 --access-log off"
    )
    with (
        started("sh", "-c", f"ulimit -n 64; exec {serve}") as process,
        ExitStack() as stack,
    ):
        ready = next(line for line in process.stdout or () if line.startswith("ready "))
        port = int(ready.split(":")[2].split("/")[0])
        connections = []
        for _ in range(33):
            connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE_SECONDS)
            stack.callback(connection.close)
            connections.append(connection)

        statuses = [ask(connection, "/v1/poses").status for connection in connections]
        process.terminate()

        assert statuses == [200] * 32 + [503]
        assert process.wait(PATIENCE_SECONDS) == 0


def test_refused_connections_are_logged_once(
    emulator: EmulatorUnderTest,
    caplog: pytest.LogCaptureFixture,
) -> None:
    server = EmulatorServer(emulator.application)
    server.server_state.refused_connections = 2
    server.server_state.max_connections = 7

    server.report_refused_connections()
    server.report_refused_connections()

    (record,) = caplog.records
    assert record.message.startswith("refused 2 connections: there may be 7 at most")


# What is no request -------------------------------------------------------------------


SPOILED = {
    "no target": b"GET\r\n\r\n",
    "a zero byte": b"\0\r\n\r\n",
    "a bad chunk": CHUNKED + b"x\r\n",
    "bare line feeds": GET.replace(b"\r", b""),
}


@pytest.mark.parametrize("spoiled", SPOILED.values(), ids=SPOILED.keys())
def test_bytes_that_are_no_request_are_refused_by_a_problem(
    emulator: EmulatorUnderTest,
    spoiled: bytes,
) -> None:
    conversation = talk(emulator, GET, spoiled + GET)

    served, refused = conversation.responses()
    assert served.status == 200
    assert refused.status == 400
    assert b'"code":"invalid_request"' in refused.body
    assert dict(refused.headers)[b"connection"] == b"close"
    assert conversation.was_closed


@pytest.mark.parametrize(
    ("sent", "advice"),
    [
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", "use http://"),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "use HTTP/1.1"),
    ],
    ids=["TLS", "HTTP/2"],
)
def test_another_protocol_is_named_in_the_log(
    emulator: EmulatorUnderTest,
    caplog: pytest.LogCaptureFixture,
    sent: bytes,
    advice: str,
) -> None:
    talk(emulator, sent)

    (message,) = caplog.messages
    assert message.endswith(advice)


def test_a_proxy_is_not_what_this_is(emulator: EmulatorUnderTest) -> None:
    (answer,) = talk(emulator, GET.replace(b"GET", b"CONNECT")).responses()

    assert answer.status == 400
    assert b"this is no proxy" in answer.body


def test_a_problem_is_never_written_into_an_answer(emulator: EmulatorUnderTest) -> None:
    emulator.rule({"operation": "getTeam"}, {"network": {"rate": "1KiB"}})

    conversation = talk(emulator, GET, b"\0\0\0")

    assert re.findall(rb"HTTP/1.1 (\d{3})", conversation.written) == [b"200"]
    assert conversation.was_closed


@pytest.mark.parametrize(
    "before",
    [b"", b"\r\n" * 10, CHUNKED + ONE_CHUNK + LAST_CHUNK],
    ids=["first", "empty lines", "chunked body"],
)
def test_a_head_without_end_is_refused(
    emulator: EmulatorUnderTest,
    before: bytes,
) -> None:
    sent = before + GET[:-2] + b"X: " + b"x" * 1_000_000 + b"\r\n\r\n"

    conversation = talk(emulator, *in_pieces(sent, 10_000))

    last = conversation.responses()[-1]
    assert last.status == 400
    assert b"head of the request is too large" in last.body


def test_lines_without_end_are_refused(emulator: EmulatorUnderTest) -> None:
    (answer,) = talk(emulator, *[b"\r\n" * 5_000] * 20).responses()

    assert answer.status == 400


@pytest.mark.parametrize("piece_bytes", [1_000, 100_000])
def test_a_head_of_60_000_bytes_is_taken(
    emulator: EmulatorUnderTest,
    piece_bytes: int,
) -> None:
    sent = GET[:-2] + b"X: " + b"x" * 60_000 + b"\r\n\r\n"

    (answer,) = talk(emulator, *in_pieces(sent, piece_bytes)).responses()

    assert answer.status == 200


@pytest.mark.parametrize("is_chunked", [False, True], ids=["length", "chunked"])
@pytest.mark.parametrize("piece_bytes", [1, 50, 10_000])
def test_an_offer_of_another_protocol_keeps_the_body(
    emulator: EmulatorUnderTest,
    is_chunked: bool,
    piece_bytes: int,
) -> None:
    """Java's HttpClient makes such an offer with its first request."""
    body = b'{"content_type": "image/png", "size_bytes": 10}' + b" " * 100 + GET
    framing = b"Content-Length: %d" % len(body)
    content = body
    if is_chunked:
        framing = b"Transfer-Encoding: chunked"
        content = b"%x\r\n%b\r\n%b" % (len(body), body, LAST_CHUNK)
    head = b"\r\n".join(
        [
            b"POST /v1/uploads HTTP/1.1",
            b"Host: localhost",
            b"Connection: Upgrade, HTTP2-Settings",
            b"Upgrade: h2c",
            b"HTTP2-Settings: AAEAAEAA",
            framing,
            b"Authorization: Bearer iwe_demo_full",
            b"Idempotency-Key: k",
            b"Content-Type: application/json",
            b"",
            b"",
        ]
    )

    conversation = talk(emulator, *in_pieces(head + content + GET, piece_bytes))

    assert conversation.requests == [
        HandledRequest("POST", "/v1/uploads", 400),
        HandledRequest("GET", "/v1/team", 200),
    ]


def test_an_offer_without_a_body_is_ignored(emulator: EmulatorUnderTest) -> None:
    offer = b"Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
    sent = GET.replace(b"\r\n\r\n", b"\r\n" + offer)

    answers = talk(emulator, sent * 100).responses()

    assert [answer.status for answer in answers] == [200] * 100


# Bodies that nobody reads -------------------------------------------------------------


@pytest.mark.parametrize("version", ["1.0", "1.1"])
def test_the_sender_of_a_refused_body_sees_the_answer(version: str) -> None:
    size = 5 * 1024 * 1024
    head = (
        f"POST /v1/nowhere HTTP/{version}\r\n"
        "Host: localhost\r\n"
        "Connection: close\r\n"
        f"Content-Length: {size}\r\n"
        "\r\n"
    )
    with serving() as server, server.connect() as connection:
        connection.sendall(head.encode() + b"x" * size)
        with connection.makefile("rb") as stream:
            answer = stream.read()

    assert answer.startswith(b"HTTP/1.1 404 ")
    assert b'"code":"not_found"' in answer


def test_a_connection_that_stays_open_serves_the_request_behind_a_refused_body() -> (
    None
):
    size = 5 * 1024 * 1024
    refused = (
        "POST /v1/nowhere HTTP/1.1\r\n"
        "Host: localhost\r\n"
        f"Content-Length: {size}\r\n"
        "\r\n"
    )
    last = GET.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
    with serving() as server, server.connect() as connection:
        connection.sendall(refused.encode() + b"x" * size + last)
        with connection.makefile("rb") as stream:
            answers = stream.read()

    assert re.findall(rb"HTTP/1.1 (\d{3})", answers) == [b"404", b"200"]


def test_a_body_that_is_not_asked_for_is_not_waited_for(
    emulator: EmulatorUnderTest,
) -> None:
    careful = POST.replace(b"/v1/products", b"/v1/nowhere")
    careful = careful.replace(b"\r\n\r\n", b"\r\nExpect: 100-continue\r\n\r\n")

    (answer,) = talk(emulator, careful).responses()

    assert answer.status == 404
    assert dict(answer.headers)[b"connection"] == b"close"


def test_a_body_that_is_spoiled_after_its_refusal_ends_the_connection(
    emulator: EmulatorUnderTest,
) -> None:
    refused = CHUNKED.replace(b"/v1/products", b"/v1/nowhere")

    conversation = talk(emulator, refused + ONE_CHUNK, b"spoiled\r\n")

    statuses = re.findall(rb"HTTP/1.1 (\d{3})", conversation.written)
    assert statuses == [b"404", b"400"]
    assert conversation.was_closed


# Clients that leave -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("network", "more"),
    [
        ("stall", {}),
        ("reset", {}),
        ("truncate", {}),
        ({"latency": "1h"}, {"at": "after_commit"}),
        ({"rate": "1KiB"}, {}),
    ],
    ids=["stall", "reset", "truncate", "latency", "rate"],
)
def test_no_request_goes_on_when_its_client_has_left(
    emulator: EmulatorUnderTest,
    network: Any,
    more: dict[str, str],
) -> None:
    emulator.rule({"operation": "getTeam"}, {"network": network, **more})

    conversation = talk(emulator, GET + GET)  # which fails for a request that goes on

    assert [request.path for request in conversation.requests] == ["/v1/team"]


def test_a_connection_that_the_client_has_closed_is_not_reset() -> None:
    transport = Mock()
    transport.is_closing.return_value = True
    connection = RequestConnection(Mock(), transport, None)

    connection.reset()

    transport.get_extra_info.return_value.setsockopt.assert_not_called()
    transport.abort.assert_called_once()


def test_a_client_without_a_host_gets_links_to_the_address_that_it_came_to(
    emulator: EmulatorUnderTest,
) -> None:
    head = b"\r\n".join(
        [
            b"POST /v1/uploads HTTP/1.0",
            b"Authorization: Bearer iwe_demo_full",
            b"Idempotency-Key: one",
            b"Content-Type: application/json",
            b"Content-Length: %d" % len(UPLOAD_CONTENT),
            b"",
            b"",
        ]
    )

    (answer,) = talk(emulator, head + UPLOAD_CONTENT).responses()

    assert b'"url":"http://127.0.0.1:8038/direct-uploads/' in answer.body
