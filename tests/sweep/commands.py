"""Commands that tests sweep, and `sweep` itself, run to its end."""

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.cli.command import run_command
from tests.support.served import ROOT, Outcome

CLIENT = """
import json
import os
import sys
import time
import urllib.error
import urllib.request

BASE = os.environ["IMAGE_WORKFLOW_BASE_URL"]
KEY = os.environ["IMAGE_WORKFLOW_API_KEY"]


def send(method, path, body=None, key=None):
    request = urllib.request.Request(BASE + path, method=method)
    request.add_header("Authorization", "Bearer " + KEY)
    request.add_header("Content-Type", "application/json")
    if key:
        request.add_header("Idempotency-Key", key)
    if body is not None:
        request.data = json.dumps(body).encode()
    with urllib.request.urlopen(request) as answer:
        return json.loads(answer.read() or b"null")


def persist(method, path, body=None, key=None):
    while True:
        try:
            return send(method, path, body, key)
        except (OSError, ValueError) as error:
            is_refusal = isinstance(error, urllib.error.HTTPError)
            if is_refusal and error.code not in (429, 500, 503):
                raise
            time.sleep(0.02)
"""
"""A client in a few lines: `send` asks once, `persist` until there is an answer."""

UPLOAD = '{"content_type": "image/png", "size_bytes": 5}'
HASTY = f"""
send("GET", "/team")
send("POST", "/uploads", {UPLOAD}, "a")
"""
"""It asks once."""
SOUND = f"""
persist("GET", "/team")
persist("POST", "/uploads", {UPLOAD}, "a")
"""
CARELESS = f"""
try:
    send("POST", "/uploads", {UPLOAD}, "a")
except (OSError, ValueError):
    pass
"""
"""It does not notice that its request failed."""

SUITE_HEAD = """
import json
import os
import time
import urllib.error
import urllib.request

import pytest


def send(sandbox, path, body=None, key=None):
    request = urllib.request.Request(sandbox.base_url + path)
    request.add_header("Authorization", f"Bearer {sandbox.api_key}")
    if body is not None:
        request.add_header("Content-Type", "application/json")
        request.add_header("Idempotency-Key", key)
        request.data = json.dumps(body).encode()
    with urllib.request.urlopen(request) as answer:
        return json.loads(answer.read())


def get(sandbox, attempts=1):
    for attempt in range(attempts):
        try:
            return send(sandbox, "/team")
        except urllib.error.HTTPError as error:
            status = error.code
        time.sleep(0.01)
    raise AssertionError(status)


def post(sandbox, key="a"):
    body = {"content_type": "image/png", "size_bytes": 5}
    return send(sandbox, "/uploads", body, key)
"""
"""How a test suite begins: with a client that raises an error for what is refused."""


def client(script: str) -> list[str]:
    """The command of a script that uses CLIENT."""
    return [sys.executable, "-c", CLIENT + script]


def suite(file: Path, *options: str) -> list[str]:
    """The command that runs a file of tests."""
    plugins = ("-p", "image_workflow_emulator.pytest_plugin", "-p", "no:cacheprovider")
    pytest = [sys.executable, "-m", "pytest", *plugins, "-c", os.devnull]
    return [*pytest, *options, str(file)]


def written(folder: Path, tests: str) -> Path:
    """A file of tests that use SUITE_HEAD."""
    file = folder / "test_it.py"
    file.write_text(SUITE_HEAD + tests)
    return file


def sweep(
    options: list[str],
    command: list[str],
    **variables: str,
) -> Outcome:
    """Run a sweep to its end."""
    environment = {
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "PYTHONPATH": str(ROOT),
        **variables,
    }
    words = ["sweep", "--jobs", "2", *options]
    if command:
        words += ["--", *command]
    return run_command(*words, **environment)


@dataclass(frozen=True)
class Report:
    """A sweep that has ended, and its report."""

    status: int
    output: str
    content: Any

    @property
    def outcomes(self) -> dict[str, str]:
        """How the cells ended, of one command or one test."""
        return {row["cell"]: row["outcome"] for row in self.content["cells"]}

    @property
    def outcomes_by_test(self) -> dict[tuple[str, str], str]:
        """How the cells ended, by cell and the last part of the test's name."""
        outcomes = {}
        for row in self.content["cells"]:
            test = row["test"].rpartition("::")[2]
            outcomes[row["cell"], test] = row["outcome"]
        return outcomes


def report_of(
    folder: Path,
    options: list[str],
    command: list[str],
    **variables: str,
) -> Report:
    """Run a sweep to its end, and read its report."""
    file = folder / "report.json"
    file.unlink(missing_ok=True)
    outcome = sweep([*options, "--report", str(file)], command, **variables)
    assert file.exists(), outcome.complaint
    return Report(outcome.status, outcome.output, json.loads(file.read_text()))
