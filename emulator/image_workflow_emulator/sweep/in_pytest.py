"""What the plugin of pytest does in a run of a sweep: it puts cells in force, and notes how the tests ended.

The plugin loads this where IMAGE_WORKFLOW_PYTEST names it. Whatever fixture makes a sandbox, the sandbox belongs to the
test or, with a wider scope, to all tests that share it. The notes also show the sweep which test takes too long.
"""

import os
import signal
from collections.abc import Generator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest

from image_workflow_emulator.sweep.evidence import FOLDER_VARIABLE, NOTES, TASKS
from image_workflow_emulator.testing import EmulatorError, Sandbox


def pytest_configure(config: pytest.Config) -> None:
    """Begin, in a run of a sweep."""
    folder = os.environ.get(FOLDER_VARIABLE)
    if folder:
        config.pluginmanager.register(SweepRun(Path(folder)))
        with suppress(ValueError):  # pytest runs in another thread
            signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that sandboxes are noted, and end


class SweepRun:
    """One run: its tasks by place, which is a test or a fixture that tests share, and the sandboxes there."""

    def __init__(self, folder: Path) -> None:
        self._notes, file = folder / NOTES, folder / TASKS
        self._tasks: dict[str, Any] | None = msgspec.json.decode(file.read_bytes()) if file.exists() else None
        self._places: dict[str, str] = {}
        """By the id of a sandbox."""
        self._failed = False

    def _note(self, **row: Any) -> None:
        """Add a line to the notes."""
        with self._notes.open("ab") as file:
            file.write(msgspec.json.encode(row) + b"\n")

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Deselect the tests that have no task."""
        if self._tasks is not None:
            wanted = {test for task in self._tasks.values() for test in task["tests"]}
            config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in wanted])
            items[:] = [item for item in items if item.nodeid in wanted]

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(
        self, fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
    ) -> Generator[None, Any, Any]:
        """Begin a sandbox: before anything else is done in it."""
        value = yield
        if isinstance(value, Sandbox):
            is_shared = fixturedef.scope != "function"
            place = f"{request.node.nodeid}::{fixturedef.argname}" if is_shared else request.node.nodeid
            self._places[value.id] = place
            if self._tasks and place in self._tasks:
                for team in value.teams():
                    value.use(self._tasks[place]["scenario"], team=team["id"])
            fixturedef.addfinalizer(partial(self._end, place, value))
        return value

    def _end(self, place: str, sandbox: Sandbox) -> None:
        """Note what happened in a sandbox, after the fixtures that use it and before its own end."""
        with suppress(EmulatorError):  # the test itself deleted it
            requests = [msgspec.structs.asdict(request) for request in sandbox.requests()]
            findings = msgspec.to_builtins(sandbox.conduct())["findings"]
            self._note(place=place, requests=requests, findings=findings)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Note that a test begins."""
        self._note(begun=nodeid)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Note how a test ended."""
        report = yield
        if call.when == "setup":
            self._failed = False
            self._began_at = call.start
        self._failed |= report.failed
        if call.when == "teardown":
            fixtures = (getattr(item, "funcargs", None) or {}).values()
            ids = [value.id for value in fixtures if isinstance(value, Sandbox) and value.id in self._places]
            places, seconds = [self._places[one] for one in ids], call.stop - self._began_at
            self._note(test=item.nodeid, places=places, failed=self._failed, seconds=seconds)
        return report
