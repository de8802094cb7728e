"""The emulator for as long as one command runs, and afterwards a report: `exec`.

Owns the order of steps: every mistake in options and files is found before the command
is started, and after its end the emulator does not wait for anything. Standard output
is the command's; where the report is printed as JSON, it is the report's, and what the
command prints goes to standard error.
"""

import asyncio
import contextlib
import logging
import socket
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from image_workflow_emulator.app import Application
from image_workflow_emulator.cli.child_process import Child
from image_workflow_emulator.cli.execution_report import Ended, report_of
from image_workflow_emulator.cli.judges import coverage_text
from image_workflow_emulator.cli.log import process_log
from image_workflow_emulator.cli.next_command import TypedCommand
from image_workflow_emulator.cli.observation import Observation, RunScenario
from image_workflow_emulator.cli.serving import make_given, started
from image_workflow_emulator.client.proxies import LOCAL_HOSTS, no_proxy_variables
from image_workflow_emulator.console.messages import complain
from image_workflow_emulator.console.report_output import write_or_say
from image_workflow_emulator.contract import BASE_PATH
from image_workflow_emulator.documents.complaints import choice_of
from image_workflow_emulator.domain.readings import chosen
from image_workflow_emulator.report import Report
from image_workflow_emulator.server.server import EmulatorServer
from image_workflow_emulator.service.sandbox.calls import key_for_clients
from image_workflow_emulator.settings import CLIENT_VARIABLES, SettingError, Settings


@dataclass(frozen=True, kw_only=True)
class Execution:
    """What `exec` is asked for, beside the settings of its emulator."""

    typed: TypedCommand
    journal_file: Path | None
    state_file: Path | None
    coverage_file: Path | None
    conduct: Literal["off", "report", "fail"]
    ignored_rules: tuple[str, ...]
    least_coverage: float | None
    """In percent."""
    is_json: bool
    """Whether the report is printed as JSON."""


def execute(
    execution: Execution,
    settings: Settings,
    environment: Mapping[str, str],
) -> tuple[Report, bool]:
    """Run a command against an emulator, and write the files that are asked for.

    Return the report, and whether its status is another than that of the command: then
    the report is the only one that says why. Raises UsageError,
    DocumentError or UnusableFileError for options and files that cannot be used,
    CommandError if the port is taken or the command cannot be started.
    """
    _check_rules(execution.ignored_rules)
    with (
        process_log(settings),
        started(settings, environment) as (listener, address, application),
    ):
        variables = _variables(environment, address, application)
        server = _Server(execution, variables, application, address)
        server.run(sockets=[listener])
    coverage = _coverage(execution, server)
    ended = Ended(
        typed=execution.typed,
        status=server.status,
        observation=server.observation,
        readings=chosen(application.sandboxes.default.readings),
        state_file=execution.state_file,
        coverage=coverage,
        least_coverage=execution.least_coverage,
        fails_by_conduct=execution.conduct == "fail",
    )
    report = report_of(ended)
    is_overruled = report.status != ended.status
    if execution.journal_file:
        suffix = execution.journal_file.suffix
        journal = server.observation.journal_content(suffix, address)
        write_or_say(report, execution.journal_file, journal)
    if execution.state_file:
        write_or_say(report, execution.state_file, server.state)
    if execution.coverage_file:
        text = coverage_text(coverage or {}, execution.coverage_file.suffix)
        write_or_say(report, execution.coverage_file, text)
    return report, is_overruled


def _check_rules(names: Sequence[str]) -> None:
    """Check the names of rules that are to be left out. Raises SettingError."""
    if not names:
        return
    from image_workflow_emulator.examiner.conduct import RULES

    known = [rule.name for rule in RULES]
    for name in names:
        if name not in known:
            raise SettingError("--ignore", name, choice_of(known), known)


def _coverage(execution: Execution, server: "_Server") -> dict[str, Any] | None:
    """Return the coverage document, if anything asks for it."""
    has_limit = execution.least_coverage is not None
    if not (execution.is_json or execution.coverage_file or has_limit):
        return None
    from image_workflow_emulator.examiner.coverage import document

    return document(server.application.contract, server.observation.covered)


def _variables(
    environment: Mapping[str, str],
    address: str,
    application: Application,
) -> dict[str, str]:
    """Return the environment of the command, in which nothing leads to another
    emulator, nor to this one by a proxy.
    """
    sandbox = application.sandboxes.default
    variables = {
        name: text for name, text in environment.items() if name not in CLIENT_VARIABLES
    }
    variables["IMAGE_WORKFLOW_BASE_URL"] = address + BASE_PATH
    variables["EMULATOR_URL"] = address
    # A key from the environment would belong to the real service.
    key = key_for_clients(sandbox, sandbox.clock.now())
    variables["IMAGE_WORKFLOW_API_KEY"] = key
    token = application.settings.control_token
    if token is not None:
        variables["EMULATOR_CONTROL_TOKEN"] = token
    own_host = urlsplit(address).hostname or ""
    hosts = dict.fromkeys([*LOCAL_HOSTS, own_host])
    return variables | no_proxy_variables(environment, hosts)


class _Server(EmulatorServer):
    """A server that serves as long as a command runs, and then ends at once."""

    status: int
    """The exit status of the command, once it has ended."""
    state: bytes
    """The default sandbox as it was at the end, as a file, if that is to be saved."""

    def __init__(
        self,
        execution: Execution,
        variables: dict[str, str],
        application: Application,
        address: str,
    ) -> None:
        super().__init__(application)
        self.application = application
        scenario = application.sandboxes.default.options.scenario
        self.observation = Observation(
            run=RunScenario(scenario.name, has_rules=bool(scenario.rules)),
            judges_conduct=execution.conduct != "off",
            ignored_rules=execution.ignored_rules,
            keeps_journal=execution.journal_file is not None,
        )
        self._execution = execution
        self._variables = variables
        self._address = address
        application.sandboxes.before_end.append(self.observation.add)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield  # signals are passed on to the command

    async def main_loop(self) -> None:
        try:
            child = await self._started_child()
        except BaseException:
            await self.lifespan.shutdown()
            raise
        try:
            self.status = await child.wait()
            self.observation.was_interrupted = child.was_signalled
            if self._execution.state_file is not None:
                self.state = await self._saved_state(self._execution.state_file)
        finally:
            for sandbox in self.application.sandboxes.by_id.values():
                self.observation.add(sandbox)
            # The server library would log every request that is broken off.
            logging.getLogger("uvicorn").setLevel(logging.CRITICAL)
            await self.end_at_once()
            if await child.end():
                complain("the command left processes behind; they were ended")

    async def _started_child(self) -> Child:
        await make_given(self.application.settings, self._address)
        output = None
        if self._execution.is_json:
            output = sys.stderr.fileno()
        return Child(self._execution.typed.words, self._variables, output)

    async def _saved_state(self, file: Path) -> bytes:
        from image_workflow_emulator.client.control_client import ControlClient
        from image_workflow_emulator.client.exports import saved_sandbox

        token = self.application.settings.control_token
        client = ControlClient(self._address, token)
        return await asyncio.to_thread(saved_sandbox, client, str(file))

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """`main_loop` has shut everything down."""
