"""The connections of a server: how many there may be, how long each may take, and what they lose by pipelining."""

import asyncio
import inspect
import re
import socket
import sys
from hashlib import sha256
from http.client import HTTPConnection
from typing import Any
from unittest.mock import Mock

import pytest
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import (
    HttpToolsProtocol,
    RequestResponseCycle,
)

from image_workflow_emulator.server.server import (
    ANSWER_SECONDS,
    IDLE_SECONDS,
    REQUEST_SECONDS,
    Connections,
    WatchedProtocol,
    WatchedServer,
    server_config,
)
from tests.fuzzing.wire import Transport, converse, turns
from tests.support.emulator_client import UPLOAD_CONTENT, EmulatorUnderTest
from tests.support.served import PATIENCE_SECONDS, read_answer, serving, started

GET = b"GET /v1/team HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer iwe_demo_full\r\n\r\n"
POST = b"POST /v1/products HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n"
CHUNKED = b"POST /v1/products HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"


def _play(emulator: EmulatorUnderTest, network: Any, **more: str) -> None:
    emulator.rule({"operation": "getTeam"}, {"network": network, **more})


async def _opened(
    application: Any, *pieces: bytes, state: Connections | None = None
) -> Transport:
    loop = asyncio.get_running_loop()
    transport = Transport(loop)
    transport.protocol = WatchedProtocol(
        server_config(application), state or Connections(limit=1), {}, loop
    )
    transport.protocol.connection_made(transport)
    for piece in pieces:
        transport.protocol.data_received(piece)
    await turns()
    return transport


async def _silence(
    application: Any, seconds: float, *sent: bytes
) -> tuple[bool, bytes]:
    """Whether the server closes a connection that falls silent after some bytes, and its answer."""
    transport = await _opened(application, *sent)
    assert transport.protocol is not None
    written = len(transport.written)
    was_closed = transport.protocol.end_if_overdue(
        asyncio.get_running_loop().time() + seconds
    )
    await turns()
    said = bytes(transport.written[written:])
    transport.close()
    await turns()
    return was_closed, said


WHOLE_CHUNKED = CHUNKED + b"1\r\na\r\n0\r\n\r\n"


@pytest.mark.parametrize(
    ("sent", "part"),
    [
        ([GET[:30]], b"head"),
        ([b"\r\n" + GET[:30], GET[30:40]], b"head"),
        ([WHOLE_CHUNKED + GET[:30]], b"head"),
        ([POST + b"{}"], b"body"),
        ([CHUNKED + b"1\r\na\r\n0\r\n"], b"body"),
    ],
    ids=[
        "half a head",
        "behind an empty line",
        "behind a chunked body",
        "half a body",
        "half of the trailers",
    ],
)
def test_a_request_that_stops_is_refused_in_time(
    emulator: EmulatorUnderTest, sent: list[bytes], part: bytes
) -> None:
    assert (False, b"") == asyncio.run(
        _silence(emulator.application, REQUEST_SECONDS - 1, *sent)
    )
    was_closed, said = asyncio.run(
        _silence(emulator.application, REQUEST_SECONDS + 1, *sent)
    )
    assert (True, True) == (was_closed, said.startswith(b"HTTP/1.1 408 "))
    assert b"The %b of a request must come within 30 s" % part in said


@pytest.mark.parametrize(
    "sent", [b"", GET, b"\r\n"], ids=["nothing", "a whole request", "an empty line"]
)
@pytest.mark.parametrize(
    ("seconds", "is_closed"), [(IDLE_SECONDS + 1, True), (IDLE_SECONDS - 1, False)]
)
def test_an_idle_connection_is_closed(
    emulator: EmulatorUnderTest, sent: bytes, seconds: float, is_closed: bool
) -> None:
    async def look() -> bool:
        transport = await _opened(emulator.application, sent)
        assert transport.protocol is not None
        transport.protocol.end_if_overdue(asyncio.get_running_loop().time() + seconds)
        return transport.is_closing()

    assert is_closed == asyncio.run(look())


async def _unread(application: Any, *unsent_bytes: int) -> list[bool]:
    """Whether a closing connection is ended whose unsent bytes are these at checks in equal intervals."""
    transport = await _opened(application)
    assert transport.protocol is not None
    looks = []
    for number, transport.unsent_bytes in enumerate(unsent_bytes):
        seconds = number * ANSWER_SECONDS * 0.4
        looks.append(
            transport.protocol.end_if_overdue(
                asyncio.get_running_loop().time() + seconds
            )
        )
        transport.close()
    return looks


def test_a_client_that_reads_no_more_is_ended_and_one_that_reads_slowly_is_not(
    emulator: EmulatorUnderTest,
) -> None:
    assert [False, False, False, True] == asyncio.run(
        _unread(emulator.application, 9, 9, 9, 9)
    )
    assert [False, False, False, False] == asyncio.run(
        _unread(emulator.application, 9, 8, 7, 6)
    )


def test_a_connection_too_many_is_refused(emulator: EmulatorUnderTest) -> None:
    conversation = asyncio.run(converse(emulator.application, [GET], limit=0))
    (answer,) = conversation.responses()
    assert (503, b"5") == (answer.status, dict(answer.headers)[b"retry-after"])
    assert b"service_unavailable" in answer.body


async def _one_more(application: Any, *sent: bytes) -> list[bool]:
    """Which connections stay open when there are as many as there may be, and one more comes."""
    state = Connections(limit=len(sent))
    transports = [
        await _opened(application, piece, state=state) for piece in (*sent, GET)
    ]
    return [not transport.is_closing() for transport in transports]


def test_the_connection_that_is_idle_for_longest_makes_room_for_another(
    emulator: EmulatorUnderTest,
) -> None:
    assert [True, False, True, True] == asyncio.run(
        _one_more(emulator.application, POST, GET, GET)
    )
    assert [True, True, False] == asyncio.run(
        _one_more(emulator.application, POST, POST)
    )


HEAD = GET[:-2] + b"X: "


@pytest.mark.parametrize(
    "before",
    [b"", b"\r\n" * 10, WHOLE_CHUNKED],
    ids=["first", "empty lines", "chunked body"],
)
@pytest.mark.parametrize("size", [100_000, 1_000_000])
def test_a_head_that_is_too_large_is_refused_anywhere(
    emulator: EmulatorUnderTest, before: bytes, size: int
) -> None:
    sent = before + HEAD + b"x" * size + b"\r\n\r\n"
    pieces = [sent[start : start + 10_000] for start in range(0, len(sent), 10_000)]
    for each in (pieces, [sent], [b"\r\n" * 5_000] * 20):  # or empty lines without end
        *_, last = asyncio.run(converse(emulator.application, each)).responses()
        assert (400, True) == (last.status, last.is_of_the_parser)


@pytest.mark.parametrize("piece_bytes", [1_000, 100_000])
def test_a_head_of_60_000_bytes_is_taken(
    emulator: EmulatorUnderTest, piece_bytes: int
) -> None:
    sent = WHOLE_CHUNKED + HEAD + b"x" * 60_000 + b"\r\n\r\n"
    pieces = [
        sent[start : start + piece_bytes] for start in range(0, len(sent), piece_bytes)
    ]
    assert [401, 200] == [
        each.status
        for each in asyncio.run(converse(emulator.application, pieces)).responses()
    ]


@pytest.mark.parametrize(
    "framing", [b"Content-Length: %d\r\n", b"Transfer-Encoding: chunked\r\n"]
)
@pytest.mark.parametrize("piece_bytes", [1, 50, 10_000])
def test_an_offer_of_another_protocol_keeps_the_body(
    emulator: EmulatorUnderTest, framing: bytes, piece_bytes: int
) -> None:
    body = b'{"content_type": "image/png", "size_bytes": 10}' + b" " * 100 + GET
    sent = (
        b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body) if b"chunked" in framing else body
    )
    head = POST.partition(b"Content-Length")[0].replace(b"products", b"uploads")
    head += b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAEAAEAA\r\n"
    head += framing % len(body) if b"%" in framing else framing
    head += b"Authorization: Bearer iwe_demo_full\r\nIdempotency-Key: k\r\nContent-Type: application/json\r\n\r\n"
    whole = head + sent + GET
    pieces = [
        whole[start : start + piece_bytes]
        for start in range(0, len(whole), piece_bytes)
    ]
    conversation = asyncio.run(converse(emulator.application, pieces))
    assert [
        ("POST", "/v1/uploads", 400),
        ("GET", "/v1/team", 200),
    ] == conversation.requests


def test_a_client_that_ends_its_side_gets_the_answers_of_its_pipeline() -> None:
    with serving() as server:
        for number in (1, 2, 3):
            with server.connect() as connection:
                connection.sendall(GET * number)
                connection.shutdown(socket.SHUT_WR)
                assert number == read_answer(connection).count(b"HTTP/1.1 200 ")


def test_a_pipeline_whose_client_may_have_gone_is_not_kept_for_ever(
    emulator: EmulatorUnderTest,
) -> None:
    async def leave() -> bool:
        transport = await _opened(emulator.application, GET + GET)
        assert transport.protocol is not None
        assert transport.protocol.eof_received()
        return transport.protocol.end_if_overdue(
            asyncio.get_running_loop().time() + REQUEST_SECONDS + 1
        )

    _play(emulator, "stall")
    assert asyncio.run(leave())


@pytest.mark.parametrize(
    "spoiled",
    [b"GET\r\n\r\n", b"\0\r\n\r\n", CHUNKED + b"x\r\n", GET.replace(b"\r", b"")],
)
def test_what_is_no_request_is_refused_after_the_requests_before(
    emulator: EmulatorUnderTest, spoiled: bytes
) -> None:
    conversation = asyncio.run(
        converse(emulator.application, [GET + GET + spoiled + GET])
    )
    answers = conversation.responses()
    assert [(200, False), (200, False), (400, True)] == [
        (answer.status, answer.is_of_the_parser) for answer in answers
    ]
    assert conversation.was_closed


def test_what_is_no_request_is_refused_for_its_own_mistake(
    emulator: EmulatorUnderTest,
) -> None:
    refused = b"PUT /_emulator/scenario HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nrulez: []"
    spoiled = GET.replace(b"\r\n\r\n", b"\r\nX-Long: %b\0\r\n\r\n" % (b"x" * 30_000))
    conversation = asyncio.run(
        converse(emulator.application, [refused + GET + spoiled])
    )
    assert [422, 200, 400] == [each.status for each in conversation.responses()]


@pytest.mark.parametrize(
    ("fault", "more"),
    [
        ("stall", {}),
        ("reset", {}),
        ("truncate", {}),
        ({"latency": "1h"}, {"at": "after_commit"}),
        ({"rate": "1KiB"}, {}),
    ],
)
def test_a_client_that_leaves_is_noticed(
    emulator: EmulatorUnderTest, fault: Any, more: dict[str, str]
) -> None:
    _play(emulator, fault, **more)
    conversation = asyncio.run(
        converse(emulator.application, [GET + GET])
    )  # which tells of a request that goes on
    assert [("GET", "/v1/team")] == [
        (method, path) for method, path, _ in conversation.requests
    ]


def test_a_body_that_is_spoiled_after_its_refusal_began_ends_the_connection(
    emulator: EmulatorUnderTest,
) -> None:
    pieces = [
        CHUNKED.replace(b"/v1/products", b"/v1/nowhere") + b"1\r\na\r\n",
        b"spoiled\r\n",
    ]
    conversation = asyncio.run(converse(emulator.application, pieces))
    assert conversation.was_closed
    assert [404] == [
        int(status) for status in re.findall(rb"HTTP/1.1 (\d{3})", conversation.written)
    ]


def test_a_client_is_seen_to_leave_however_many_of_its_requests_wait(
    emulator: EmulatorUnderTest,
) -> None:
    """Reading is paused when more has come behind many requests, and goes on after a check of the connection."""

    async def read_ahead() -> list[bool]:
        transport = await _opened(emulator.application, GET * 300 + GET[:30])
        protocol = transport.protocol
        assert protocol is not None
        paused = []
        for _ in range(2):
            protocol.data_received(GET)
            paused.append(transport.is_reading_paused)
            assert not protocol.end_if_overdue(
                asyncio.get_running_loop().time() + REQUEST_SECONDS + 1
            )
            paused.append(transport.is_reading_paused)
        return paused

    _play(emulator, "stall")
    assert [True, False, True, False] == asyncio.run(read_ahead())


def test_a_connection_that_the_client_has_closed_is_not_reset() -> None:
    transport = Mock()
    transport.get_extra_info.return_value.setsockopt.side_effect = ValueError(
        "negative file descriptor"
    )
    protocol = WatchedProtocol(server_config(Mock()), Connections(limit=1), {}, Mock())
    protocol.transport = transport
    protocol.reset()
    transport.abort.assert_called_once()


def test_who_may_not_send_the_body_is_not_taken_to_send_it(
    emulator: EmulatorUnderTest,
) -> None:
    careful = POST.replace(b"/v1/products", b"/v1/nowhere").replace(
        b"\r\n\r\n", b"\r\nExpect: 100-continue\r\n\r\n"
    )
    (answer,) = asyncio.run(converse(emulator.application, [careful])).responses()
    assert (404, b"close") == (answer.status, dict(answer.headers)[b"connection"])


def test_a_refused_method_leaves_no_advice_in_the_log(
    emulator: EmulatorUnderTest, caplog: pytest.LogCaptureFixture
) -> None:
    asyncio.run(converse(emulator.application, [GET.replace(b"GET", b"CONNECT")]))
    assert ["Invalid HTTP request received."] == caplog.messages


@pytest.mark.parametrize(
    ("target", "host", "status"),
    [
        (b"http://evil.com/v1/team", b"localhost", 403),
        (b"HTTP://localhost:8038/v1/team", b"evil.com", 200),
        (b"http://evil.com@localhost/v1/team", b"localhost", 400),
        (b"http:///v1/team", b"localhost", 400),
        (b"http://localhost", b"evil.com", 404),
        (b"ftp://localhost/v1/team", b"localhost", 400),
        (b"mailto:x@localhost", b"localhost", 400),
    ],
)
def test_an_absolute_target_names_the_host(
    emulator: EmulatorUnderTest, target: bytes, host: bytes, status: int
) -> None:
    sent = GET.replace(b"/v1/team", target).replace(b"localhost\r\n", host + b"\r\n")
    conversation = asyncio.run(converse(emulator.application, [sent]))
    assert [status] == [response.status for response in conversation.responses()]


def test_a_client_without_a_host_gets_links_to_the_address_that_it_came_to(
    emulator: EmulatorUnderTest,
) -> None:
    head = b"POST /v1/uploads HTTP/1.0\r\nAuthorization: Bearer iwe_demo_full\r\nIdempotency-Key: one\r\n"
    head += b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(
        UPLOAD_CONTENT
    )
    (answer,) = asyncio.run(
        converse(emulator.application, [head + UPLOAD_CONTENT])
    ).responses()
    assert b'"url":"http://127.0.0.1:8038/direct-uploads/' in answer.body


def test_refused_connections_are_logged(
    emulator: EmulatorUnderTest, caplog: pytest.LogCaptureFixture
) -> None:
    async def look() -> None:
        watched = WatchedServer(emulator.application)
        watched.server_state.refused, watched.server_state.limit = 2, 7
        for _ in range(2):
            watched._close_overdue()

    asyncio.run(look())
    (record,) = caplog.records
    assert record.message.startswith(
        "refused 2 connections: there may be 7 at most; close idle ones"
    )


def test_kept_connections_shut_out_nobody_where_files_are_few() -> None:
    script = f"ulimit -n 64; exec {sys.executable} -m image_workflow_emulator serve --port 0 --access-log off"
    with started("sh", "-c", script) as process:
        port = next(
            int(line.split(":")[2].split("/")[0])
            for line in process.stdout or ()
            if line.startswith("ready ")
        )
        kept = [
            HTTPConnection("127.0.0.1", port, timeout=PATIENCE_SECONDS)
            for _ in range(60)
        ]
        for connection in (*kept[:20], *kept[:20], *kept[20:]):
            connection.request(
                "GET", "/v1/poses", headers={"Authorization": "Bearer iwe_demo_full"}
            )
            answer = connection.getresponse()
            assert (200, b"{") == (answer.status, answer.read()[:1])
        for connection in kept:
            connection.close()
        process.terminate()
        assert process.wait(PATIENCE_SECONDS) == 0


READ = "1f0ad26f71ba02a760f1965589e05ae7e93ec5eb5a25b6c0d796f71630a3a051"
"""Of uvicorn 0.54.0."""


def test_the_classes_that_the_server_extends_are_those_that_were_read() -> None:
    source = "".join(
        inspect.getsource(each)
        for each in (HttpToolsProtocol, RequestResponseCycle, FlowControl)
    )
    digest = sha256(source.encode()).hexdigest()
    assert digest == READ, (
        "read what has changed in these classes, then write the new digest here"
    )
