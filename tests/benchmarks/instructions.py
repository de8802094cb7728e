"""Counts the instructions that the processor needs for a request, with callgrind (valgrind): `make bench`.

On a busy machine a time says little; this number is the same within 2 % in every run. The emulator and the raw server
answer the same requests in one process, each with its protocol on a transport that leads nowhere, without garbage
collector.
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
from tests.benchmarks.raw_server import raw_config
from tests.benchmarks.servers import (
    Template,
    prepared_requests,
    raw_request,
    write_world,
)

KEPT: Final = {"GET": 2.6, "POST": 3.8, "list": 2.42, "poll": 2.65}
"""How many times the instructions of the raw server the emulator needed when this was written. Other versions of Python
change the numbers more than these ratios. Write a new one when it is known why it rose."""
MAX_RISE: Final = 1.1
WARM_UP: Final = 50
REQUESTS: Final = 200
_MARKER: Final = "getloadavg"
"""A function of the C library that nothing else calls: where it begins, callgrind writes what it has counted so far."""


def rows() -> list[list[str]]:
    """Return a row for the table of measurements for each kind of request."""
    if shutil.which("valgrind") is None:
        return [
            [
                "instructions of a request",
                "not counted: valgrind is missing",
                "",
                "",
                "",
            ]
        ]
    found = []
    for kind, (emulator, raw) in count_instructions().items():
        rise = emulator / raw / KEPT[kind]
        verdict = (
            f"{rise - 1:+.0%}"
            if rise <= MAX_RISE
            else f"ROSE by {rise - 1:.0%}: find out why, or write it down"
        )
        cells = [f"{number / 1000:.0f} thousand" for number in (emulator, raw)]
        found.append(
            [f"instructions of {kind}", *cells, f"{raw / emulator:.2f}", verdict]
        )
    return found


def count_instructions() -> dict[str, tuple[float, float]]:
    """Return the instructions for a request of each kind: the emulator's, and the raw server's."""
    with TemporaryDirectory() as folder:
        world, profile = (
            write_world(Path(folder), "timings: {first_output: 10d}\n"),
            Path(folder, "profile"),
        )
        counter = (
            "valgrind",
            "--tool=callgrind",
            f"--callgrind-out-file={profile}",
            f"--dump-before={_MARKER}",
        )
        program = (
            *counter,
            sys.executable,
            "-m",
            "tests.benchmarks.instructions",
            world,
        )
        subprocess.run(
            program,
            env={**os.environ, "PYTHONHASHSEED": "0"},
            check=True,
            stderr=subprocess.DEVNULL,
        )
        parts = [
            Path(f"{profile}.{number}").read_text()
            for number in range(1, 4 * len(KEPT) + 1)
        ]
    numbers = iter(
        [
            int(re.findall(r"^totals: (\d+)", part, re.MULTILINE)[0]) / REQUESTS
            for part in parts[1::2]
        ]
    )
    return {kind: (next(numbers), next(numbers)) for kind in KEPT}


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
        self, config: Config, state: ServerState, loop: asyncio.AbstractEventLoop
    ) -> None:
        config.load()
        make: Any = config.http_protocol_class
        self._loop, self._transport = loop, _Transport()
        self._protocol = make(config, state, {}, loop)
        self._protocol.connection_made(self._transport)

    def ask(self, request: bytes) -> bytes:
        """Send a request, and return the body of its answer."""
        self._loop.run_until_complete(self._send([request]))
        return self._transport.written.partition(b"\r\n\r\n")[2]

    def count(self, request: Template, numbers: Iterator[int]) -> None:
        """Send a request again and again between two markers."""
        for times in WARM_UP, REQUESTS:
            self._loop.run_until_complete(
                self._send([request.number(next(numbers)) for _ in range(times)])
            )
            os.getloadavg()

    async def _send(self, requests: list[bytes]) -> None:
        for request in requests:
            self._transport.written = b""
            self._protocol.data_received(request)
            while not self._protocol.cycle.response_complete:  # noqa: ASYNC110 (an event would be counted)
                await asyncio.sleep(0)


def _measure(world: str) -> None:
    application = Application(read_settings({"clock": "x1000", "world": world}, {}))
    application.sandboxes.watchers.append(RequestLog(io.StringIO(), as_json=False).note)
    loop, numbers = uvloop.new_event_loop(), count()
    emulator = _Connection(server_config(application), ConnectionState(1_000), loop)
    raw = _Connection(raw_config(), ServerState(), loop)
    for request in prepared_requests(emulator.ask, 0, numbers):
        size = len(emulator.ask(request.number(next(numbers))))
        emulator.count(request, numbers)
        raw.count(raw_request(request, size), numbers)
    application.close()


if __name__ == "__main__":
    gc.disable()
    _measure(sys.argv[1])
