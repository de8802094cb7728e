"""The `exec` command: the emulator for as long as one command runs, and afterwards a report.

Owns the order of steps: every mistake in options and files is found before the command is started, and after its end
the emulator does not wait for anything. Standard output is the command's; with `--format json` it is the report's, and
what the command prints goes to standard error.

The command runs in a session of its own. Signals are forwarded to its process group, and the group is what is ended: a
process that leaves it, as a daemon does, is not. The command has no controlling terminal: it can read what is typed,
and Ctrl-C reaches it as a forwarded signal.

Beside what every report has, its JSON has `data`, for programs that look at no more: `exit` (the status of the
command), `refusals` (each with `operation`, `code`, `count` and `remedy`), `conduct` (the number of findings by
severity), `coverage` (`percent`, and what is `unmet` of the operations in use), and `rules_never_fired`.
"""

import asyncio
import contextlib
import ctypes
import logging
import os
import shlex
import signal
import socket
import subprocess
import sys
from argparse import Namespace
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import orjson
from msgspec.structs import replace

from image_workflow_emulator.app import Application
from image_workflow_emulator.cli import judges
from image_workflow_emulator.cli.log import process_log
from image_workflow_emulator.cli.output import complain, write_or_say
from image_workflow_emulator.cli.serving import make_given, started
from image_workflow_emulator.client.local_files import check_writable
from image_workflow_emulator.contract import BASE_PATH
from image_workflow_emulator.documents.complaints import choice_of
from image_workflow_emulator.domain.readings import chosen
from image_workflow_emulator.kernel.wording import count_of
from image_workflow_emulator.report import Report, ReportFinding, ReportTable
from image_workflow_emulator.scenario.playbook import RuleCounts
from image_workflow_emulator.server.server import EmulatorServer
from image_workflow_emulator.service import engine
from image_workflow_emulator.service.records.record import RequestRecord
from image_workflow_emulator.service.sandbox.calls import key_for_clients
from image_workflow_emulator.service.sandbox.sandbox import DEFAULT_SANDBOX_ID, Sandbox
from image_workflow_emulator.service.sandbox.scenarios import count_rules
from image_workflow_emulator.settings import (
    CLIENT_VARIABLES,
    CommandError,
    SettingError,
    read_settings,
)

MAX_FINDINGS: Final = 1_000
_LEAK: Final = "credential-in-request"
_DEFAULTS: Final = {"port": "0", "access_log": "off", "journal_requests": "100000"}


def run(options: Namespace, environment: Mapping[str, str]) -> Report:
    """Run the command of `options.words` against an emulator.

    Raises UsageError, DocumentError or UnusableFileError for options and files that cannot be used, CommandError if the
    port is taken or the command cannot be started.
    """
    settings = read_settings(vars(options), environment, _DEFAULTS)
    if options.ignore:
        _check_rules(options.ignore)
    journal, state, coverage_file = (
        _file(options, name) for name in ("journal", "save_state", "coverage")
    )
    with process_log(settings):
        with started(settings, environment) as (listener, address, application):
            server = _Run(
                options,
                _variables(environment, address, application),
                application,
                address,
            )
            server.run(sockets=[listener])
        coverage = None
        if (
            options.format == "json"
            or coverage_file
            or options.coverage_fail_under is not None
        ):
            from image_workflow_emulator.examiner.coverage import document

            coverage = document(application.contract, server.observed.covered)
        report = _report(server, coverage)
        options.quiet &= report.status == server.status  # else the report says why
        if journal:
            write_or_say(
                report, journal, server.observed.journal(journal.suffix, address)
            )
        if state:
            write_or_say(report, state, server.state)
        if coverage_file:
            write_or_say(
                report,
                coverage_file,
                judges.coverage_text(coverage or {}, coverage_file.suffix),
            )
        return report


def _check_rules(names: list[str]) -> None:
    """Check the names of rules that are to be left out. Raises SettingError."""
    from image_workflow_emulator.examiner.conduct import RULES

    known = [rule.name for rule in RULES]
    for name in set(names).difference(known):
        raise SettingError("--ignore", name, choice_of(known), known)


def _file(options: Namespace, name: str) -> Path | None:
    """Return the file that an option names, to be written when the command has ended. Raises UsageError."""
    file = vars(options)[name]
    return None if file is None else check_writable(f"--{name.replace('_', '-')}", file)


class _Run(EmulatorServer):
    """A server that serves as long as a command runs, and then ends at once."""

    status: int
    """The exit status of the command, once it has ended."""
    state: bytes
    """The default sandbox as it was at the end, as a file, if that is to be saved."""

    def __init__(
        self,
        options: Namespace,
        variables: dict[str, str],
        application: Application,
        address: str,
    ) -> None:
        super().__init__(application)
        self.options, self.application = options, application
        self._variables, self._address = variables, address
        self.observed = Observed(options)
        application.sandboxes.before_end.append(self.observed.judge)

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
            self.observed.was_interrupted = child.was_signalled
            if self.options.save_state is not None:
                from image_workflow_emulator.client.control_client import ControlClient
                from image_workflow_emulator.client.exports import saved_sandbox

                client = ControlClient(
                    self._address, self.application.settings.control_token
                )
                self.state = await asyncio.to_thread(
                    saved_sandbox, client, self.options.save_state
                )
        finally:
            for sandbox in self.application.sandboxes.by_id.values():
                self.observed.judge(sandbox)
            logging.getLogger("uvicorn").setLevel(
                logging.CRITICAL
            )  # it would log every request that is broken off
            await self.end_at_once()
            if await child.end():
                complain("the command left processes behind; they were ended")

    async def _started_child(self) -> "Child":
        await make_given(self.application.settings, self._address)
        output = None
        if self.options.format == "json":
            output = sys.stderr.fileno()
        return Child(self.options.words, self._variables, output)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """`main_loop` has shut everything down."""


def _variables(
    environment: Mapping[str, str], address: str, application: Application
) -> dict[str, str]:
    """Return the environment of the command, in which nothing leads to another emulator."""
    sandbox, token = application.sandboxes.default, application.settings.control_token
    return {
        **{
            name: value
            for name, value in environment.items()
            if name not in CLIENT_VARIABLES
        },
        "IMAGE_WORKFLOW_BASE_URL": address + BASE_PATH,
        "EMULATOR_URL": address,
        # A key from the environment would belong to the real service.
        "IMAGE_WORKFLOW_API_KEY": key_for_clients(sandbox, sandbox.clock.now()),
        **({} if token is None else {"EMULATOR_CONTROL_TOKEN": token}),
    }


# The process of the command ------------------------------------------------------------------------------------------

_FORWARDED: Final = (
    signal.SIGHUP,
    signal.SIGINT,
    signal.SIGQUIT,
    signal.SIGTERM,
    signal.SIGUSR1,
    signal.SIGUSR2,
)
"""The signals that are forwarded to the command."""
_OF_USERS: Final = (signal.SIGUSR1, signal.SIGUSR2)
"""Those of them that ask no process to end."""
FINISH_SECONDS = 0.5
"""How long processes that the command left behind may take to finish by themselves, as the reader of a pipe does."""
TERMINATE_SECONDS = 2.0
"""How long they may take once they were asked to end."""
_POLL_SECONDS = 0.01

_SET_CHILD_SUBREAPER = 36
"""PR_SET_CHILD_SUBREAPER of prctl(2)."""
_NOT_EXECUTABLE = 126
_NOT_FOUND = 127
_SIGNALLED = 128


class Child:
    """A running command. It has the streams and every other file that this process was started with."""

    def __init__(
        self,
        words: Sequence[str],
        environment: Mapping[str, str],
        output: int | None = None,
    ) -> None:
        """Start it, in a running event loop, which handles the signals from now on.

        `output` is the file number of its standard output; None: that of this process. Raises CommandError.
        """
        self._forward_signals()
        _adopt_orphans()
        try:
            self._process = subprocess.Popen(  # noqa: S603
                words,
                env=environment,
                close_fds=False,
                start_new_session=True,
                stdout=output,
            )
        except OSError as error:
            is_missing = isinstance(error, FileNotFoundError)
            reason = "command not found" if is_missing else error.strerror
            raise CommandError(
                f"{words[0]}: {reason}", _NOT_FOUND if is_missing else _NOT_EXECUTABLE
            ) from error
        self._group = self._process.pid
        self.was_signalled = False
        """Whether a signal has ended it, or asked it to end."""

    async def wait(self) -> int:
        """Wait for the command's end and return its exit status, or 128 and the number of the signal it ended by."""
        status = await asyncio.to_thread(self._process.wait)
        if status < 0:
            status = _SIGNALLED - status
        if status > _SIGNALLED:  # shells say so of their own command
            self.was_signalled = True
        return status

    async def end(self) -> bool:
        """End what is left of the command and its process group; return whether anything had to be ended."""
        if await self._has_ended_within(FINISH_SECONDS):
            return False
        self._signal(signal.SIGTERM)
        if not await self._has_ended_within(TERMINATE_SECONDS):
            self._signal(signal.SIGKILL)
            await self._has_ended_within(FINISH_SECONDS)
        return True

    def _forward_signals(self) -> None:
        # If SIGCHLD is ignored, as some parents leave it, there is no exit status to wait for.
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(
            signal.SIGTSTP, signal.SIG_IGN
        )  # Ctrl-Z would stop the emulator alone
        loop = asyncio.get_running_loop()
        for number in _FORWARDED:
            if (
                signal.getsignal(number) is not signal.SIG_IGN
            ):  # else it is meant to be ignored, as under nohup
                loop.add_signal_handler(number, self._forward, number)

    def _forward(self, number: int) -> None:
        if number not in _OF_USERS:
            self.was_signalled = True
        self._signal(number)

    def _signal(self, number: int) -> None:
        """Send a signal to the group, and let it continue: a process that is stopped would not get it."""
        for sent in (number, signal.SIGCONT):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._group, sent)

    async def _has_ended_within(self, seconds: float) -> bool:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self._has_group():  # noqa: ASYNC110 (the end of a process group is no event)
                    await asyncio.sleep(_POLL_SECONDS)
                return True
        return False

    def _has_group(self) -> bool:
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-self._group, os.WNOHANG)[0]:
                pass  # one more that had ended
        try:
            os.killpg(self._group, 0)
        except (
            ProcessLookupError,
            PermissionError,
        ):  # no process is left, or none that this one may end
            return False
        return True


def _adopt_orphans() -> None:
    """Become the parent of what outlives the command, on Linux: a process that has ended stays in its group until it is
    waited for.
    """
    with contextlib.suppress(AttributeError, OSError):
        ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


# The report -----------------------------------------------------------------------------------------------------------


class Observed:
    """What happened in all sandboxes, added up from the journal of each when it ends."""

    def __init__(self, options: Namespace) -> None:
        """Judge conduct, and keep the entries of the journals, as the options of `exec` ask."""
        self._options = options
        self._entries: list[dict[str, Any]] = []
        self.counts = {
            "requests": 0,
            "credits_charged": 0,
            "credits_reserved": 0,
            "emulator_time_ms": 0,
        }
        """`credits_reserved`: for work that was not finished. `emulator_time_ms`: the time passed on all clocks."""
        self.was_interrupted = False
        """Whether a signal ended the command, so that it left nothing undone."""
        self.left = 0
        """How many requests had left their journal before."""
        self.answers: dict[tuple[str, str], dict[str, Any]] = {}
        """By operation or byte surface, and by answer, such as `402 insufficient_credits`: the count, and the first
        remedy.
        """
        self.rules: dict[tuple[str, str], RuleCounts] = {}
        """By the names of scenario and rule."""
        self.conduct: list[ReportFinding] = []
        self.checked, self.not_checked = Counter[str](), list[str]()
        self.covered = Counter[tuple[str, str]]()

    def judge(self, sandbox: Sandbox) -> None:
        """Add up a sandbox that ends, and judge its clients."""
        now, requests = engine.enter(sandbox), sandbox.journal.requests
        self.counts["requests"] += len(requests)
        self.counts["credits_reserved"] += sum(
            account.ledger.reserved for account in sandbox.accounts.values()
        )
        self.counts["emulator_time_ms"] += now - sandbox.opened_at
        self.left += sandbox.journal.dropped
        for key, past in sandbox.past_rules.items():
            counts = self.rules.setdefault(key, RuleCounts())
            counts.matched, counts.fired = (
                counts.matched + past.matched,
                counts.fired + past.fired,
            )
        for playbook in sandbox.playbooks.values():
            count_rules(self.rules, playbook)
        for record in requests:
            self._count(record)
        if requests:
            self._judge_requests(sandbox, now)

    def _count(self, record: RequestRecord) -> None:
        place = record.operation or record.byte_surface or "(no operation)"
        fates = (record.code, record.replay_of and "replayed", record.loss and "lost")
        answer = " ".join(filter(None, (str(record.status or "no answer"), *fates)))
        if (place, answer) not in self.answers:
            from image_workflow_emulator.control.explaining import remedy_of

            first = {
                "operation": place,
                "code": record.code,
                "count": 0,
                "remedy": remedy_of(record),
            }
            self.answers[place, answer] = first
        self.answers[place, answer]["count"] += 1

    def _judge_requests(self, sandbox: Sandbox, now: int) -> None:
        # Imported once there is something to judge.
        from image_workflow_emulator.control.masks import Masks
        from image_workflow_emulator.examiner.conduct import judge
        from image_workflow_emulator.examiner.points import cover

        records, store = sandbox.journal.completed(), sandbox.store
        works = [
            store.find_work(record.work_id) for record in records if record.work_id
        ]
        self.counts["credits_charged"] += sum(
            (work and work.charged_credits) or 0 for work in works
        )
        self.covered.update(cover(records, store))
        masks = Masks(sandbox.credentials)
        if self._options.conduct != "off":
            found = judge(
                records,
                store,
                now,
                has_ended=True,
                was_interrupted=self.was_interrupted,
                ignored=self._options.ignore,
            )
            place = (
                ""
                if sandbox.id == DEFAULT_SANDBOX_ID
                else f", in the sandbox {sandbox.id}"
            )
            room = MAX_FINDINGS - len(self.conduct)
            for finding in found.findings[:room]:
                reported = judges.conduct_finding(finding, place)
                if finding.rule == _LEAK:  # a User-Agent may have the key
                    reported = replace(
                        reported, where=masks.of_text(reported.where or "")
                    )
                self.conduct.append(reported)
            self.checked.update(found.checked)
            self.not_checked = self.not_checked or found.not_checked
        if self._options.journal is not None:
            from image_workflow_emulator.control.describing import describe_request

            journal = sandbox.journal.requests
            self._entries += (
                {"sandbox": sandbox.id, **describe_request(record, masks)}
                for record in journal
            )

    def journal(self, suffix: str, url: str) -> bytes:
        """Return all entries in the order of their arrival: as HAR for a file with the suffix `.har`, else as JSON."""
        from image_workflow_emulator.client.exports import journal_as_har

        entries = sorted(self._entries, key=lambda entry: str(entry["arrived_at"]))
        content = (
            journal_as_har(entries, url) if suffix == ".har" else {"data": entries}
        )
        return orjson.dumps(
            content, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
        )


def _report(run: _Run, coverage: dict[str, Any] | None) -> Report:
    """Return the report of a command that has ended. It fails with the command, or where the options forbid what it
    did.
    """
    options, seen, unmet = run.options, run.observed, list[str]()
    judged = {"requests": seen.counts["requests"], "left": seen.left}
    refusals = [answer for answer in seen.answers.values() if answer["code"]]
    charged, seconds = (
        count_of(seen.counts["credits_charged"], "Credit"),
        seen.counts["emulator_time_ms"] / 1000,
    )
    summary = f"{judges.judged_words(judged)}, {charged} charged, {seconds:g} s of emulator time"
    if seen.checked:
        summary += f"; conduct: {judges.conduct_words(seen.conduct, seen.checked)}"
    rows = list(_rows(run))
    if coverage is not None:
        from image_workflow_emulator.examiner.coverage import rows as rows_of

        unmet = [
            f"{name} {gap}"
            for name, covered, _, gaps in rows_of(coverage)
            if covered
            for gap in gaps
        ]
        rows.append(("coverage", judges.coverage_words(coverage)))
    findings = [*_findings(options, seen, coverage)]
    forbidden = [*seen.conduct, *findings] if options.conduct == "fail" else findings
    status = run.status or int(
        any(finding.severity == "error" for finding in forbidden)
    )
    more = (
        "exec --journal journal.json" if status or seen.conduct or findings else "sweep"
    )
    words = shlex.join(options.words)
    return Report(
        kind="exec",
        ok=status == 0,
        summary=f"Image Workflow Emulator: {summary}",
        findings=[*seen.conduct, *findings],
        counts=seen.counts,
        checked=seen.checked,
        tables=[ReportTable(title="", columns=(), rows=rows)],
        next=[
            f"image-workflow-emulator {more} -- {words if len(words) <= 200 and words.isprintable() else 'CMD'}"
        ],
        details={
            "judged": judged,
            "data": {
                "exit": run.status,
                "refusals": sorted(refusals, key=lambda refusal: -refusal["count"]),
                "conduct": Counter(finding.severity for finding in seen.conduct),
                "coverage": {
                    "percent": coverage and coverage["percent"],
                    "unmet": unmet,
                },
                "rules_never_fired": [
                    f"{scenario}: {name}"
                    for (scenario, name), rule in seen.rules.items()
                    if not rule.fired
                ],
            },
        },
        status=status,
    )


def _findings(
    options: Namespace, seen: Observed, coverage: dict[str, Any] | None
) -> Iterator[ReportFinding]:
    """Iterate over what makes the run worth less than it seems."""
    if not seen.answers:
        yield ReportFinding(
            rule="no-request",
            severity="error" if options.conduct == "fail" else "warning",
            where=None,
            message="the command sent no request to its emulator",
            remedy="let it call the address in IMAGE_WORKFLOW_BASE_URL",
        )
    for (scenario, name), counts in seen.rules.items():
        if not counts.fired:
            from image_workflow_emulator.testing.answers import (
                Rule,
            )  # which takes time to import

            message = Rule(name=name, matched=counts.matched, fired=0).never_fired(
                scenario
            )
            yield ReportFinding(
                rule="rule-never-fired", severity="warning", where=None, message=message
            )
    least = options.coverage_fail_under
    if coverage is not None and least is not None and coverage["percent"] < least:
        message = f"{coverage['percent']:g} % of the contract; wanted {least:g} %"
        yield ReportFinding(
            rule="coverage", severity="error", where=None, message=message
        )


def _rows(run: _Run) -> Iterator[tuple[str, str]]:
    """Iterate over what people read of a run: names, and what is known of them."""
    seen, answers = run.observed, dict[str, list[str]]()
    for (place, answer), entry in seen.answers.items():
        answers.setdefault(place, []).append(f"{answer}: {entry['count']}")
    yield from ((place, "  ".join(texts)) for place, texts in answers.items())
    if readings := chosen(run.application.sandboxes.default.readings):
        yield "readings", ", ".join(readings)
    if seen.not_checked:
        yield (
            "not checked",
            f"{', '.join(seen.not_checked)}: an auto clock takes every wait",
        )
