"""Defects that fuzz tests found, one by one."""

import orjson
import pytest

from tests.fuzzing.wire import Conversation, converse
from tests.support.emulator_client import EmulatorUnderTest
from tests.support.state_files import rewritten

UPLOAD = b'{"content_type": "image/png", "size_bytes": 10}'
END_OF_TIME = "9999-12-31T23:59:59.000Z"


def talk(control: EmulatorUnderTest, *pieces: bytes) -> Conversation:
    return control.run(converse(control.application, pieces))


def head(*lines: bytes, method: bytes = b"POST", target: bytes = b"/v1/uploads") -> bytes:
    known = (b"Host: emulator.test", b"Authorization: Bearer iwe_demo_full", b"Content-Type: application/json")
    return b"\r\n".join([b"%s %s HTTP/1.1" % (method, target), *known, b"Idempotency-Key: k", *lines, b"", b""])


@pytest.mark.parametrize("trailers", [b"a: b\r\n" * 100_000, b"a: " + b"b" * 600_000], ids=["many", "long"])
def test_trailers_are_limited_like_a_head(control: EmulatorUnderTest, trailers: bytes) -> None:
    body = b"%x\r\n%s\r\n0\r\n" % (len(UPLOAD), UPLOAD)
    pieces = [trailers[start : start + 10_000] for start in range(0, len(trailers), 10_000)]
    conversation = talk(control, head(b"Transfer-Encoding: chunked") + body, *pieces, b"\r\n\r\n")
    assert [True] == [response.is_of_the_parser for response in conversation.responses()]


@pytest.mark.parametrize(
    ("request_line", "found"),
    [
        (b"GET /v1/te am HTTP/1.1", "Expected HTTP"),
        (b"GET /v1/team HTTP/9.9", "version"),
        (b"GET /v1/team HTTP/1.1\r\nA b: c", "header"),
        (b"GET x://[ HTTP/1.1", "the target"),
        (b"GET /v1/team HTTP/2.0", "HTTP/2.0"),
        (b"FOO /v1/team HTTP/1.1", "method"),
        (b"CONNECT emulator.test:80 HTTP/1.1", "no proxy"),
        (b"\x16\x03\x01", "method"),
    ],
)
def test_bytes_that_are_no_request_are_told_why(control: EmulatorUnderTest, request_line: bytes, found: str) -> None:
    (response,) = talk(control, request_line + b"\r\nHost: emulator.test\r\n\r\n").responses()
    assert (400, True) == (response.status, response.is_of_the_parser)
    detail = orjson.loads(response.body)["detail"]
    assert found in detail


def test_a_trailer_is_no_header(control: EmulatorUnderTest) -> None:
    credential = b"Authorization: Bearer iwe_demo_full\r\n"
    start = head(b"Transfer-Encoding: chunked").replace(credential, b"")
    (response,) = talk(control, start + b"%x\r\n%s\r\n0\r\n" % (len(UPLOAD), UPLOAD) + credential + b"\r\n").responses()
    assert 401 == response.status


@pytest.mark.parametrize("body", [b"", b"{}"], ids=["without a body", "with a body"])
def test_no_more_is_read_while_many_requests_wait_for_earlier_ones(control: EmulatorUnderTest, body: bytes) -> None:
    piece = (head(b"Content-Length: %d" % len(body), method=b"POST", target=b"/v1/products") + body) * 50
    conversation = talk(control, *[piece] * 20)
    assert 16 <= conversation.most_waiting < 150


def test_requests_that_waited_for_those_before_them_are_all_answered(control: EmulatorUnderTest) -> None:
    get, post = head(method=b"GET", target=b"/v1/team"), head(b"Content-Length: %d" % len(UPLOAD)) + UPLOAD
    conversation = talk(control, *[get * 30] * 3, get * 29 + post[:-5], post[-5:])
    assert [200] * 119 + [201] == [response.status for response in conversation.responses()]


def test_a_team_and_an_upload_session_can_be_opened_at_the_end_of_time(control: EmulatorUnderTest) -> None:
    credential = control.team()["credentials"][0]["id"]
    control.told("PATCH", f"/credentials/{credential}", {"expires_at": "9999-12-31T23:59:59.999Z"})
    control.told("POST", "/clock/advance", {"to": END_OF_TIME})
    assert control.post("/uploads", {"content_type": "image/png", "size_bytes": 10}).status == 201
    assert control.told("POST", "/teams", {"name": "Late"})["name"] == control.told("GET", "/teams")["data"][-1]["name"]


def test_an_expiry_after_the_end_of_time_is_shown_as_the_last_instant(control: EmulatorUnderTest) -> None:
    saved, late = control.ask("GET", "/state").body, {"expires_at": 2**52}
    changed = rewritten(saved, lambda parts: parts["credentials"][0]["credential"].update(late))
    control.told("PUT", "/state", content=changed)
    assert "9999-12-31T23:59:59.999Z" == control.get("/team").json["credential"]["expires_at"]
    assert "9999-12-31T23:59:59.999Z" == control.team()["credentials"][0]["expires_at"]
