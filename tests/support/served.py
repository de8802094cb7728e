"""Programs in processes of their own: the emulator's commands, servers, pytest.

Knows nothing of the API.
"""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

ROOT = Path(__file__).parents[2]
PATIENCE_SECONDS = 60
"""How long anything may take on a busy machine before a test fails, and not hangs."""
PLUGIN = "image_workflow_emulator.pytest_plugin"
EMULATOR = (sys.executable, "-m", "image_workflow_emulator")


@dataclass(frozen=True, slots=True)
class Outcome:
    status: int
    output: str
    complaint: str


def environment(**variables: str) -> dict[str, str]:
    """The environment of the tests with these variables.

    It has no trace of an emulator, of CI or of a terminal.
    """
    foreign = ("CI", "COLUMNS", "NO_COLOR")
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("EMULATOR_") and name not in foreign
    }
    return {**kept, **variables}


def run_program(
    *command: str,
    folder: Path = ROOT,
    given: str | None = None,
    seconds: float = PATIENCE_SECONDS,
    **variables: str,
) -> Outcome:
    finished = subprocess.run(
        command,
        cwd=folder,
        env=environment(**variables),
        input=given,
        capture_output=True,
        encoding="utf-8",
        timeout=seconds,
        check=False,
    )
    return Outcome(finished.returncode, finished.stdout, finished.stderr)


def run_bash(
    script: str,
    folder: Path,
    seconds: float = PATIENCE_SECONDS,
    **variables: str,
) -> Outcome:
    """Run a script with bash, up to its first command that fails."""
    return run_program(
        "bash",
        "-eu",
        "-o",
        "pipefail",
        folder=folder,
        given=script,
        seconds=seconds,
        **variables,
    )


def run_script(script: str, folder: Path = ROOT) -> str:
    outcome = run_program(sys.executable, "-c", script, folder=folder)
    assert outcome.status == 0, outcome.complaint
    return outcome.output


def run_pytest(
    folder: Path,
    *arguments: str,
    seconds: float = PATIENCE_SECONDS,
    **variables: str,
) -> Outcome:
    """Run pytest in a folder, with this checkout's plugin.

    Others that happen to be installed are left out: some take seconds.
    """
    command = (sys.executable, "-m", "pytest", "-p", PLUGIN, "-p", "no:cacheprovider")
    usual = {"PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return run_program(
        *command,
        *arguments,
        folder=folder,
        seconds=seconds,
        **{**usual, **variables},
    )


@contextmanager
def started(
    *command: str,
    folder: Path = ROOT,
    stderr: int | IO[str] = subprocess.PIPE,
    **variables: str,
) -> Iterator["subprocess.Popen[str]"]:
    """Start a program with pipes as its streams.

    It is killed at the end of the block if it still runs.
    """
    with subprocess.Popen(
        command,
        cwd=folder,
        env=environment(**variables),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=stderr,
        encoding="utf-8",
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def next_line(process: "subprocess.Popen[str]") -> str:
    assert process.stdout is not None
    return process.stdout.readline()


@contextmanager
def unused_port() -> Iterator[int]:
    """A port of this machine at which nobody listens.

    It is kept from all but a server that is told to listen at it.
    """
    with socket.socket() as kept:
        kept.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        kept.bind(("127.0.0.1", 0))
        yield kept.getsockname()[1]


def free_port() -> int:
    """Return a port of this machine that nobody uses now."""
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        return int(reserved.getsockname()[1])


@dataclass(slots=True)
class Server:
    process: "subprocess.Popen[str]"
    log: IO[str]
    start_up: list[str] = field(default_factory=list)

    @property
    def base_url(self) -> str:
        return self.start_up[-1].removeprefix("ready ")

    @property
    def url(self) -> str:
        return self.base_url.removesuffix("/v1")

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    def connect(self) -> socket.socket:
        return socket.create_connection(
            ("127.0.0.1", self.port),
            timeout=PATIENCE_SECONDS,
        )

    def converse(self, sent: bytes) -> bytes:
        with self.connect() as connection:
            connection.sendall(sent)
            return read_answer(connection)

    def read_log(self) -> str:
        self.log.seek(0)
        return self.log.read()

    def stop(self, number: signal.Signals = signal.SIGTERM) -> Outcome:
        self.process.send_signal(number)
        output, _ = self.process.communicate(timeout=PATIENCE_SECONDS)
        return Outcome(self.process.returncode, output, self.read_log())


@contextmanager
def serving(
    *options: str,
    program: Sequence[str] = EMULATOR,
    folder: Path = ROOT,
    stderr: int | None = None,
    **variables: str,
) -> Iterator[Server]:
    """Serve while the block runs, on a free port if none is named.

    Then stop, which must be a success without a defect.

    The log takes all that is written to standard error, unless `stderr` is something
    else.
    """
    command = (*program, "serve", "--port", "0", *options)
    with (
        tempfile.TemporaryFile("a+", encoding="utf-8") as log,
        started(
            *command,
            folder=folder,
            stderr=log if stderr is None else stderr,
            **variables,
        ) as process,
    ):
        server = Server(process, log)
        _wait_until_ready(server)
        yield server
        status = server.stop().status if process.poll() is None else process.returncode
        log_text = server.read_log()
        assert status == 0, log_text
        assert "Traceback" not in log_text, log_text


def _wait_until_ready(server: Server) -> None:
    guard = threading.Timer(PATIENCE_SECONDS, server.process.kill)
    guard.start()
    try:
        while not (server.start_up and server.start_up[-1].startswith("ready ")):
            line = next_line(server.process)
            assert line, (
                f"serve ended, or hung, before it was ready: {server.read_log()}"
            )
            server.start_up.append(line.rstrip("\n"))
    finally:
        guard.cancel()


def read_answer(connection: socket.socket) -> bytes:
    return b"".join(iter(lambda: connection.recv(65536), b""))
