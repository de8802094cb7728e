"""Runs the real command: in this process, or in its own where signals, streams or children matter."""

import io
import json
import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
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
    run_program,
)
from tests.support.served_client import ServedClient

OF_A_PROCESS = ("serve", "exec", "sweep")
"""The commands that take over their process: its signals, its log and its garbage."""
ASK = """
import http.client, json, os, sys
connection = http.client.HTTPConnection(os.environ["EMULATOR_URL"].removeprefix("http://"))
for method, path, body in json.loads(sys.argv[1]):
    headers = {"User-Agent": "shop/1.0"}
    if body is not None:
        headers |= {"Content-Type": "application/json", "Idempotency-Key": path + str(body)}
    if path.startswith("/v1"):
        headers["Authorization"] = "Bearer " + os.environ["IMAGE_WORKFLOW_API_KEY"]
    connection.request(method, path, None if body is None else json.dumps(body), headers)
    connection.getresponse().read()
"""
"""A program for `exec` that sends requests, one after another: a list of method, path and body."""


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


def request_bytes(line: str, body: str = "", *, ends: bool = False) -> bytes:
    """A request of Demo as it is sent over a connection, which it may end."""
    head = "Host: localhost\r\nAuthorization: Bearer iwe_demo_full\r\nIdempotency-Key: k\r\nContent-Type: application/json\r\n"
    head += "Connection: close\r\n" if ends else ""
    return (
        f"{line} HTTP/1.1\r\n{head}Content-Length: {len(body)}\r\n\r\n{body}".encode()
    )


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
    answer = ServedClient(server.url).send(
        Call(method, path, body, key=key, headers=headers)
    )
    return answer.json if answer.body else None


def run_command(*arguments: str, **variables: str) -> Outcome:
    """Run the command to its end, if that can be in this process."""
    if arguments[:1] in [(name,) for name in OF_A_PROCESS]:
        return run_program(
            *EMULATOR, *arguments, folder=ROOT, seconds=PATIENCE_SECONDS, **variables
        )
    return run_here(*arguments, **variables)


def run_here(*arguments: str, **variables: str) -> Outcome:
    """Run the command in this process: any that is refused before it begins, too."""
    output, complaint = (
        io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
        for _ in range(2)
    )
    with (
        patch.dict(os.environ, environment(**variables), clear=True),
        redirect_stdout(output),
        redirect_stderr(complaint),
    ):
        status = main(list(arguments))
    return Outcome(
        status, *(stream.buffer.getvalue().decode() for stream in (output, complaint))
    )


def told(server: Server, line: str, **variables: str) -> str:
    """Run a command about a server, which must succeed, and return its output."""
    outcome = run_command(*line.split(), EMULATOR_URL=server.url, **variables)
    assert outcome.status == 0
    assert outcome.complaint == ""
    return outcome.output


def table(text: str) -> list[list[str]]:
    """The words of each line, that with the names of the columns included."""
    return [line.split() for line in text.splitlines()]


def run_writing_to(output: TextIO, *arguments: str) -> tuple[int, str]:
    """Run the command with an output of its own, and return its status and what it complains of."""
    finished = subprocess.run(
        [*EMULATOR, *arguments],
        cwd=ROOT,
        env=environment(PYTHONUNBUFFERED=""),  # which would leave nothing for the end
        stdout=output,
        stderr=subprocess.PIPE,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    return finished.returncode, finished.stderr
