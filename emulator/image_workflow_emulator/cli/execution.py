"""The `exec` command: the emulator for as long as one command runs, and afterwards a report.

Owns the order of steps: every mistake in options and files is found before the command is started, and after its end
the emulator does not wait for anything. Writes to standard error alone; standard output is the command's, but for
`--format json`, which gives it to one object for programs.
"""

import asyncio
import contextlib
import gc
import json
import logging
import socket
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from image_workflow_emulator.cli.arguments import PROGRAM
from image_workflow_emulator.cli.child import Child, Guard
from image_workflow_emulator.cli.failures import writable_files
from image_workflow_emulator.cli.invocation import Invocation
from image_workflow_emulator.cli.observers import Observed
from image_workflow_emulator.cli.report import (
    NO_REQUEST,
    Report,
    conduct_junit,
    conduct_lines,
    exec_verdict,
    report_on,
    report_text,
)
from image_workflow_emulator.cli.start_up import started
from image_workflow_emulator.cli.verdict import print_compact
from image_workflow_emulator.contract import BASE_PATH
from image_workflow_emulator.documents.complaints import one_of
from image_workflow_emulator.domain.readings import chosen
from image_workflow_emulator.examiner.conduct import judge
from image_workflow_emulator.examiner.judgement import Totals
from image_workflow_emulator.examiner.points import cover
from image_workflow_emulator.examiner.rules.registry import RULES
from image_workflow_emulator.kernel.clock import host_elapsed_ms
from image_workflow_emulator.kernel.printable import printable_lines
from image_workflow_emulator.server.server import WatchedServer
from image_workflow_emulator.service import engine
from image_workflow_emulator.service.sandbox.calls import key_for_clients
from image_workflow_emulator.service.sandbox.sandbox import Sandbox
from image_workflow_emulator.service.sandbox.tally import Tally
from image_workflow_emulator.settings import CLIENT_VARIABLES, SettingError, UsageError, read_settings
from image_workflow_emulator.testing.options import write_file

if TYPE_CHECKING:
    from image_workflow_emulator.app import Application
    from image_workflow_emulator.examiner.coverage import Coverage

_FILES = ("report", "journal", "save_state", "coverage", "junit")
"""The options that name a file to be written when the command has ended."""
_STANDARD_ERROR = 2
"""Its file number."""
_UNWIND_SECONDS = 0.1
"""How long requests in flight have to notice that their connection is gone."""


def execute(call: Invocation) -> int:
    """Run the command of `options.words` against an emulator and return its exit status.

    Raises UsageError or DocumentError for options and files that cannot be used, CommandError if the port is taken or
    the command cannot be started.
    """
    options = call.options
    settings = read_settings(
        vars(options), call.environment, {"port": "0", "access_log": "off", "journal_requests": "100000"}
    )
    for rule in options.ignore:
        if rule not in (known := [one.name for one in RULES]):
            raise SettingError("--ignore", rule, one_of(known), known)
    files = writable_files(options, *_FILES)
    guard = Guard()
    try:
        with started(settings, call.environment) as (listener, address, application):
            run = _Run(call, files, application, address, guard)
            gc.enable()
            run.run(sockets=[listener])
    finally:
        guard.dismiss()
    return run.conclude()


class _Run(WatchedServer):
    """A server that serves as long as a command runs, and then ends at once; what is observed meanwhile, and its report."""

    tally: Tally
    status: int
    duration_ms: int
    state: bytes
    """The default sandbox as it was at the end, as a file, if that is to be saved."""

    def __init__(
        self, call: Invocation, files: Mapping[str, Path], application: "Application", address: str, guard: Guard
    ) -> None:
        super().__init__(application)
        options = call.options
        self._options, self._files, self._application, self._address = options, files, application, address
        self._guard = guard
        self._variables = _variables(call.environment, address, application)
        self._prints_json = options.format == "json"
        self._observed = Observed(keeps_entries="journal" in files)
        self.conduct = Totals()
        application.sandboxes.before_end.append(self._judge)
        application.sandboxes.watch(self._observed.note)

    # While it runs --------------------------------------------------------------------------------------------------

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield  # signals are passed on to the command

    async def main_loop(self) -> None:
        began_at = host_elapsed_ms()
        output = _STANDARD_ERROR if self._prints_json else None
        child = Child(self._options.words, self._variables, self._guard, output)
        try:
            self.status = await child.wait()
            self.duration_ms = round(host_elapsed_ms() - began_at)
            if "save_state" in self._files:
                self.state = await asyncio.to_thread(self._saved)
        finally:
            sandboxes = self._application.sandboxes
            self._observed.end(sandboxes.by_id.values())
            self.tally = sandboxes.tally.total(sandboxes.by_id.values())
            for sandbox in sandboxes.by_id.values():
                self._judge(sandbox)
            await self._close()
            if await child.end():
                _say(f"{PROGRAM}: the command left processes behind; they were ended")

    def _judge(self, sandbox: Sandbox) -> None:
        """Judge the clients of a sandbox that ends."""
        engine.enter(sandbox)
        records = sandbox.journal.completed()
        conduct = judge(records, sandbox.store, sandbox.clock.now(), has_ended=True)
        self.conduct.add(sandbox.id, conduct, cover(records, sandbox.store))

    def _saved(self) -> bytes:
        """Return the default sandbox as a file: as `state save` does, by asking for it."""
        from image_workflow_emulator.testing.control_client import ControlClient
        from image_workflow_emulator.testing.session_file import saved_sandbox

        client = ControlClient(self._address, self._application.settings.control_token)
        return saved_sandbox(client, self._files["save_state"].name)

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

    # Afterwards -----------------------------------------------------------------------------------------------------

    def conclude(self) -> int:
        """Print the report, write the files, and return the exit status."""
        options, least = self._options, self._options.coverage_fail_under
        is_covered = self._prints_json or "coverage" in self._files or least is not None
        is_low = least is not None and self._coverage["percent"] < least
        conduct = None if options.conduct == "off" else self.conduct.without(frozenset(options.ignore))
        is_bad = options.conduct == "fail" and conduct is not None and (conduct.has_errors or not self._observed.counts)
        report = report_on(
            options.words,
            self.status or int(is_bad or is_low),
            self.duration_ms,
            self._observed.counts,
            self.tally,
            list(self._application.contract.operations),
            conduct,
            chosen(self._application.sandboxes.default.readings),
        )
        coverage_lines = [self._coverage_words(is_low)] if is_covered and not self._prints_json else []
        if not options.quiet:
            _say("\n".join([report_text(report), *coverage_lines]))
        elif not self.status:  # else the command has said why
            reasons = [*([] if self._observed.counts else [NO_REQUEST]), *conduct_lines(report)] if is_bad else []
            for line in (*reasons, *(coverage_lines if is_low else ())):
                _say(f"{PROGRAM}: {line.removeprefix('  ')}")
        for name, file in self._files.items():
            try:
                write_file(file, self._content(name, file, report))
            except UsageError as error:
                _say(f"{PROGRAM}: {error}")
                report["exit_status"] = report["exit_status"] or 2
        if self._prints_json:
            print_compact(exec_verdict(report, self.status, self._coverage, self._observed.refusals()))
        return int(report["exit_status"])

    @cached_property
    def _coverage(self) -> "Coverage":
        from image_workflow_emulator.examiner.coverage import document

        return document(self._application.contract, self.conduct.covered)

    def _coverage_words(self, is_low: bool) -> str:
        wish = f", wanted {self._options.coverage_fail_under:g} %" if is_low else ""
        used = f"{self._coverage['percent_of_used']:g} % of the operations used"
        return f"  coverage: {self._coverage['percent']:g} % of the contract{wish}; {used}"

    def _content(self, name: str, file: Path, report: Report) -> str | bytes:
        """Return what is written to the file of an option."""
        from image_workflow_emulator.examiner.coverage_page import coverage_text

        match name:
            case "report":
                return json.dumps(report, indent=2) + "\n"
            case "journal":
                return self._observed.content(file.suffix, self._address)
            case "save_state":
                return self.state
            case "coverage":
                return coverage_text(self._coverage, file.suffix)
            case _:
                return conduct_junit(report, self._options.conduct == "fail")


def _variables(environment: Mapping[str, str], address: str, application: "Application") -> dict[str, str]:
    """Return the environment of the command, in which nothing leads to another emulator."""
    variables = {name: value for name, value in environment.items() if name not in CLIENT_VARIABLES}
    sandbox, token = application.sandboxes.default, application.settings.control_token
    # A key from the environment would belong to the real service.
    key = key_for_clients(sandbox, sandbox.clock.now())
    variables |= {
        "IMAGE_WORKFLOW_BASE_URL": address + BASE_PATH,
        "EMULATOR_URL": address,
        "IMAGE_WORKFLOW_API_KEY": key,
    }
    return variables if token is None else {**variables, "EMULATOR_CONTROL_TOKEN": token}


def _say(text: str) -> None:
    """Write to standard error, if it is still open."""
    with contextlib.suppress(OSError):
        print(printable_lines(text.rstrip("\n")), file=sys.stderr, flush=True)
