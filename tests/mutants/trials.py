"""Tries changed functions within one run of pytest: what `mutants.py` gives to it as a
plugin.

The tests are run once as they are, to see which of them call which function. Each
change is then tried in a process of its own, forked from this one: the code of the
function is replaced, and the tests that call it are run, the shortest first, until one
fails. So a change costs no more than the test that notices it. What a module computes
when it is imported stays as it was.
"""

import __future__

import asyncio
import importlib
import json
import os
import resource
import signal
import sys
import textwrap
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import CodeType, FunctionType
from typing import Any, Final

import hypothesis
import pytest
from _pytest.runner import runtestprotocol
from coverage import Coverage

from image_workflow_emulator.imaging.helpers import Helpers, LostHelperError
from image_workflow_emulator.imaging.messages import Head, Message
from image_workflow_emulator.imaging.worker import do

SURVIVED: Final = 0
NOTICED: Final = 1
NOT_MADE: Final = 70
"""How a process ends: no test failed, one did, or the change could not be made."""
CPU_SECONDS: Final = 2
TIMES_AS_LONG: Final = 5
"""A change is noticed, too, if the tests take five times as long, and two seconds."""
WALL_SECONDS: Final = 300
"""How long the tests may wait for something that does not come."""
MEMORY_BYTES: Final = 4 * 2**30
TURNS: Final = 20
"""Turns of the event loop that image work takes here."""


@dataclass(frozen=True)
class ChangedFunction:
    """A function as it is to be, and its place."""

    name: str
    """The name of the change in mutmut."""
    module: str
    path: tuple[str, ...]
    """The names of its classes, and its own."""
    source: str

    def code_now(self) -> FunctionType:
        """Return the function as it is."""
        member: Any = importlib.import_module(self.module)
        for name in self.path:
            member = vars(member)[name]
        function = getattr(member, "__func__", member)
        assert isinstance(function, FunctionType), self.name
        return function

    def put_in_place(self) -> None:
        """Replace the code of the function, wherever it is referred to."""
        function = self.code_now()
        namespace: Any = dict(function.__globals__)
        source = self.source
        for class_name in reversed(self.path[:-1]):
            source = f"class {class_name}:\n{textwrap.indent(source, '    ')}"
        code = compile(
            source,
            filename=function.__code__.co_filename,
            mode="exec",
            flags=__future__.annotations.compiler_flag,
            dont_inherit=True,
        )
        exec(code, namespace)
        changed = namespace[self.path[0]]
        for name in self.path[1:]:
            changed = vars(changed)[name]
        changed = getattr(changed, "__func__", changed)
        function.__code__ = changed.__code__
        function.__defaults__ = changed.__defaults__
        function.__kwdefaults__ = changed.__kwdefaults__


class Trials:
    """A plugin for pytest, in place of its loop over the tests."""

    def __init__(self, functions: Sequence[ChangedFunction]) -> None:
        self.exit_codes: dict[str, int] = {}
        """How the tests of each change ended, by its name; negative for a signal."""
        self.uncalled: set[str] = set()
        """The changes of functions that no test calls."""
        self.broken_tests: list[str] = []
        """Tests that fail without any change, and are left out."""
        self._functions = functions
        self._items: list[pytest.Item] = []
        self._seconds: dict[int, float] = {}

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self) -> None:
        """Let a property fail with its first example, as found."""
        phases = (hypothesis.Phase.explicit, hypothesis.Phase.generate)
        parent = hypothesis.settings.get_profile("deterministic")
        hypothesis.settings.register_profile("trials", parent, phases=phases)
        hypothesis.settings.load_profile("trials")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Observe the tests once, and try each change with those that call it."""
        Helpers.run = draw_here  # type: ignore[assignment, method-assign]
        self._items = session.items
        calls = self._observe()
        most_at_once = os.cpu_count() or 1
        running: dict[int, str] = {}
        for function in self._functions:
            tests = self._tests_of(function, calls)
            if not tests:
                self.uncalled.add(function.name)
                continue
            while len(running) == most_at_once:
                self._end_of_one(running)
            process = self._start(function, tests)
            running[process] = function.name
        while running:
            self._end_of_one(running)
        return True

    def survives(self, function: ChangedFunction) -> bool:
        """Tell whether no test noticed a change."""
        if function.name in self.uncalled:
            return True
        return self.exit_codes[function.name] == SURVIVED

    def _observe(self) -> Mapping[str, Mapping[int, Sequence[str]]]:
        """Run all tests, and return by file and line which of them were there."""
        files = {
            function.code_now().__code__.co_filename for function in self._functions
        }
        coverage = Coverage(
            data_file=None,
            config_file=False,
            include=sorted(files),
        )
        coverage.start()
        all_tests = range(len(self._items))
        for number in all_tests:
            coverage.switch_context(str(number))
            began_at = time.process_time()
            passed = self._passes(number, all_tests)
            seconds = time.process_time() - began_at
            if passed:
                self._seconds[number] = seconds
            else:
                self.broken_tests.append(self._items[number].nodeid)
        coverage.stop()
        data = coverage.get_data()
        return {file: data.contexts_by_lineno(file) for file in files}

    def _tests_of(
        self,
        function: ChangedFunction,
        calls: Mapping[str, Mapping[int, Sequence[str]]],
    ) -> list[int]:
        """Return the tests that run a line of a function, the shortest first."""
        code = function.code_now().__code__
        contexts = set[str]()
        for line in lines_of(code) - {code.co_firstlineno}:
            contexts.update(calls[code.co_filename].get(line, ()))
        callers = {int(context) for context in contexts if context}
        passing = callers & self._seconds.keys()
        return sorted(passing, key=lambda number: self._seconds[number])

    def _start(self, function: ChangedFunction, tests: Sequence[int]) -> int:
        """Start the process that tries a change, and return its id."""
        process = os.fork()
        if process:
            return process
        exit_code = NOT_MADE
        try:
            function.put_in_place()
            self._limit_the_process(tests)
            exit_code = NOTICED
            if self._all_pass(tests):
                exit_code = SURVIVED
        finally:
            os._exit(exit_code)

    def _limit_the_process(self, tests: Sequence[int]) -> None:
        """Bound what a change may cost; a process that exceeds it is ended."""
        seconds = sum(self._seconds[number] for number in tests)
        limit = CPU_SECONDS + int(TIMES_AS_LONG * seconds)
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(WALL_SECONDS + limit)

    def _all_pass(self, tests: Sequence[int]) -> bool:
        return all(self._passes(number, tests) for number in tests)

    def _passes(self, number: int, tests: Sequence[int]) -> bool:
        """Run one of some tests, and tell whether it passes."""
        following = tests.index(number) + 1
        next_item = None
        if following < len(tests):
            next_item = self._items[tests[following]]
        item = self._items[number]
        reports = runtestprotocol(item, log=False, nextitem=next_item)
        return not any(report.failed for report in reports)

    def _end_of_one(self, running: dict[int, str]) -> None:
        """Wait until a process has ended, and note how."""
        process, status = os.wait()
        if process not in running:
            return  # one that a test has left behind
        name = running.pop(process)
        self.exit_codes[name] = os.waitstatus_to_exitcode(status)
        if self.exit_codes[name] == NOT_MADE:
            sys.exit(f"the change cannot be made: {name}")


def lines_of(code: CodeType) -> set[int]:
    """Return the lines of a function, with those of the functions within it."""
    lines = {line for _, _, line in code.co_lines() if line is not None}
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            lines |= lines_of(constant)
    return lines


async def draw_here(
    helpers: Helpers,
    head: Head,
    parts: Sequence[bytes],
) -> Message:
    """Stand in for `Helpers.run`, whose processes and threads no fork takes along."""
    for _turn in range(TURNS):
        await asyncio.sleep(0)
    if helpers.is_closed:
        raise LostHelperError
    answer, data = done(json.dumps(head), *parts)
    if "defect" in answer:
        raise RuntimeError(answer["defect"])
    return dict(answer), list(data)


@cache
def done(head: str, *parts: bytes) -> Message:
    return do(json.loads(head), parts)
