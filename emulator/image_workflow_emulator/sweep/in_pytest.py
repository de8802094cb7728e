"""What the plugin of pytest does in a run of a sweep: it puts cells in force, and notes
how the tests ended.

The plugin loads this where IMAGE_WORKFLOW_PYTEST names it. A sandbox belongs to the test
that makes it, in its body or in a fixture. If a fixture with a wider scope makes it, it
belongs to all tests that share it. The notes also show the sweep which test takes too
long.
"""

import copy
import os
import signal
import time
from collections.abc import Generator
from contextlib import AbstractContextManager, suppress
from functools import partial
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
from image_workflow_emulator.sweep.observed_sandboxes import (
    Observer,
    OpenSandbox,
    Owner,
)
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
        self._owner: Owner | None = None
        """Who makes sandboxes now: the test that runs, or the fixture that is set
        up."""
        self._open: list[OpenSandbox] = []
        self._used: dict[str, None] = {}
        """The places of the test that runs, in their order."""
        self._error: str | None = None
        """The name of the exception that failed the test that runs."""
        self._observer = Observer(self._begin, self._end)

    def pytest_unconfigure(self) -> None:
        """End the notes."""
        self._observer.close()
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
        self,
        fixturedef: pytest.FixtureDef[Any],
        request: pytest.FixtureRequest,
    ) -> _Wrapper:
        """Note who makes sandboxes while a fixture is set up."""
        outer = self._owner
        owner = Owner(request.node)
        if fixturedef.scope != "function":
            owner.fixture = fixturedef.argname
        self._owner = owner
        try:
            value = yield
            if _is_sandbox(value):
                self._begin(value)  # it may have been there before
            return value
        finally:
            fixturedef.addfinalizer(partial(self._end_all_of, owner))
            self._owner = outer

    def _begin(self, sandbox: Sandbox) -> None:
        """Begin a sandbox: before anything else is done in it."""
        owner = self._owner
        is_open = any(opened.sandbox is sandbox for opened in self._open)
        if owner is None or is_open:
            return
        self._open.append(OpenSandbox(sandbox, owner))
        self._used[owner.place] = None
        with self._guarded(f"the fault of {owner.place} is not in force"):
            self._use_scenario(owner.place, sandbox)

    def _use_scenario(self, place: str, sandbox: Sandbox) -> None:
        """Put the fault of a place in force, for each Team by itself."""
        task = None
        if self._rounds is not None:
            task = self._rounds[self._round].get(place)
        if task is not None:
            for team in sandbox.teams():
                sandbox.use(task.scenario, team=team["id"])

    def _end(self, sandbox: Sandbox) -> None:
        """Note what happened in a sandbox, before its own end."""
        for opened in self._open:
            if opened.sandbox is sandbox:
                self._open.remove(opened)
                self._note_end(opened)
                return

    def _end_all_of(self, owner: Owner) -> None:
        """Note what happened in the sandboxes of a test or a fixture, after the
        fixtures that use them.
        """
        for opened in list(self._open):
            if opened.owner is owner:
                self._end(opened.sandbox)

    def _note_end(self, opened: OpenSandbox) -> None:
        place = opened.owner.place
        with self._guarded(f"what happened in {place} cannot be read"):
            try:
                requests = opened.sandbox.requests()
                conduct = opened.sandbox.conduct()
            except EmulatorError as error:
                if error.code == "not_found":  # it was deleted in another way
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
        self._used = {}
        self._owner = Owner(item)
        failures_before = item.session.testsfailed
        began_at = time.monotonic()
        value = yield
        self._end_all_of(self._owner)
        self._owner = None
        status = int(item.session.testsfailed > failures_before)
        seconds = time.monotonic() - began_at
        is_in_worker = hasattr(self._config, "workerinput")  # of pytest-xdist
        ended = EndedTest(
            test=item.nodeid,
            places=list(self._used),
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
        """Note which sandboxes a test used that it shares with others."""
        for opened in self._open:
            if opened.owner.serves(item):
                self._used[opened.owner.place] = None


def _is_sandbox(value: object) -> bool:
    """Whether a fixture is a sandbox. A proxy may refuse to tell its class to
    isinstance.
    """
    return issubclass(type(value), Sandbox)
