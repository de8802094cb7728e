"""Counts the instructions that the processor needs for a request: `make bench`.

On a busy machine a time says little; this number, which callgrind (valgrind) counts, is
the same within 2 % in every run. The emulator and the compared servers answer the same
requests in one process, each with its protocol on a transport that leads nowhere,
without garbage collector.
"""

import asyncio
import gc
import io
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import uvloop
from uvicorn.config import Config
from uvicorn.server import ServerState

from image_workflow_emulator.app import Application
from image_workflow_emulator.cli.log import RequestLog
from image_workflow_emulator.server.connection import ConnectionState
from image_workflow_emulator.server.server import server_config
from image_workflow_emulator.settings import read_settings
from tests.benchmarks.compared_servers import KINDS, config_of
from tests.benchmarks.figures import EMULATOR, Figure
from tests.benchmarks.servers import (
    Template,
    bare_request,
    prepared_requests,
    write_world,
)

AIMS: Final = {"GET": "2.1", "POST": "3.4", "list": "", "poll": "2.1"}
"""The kinds of requests, and the aims of their ratio."""
SERVERS: Final = (EMULATOR, *KINDS)
WARM_UP: Final = 50
REQUESTS: Final = 200
_MARKER: Final = "getloadavg"
"""A function of the C library that nothing else calls: where it begins, callgrind writes
what it has counted so far."""


def figures() -> list[Figure]:
    """Return a row for the table of measurements for each kind of request."""
    if shutil.which("valgrind") is None:
        return [Figure("instructions of a request", "not counted: no valgrind")]
    counted = iter(_count_instructions())
    rows = []
    for kind, aim in AIMS.items():
        row = Figure(f"instructions of {kind}", "thousand", "starlette", aim)
        for server in SERVERS:
            row.add(server, next(counted) / 1000)
        rows.append(row)
    return rows


def _count_instructions() -> list[float]:
    """Return the instructions for a request, kind by kind and server by server."""
    with TemporaryDirectory() as folder:
        world = write_world(Path(folder), "timings: {first_output: 10d}\n")
        profile = Path(folder, "profile")
        command = [
            "valgrind",
            "--tool=callgrind",
            f"--callgrind-out-file={profile}",
            f"--dump-before={_MARKER}",
            sys.executable,
            "-m",
            "tests.benchmarks.instructions",
            world,
        ]
        variables = {**os.environ, "PYTHONHASHSEED": "0"}
        subprocess.run(
            command,
            env=variables,
            check=True,
            stderr=subprocess.DEVNULL,
        )
        # Each server dumps twice: what came before its requests, and these.
        dumps = 2 * len(AIMS) * len(SERVERS)
        profiles = [f"{profile}.{number}" for number in range(2, dumps + 1, 2)]
        return [_total(Path(path).read_text()) / REQUESTS for path in profiles]


def _total(profile: str) -> int:
    total = re.search(r"^totals: (\d+)", profile, re.MULTILINE)
    if total is None:
        raise RuntimeError("a profile of callgrind without its total")
    return int(total[1])


class _Transport(asyncio.Transport):
    """A connection that keeps what is written."""

    def __init__(self) -> None:
        super().__init__(
            {"peername": ("127.0.0.1", 50_000), "sockname": ("127.0.0.1", 8038)}
        )
        self.written = b""

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.written += data

    def is_closing(self) -> bool:
        return False

    def resume_reading(self) -> None:
        """Do nothing: it never stopped."""


class _Connection:
    """One of uvicorn's protocols on such a transport."""

    def __init__(
        self,
        config: Config,
        state: ServerState,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        config.load()
        make: Any = config.http_protocol_class
        self._loop = loop
        self._transport = _Transport()
        self._protocol = make(config, state, {}, loop)
        self._protocol.connection_made(self._transport)

    def ask(self, request: bytes) -> bytes:
        """Send a request, and return the body of its answer."""
        self._loop.run_until_complete(self._send([request]))
        return self._transport.written.partition(b"\r\n\r\n")[2]

    def count(self, request: Template, numbers: Iterator[int]) -> None:
        """Send a request again and again between two markers."""
        for times in (WARM_UP, REQUESTS):
            requests = [request.number(next(numbers)) for _ in range(times)]
            self._loop.run_until_complete(self._send(requests))
            os.getloadavg()

    async def _send(self, requests: list[bytes]) -> None:
        for request in requests:
            self._transport.written = b""
            self._protocol.data_received(request)
            # An event instead of the loop would be counted too.
            while not self._protocol.cycle.response_complete:  # noqa: ASYNC110
                await asyncio.sleep(0)


def _measure(world: str) -> None:
    application = Application(read_settings({"clock": "x1000", "world": world}, {}))
    application.sandboxes.watchers.append(RequestLog(io.StringIO(), as_json=False).note)
    loop = uvloop.new_event_loop()
    numbers = count()
    emulator = _Connection(server_config(application), ConnectionState(1_000), loop)
    compared = [_Connection(config_of(kind), ServerState(), loop) for kind in KINDS]
    for request in prepared_requests(emulator.ask, 0, numbers):
        size = len(emulator.ask(request.number(next(numbers))))
        emulator.count(request, numbers)
        for connection in compared:
            connection.count(bare_request(request, size), numbers)
    application.close()


if __name__ == "__main__":
    gc.disable()
    _measure(sys.argv[1])
