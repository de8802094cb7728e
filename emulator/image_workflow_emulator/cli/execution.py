"""The `exec` command: the emulator for as long as one command runs, and afterwards a report.

Owns the order of steps: every mistake in options and files is found before the command is started, and after its end
the emulator does not wait for anything. Standard output is the command's; with `--format json` it is the report's, and
what the command prints goes to standard error.
"""

import asyncio
import contextlib
import logging
import socket
import sys
from argparse import Namespace
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from image_workflow_emulator.cli.arguments import PROGRAM
from image_workflow_emulator.cli.child import Child
from image_workflow_emulator.cli.exec_report import report_on
from image_workflow_emulator.cli.observers import Observed
from image_workflow_emulator.cli.start_up import make_given, started
from image_workflow_emulator.contract import BASE_PATH
from image_workflow_emulator.documents.complaints import one_of
from image_workflow_emulator.kernel.printable import printable_lines
from image_workflow_emulator.report import Report
from image_workflow_emulator.server.server import WatchedServer
from image_workflow_emulator.service.sandbox.calls import key_for_clients
from image_workflow_emulator.settings import CLIENT_VARIABLES, SettingError, UsageError, read_settings
from image_workflow_emulator.testing.options import writable_file, write_file

if TYPE_CHECKING:
    from image_workflow_emulator.app import Application
    from image_workflow_emulator.examiner.coverage import Coverage

_FILES = ("journal", "save_state", "coverage")
"""The options that name a file to be written when the command has ended, beside the report."""
_STANDARD_ERROR = 2
"""Its file number."""
_UNWIND_SECONDS = 0.1
"""How long requests in flight have to notice that their connection is gone."""


def execute(options: Namespace, environment: Mapping[str, str]) -> Report:
    """Run the command of `options.words` against an emulator.

    Raises UsageError or DocumentError for options and files that cannot be used, CommandError if the port is taken or
    the command cannot be started.
    """
    settings = read_settings(
        vars(options), environment, {"port": "0", "access_log": "off", "journal_requests": "100000"}
    )
    _check_rules(options.ignore)
    named = {name: vars(options)[name] for name in _FILES if vars(options)[name] is not None}
    files = {name: writable_file(f"--{name.replace('_', '-')}", file) for name, file in named.items()}
    with started(settings, environment) as (listener, address, application):
        run = _Run(options, environment, files, application, address)
        run.run(sockets=[listener])
    return run.conclude()


class _Run(WatchedServer):
    """A server that serves as long as a command runs, and then ends at once; what is observed meanwhile, and its report."""

    status: int
    state: bytes
    """The default sandbox as it was at the end, as a file, if that is to be saved."""

    def __init__(
        self,
        options: Namespace,
        environment: Mapping[str, str],
        files: Mapping[str, Path],
        application: "Application",
        address: str,
    ) -> None:
        super().__init__(application)
        self._options, self._files, self._application, self._address = options, files, application, address
        self._variables = _variables(environment, address, application)
        self._observed = Observed(options.ignore, keeps_entries="journal" in files)
        application.sandboxes.before_end.append(self._observed.judge)
        application.sandboxes.watch(self._observed.note)

    # While it runs --------------------------------------------------------------------------------------------------

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield  # signals are passed on to the command

    async def main_loop(self) -> None:
        await make_given(self._application.settings, self._address)
        output = _STANDARD_ERROR if self._options.format == "json" else None
        child = Child(self._options.words, self._variables, output)
        try:
            self.status = await child.wait()
            if "save_state" in self._files:
                self.state = await asyncio.to_thread(self._saved)
        finally:
            self._observed.end(self._application.sandboxes.by_id.values())
            await self._close()
            if await child.end():
                _say(f"{PROGRAM}: the command left processes behind; they were ended")

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

    def conclude(self) -> Report:
        """Write the files, and return the report."""
        options = self._options
        is_covered = options.format == "json" or "coverage" in self._files or options.coverage_fail_under is not None
        coverage = self._coverage if is_covered else None
        report = report_on(options, self._observed, self.status, self._application, coverage)
        if options.quiet and report.status and not self.status:  # else the command has said why
            for finding in report.findings:
                if finding.severity == "error":
                    _say(f"{PROGRAM}: {finding.severity}: {finding.rule}: {finding.message}")
        for name, file in self._files.items():
            try:
                write_file(file, self._content(name, file))
            except UsageError as error:
                _say(f"{PROGRAM}: {error}")
                report.status = report.status or 2
        return report

    @cached_property
    def _coverage(self) -> "Coverage":
        from image_workflow_emulator.examiner.coverage import document

        return document(self._application.contract, self._observed.covered)

    def _content(self, name: str, file: Path) -> str | bytes:
        """Return what is written to the file of an option."""
        match name:
            case "journal":
                return self._observed.journal(file.suffix, self._address)
            case "save_state":
                return self.state
            case _:
                from image_workflow_emulator.cli.judges import coverage_text

                return coverage_text(self._coverage, file.suffix)


def _check_rules(names: Collection[str]) -> None:
    """Check the names of rules that are to be left out. Raises SettingError."""
    if names:
        from image_workflow_emulator.examiner.rules.registry import RULES

        known = [rule.name for rule in RULES]
        for name in names:
            if name not in known:
                raise SettingError("--ignore", name, one_of(known), known)


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
