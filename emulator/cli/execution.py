"""The `exec` command: the emulator for as long as one command runs, and afterwards a report.

Owns the order of steps: every mistake in options and files is found before the command is started, and after its end
the emulator does not wait for anything. Writes to standard error alone; standard output is the command's, but for
`--format json`, which gives it to one object for programs.
"""

import asyncio
import contextlib
import json
import logging
import socket
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from emulator.cli.arguments import PROGRAM
from emulator.cli.child import Child, Guard
from emulator.cli.errors import writable_files, write_file
from emulator.cli.exec_verdict import Refusals, exec_verdict
from emulator.cli.recording import Recording
from emulator.cli.report import NO_REQUEST, conduct_lines, report_on, report_text
from emulator.cli.start_up import resume_collection, started
from emulator.cli.verdict import print_compact
from emulator.contract import BASE_PATH
from emulator.domain.readings import chosen
from emulator.examiner.examiner import Totals
from emulator.kernel.clock import host_elapsed_ms
from emulator.kernel.printable import printable_lines
from emulator.server.server import WatchedServer
from emulator.service.callers import key_for_clients
from emulator.service.tally import Tally
from emulator.settings import CLIENT_VARIABLES, Settings, UsageError, read_settings

if TYPE_CHECKING:
    from emulator.app import Application
    from emulator.cli.sweep.runs import CellRun
    from emulator.examiner.coverage import Coverage

_FILES = ("report", "journal", "save_state", "coverage", "junit")
"""The options that name a file to be written when the command has ended."""
_STANDARD_ERROR = 2
"""Its file number."""
_TIMED_OUT = 124
"""The status of a command that took too long, as in timeout(1)."""
_LIMIT_CHECK_SECONDS = 0.5
"""How often it is looked at whether the time limit of the command has changed."""
_UNWIND_SECONDS = 0.1
"""How long requests in flight have to notice that their connection is gone."""


def execute(options: Namespace, environment: Mapping[str, str]) -> int:
    """Run the command of `options.words` against an emulator and return its exit status.

    Raises UsageError or DocumentError for options and files that cannot be used, CommandError if the port is taken or
    the command cannot be started.
    """
    settings = read_settings(vars(options), environment, {"port": "0"})
    files = writable_files(options, *_FILES)
    recording, refusals, guard = Recording(), Refusals(), Guard()
    prints_json = options.format == "json"
    try:
        with started(settings, environment, is_logged=False) as (listener, address, application):
            variables = _variables(environment, address, application, settings)
            application.examiner.keeps_conduct = options.conduct != "off"
            if "journal" in files:
                application.sandboxes.watch(recording.note)
            if prints_json:
                application.sandboxes.watch(refusals.note)
            cell: CellRun | None = None
            if options.cell is not None:  # this is one run of a sweep
                from emulator.cli.sweep import runs

                cell = runs.CellRun(Path(options.cell), application)
                variables |= cell.variables
            run = _Run(
                application,
                lambda: Child(options.words, variables, guard, _STANDARD_ERROR if prints_json else None),
                (lambda: None) if cell is None else cell.limit_seconds,
                _saver(files.get("save_state"), address, settings),
            )
            resume_collection()
            run.run(sockets=[listener])
    finally:
        guard.dismiss()
    if cell is not None:
        cell.conclude(None if run.is_hung else run.status, run.duration_ms)
    return _conclude(options, files, run, application, refusals, lambda suffix: recording.content(suffix, address))


def _conclude(
    options: Namespace,
    files: Mapping[str, Path],
    run: "_Run",
    application: "Application",
    refusals: Refusals,
    journal: Callable[[str], bytes],
) -> int:
    """Print the report, write the files, and return the exit status."""
    from emulator.cli.junit import conduct_junit
    from emulator.examiner.coverage_page import coverage_text

    prints_json, least = options.format == "json", options.coverage_fail_under
    coverage = application.coverage() if prints_json or "coverage" in files or least is not None else None
    is_low = coverage is not None and least is not None and coverage["percent"] < least
    conduct = None if options.conduct == "off" else run.conduct.without(frozenset(options.ignore))
    is_bad = options.conduct == "fail" and conduct is not None and (conduct.has_errors or not run.tally.requests)
    report = report_on(
        options.words,
        run.status or int(is_bad or is_low),
        run.duration_ms,
        run.tally,
        list(application.contract.operations),
        conduct,
        chosen(application.sandboxes.default.readings),
    )
    coverage_lines = [_coverage_words(coverage, least if is_low else None)] if coverage and not prints_json else []
    if not options.quiet:
        _say("\n".join([report_text(report), *coverage_lines]))
    elif not run.status:  # else the command has said why
        reasons = [*([] if run.tally.requests else [NO_REQUEST]), *conduct_lines(report)] if is_bad else []
        for line in (*reasons, *(coverage_lines if is_low else ())):
            _say(f"{PROGRAM}: {line.removeprefix('  ')}")
    contents: Mapping[str, Callable[[Path], bytes]] = {
        "report": lambda _: json.dumps(report, indent=2).encode() + b"\n",
        "journal": lambda file: journal(file.suffix),
        "save_state": lambda _: run.state,
        "coverage": lambda file: coverage_text(coverage or {}, file.suffix).encode(),
        "junit": lambda _: conduct_junit(report, options.conduct == "fail").encode(),
    }
    statuses = [_write(file, contents[name]) for name, file in files.items()]
    report["exit_status"] = report["exit_status"] or max(statuses, default=0)
    if prints_json:
        print_compact(exec_verdict(report, run.status, coverage or {}, refusals))
    return int(report["exit_status"])


def _coverage_words(coverage: "Coverage", wanted: float | None) -> str:
    wish = "" if wanted is None else f", wanted {wanted:g} %"
    used = f"{coverage['percent_of_used']:g} % of the operations used"
    return f"  coverage: {coverage['percent']:g} % of the contract{wish}; {used}"


class _Run(WatchedServer):
    """A server that serves as long as a command runs, and then ends at once."""

    tally: Tally
    conduct: Totals
    status: int
    duration_ms: int
    state: bytes
    """The default sandbox as it was at the end, as a file, if that was to be saved."""
    is_hung: bool = False
    """Whether it took longer than it may."""

    def __init__(
        self,
        application: "Application",
        start: Callable[[], Child],
        limit_seconds: Callable[[], float | None],
        save: Callable[[], bytes] | None,
    ) -> None:
        """`start` starts the command; `limit_seconds` returns how long it may take in all, as it is known now."""
        super().__init__(application)
        self._application = application
        self._start = start
        self._limit_seconds = limit_seconds
        self._save = save

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield  # signals are passed on to the command

    async def main_loop(self) -> None:
        began_at = host_elapsed_ms()
        child = self._start()
        try:
            self.status = await self._wait_for(child)
            self.duration_ms = round(host_elapsed_ms() - began_at)
            if self._save is not None:
                self.state = await asyncio.to_thread(self._save)
        finally:
            sandboxes = self._application.sandboxes
            self.tally = sandboxes.tally.total(sandboxes.by_id.values())
            self.conduct = self._application.final_conduct()
            await self._close()
            if await child.end() and not self.is_hung:
                _say(f"{PROGRAM}: the command left processes behind; they were ended")

    async def _wait_for(self, child: Child) -> int:
        """Wait for the command's end and return its status, or that of a timeout where it takes longer than it may."""
        began_at, waiting = host_elapsed_ms(), asyncio.ensure_future(child.wait())
        while not waiting.done():
            limit = self._limit_seconds()
            left = None if limit is None else limit - (host_elapsed_ms() - began_at) / 1000
            if left is not None and left <= 0:
                self.is_hung = True
                return _TIMED_OUT
            await asyncio.wait({waiting}, timeout=None if left is None else min(left, _LIMIT_CHECK_SECONDS))
        return waiting.result()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """`main_loop` has shut everything down."""

    async def _close(self) -> None:
        """Break off every connection: no client waits for an answer any more."""
        logging.getLogger("uvicorn").setLevel(logging.CRITICAL)  # it would log every request that is broken off
        for server in self.servers:
            server.close()
        self._application.stop()
        self.cut_connections()
        if self.server_state.tasks:
            await asyncio.wait(self.server_state.tasks, timeout=_UNWIND_SECONDS)
        self._application.close()


def _saver(file: Path | None, address: str, settings: Settings) -> Callable[[], bytes] | None:
    """Return what saves the default sandbox, if there is a file for it: as `state save` does, by asking for it."""
    if file is None:
        return None
    from emulator.testing.control import ControlClient, HttpTransport
    from emulator.testing.session_file import saved_sandbox

    return partial(saved_sandbox, ControlClient(HttpTransport(address), settings.control_token), file.name)


def _variables(
    environment: Mapping[str, str], address: str, application: "Application", settings: Settings
) -> dict[str, str]:
    """Return the environment of the command, in which nothing leads to another emulator."""
    variables = {name: value for name, value in environment.items() if name not in CLIENT_VARIABLES}
    variables |= {"IMAGE_WORKFLOW_BASE_URL": address + BASE_PATH, "EMULATOR_URL": address}
    sandbox = application.sandboxes.default
    # One from the environment would belong to the real service.
    variables["IMAGE_WORKFLOW_API_KEY"] = key_for_clients(sandbox, sandbox.clock.now())
    if settings.control_token is not None:
        variables["EMULATOR_CONTROL_TOKEN"] = settings.control_token
    return variables


def _write(file: Path, content: Callable[[Path], bytes]) -> int:
    """Write a file; return 0, or 2 if it cannot be written."""
    try:
        write_file(file, content(file))
    except UsageError as error:
        _say(f"{PROGRAM}: {error}")
        return 2
    return 0


def _say(text: str) -> None:
    """Write to standard error, if it is still open."""
    with contextlib.suppress(OSError):
        print(printable_lines(text.rstrip("\n")), file=sys.stderr, flush=True)
