"""What the plugin of pytest does in a run of a sweep: it puts cells in force, and notes
how the tests ended.

The plugin loads this where IMAGE_WORKFLOW_PYTEST names it. Whatever fixture makes a
sandbox, the sandbox belongs to the test or, with a wider scope, to all tests that share
it. The notes also show the sweep which test takes too long.
"""

import copy
import os
import signal
import time
from collections.abc import Generator
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any

import pytest
from msgspec import convert, json

from image_workflow_emulator.pytest_guard import failures_in_summary
from image_workflow_emulator.sweep.evidence import (
    FOLDER_VARIABLE,
    NOTES,
    TASKS,
    BegunTest,
    EndedSandbox,
    EndedTest,
    Note,
    Tasks,
)
from image_workflow_emulator.sweep.journals import Entry
from image_workflow_emulator.testing import EmulatorError, Sandbox

_Wrapper = Generator[None, Any, Any]


def pytest_configure(config: pytest.Config) -> None:
    """Begin, in a run of a sweep."""
    with failures_in_summary(config, "this run of a sweep cannot be noted"):
        run = SweepRun(config, Path(os.environ[FOLDER_VARIABLE]))
        config.pluginmanager.register(run)
    with suppress(ValueError):  # pytest runs in another thread
        # SIGTERM ends the session as Ctrl-C does, so that sandboxes are noted.
        signal.signal(signal.SIGTERM, signal.default_int_handler)


class SweepRun:
    """One run: the rounds of its tests, their tasks by place, which is a test or a
    fixture that tests share, and the sandboxes there.
    """

    def __init__(self, config: pytest.Config, folder: Path) -> None:
        self._config = config
        # Kept open: a test may have replaced the file system when a note is written.
        self._notes = (folder / NOTES).open("ab", buffering=0)
        file = folder / TASKS
        self._rounds: list[Tasks] | None = None
        if file.exists():
            self._rounds = json.decode(file.read_bytes(), type=list[Tasks])
        self._round = 0
        """That of the test that runs."""
        self._rounds_of_items: dict[pytest.Item, int] = {}
        self._places: dict[str, str] = {}
        """By the id of a sandbox."""
        self._used: list[str] = []
        """The places of the test that runs."""
        self._error: str | None = None
        """The name of the exception that failed the test that runs."""

    def pytest_unconfigure(self) -> None:
        """End the notes."""
        self._notes.close()

    def _note(self, note: Note) -> None:
        """Add a line to the notes."""
        with self._guarded("a note of the sweep cannot be written"):
            self._notes.write(json.encode(note) + b"\n")

    def _guarded(self, task: str) -> AbstractContextManager[None]:
        return failures_in_summary(self._config, task)

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Run the tests that have tasks, round after round."""
        if self._rounds is None:
            return
        collected = list(items)
        items.clear()
        for number, tasks in enumerate(self._rounds):
            wanted = set[str]()
            for task in tasks.values():
                wanted.update(task.tests)
            items += [
                self._item_of_round(item, number)
                for item in collected
                if item.nodeid in wanted
            ]

    def _item_of_round(self, item: pytest.Item, number: int) -> pytest.Item:
        """Return a test for a round: after the first one, a copy with fixtures of its
        own.
        """
        if number:
            item = copy.copy(item)
            item.stash = pytest.Stash()
            item.user_properties = []
            assert isinstance(item, pytest.Function)
            # There is no public way; pytest-rerunfailures does the same.
            item._initrequest()  # noqa: SLF001
        self._rounds_of_items[item] = number
        return item

    # Sandboxes ------------------------------------------------------------------------

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(
        self, fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
    ) -> _Wrapper:
        """Begin a sandbox: before anything else is done in it."""
        value = yield
        if _is_sandbox(value):
            place = request.node.nodeid
            if fixturedef.scope != "function":
                place = f"{place}::{fixturedef.argname}"
            self._places[value.id] = place
            with self._guarded(f"the fault of {place} is not in force"):
                self._use_scenario(place, value)
            fixturedef.addfinalizer(lambda: self._end(place, value))
        return value

    def _use_scenario(self, place: str, sandbox: Sandbox) -> None:
        """Put the fault of a place in force, for each Team by itself."""
        task = None
        if self._rounds is not None:
            task = self._rounds[self._round].get(place)
        if task is not None:
            for team in sandbox.teams():
                sandbox.use(task.scenario, team=team["id"])

    def _end(self, place: str, sandbox: Sandbox) -> None:
        """Note what happened in a sandbox, after the fixtures that use it and before
        its own end.
        """
        with self._guarded(f"what happened in {place} cannot be read"):
            try:
                requests = sandbox.requests()
                conduct = sandbox.conduct()
            except EmulatorError as error:
                if error.code == "not_found":  # the test itself deleted it
                    return
                raise
            entries = convert(requests, list[Entry], from_attributes=True)
            findings = [finding.reported(place) for finding in conduct.findings]
            self._note(EndedSandbox(place, entries, findings, self._round))

    # Tests ----------------------------------------------------------------------------

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> _Wrapper:
        """Note that a test begins, and how it ended."""
        self._round = self._rounds_of_items.get(item, 0)
        self._note(BegunTest(item.nodeid, self._round))
        self._error = None
        failures_before = item.session.testsfailed
        began_at = time.monotonic()
        value = yield
        status = int(item.session.testsfailed > failures_before)
        seconds = time.monotonic() - began_at
        is_in_worker = hasattr(self._config, "workerinput")  # of pytest-xdist
        ended = EndedTest(
            test=item.nodeid,
            places=self._used,
            status=status,
            seconds=seconds,
            error=self._error,
            is_repeatable=isinstance(item, pytest.Function) and not is_in_worker,
            round=self._round,
        )
        self._note(ended)
        return value

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, call: pytest.CallInfo[None]) -> None:
        """Note the exception that fails a test."""
        if call.excinfo is not None and self._error is None:
            self._error = call.excinfo.typename

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> None:
        """Note whose sandboxes a test used."""
        fixtures = (getattr(item, "funcargs", None) or {}).values()
        sandboxes = [value for value in fixtures if _is_sandbox(value)]
        self._used = [
            self._places[sandbox.id]
            for sandbox in sandboxes
            if sandbox.id in self._places
        ]


def _is_sandbox(value: object) -> bool:
    """Whether a fixture is a sandbox. A proxy may refuse to tell its class to
    isinstance.
    """
    return issubclass(type(value), Sandbox)
