"""Requests as the bytes of HTTP/1.1, put together so that any part of one can be wrong."""

from dataclasses import dataclass, field
from random import Random
from urllib.parse import urlsplit

from tests.fuzzing.cases import in_pieces
from tests.support.emulator_client import FULL, HOST, EmulatorUnderTest, Json
from tests.support.pictures import picture

Header = tuple[bytes, bytes]

_CREDENTIAL: Header = (b"Authorization", b"Bearer " + FULL.encode())
_JSON: Header = (b"Content-Type", b"application/json")
DATA = picture()
"""Content of the upload sessions."""


@dataclass(slots=True)
class WireRequest:
    method: bytes
    target: bytes
    headers: list[Header] = field(default_factory=list)
    body: bytes | None = None
    is_chunked: bool = False
    version: bytes = b"HTTP/1.1"

    def written(self, chance: Random) -> bytes:
        """Write it down; a chunked body in chunks of any size."""
        headers, body = [(b"Host", HOST.encode()), *self.headers], b""
        if self.body is not None and self.is_chunked:
            headers.append((b"Transfer-Encoding", b"chunked"))
            body = b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in in_pieces(self.body, chance))
            body += b"0\r\n\r\n"
        elif self.body is not None:
            headers.append((b"Content-Length", b"%d" % len(self.body)))
            body = self.body
        head = b"%s %s %s\r\n" % (self.method, self.target, self.version)
        return head + b"".join(b"%s: %s\r\n" % header for header in headers) + b"\r\n" + body


class Surfaces:
    """Good requests to every byte-level surface of one emulator, and to the ones beside them."""

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
        upload = b'{"content_type": "image/png", "size_bytes": 10}'
        good = (
            WireRequest(b"GET", b"/v1/team", [_CREDENTIAL]),
            WireRequest(b"GET", b"/v1/assets?limit=2", [_CREDENTIAL]),
            WireRequest(b"POST", b"/v1/uploads", keyed, upload),
            WireRequest(b"PATCH", b"/v1/products/" + self._product, keyed, b'{"name": "Renamed"}'),
            direct_upload(self._fresh, DATA),
            direct_upload(self._taken, chance.choice((DATA, DATA[::-1]))),
            WireRequest(b"GET", self._file, [(b"Range", b"bytes=0-9")]),
            WireRequest(b"GET", b"/_emulator/clock"),
            WireRequest(b"PUT", b"/_emulator/scenario", [], b"scenario: x\nrules: []\n"),
        )
        request = chance.choice(good)
        request.is_chunked = chance.random() < 0.5
        return request


def direct_upload(session: Json, data: bytes) -> WireRequest:
    upload = session["upload"]
    headers = [(name.encode(), value.encode()) for name, value in upload["headers"].items()]
    return WireRequest(upload["method"].encode(), target_of(upload["url"]), headers, data)


def target_of(url: str) -> bytes:
    return urlsplit(url).path.encode()


_METHODS = b"GET POST PUT PATCH DELETE HEAD OPTIONS CONNECT TRACE PRI get FOO M-SEARCH G\0T".split(b" ")
_VERSIONS = (b"HTTP/1.0", b"HTTP/0.9", b"HTTP/2.0", b"HTTP/1.1 ", b"", b"http/1.1", b"HTTP/9.9")
_TARGETS = (
    *(b"*", b"/", b"//", b"?", b"/v1/team#x", b"/v1/team?%zz", b"/v1/%2e%2e/team", b"/v1/team%00", b"/v1/te\xffam"),
    *(b"http://emulator.test/v1/team", b"emulator.test:80", b"http://[::1/v1/team", b"/v1/assets?limit=%ff"),
    *(b"/v1/" + b"a" * 70_000, b"/v1/team?" + b"a=b&" * 10_000, b"/v1/assets/" + b"%41" * 5_000),
    *(b"/direct-uploads/", b"/direct-uploads/a/b/c", b"/files/", b"/files/default/x-y.png", b"/_emulator/nowhere"),
)
_NAMES = (
    *(b"Content-Length", b"Transfer-Encoding", b"Trailer", b"TE", b"Expect", b"Connection", b"Upgrade", b"UPGRADE"),
    *(b"Host", b"Origin", b"Sec-Fetch-Site", b"Authorization", b"Idempotency-Key", b"Emulator-Fault", b"X", b""),
    *(b"Content-Type", b"Content-Encoding", b"Accept", b"Range", b"If-Range", b"If-None-Match", b"X-Upload-Binding"),
)
_VALUES = (
    b"", b"0", b"-1", b"10", b"99999999999999999999999", b"0x10", b"1e3", b"+5", b"5, 5", b"bytes=0-", b"\r\n folded",
    b"chunked", b"Chunked", b"identity", b"gzip, chunked", b"chunked, identity", b"100-continue", b"close", b"h2c",
    b"websocket", b"keep-alive, Upgrade", b"\xff\xfe", b"a\0b", b"a\tb", b"x" * 3_000, b"x" * 70_000, b"Bearer \xe9",
    b"Bearer", b"Bearer  iwe_demo_full ", b"rate_limited", b"emulator.test\x80", b"[::1", b"null",
    b"multipart/form-data; boundary=x", b"application/json; charset=\xff", b"http://other.test",
)  # fmt: skip
SEPARATORS = (
    *(b"\r\n", b"\n", b"\r", b"\0", b" ", b":", b"%", b"\xff", b";ext=1\r\n", b"0\r\n\r\n", b"0\r\nA: b\r\n\r\n"),
    *(b"ffffffffffffffff\r\n", b"-1\r\n", b"GET / HTTP/1.1\r\n\r\n", b"Transfer-Encoding: chunked\r\n"),
    *(b"Content-Length: 5\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"),
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
            headers[place] = (headers[place][0], chance.choice(_VALUES))
        case 5 if request.body:
            body = request.body
            request.body = chance.choice((b"", body[:-1], body + b"x", body * 3))
        case _:
            headers.insert(chance.randint(0, len(headers)), (chance.choice(_NAMES), chance.choice(_VALUES)))
