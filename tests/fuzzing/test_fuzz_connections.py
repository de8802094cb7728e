"""Any bytes on a connection: answers in HTTP or none, no 500, and no hang.

What is refused changes nothing.
"""

from random import Random
from urllib.parse import urlsplit

import orjson
import pytest

from tests.fuzzing.cases import (
    Case,
    amounts,
    cases,
    changed_bytes,
    differences,
    everything,
    in_pieces,
)
from tests.fuzzing.wire import (
    Conversation,
    HandledRequest,
    Response,
    WireRequest,
    converse,
)
from tests.support.emulator_client import FULL, Json
from tests.support.emulator_under_test import EmulatorUnderTest
from tests.support.pictures import picture

STATUSES = {
    200,
    201,
    204,
    206,
    302,
    304,
    400,
    401,
    403,
    404,
    405,
    409,
    410,
    413,
    416,
    422,
    429,
    503,
}
"""503 only if a scenario asks for it; no 500 in any case."""
_CREDENTIAL = (b"Authorization", b"Bearer " + FULL.encode())
_JSON = (b"Content-Type", b"application/json")
DATA = picture()
"""Content of the upload sessions."""
UPLOAD = b'{"content_type": "image/png", "size_bytes": 10}'


class Surfaces:
    """Good requests to every surface of one emulator."""

    def __init__(self, emulator: EmulatorUnderTest) -> None:
        self._emulator = emulator
        asset = emulator.upload(DATA)
        self._file = target_of(asset["url"])
        self._product = emulator.product(asset["id"])["id"].encode()
        self._fresh = emulator.open_upload(len(DATA))
        self._taken = emulator.open_upload(len(DATA))
        emulator.send_bytes(self._taken, DATA)
        self._keys_used = 0

    def good_request(self, chance: Random) -> WireRequest:
        """Return a request to one of the surfaces that would be served as it is."""
        self._keys_used += 1
        keyed = [_CREDENTIAL, _JSON, (b"Idempotency-Key", b"key %d" % self._keys_used)]
        good = (
            WireRequest(b"GET", b"/v1/team", [_CREDENTIAL]),
            WireRequest(b"GET", b"/v1/assets?limit=2", [_CREDENTIAL]),
            WireRequest(b"POST", b"/v1/uploads", keyed, UPLOAD),
            WireRequest(
                b"PATCH",
                b"/v1/products/" + self._product,
                keyed,
                b'{"name": "Renamed"}',
            ),
            direct_upload(self._fresh, DATA),
            direct_upload(self._taken, chance.choice((DATA, DATA[::-1]))),
            WireRequest(b"GET", self._file, [(b"Range", b"bytes=0-9")]),
            WireRequest(b"GET", b"/_emulator/clock"),
            WireRequest(
                b"PUT",
                b"/_emulator/scenario",
                [],
                b"scenario: x\nrules: []\n",
            ),
        )
        request = chance.choice(good)
        request.is_chunked = chance.random() < 0.5
        return request


def direct_upload(session: Json, data: bytes) -> WireRequest:
    upload = session["upload"]
    headers = [
        (name.encode(), value.encode()) for name, value in upload["headers"].items()
    ]
    return WireRequest(
        upload["method"].encode(),
        target_of(upload["url"]),
        headers,
        data,
    )


def target_of(url: str) -> bytes:
    return urlsplit(url).path.encode()


_METHODS = (
    b"GET",
    b"POST",
    b"PUT",
    b"PATCH",
    b"DELETE",
    b"HEAD",
    b"OPTIONS",
    b"CONNECT",
    b"TRACE",
    b"PRI",
    b"get",
    b"FOO",
    b"M-SEARCH",
    b"G\0T",
)
_VERSIONS = (
    b"HTTP/1.0",
    b"HTTP/0.9",
    b"HTTP/2.0",
    b"HTTP/1.1 ",
    b"",
    b"http/1.1",
    b"HTTP/9.9",
)
_TARGETS = (
    b"*",
    b"/",
    b"//",
    b"?",
    b"/v1/team#x",
    b"/v1/team?%zz",
    b"/v1/%2e%2e/team",
    b"/v1/team%00",
    b"/v1/te\xffam",
    b"http://emulator.test/v1/team",
    b"emulator.test:80",
    b"http://[::1/v1/team",
    b"/v1/assets?limit=%ff",
    b"/v1/" + b"a" * 70_000,
    b"/v1/team?" + b"a=b&" * 10_000,
    b"/v1/assets/" + b"%41" * 5_000,
    b"/direct-uploads/",
    b"/direct-uploads/a/b/c",
    b"/files/",
    b"/files/default/x-y.png",
    b"/_emulator/nowhere",
)
_NAMES = (
    b"Content-Length",
    b"Transfer-Encoding",
    b"Trailer",
    b"TE",
    b"Expect",
    b"Connection",
    b"Upgrade",
    b"UPGRADE",
    b"Host",
    b"Origin",
    b"Sec-Fetch-Site",
    b"Authorization",
    b"Idempotency-Key",
    b"Emulator-Fault",
    b"X",
    b"",
    b"Content-Type",
    b"Content-Encoding",
    b"Accept",
    b"Range",
    b"If-Range",
    b"If-None-Match",
    b"X-Upload-Binding",
)
_VALUES = (
    b"",
    b"0",
    b"-1",
    b"10",
    b"99999999999999999999999",
    b"0x10",
    b"1e3",
    b"+5",
    b"5, 5",
    b"bytes=0-",
    b"\r\n folded",
    b"chunked",
    b"Chunked",
    b"identity",
    b"gzip, chunked",
    b"chunked, identity",
    b"100-continue",
    b"close",
    b"h2c",
    b"websocket",
    b"keep-alive, Upgrade",
    b"\xff\xfe",
    b"a\0b",
    b"a\tb",
    b"x" * 3_000,
    b"x" * 70_000,
    b"Bearer \xe9",
    b"Bearer",
    b"Bearer  iwe_demo_full ",
    b"rate_limited",
    b"emulator.test\x80",
    b"[::1",
    b"null",
    b"multipart/form-data; boundary=x",
    b"application/json; charset=\xff",
    b"http://other.test",
)
SEPARATORS = (
    b"\r\n",
    b"\n",
    b"\r",
    b"\0",
    b" ",
    b":",
    b"%",
    b"\xff",
    b";ext=1\r\n",
    b"0\r\n\r\n",
    b"0\r\nA: b\r\n\r\n",
    b"ffffffffffffffff\r\n",
    b"-1\r\n",
    b"GET / HTTP/1.1\r\n\r\n",
    b"Transfer-Encoding: chunked\r\n",
    b"Content-Length: 5\r\n",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
)
"""Texts that a parser of HTTP looks for, and the beginnings of other protocols."""


def spoil(request: WireRequest, chance: Random) -> None:
    """Make one part of a request another."""
    headers = request.headers
    match chance.randrange(9):
        case 0:
            request.method = chance.choice(_METHODS)
        case 1:
            request.target = chance.choice(_TARGETS)
        case 2:
            request.version = chance.choice(_VERSIONS)
        case 3 if headers:
            headers.pop(chance.randrange(len(headers)))
        case 4 if headers:
            place = chance.randrange(len(headers))
            name, _old_value = headers[place]
            headers[place] = (name, chance.choice(_VALUES))
        case 5 if request.body:
            body = request.body
            request.body = chance.choice((b"", body[:-1], body + b"x", body * 3))
        case _:
            place = chance.randint(0, len(headers))
            header = (chance.choice(_NAMES), chance.choice(_VALUES))
            headers.insert(place, header)


@pytest.mark.parametrize("amount", amounts(350, 15_000))
def test_spoiled_requests_are_answered_or_dropped_and_change_nothing(
    control: EmulatorUnderTest,
    amount: int,
) -> None:
    seen: set[int] = set()
    surfaces = Surfaces(control)
    for case in cases("connections", amount):
        if case.begins_an_episode:
            control.ask("POST", "/reset")
            surfaces = Surfaces(control)
        sent = spoiled_bytes(case, surfaces)
        with case.told(sent=sent):
            conversation = hold(control, in_pieces(sent, case.chance))
            statuses = {*statuses_of(conversation)}
            assert statuses <= STATUSES
            seen |= statuses
    assert {200, 400, 401, 404, 405} <= seen, "the fuzzer has lost its way"
    assert control.get("/team").status == 200


def spoiled_bytes(case: Case, surfaces: Surfaces) -> bytes:
    """Return one to three requests, with some parts wrong and some bytes changed."""
    chance = case.chance
    sent = b""
    for _ in range(chance.choice((1, 1, 2, 3))):
        request = surfaces.good_request(chance)
        for _ in range(chance.choice((0, 1, 1, 2, 3))):
            spoil(request, chance)
        sent += request.written(chance)
    for _ in range(chance.choice((0, 0, 0, 1, 1, 2, 5))):
        sent = changed_bytes(sent, chance, SEPARATORS)
    return sent


def hold(control: EmulatorUnderTest, pieces: list[bytes]) -> Conversation:
    """Hold a conversation.

    It may change something only by a write that was answered with a success.
    """
    before = everything(control)
    conversation = control.run(converse(control.application, pieces))
    if not any(map(is_served_write, conversation.requests)):
        assert differences(before, everything(control)) == []
    return conversation


def is_served_write(request: HandledRequest) -> bool:
    return request.status < 300 and request.method not in ("GET", "HEAD")


def statuses_of(conversation: Conversation) -> list[int]:
    """Return the statuses on the wire.

    They are the application's in their order, and a last one of the parser at most.
    """
    responses = conversation.responses()
    statuses = [response.status for response in responses]
    answered = statuses
    if responses and responses[-1].is_of_the_parser:
        assert responses[-1].status == 400
        assert conversation.was_closed
        answered = statuses[:-1]
    handled = [request.status for request in conversation.requests]
    assert answered == handled[: len(answered)]
    return statuses


@pytest.mark.parametrize("amount", amounts(30, 1_000))
def test_the_beginning_of_a_request_is_not_served(
    control: EmulatorUnderTest,
    amount: int,
) -> None:
    surfaces = Surfaces(control)
    for case in cases("pieces", amount):
        whole = surfaces.good_request(case.chance).written(case.chance)
        beginning = whole[: case.chance.randrange(len(whole))]
        with case.told(sent=beginning):
            conversation = hold(control, in_pieces(beginning, case.chance))

            statuses = {request.status for request in conversation.requests}
            assert not [status for status in statuses if 0 < status < 400]


@pytest.mark.parametrize("amount", amounts(30, 1_000))
def test_only_a_whole_request_counts_and_not_the_pieces_in_which_it_comes(
    control: EmulatorUnderTest,
    amount: int,
) -> None:
    surfaces = Surfaces(control)
    for case in cases("pieces", amount):
        request = surfaces.good_request(case.chance)
        whole = request.written(case.chance)
        with case.told(sent=whole):
            at_once = only_response(control, [whole])
            in_parts = only_response(control, in_pieces(whole, case.chance, most=40))
            single_bytes = [bytes([byte]) for byte in whole]
            byte_by_byte = only_response(control, single_bytes)

            assert at_once.status < 300 or at_once.status == 409
            assert in_parts.status == at_once.status
            assert byte_by_byte.status == at_once.status
            if not has_request_ids(request):
                assert in_parts.body == at_once.body
                assert byte_by_byte.body == at_once.body


def only_response(control: EmulatorUnderTest, pieces: list[bytes]) -> Response:
    (response,) = hold(control, pieces).responses()
    return response


def has_request_ids(request: WireRequest) -> bool:
    """Whether the answers to a request, sent twice, may differ in their Request-Ids."""
    keyed = b"Idempotency-Key" in dict(request.headers)
    return keyed or request.method == b"POST"


# What was found -----------------------------------------------------------------------


def talk(control: EmulatorUnderTest, *pieces: bytes) -> Conversation:
    return control.run(converse(control.application, pieces))


def answer_to(control: EmulatorUnderTest, *pieces: bytes) -> Response:
    """Return the only response to some bytes."""
    (response,) = talk(control, *pieces).responses()
    return response


def head(
    *lines: bytes,
    method: bytes = b"POST",
    target: bytes = b"/v1/uploads",
) -> bytes:
    """Return the head of a request, with further lines."""
    return b"\r\n".join(
        [
            b"%s %s HTTP/1.1" % (method, target),
            b"Host: emulator.test",
            b"Authorization: Bearer iwe_demo_full",
            b"Content-Type: application/json",
            b"Idempotency-Key: k",
            *lines,
            b"",
            b"",
        ]
    )


CHUNKED_UPLOAD = b"%x\r\n%s\r\n0\r\n" % (len(UPLOAD), UPLOAD)
"""A body up to its trailers."""


@pytest.mark.parametrize(
    "trailers",
    [b"a: b\r\n" * 100_000, b"a: " + b"b" * 600_000],
    ids=["many", "long"],
)
def test_trailers_are_limited_like_a_head(
    control: EmulatorUnderTest,
    trailers: bytes,
) -> None:
    start = head(b"Transfer-Encoding: chunked") + CHUNKED_UPLOAD
    pieces = [
        trailers[place : place + 10_000] for place in range(0, len(trailers), 10_000)
    ]

    response = answer_to(control, start, *pieces, b"\r\n\r\n")

    assert response.is_of_the_parser


@pytest.mark.parametrize(
    ("request_line", "reason"),
    [
        (b"GET /v1/te am HTTP/1.1", "Expected HTTP"),
        (b"GET /v1/team HTTP/9.9", "version"),
        (b"GET /v1/team HTTP/1.1\r\nA b: c", "header"),
        (b"GET x://[ HTTP/1.1", "invalid url"),
        (b"FOO /v1/team HTTP/1.1", "method"),
        (b"CONNECT emulator.test:80 HTTP/1.1", "no proxy"),
        (b"\x16\x03\x01", "method"),
    ],
)
def test_bytes_that_are_no_request_are_told_why(
    control: EmulatorUnderTest,
    request_line: bytes,
    reason: str,
) -> None:
    sent = request_line + b"\r\nHost: emulator.test\r\n\r\n"

    response = answer_to(control, sent)

    assert response.status == 400
    assert response.is_of_the_parser
    assert reason in orjson.loads(response.body)["detail"]


def test_a_trailer_is_no_header(control: EmulatorUnderTest) -> None:
    credential = b"Authorization: Bearer iwe_demo_full\r\n"
    start = head(b"Transfer-Encoding: chunked").replace(credential, b"")

    response = answer_to(control, start + CHUNKED_UPLOAD + credential + b"\r\n")

    assert response.status == 401


@pytest.mark.parametrize("body", [b"", b"{}"], ids=["without a body", "with a body"])
def test_no_more_is_read_while_many_requests_wait_for_earlier_ones(
    control: EmulatorUnderTest,
    body: bytes,
) -> None:
    length = b"Content-Length: %d" % len(body)
    request = head(length, method=b"POST", target=b"/v1/products") + body
    fifty_requests = request * 50

    conversation = talk(control, *[fifty_requests] * 20)

    assert 16 <= conversation.most_waiting < 150


def test_requests_that_waited_for_those_before_them_are_all_answered(
    control: EmulatorUnderTest,
) -> None:
    read = head(method=b"GET", target=b"/v1/team")
    write = head(b"Content-Length: %d" % len(UPLOAD)) + UPLOAD

    conversation = talk(control, *[read * 30] * 3, read * 29 + write[:-5], write[-5:])

    statuses = [response.status for response in conversation.responses()]
    assert statuses == [200] * 119 + [201]
