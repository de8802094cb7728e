"""Runs the real command: in a process of its own where signals, streams or children are its matter, and otherwise in this one."""

import io
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

from emulator.cli.main import main

ROOT = Path(__file__).parents[2]
PATIENCE_SECONDS = 20
OF_A_PROCESS = ("serve", "exec", "sweep")
"""The commands that take over their process: its signals, its log and its garbage."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a command ended."""

    status: int
    output: str
    complaint: str


def environment(**variables: str) -> dict[str, str]:
    """The environment of the tests without a trace of an emulator, and with these variables."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("EMULATOR_")}
    return {**kept, **variables}


def run_command(*arguments: str, **variables: str) -> Outcome:
    """Run the command to its end, if that can be in this process."""
    if arguments[:1] in [(name,) for name in OF_A_PROCESS]:
        return run_process(*arguments, **variables)
    output, complaint = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    with (
        patch.dict(os.environ, environment(**variables), clear=True),
        redirect_stdout(output),
        redirect_stderr(complaint),
    ):
        try:
            status = main(list(arguments))
        except SystemExit as end:  # of the parser of arguments
            status = int(end.code or 0)
    return Outcome(status, *(stream.buffer.getvalue().decode() for stream in (output, complaint)))


def run_process(*arguments: str, **variables: str) -> Outcome:
    """Run the command to its end in a process of its own."""
    finished = subprocess.run(
        [sys.executable, "-m", "emulator", *arguments],
        cwd=ROOT,
        env=environment(**variables),
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    return Outcome(finished.returncode, finished.stdout, finished.stderr)


def run_unread(*arguments: str) -> tuple[int, str]:
    """Run the command where nobody reads its output any more, and return its status and what it complains of."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        finished = subprocess.run(
            [sys.executable, "-m", "emulator", *arguments],
            cwd=ROOT,
            env=environment(PYTHONUNBUFFERED=""),  # which would leave nothing for the end
            stdout=writer,
            stderr=subprocess.PIPE,
            text=True,
            timeout=PATIENCE_SECONDS,
            check=False,
        )
    finally:
        os.close(writer)
    return finished.returncode, finished.stderr


@dataclass(slots=True)
class Server:
    """A running `serve` that has said that it is ready."""

    process: "subprocess.Popen[str]"
    start_up: list[str]

    @property
    def url(self) -> str:
        """Its address."""
        return self.start_up[-1].removeprefix("ready ").removesuffix("/v1")

    @property
    def port(self) -> int:
        """The port it listens on."""
        return int(self.url.rpartition(":")[2])

    def connect(self) -> socket.socket:
        """Open a connection to it."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE_SECONDS)

    def stop(self, number: signal.Signals = signal.SIGTERM) -> Outcome:
        """Send it a signal and wait for its end."""
        self.process.send_signal(number)
        output, complaint = self.process.communicate(timeout=PATIENCE_SECONDS)
        return Outcome(self.process.returncode, output, complaint)


@contextmanager
def serving(
    *arguments: str, root: Path = ROOT, program: Sequence[str] = ("-m", "emulator"), **variables: str
) -> Iterator[Server]:
    """Run `serve` on a free port, wait until it is ready, and end it at the end."""
    process = subprocess.Popen(
        [sys.executable, *program, "serve", "--port", "0", *arguments],
        cwd=root,
        env=environment(**variables),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    try:
        yield Server(process, _start_up(process))
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def _start_up(process: "subprocess.Popen[str]") -> list[str]:
    assert process.stdout is not None
    lines: list[str] = []
    for line in process.stdout:
        lines.append(line.rstrip("\n"))
        if line.startswith("ready "):
            return lines
    raise AssertionError(f"serve ended before it was ready: {process.communicate()[1]}")


def read_answer(connection: socket.socket) -> bytes:
    """Read from a connection until the other side closes it."""
    answer = b""
    while piece := connection.recv(65536):
        answer += piece
    return answer
