"""What the plugin of pytest does in a run of a sweep: it puts cells in force, and notes how the tests ended.

The plugin loads this where IMAGE_WORKFLOW_PYTEST names it. Whatever fixture makes a sandbox, the sandbox belongs to the
test or, with a wider scope, to all tests that share it. The notes also show the sweep which test takes too long.
"""

import os
import signal
import time
from collections.abc import Generator
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest

from image_workflow_emulator.sweep.evidence import FOLDER_VARIABLE, NOTES, TASKS
from image_workflow_emulator.testing import EmulatorError, Sandbox

_Wrapper = Generator[None, Any, Any]


def pytest_configure(config: pytest.Config) -> None:
    """Begin, in a run of a sweep."""
    config.pluginmanager.register(SweepRun(Path(os.environ[FOLDER_VARIABLE])))
    with suppress(ValueError):  # pytest runs in another thread
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that sandboxes are noted, and end


class SweepRun:
    """One run: its tasks by place, which is a test or a fixture that tests share, and the sandboxes there."""

    def __init__(self, folder: Path) -> None:
        self._notes, file = folder / NOTES, folder / TASKS
        self._tasks: dict[str, Any] | None = msgspec.json.decode(file.read_bytes()) if file.exists() else None
        self._places: dict[str, str] = {}
        """By the id of a sandbox."""
        self._used: list[str] = []
        """The places of the test that runs."""

    def _note(self, **row: Any) -> None:
        """Add a line to the notes."""
        with self._notes.open("ab") as file:
            file.write(msgspec.json.encode(row) + b"\n")

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Drop the tests that have no task."""
        if self._tasks is not None:
            wanted = {test for task in self._tasks.values() for test in task["tests"]}
            items[:] = [item for item in items if item.nodeid in wanted]

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest) -> _Wrapper:
        """Begin a sandbox: before anything else is done in it."""
        value = yield
        if isinstance(value, Sandbox):
            is_shared = fixturedef.scope != "function"
            place = f"{request.node.nodeid}::{fixturedef.argname}" if is_shared else request.node.nodeid
            self._places[value.id] = place
            if self._tasks and place in self._tasks:
                for team in value.teams():
                    value.use(self._tasks[place]["scenario"], team=team["id"])
            fixturedef.addfinalizer(lambda: self._end(place, value))
        return value

    def _end(self, place: str, sandbox: Sandbox) -> None:
        """Note what happened in a sandbox, after the fixtures that use it and before its own end."""
        with suppress(EmulatorError):  # the test itself deleted it
            requests = [msgspec.structs.asdict(request) for request in sandbox.requests()]
            findings = msgspec.to_builtins(sandbox.conduct())["findings"]
            self._note(place=place, requests=requests, findings=findings)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> _Wrapper:
        """Note that a test begins, and how it ended."""
        self._note(begun=item.nodeid)
        failed, began_at = item.session.testsfailed, time.monotonic()
        value = yield
        has_failed = item.session.testsfailed > failed
        self._note(test=item.nodeid, places=self._used, failed=has_failed, seconds=time.monotonic() - began_at)
        return value

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> None:
        """Note whose sandboxes a test used."""
        fixtures = (getattr(item, "funcargs", None) or {}).values()
        ids = [value.id for value in fixtures if isinstance(value, Sandbox)]
        self._used = [self._places[one] for one in ids if one in self._places]
