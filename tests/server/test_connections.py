"""The connections of a server: how many there may be, how long each may take, and what they lose by pipelining."""

import asyncio
import gc
import re
import weakref
from typing import Any
from unittest.mock import Mock

import pytest

from emulator.server import connections
from emulator.server.batches import Batch, HoldingTransport
from emulator.server.connections import ANSWER_SECONDS, BODY_SECONDS, HEAD_SECONDS, IDLE_SECONDS, Connections
from emulator.server.garbage import REQUESTS_BETWEEN
from emulator.server.heads import Head, KnownHeads
from emulator.server.protocol import PatientHttpProtocol
from emulator.server.server import WatchedServer, server_config
from tests.fuzzing.wire import _Transport, converse
from tests.support.emulator_client import EmulatorUnderTest

GET = b"GET /v1/team HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer iwe_demo_full\r\n\r\n"
POST = b"POST /v1/products HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n"
CHUNKED = b"POST /v1/products HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"


def _play(emulator: EmulatorUnderTest, network: Any, **more: str) -> None:
    """Let GET /team be answered by a fault of the network."""
    emulator.rule({"operation": "getTeam"}, {"network": network, **more})


async def _opened(application: Any, sent: bytes = b"", state: Connections | None = None) -> _Transport:
    """A connection to a server, over which some bytes have come."""
    loop = asyncio.get_running_loop()
    transport = _Transport(loop)
    transport.protocol = PatientHttpProtocol(server_config(application), state or Connections(), {}, loop)
    transport.protocol.connection_made(transport)
    if sent:
        transport.protocol.data_received(sent)
    await _turns()
    return transport


async def _turns() -> None:
    for _ in range(100):
        await asyncio.sleep(0)


async def _silence(application: Any, sent: bytes, seconds: float) -> tuple[bool, bytes]:
    """What a server does with a connection that falls silent after some bytes: whether it closes it, and what it says."""
    transport = await _opened(application, sent)
    assert transport.protocol is not None
    written = len(transport.written)
    was_closed = transport.protocol.end_if_overdue(asyncio.get_running_loop().time() + seconds)
    await _turns()
    said = bytes(transport.written[written:])
    transport.close()
    await _turns()
    return was_closed, said


@pytest.mark.parametrize(
    ("sent", "limit"),
    [(b"", IDLE_SECONDS), (GET, IDLE_SECONDS), (GET[:30], HEAD_SECONDS), (POST + b"{}", BODY_SECONDS)],
    ids=["nothing", "a whole request", "half a head", "half a body"],
)
def test_a_silent_connection_is_closed_after_its_time(emulator: EmulatorUnderTest, sent: bytes, limit: float) -> None:
    before = asyncio.run(_silence(emulator.application, sent, limit - 1))
    after = asyncio.run(_silence(emulator.application, sent, limit + 1))
    assert (False, True) == (before[0], after[0])


async def _unread(application: Any, *unsent_bytes: int) -> list[bool]:
    """Whether a closing connection is ended, of whose answer so many bytes are left at looks in equal intervals."""
    transport = await _opened(application)
    assert transport.protocol is not None
    looks = []
    for number, transport.unsent_bytes in enumerate(unsent_bytes):
        seconds = number * ANSWER_SECONDS * 0.4
        looks.append(transport.protocol.end_if_overdue(asyncio.get_running_loop().time() + seconds))
        transport.close()
    return looks


def test_a_client_that_reads_no_more_is_ended_and_one_that_reads_slowly_is_not(emulator: EmulatorUnderTest) -> None:
    assert [False, False, False, True] == asyncio.run(_unread(emulator.application, 9, 9, 9, 9))
    assert [False, False, False, False] == asyncio.run(_unread(emulator.application, 9, 8, 7, 6))


def test_half_a_head_is_told_why(emulator: EmulatorUnderTest) -> None:
    _, said = asyncio.run(_silence(emulator.application, GET[:30], HEAD_SECONDS + 1))
    assert said.startswith(b"HTTP/1.1 408 ")
    assert b"must come within 30 s" in said


def test_half_a_head_that_is_not_read_on_may_take_its_time(emulator: EmulatorUnderTest) -> None:
    _play(emulator, "stall")
    was_closed, said = asyncio.run(_silence(emulator.application, GET * 20 + GET[:30], HEAD_SECONDS + 1))
    assert (False, b"") == (was_closed, said)


def test_a_head_with_bare_line_feeds_is_refused_at_once(emulator: EmulatorUnderTest) -> None:
    (answer,) = asyncio.run(converse(emulator.application, [GET.replace(b"\r", b"")])).responses()
    assert (400, True) == (answer.status, b"Expected CRLF" in answer.body)


def test_a_connection_too_many_is_refused(emulator: EmulatorUnderTest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "MAXIMUM_CONNECTIONS", 0)
    monkeypatch.setattr(connections, "connection_limit", lambda: 0)
    conversation = asyncio.run(converse(emulator.application, [GET]))
    (answer,) = conversation.responses()
    assert (503, b"5") == (answer.status, dict(answer.headers)[b"retry-after"])
    assert b"service_unavailable" in answer.body


def test_pipelined_requests_are_answered_whatever_protocol_one_of_them_offers(emulator: EmulatorUnderTest) -> None:
    upgrade = POST.replace(b"\r\n\r\n", b"\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n") + b"0123456789"
    conversation = asyncio.run(converse(emulator.application, [GET + upgrade + GET + upgrade + GET]))
    assert [200, 401, 200, 401, 200] == [response.status for response in conversation.responses()]


@pytest.mark.parametrize("spoiled", [b"GET\r\n\r\n", b"\0\r\n\r\n", CHUNKED + b"x\r\n"])
def test_what_is_no_request_is_refused_after_the_requests_before(emulator: EmulatorUnderTest, spoiled: bytes) -> None:
    conversation = asyncio.run(converse(emulator.application, [GET + GET + spoiled + GET]))
    answers = conversation.responses()
    assert [(200, False), (200, False), (400, True)] == [(answer.status, answer.is_of_the_parser) for answer in answers]
    assert conversation.was_closed


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
def test_a_client_that_leaves_is_missed_whatever_it_had_asked_for_next(
    emulator: EmulatorUnderTest, fault: Any, more: dict[str, str]
) -> None:
    _play(emulator, fault, **more)
    conversation = asyncio.run(converse(emulator.application, [GET + GET]))  # which tells of a request that goes on
    assert [("GET", "/v1/team")] == [(method, path) for method, path, _ in conversation.requests]


def test_a_body_that_is_spoiled_after_its_refusal_began_ends_the_connection(emulator: EmulatorUnderTest) -> None:
    pieces = [CHUNKED.replace(b"/v1/products", b"/v1/nowhere") + b"1\r\na\r\n", b"spoiled\r\n"]
    conversation = asyncio.run(converse(emulator.application, pieces))
    assert conversation.was_closed
    assert [404] == [int(status) for status in re.findall(rb"HTTP/1.1 (\d{3})", conversation.written)]


def test_a_client_is_seen_to_leave_while_its_next_request_waits(emulator: EmulatorUnderTest) -> None:
    _play(emulator, {"latency": "1h"})
    assert not emulator.run(_opened(emulator.application, GET + GET)).is_reading_paused


async def _read_ahead(application: Any) -> tuple[bool, bool, bool]:
    """Whether reading is paused behind many requests, after a look at the connection, and when more has come."""
    transport = await _opened(application, GET * 20)
    protocol = transport.protocol
    assert protocol is not None
    before = transport.is_reading_paused
    protocol.end_if_overdue(asyncio.get_running_loop().time())
    looked = transport.is_reading_paused
    protocol.data_received(GET)
    return before, looked, transport.is_reading_paused


def test_a_client_is_seen_to_leave_however_many_of_its_requests_wait(emulator: EmulatorUnderTest) -> None:
    _play(emulator, "stall")
    assert (True, False, True) == asyncio.run(_read_ahead(emulator.application))


async def _reset_too_late(application: Any) -> None:
    transport = await _opened(application)
    protocol = transport.protocol
    assert protocol is not None
    transport.close()
    protocol.transport.get_extra_info = Mock()  # type: ignore[method-assign]
    protocol.transport.get_extra_info.return_value.setsockopt.side_effect = ValueError("negative file descriptor")
    protocol.reset()


def test_a_connection_that_the_client_has_closed_is_not_reset(emulator: EmulatorUnderTest) -> None:
    asyncio.run(_reset_too_late(emulator.application))


def test_who_may_not_send_the_body_is_not_taken_to_send_it(emulator: EmulatorUnderTest) -> None:
    careful = POST.replace(b"/v1/products", b"/v1/nowhere").replace(b"\r\n\r\n", b"\r\nExpect: 100-continue\r\n\r\n")
    (answer,) = asyncio.run(converse(emulator.application, [careful])).responses()
    assert (404, b"close") == (answer.status, dict(answer.headers)[b"connection"])


def test_a_method_that_would_change_the_protocol_leaves_no_advice_in_the_log(
    emulator: EmulatorUnderTest, caplog: pytest.LogCaptureFixture
) -> None:
    asyncio.run(converse(emulator.application, [GET.replace(b"GET", b"CONNECT")]))
    assert "" == caplog.text


async def _closed(application: Any, sent: bytes) -> "weakref.ref[PatientHttpProtocol]":
    """A connection that began to answer requests and was closed."""
    transport = await _opened(application)
    assert transport.protocol is not None
    transport.protocol.data_received(sent)
    for _ in range(100):
        if not transport.written:
            await asyncio.sleep(0)
    assert transport.written.count(b"HTTP/1.1 200 ") == 1
    protocol = weakref.ref(transport.protocol)
    transport.close()
    await _turns()
    transport.protocol = None  # as a real one does
    return protocol


CLOCK, EVENTS = (GET.replace(b"/v1/team", path) for path in (b"/_emulator/clock", b"/_emulator/events"))


@pytest.mark.parametrize(
    "sent", [GET, GET * 20, CLOCK, EVENTS], ids=["answered", "not all answered", "control plane", "stream"]
)
def test_a_connection_that_is_gone_leaves_memory_without_collection(emulator: EmulatorUnderTest, sent: bytes) -> None:
    gc.disable()
    try:
        assert asyncio.run(_closed(emulator.application, sent))() is None
    finally:
        gc.enable()


def test_what_is_new_is_collected_after_so_many_requests_whatever_was_freed(emulator: EmulatorUnderTest) -> None:
    collected: list[str] = []
    gc.callbacks.append(lambda phase, _: collected.append(phase))
    gc.disable()  # what begins by itself
    try:
        asyncio.run(_asked(emulator.application, REQUESTS_BETWEEN - 1))
        assert [] == collected
        asyncio.run(_asked(emulator.application, REQUESTS_BETWEEN))
        assert ["start", "stop"] == collected
    finally:
        gc.callbacks.pop()
        gc.enable()


async def _asked(application: Any, times: int) -> None:
    transport = await _opened(application, GET)
    assert transport.protocol is not None
    for _ in range(times - 1):
        transport.protocol.data_received(GET)
        await asyncio.sleep(0)
    await _turns()
    assert transport.written.count(b"HTTP/1.1 ") == times


async def _written_beside_one_that_has_left(*pieces: bytes) -> list[bytes]:
    batch, gone, there = Batch(), Mock(), Mock()
    gone.is_closing.return_value, there.is_closing.return_value = True, False
    gone.write.side_effect = RuntimeError("the handler is closed")
    for transport in (HoldingTransport(gone, batch), HoldingTransport(there, batch)):
        for piece in pieces:
            transport.write(piece)
    await _turns()
    return [written.args[0] for written in there.write.call_args_list]


@pytest.mark.parametrize("pieces", [[b"answer"], [b"head", b"body"], [b"large" * 10_000]])
def test_a_client_that_leaves_takes_no_answer_from_those_of_the_same_turn(pieces: list[bytes]) -> None:
    assert [b"".join(pieces)] == asyncio.run(_written_beside_one_that_has_left(*pieces))


@pytest.mark.parametrize(
    ("target", "host", "status"),
    [
        (b"http://evil.com/v1/team", b"localhost", 403),
        (b"HTTP://localhost:8038/v1/team", b"evil.com", 200),
        (b"http://evil.com@localhost/v1/team", b"localhost", 400),
        (b"http:///v1/team", b"localhost", 400),
        (b"http://localhost", b"evil.com", 404),
    ],
)
def test_the_host_of_an_absolute_target_counts(
    emulator: EmulatorUnderTest, target: bytes, host: bytes, status: int
) -> None:
    sent = GET.replace(b"/v1/team", target).replace(b"localhost\r\n", host + b"\r\n")
    conversation = asyncio.run(converse(emulator.application, [sent]))
    assert [status] == [response.status for response in conversation.responses()]


async def _tell(scope: Any, receive: Any, send: Any) -> None:
    """Answer with what the server tells of a request."""
    told = {name: value for name, value in scope.items() if name != "extensions"}, await receive()
    await send({"type": "http.response.start", "status": 200, "headers": [], "body": repr(told).encode()})


async def _told_again_and_again(*requests: bytes) -> list[tuple[bytes, bool]]:
    """What is told of each request the first, second and third time, and whether the connection is then closed."""
    state, told = Connections(), []
    for sent in [request for request in requests for _ in range(3)]:
        transport = await _opened(_tell, sent, state)
        told.append((bytes(transport.written), transport.is_closing()))
        transport.close()
        await _turns()
    return told


@pytest.mark.parametrize("line", ["", "Connection: close\r\n", "Upgrade: h2c\r\n", "Expect: 100-continue\r\n"])
@pytest.mark.parametrize("target", ["/%C3%A9?a=%20", "http://other/v1/team"])
@pytest.mark.parametrize("version", ["1.0", "1.1"])
def test_a_read_that_comes_again_is_told_as_at_first(target: str, version: str, line: str) -> None:
    once = f"GET {target} HTTP/{version}\r\nHost: localhost\r\n{line}\r\n".encode()
    other = once.replace(b" HTTP", b"s HTTP")
    told = asyncio.run(_told_again_and_again(once, other, once))
    assert [told[0]] * 3 + [told[3]] * 3 + [told[0]] * 3 == told
    assert told[0] != told[3]


def test_a_client_without_a_host_gets_links_to_the_address_that_it_came_to(emulator: EmulatorUnderTest) -> None:
    body = b'{"content_type": "image/png", "size_bytes": 9}'
    lines = [
        "POST /v1/uploads HTTP/1.0", "Authorization: Bearer iwe_demo_full", "Idempotency-Key: one",
        "Content-Type: application/json", f"Content-Length: {len(body)}", "", "",
    ]  # fmt: skip
    (answer,) = asyncio.run(converse(emulator.application, ["\r\n".join(lines).encode() + body])).responses()
    assert b'"url":"http://127.0.0.1:8038/direct-uploads/' in answer.body


def test_few_and_short_heads_of_reads_are_kept() -> None:
    heads, head = KnownHeads(), Head("GET", "/", b"/", b"", [], "1.1", keep_alive=True, expects_continue=False)
    reads = [b"GET /%d HTTP/1.1\r\n\r\n" % number for number in range(1_000)]
    others = [b"POST / HTTP/1.1\r\n\r\n", b"GET /%b HTTP/1.1\r\n\r\n" % (b"x" * 3_000)]
    for data in [*reads, *others]:
        heads.keep(data, head)
    known = [heads.find(data) is head for data in reads]
    assert (False, True, True) == (known[0], known[-1], sum(known) < 500)
    assert [None, None] == [heads.find(data) for data in others]


def test_refused_connections_are_logged_with_their_limit(
    emulator: EmulatorUnderTest, caplog: pytest.LogCaptureFixture
) -> None:
    async def look() -> None:
        server = WatchedServer(emulator.application)
        server.server_state.refused, server.server_state.limit = 2, 7
        for _ in range(2):
            server._look(asyncio.get_running_loop())

    asyncio.run(look())
    (record,) = caplog.records
    assert record.message.startswith("refused 2 connections: there may be 7 at most; close idle ones")
