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
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from image_workflow_emulator.app import Application
from image_workflow_emulator.cli.arguments import PROGRAM
from image_workflow_emulator.cli.child import Child
from image_workflow_emulator.cli.exec_report import Observed, report_on
from image_workflow_emulator.cli.judges import coverage_text
from image_workflow_emulator.cli.serving import make_given, started
from image_workflow_emulator.contract import BASE_PATH
from image_workflow_emulator.documents.complaints import choice_of
from image_workflow_emulator.kernel.printable import printable
from image_workflow_emulator.report import Report
from image_workflow_emulator.server.server import WatchedServer
from image_workflow_emulator.service.sandbox.calls import key_for_clients
from image_workflow_emulator.settings import CLIENT_VARIABLES, SettingError, UsageError, read_settings
from image_workflow_emulator.testing.options import writable_file, write_file

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
    defaults = {"port": "0", "access_log": "off", "journal_requests": "100000"}
    settings = read_settings(vars(options), environment, defaults)
    _check_rules(options.ignore)
    named = {name: vars(options)[name] for name in _FILES if vars(options)[name] is not None}
    files = {name: writable_file(f"--{name.replace('_', '-')}", file) for name, file in named.items()}
    with started(settings, environment) as (listener, address, application):
        run = _Run(options, environment, application, address)
        run.run(sockets=[listener])
    coverage = None
    if options.format == "json" or options.coverage is not None or options.coverage_fail_under is not None:
        from image_workflow_emulator.examiner.coverage import document

        coverage = document(application.contract, run.observed.covered)
    report = report_on(options, run.observed, run.status, application, coverage)
    options.quiet &= report.status == run.status  # else the report says why
    contents: Mapping[str, Callable[[Path], str | bytes]] = {
        "journal": lambda file: run.observed.journal(file.suffix, address),
        "save_state": lambda _: run.state,
        "coverage": lambda file: coverage_text(coverage or {}, file.suffix),
    }
    for name, file in files.items():
        try:
            write_file(file, contents[name](file))
        except UsageError as error:
            _say(str(error))
            report.status = report.status or 2
    return report


class _Run(WatchedServer):
    """A server that serves as long as a command runs, and then ends at once."""

    status: int
    """That of the command, once it has ended."""
    state: bytes
    """The default sandbox as it was at the end, as a file, if that is to be saved."""

    def __init__(
        self, options: Namespace, environment: Mapping[str, str], application: Application, address: str
    ) -> None:
        super().__init__(application)
        self._options, self._application, self._address = options, application, address
        self._variables = _variables(environment, address, application)
        self.observed = Observed(options.ignore, keeps_entries=options.journal is not None)
        application.sandboxes.before_end.append(self.observed.judge)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield  # signals are passed on to the command

    async def main_loop(self) -> None:
        await make_given(self._application.settings, self._address)
        options = self._options
        child = Child(options.words, self._variables, _STANDARD_ERROR if options.format == "json" else None)
        try:
            self.status = await child.wait()
            if options.save_state is not None:
                from image_workflow_emulator.testing.control_client import ControlClient
                from image_workflow_emulator.testing.session_file import saved_sandbox

                client = ControlClient(self._address, self._application.settings.control_token)
                self.state = await asyncio.to_thread(saved_sandbox, client, options.save_state)
        finally:
            for sandbox in self._application.sandboxes.by_id.values():
                self.observed.judge(sandbox)
            await self._close()
            if await child.end():
                _say("the command left processes behind; they were ended")

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


def _check_rules(names: Collection[str]) -> None:
    """Check the names of rules that are to be left out. Raises SettingError."""
    if names:
        from image_workflow_emulator.examiner.conduct import RULES

        known = [rule.name for rule in RULES]
        for name in names:
            if name not in known:
                raise SettingError("--ignore", name, choice_of(known), known)


def _variables(environment: Mapping[str, str], address: str, application: Application) -> dict[str, str]:
    """Return the environment of the command, in which nothing leads to another emulator."""
    sandbox, token = application.sandboxes.default, application.settings.control_token
    return {
        **{name: value for name, value in environment.items() if name not in CLIENT_VARIABLES},
        "IMAGE_WORKFLOW_BASE_URL": address + BASE_PATH,
        "EMULATOR_URL": address,
        # A key from the environment would belong to the real service.
        "IMAGE_WORKFLOW_API_KEY": key_for_clients(sandbox, sandbox.clock.now()),
        **({} if token is None else {"EMULATOR_CONTROL_TOKEN": token}),
    }


def _say(text: str) -> None:
    """Write to standard error, if it is still open."""
    with contextlib.suppress(OSError):
        print(f"{PROGRAM}: {printable(text)}", file=sys.stderr, flush=True)
