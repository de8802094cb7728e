"""The clients of the measurements, for a process of their own: raw sockets, and as little work as can be.

They must cost less than the server, or they would be what is measured. So an answer is told by its length: all answers
to one kind of request have the same, which the first one shows.
"""

import json
import selectors
import socket
import time
from dataclasses import dataclass, field
from itertools import count
from typing import Any, NamedTuple

from tests.benchmarks.servers import Template, template

CHUNK_BYTES = 1 << 20


class Answer(NamedTuple):
    """The body of an answer, and the length of all of it."""

    body: bytes
    length: int

    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(slots=True)
class Connection:
    """A kept connection, one request at a time."""

    port: int
    stream: socket.socket = field(init=False)

    def __post_init__(self) -> None:
        self.stream = socket.create_connection(("127.0.0.1", self.port))
        self.stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def ask(self, request: bytes) -> Answer:
        """Send a request and read its answer whole. Raises RuntimeError unless it is a success."""
        self.stream.sendall(request)
        data = bytearray()
        while (end := data.find(b"\r\n\r\n")) < 0:
            self._receive(data)
        lines = data[:end].decode("latin-1").split("\r\n")
        headers = dict(line.lower().split(": ", 1) for line in lines[1:])
        length = end + 4 + int(headers.get("content-length", 0))
        if headers.get("transfer-encoding") == "chunked":
            raise RuntimeError("a chunked answer")
        while len(data) < length:
            self._receive(data)
        if int(lines[0].split()[1]) >= 300:
            raise RuntimeError(bytes(data).decode(errors="replace"))
        return Answer(bytes(data[end + 4 : length]), length)

    def read(self, request: bytes) -> bytes:
        """Send a request, and return the body of its answer."""
        return self.ask(request).body

    def _receive(self, data: bytearray) -> None:
        received = self.stream.recv(CHUNK_BYTES)
        if not received:
            raise RuntimeError(f"the connection was closed after {bytes(data[:300])!r}")
        data += received


def put_under_load(
    port: int,
    requests: list[Template],
    seconds: float,
    first_number: int,
) -> tuple[int, float]:
    """Send each request again and again on a connection of its own; return the number of answers and the p99 in ms."""
    numbers = count(first_number)
    [length] = {
        Connection(port).ask(request.number(next(numbers))).length
        for request in requests
    }
    sockets = [Connection(port).stream for _ in requests]
    selector = selectors.DefaultSelector()
    received = {}
    for each, request in zip(sockets, requests, strict=True):
        selector.register(each, selectors.EVENT_READ, request)
        received[each.fileno()] = 0
        each.sendall(request.number(next(numbers)))
    took: list[float] = []
    start = now = time.perf_counter()
    sent = dict.fromkeys(received, start)
    end = start + seconds
    while now < end:
        for selected, _ in selector.select(1.0):
            ready = selected.fileobj
            assert isinstance(ready, socket.socket)
            data = ready.recv(CHUNK_BYTES)
            got = received[selected.fd] + len(data)
            if got < length and data:
                received[selected.fd] = got
                continue
            if got != length or (
                not data.startswith(b"HTTP/1.1 2", 0) and received[selected.fd] == 0
            ):
                raise RuntimeError(f"answer {len(took)}: {data[:400]!r}")
            received[selected.fd] = 0
            now = time.perf_counter()
            took.append(now - sent[selected.fd])
            sent[selected.fd] = now
            ready.send(selected.data.number(next(numbers)))
    for each in sockets:
        each.close()
    selector.close()
    took.sort()
    return len(took), took[len(took) * 99 // 100] * 1000


def measure_photoshoot(port: int, key: str, body: Any, number: int) -> float:
    """Order pictures like no others, poll and download them; return the milliseconds."""
    body = {
        **body,
        "colorway": {"name": f"Number {number}"},
    }  # the same pictures would be drawn only once
    order = template(
        "POST",
        "/v1/generations/product-photography",
        key,
        body,
        is_numbered=True,
    )
    connection = Connection(port)
    start = time.perf_counter()
    work = connection.ask(order.number(number)).json()
    while work["status"] not in ("completed", "failed"):
        work = connection.ask(
            template("GET", f"/v1/generations/{work['id']}", key).before
        ).json()
    for output in work["outputs"]:
        asset = connection.ask(
            template("GET", f"/v1/assets/{output['asset']['id']}", key).before
        ).json()
        connection.ask(
            template("GET", "/" + asset["url"].split("/", 3)[3], "none").before
        )
    elapsed_ms = (time.perf_counter() - start) * 1000
    connection.stream.close()
    return elapsed_ms
