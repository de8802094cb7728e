"""The clients of the measurements, for a process of their own: raw sockets, and as little work as can be.

They must cost less than the server, or they would be what is measured. So an answer is told by its length: all answers
to one kind of request have the same, which the first one shows.
"""

import json
import selectors
import socket
import time
from collections.abc import Iterator
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
        status_line, *header_lines = data[:end].decode("latin-1").split("\r\n")
        headers = dict(line.lower().split(": ", 1) for line in header_lines)
        body_start = end + 4
        length = body_start + int(headers.get("content-length", 0))
        if headers.get("transfer-encoding") == "chunked":
            raise RuntimeError("a chunked answer")
        while len(data) < length:
            self._receive(data)
        status = int(status_line.split()[1])
        if status >= 300:
            raise RuntimeError(bytes(data).decode(errors="replace"))
        return Answer(bytes(data[body_start:length]), length)

    def read(self, request: bytes) -> bytes:
        """Send a request, and return the body of its answer."""
        return self.ask(request).body

    def _receive(self, data: bytearray) -> None:
        received = self.stream.recv(CHUNK_BYTES)
        if not received:
            raise RuntimeError(f"the connection was closed after {bytes(data[:300])!r}")
        data += received


@dataclass(slots=True)
class Repetition:
    """A request that is sent again and again on a connection of its own."""

    request: Template
    stream: socket.socket
    received: int = 0
    """Bytes of the answer that is awaited."""
    sent_at: float = 0.0

    def send(self, number: int) -> None:
        self.stream.sendall(self.request.number(number))
        self.received = 0

    def has_answer(self, length: int) -> bool:
        """Receive what has come, and tell whether the answer is whole.

        Raises RuntimeError unless it is a success of this length.
        """
        data = self.stream.recv(CHUNK_BYTES)
        is_success = self.received > 0 or data.startswith(b"HTTP/1.1 2")
        self.received += len(data)
        if not data or not is_success or self.received > length:
            raise RuntimeError(f"not the expected answer: {data[:400]!r}")
        return self.received == length


def put_under_load(
    port: int,
    requests: list[Template],
    seconds: float,
    first_number: int,
) -> tuple[int, float]:
    """Send each request again and again on a connection of its own; return the number of answers and the p99 in ms."""
    numbers = count(first_number)
    length = length_of_answers(port, requests, numbers)
    selector = selectors.DefaultSelector()
    for request in requests:
        repetition = Repetition(request, Connection(port).stream)
        selector.register(repetition.stream, selectors.EVENT_READ, repetition)
    repetitions = [key.data for key in selector.get_map().values()]
    now = time.perf_counter()
    end = now + seconds
    for repetition in repetitions:
        repetition.sent_at = now
        repetition.send(next(numbers))
    took: list[float] = []
    while now < end:
        for key, _ in selector.select(1.0):
            repetition = key.data
            if not repetition.has_answer(length):
                continue
            now = time.perf_counter()
            took.append(now - repetition.sent_at)
            repetition.sent_at = now
            repetition.send(next(numbers))
    for repetition in repetitions:
        repetition.stream.close()
    selector.close()
    took.sort()
    p99 = took[len(took) * 99 // 100]
    return len(took), p99 * 1000


def length_of_answers(
    port: int,
    requests: list[Template],
    numbers: Iterator[int],
) -> int:
    """Send each request once, and return the length that all answers must have."""
    lengths = set()
    for request in requests:
        connection = Connection(port)
        answer = connection.ask(request.number(next(numbers)))
        connection.stream.close()
        lengths.add(answer.length)
    (length,) = lengths
    return length


def measure_photoshoot(
    port: int,
    key: str,
    body: Any,
    number: int,
) -> float:
    """Order pictures like no others, poll and download them; return the milliseconds."""
    connection = Connection(port)

    def read(path: str) -> Any:
        request = template("GET", path, key)
        return connection.ask(request.before).json()

    # The same pictures would be drawn only once.
    own_body = {**body, "colorway": {"name": f"Number {number}"}}
    path = "/v1/generations/product-photography"
    order = template("POST", path, key, own_body, is_numbered=True)
    start = time.perf_counter()
    work = connection.ask(order.number(number)).json()
    while work["status"] not in ("completed", "failed"):
        work = read(f"/v1/generations/{work['id']}")
    for output in work["outputs"]:
        asset = read(f"/v1/assets/{output['asset']['id']}")
        path_of_bytes = "/" + asset["url"].split("/", 3)[3]
        download = template("GET", path_of_bytes, "none")
        connection.ask(download.before)
    elapsed_ms = (time.perf_counter() - start) * 1000
    connection.stream.close()
    return elapsed_ms
