"""Runs the real command: in this process, or in its own where that matters.

Signals, streams and children need a process of their own.
"""

import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import Any, TextIO
from unittest.mock import patch

from image_workflow_emulator.cli.main import main
from tests.support.emulator_client import Call
from tests.support.served import (
    EMULATOR,
    PATIENCE_SECONDS,
    ROOT,
    Outcome,
    Server,
    environment,
    next_line,
    run_program,
    started,
)
from tests.support.served_client import ServedClient

OF_A_PROCESS = ("serve", "exec", "sweep")
"""The commands that take over their process: its signals, its log and its garbage."""
ASK = """
import http.client, json, os, sys

address = os.environ["EMULATOR_URL"].removeprefix("http://")
connection = http.client.HTTPConnection(address)
for method, path, body in json.loads(sys.argv[1]):
    headers = {"User-Agent": "shop/1.0"}
    content = None
    if body is not None:
        content = json.dumps(body)
        headers["Content-Type"] = "application/json"
        headers["Idempotency-Key"] = path + str(body)
    if path.startswith("/v1"):
        headers["Authorization"] = "Bearer " + os.environ["IMAGE_WORKFLOW_API_KEY"]
    connection.request(method, path, content, headers)
    connection.getresponse().read()
"""
"""A program for `exec` that sends requests one after another.

It takes them as JSON: a list of method, path and body.
"""


PATIENCE = """\
scenario: patience
rules:
  - match: {operation: getTeam}
    then: {network: stall}
  - match: {operation: listProducts}
    then: {network: {latency: 1h}, at: after_commit}
  - match: {operation: listAssets}
    then: {network: {latency: 1h}}
  - match: {operation: createUpload}
    then: {hold: 1h}
"""
"""A scenario that keeps requests waiting, in each way."""


# Requests ----------------------------------------------------------------------------


def request_bytes(
    line: str,
    body: str = "",
    *,
    ends: bool = False,
) -> bytes:
    """A request of Demo as it is sent over a connection, which it may end."""
    lines = [
        f"{line} HTTP/1.1",
        "Host: localhost",
        "Authorization: Bearer iwe_demo_full",
        "Idempotency-Key: k",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
    ]
    if ends:
        lines.append("Connection: close")
    return "\r\n".join([*lines, "", body]).encode()


def asking(*requests: tuple[str, str, Any]) -> list[str]:
    """The command that sends these requests."""
    return [sys.executable, "-c", ASK, json.dumps(requests)]


def reading(*paths: str) -> list[str]:
    """The command that reads these paths."""
    return asking(*(("GET", path, None) for path in paths))


def ask(
    server: Server,
    path: str,
    key: str | None = "iwe_demo_full",
    body: Any = None,
    method: str = "GET",
) -> Any:
    """Send a request; return the JSON that is answered."""
    headers = {"Idempotency-Key": "it's one"}
    call = Call(method, path, body, key=key, headers=headers)
    answer = ServedClient(server.url).send(call)
    return answer.json if answer.body else None


# Commands ----------------------------------------------------------------------------


def run_command(*arguments: str, **variables: str) -> Outcome:
    """Run the command to its end, in this process if it can."""
    if arguments and arguments[0] in OF_A_PROCESS:
        return run_program(
            *EMULATOR,
            *arguments,
            folder=ROOT,
            seconds=PATIENCE_SECONDS,
            **variables,
        )
    return run_here(*arguments, **variables)


def run_here(*arguments: str, **variables: str) -> Outcome:
    """Run the command in this process: any that is refused before it begins, too."""
    output = captured_stream()
    complaint = captured_stream()
    with (
        patch.dict(os.environ, environment(**variables), clear=True),
        redirect_stdout(output),
        redirect_stderr(complaint),
    ):
        status = main(list(arguments))
    return Outcome(status, text_of(output), text_of(complaint))


def captured_stream() -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)


def text_of(stream: io.TextIOWrapper) -> str:
    """What was written to a captured stream, with its line ends as they are."""
    assert isinstance(stream.buffer, io.BytesIO)
    return stream.buffer.getvalue().decode()


def told(
    server: Server,
    line: str,
    **variables: str,
) -> str:
    """Run a command about a server, which must succeed, and return its output."""
    outcome = run_command(*line.split(), EMULATOR_URL=server.url, **variables)
    assert outcome.status == 0
    assert outcome.complaint == ""
    return outcome.output


def table(text: str) -> list[list[str]]:
    """The words of each line, that with the names of the columns included."""
    return [line.split() for line in text.splitlines()]


def run_writing_to(output: TextIO, *arguments: str) -> tuple[int, str]:
    """Run the command with an output of its own; return its status and complaint."""
    finished = subprocess.run(
        [*EMULATOR, *arguments],
        cwd=ROOT,
        # Without a buffer nothing would be left to be written at the end.
        env=environment(PYTHONUNBUFFERED=""),
        stdout=output,
        stderr=subprocess.PIPE,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    return finished.returncode, finished.stderr


# exec --------------------------------------------------------------------------------


def shell(script: str) -> list[str]:
    return ["sh", "-c", script]


def run_exec(
    options: Sequence[str],
    command: Sequence[str],
    **variables: str,
) -> Outcome:
    return run_command("exec", *options, "--", *command, **variables)


@contextmanager
def running_exec(
    options: Sequence[str],
    command: Sequence[str],
) -> Iterator["subprocess.Popen[str]"]:
    """Run `exec` with a command that says `ready`, and have it go on."""
    with started(*EMULATOR, "exec", *options, "--", *command) as process:
        assert next_line(process) == "ready\n"
        yield process
