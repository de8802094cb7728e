"""The `exec` command: the emulator for as long as one command runs, and afterwards a report.

Owns the order of steps: every mistake in options and files is found before the command is started, and after its end
the emulator does not wait for anything. Standard output is the command's; with `--format json` it is the report's, and
what the command prints goes to standard error.

Beside what every report has, its JSON has `data`, for programs that look at no more: `exit` (the status of the
command), `refusals` (each with `operation`, `code`, `count` and `remedy`), `conduct` (the number of findings by
severity), `coverage` (`percent`, and what is `unmet` of the operations in use), and `rules_never_fired`.
"""

import asyncio
import contextlib
import logging
import shlex
import socket
import sys
from argparse import Namespace
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import orjson

from image_workflow_emulator.app import Application
from image_workflow_emulator.cli.arguments import PROGRAM
from image_workflow_emulator.cli.child import Child
from image_workflow_emulator.cli.judges import conduct_finding, conduct_words, coverage_text, coverage_words
from image_workflow_emulator.cli.serving import make_given, started
from image_workflow_emulator.client.local_files import UnusableFileError, check_writable, write_file
from image_workflow_emulator.contract import BASE_PATH
from image_workflow_emulator.documents.complaints import choice_of
from image_workflow_emulator.domain.readings import chosen
from image_workflow_emulator.kernel.wording import count_of, printable
from image_workflow_emulator.report import Report, ReportFinding, ReportTable, Severity
from image_workflow_emulator.scenario.playbook import RuleCounts
from image_workflow_emulator.scenario.scenario import BYTE_SURFACES
from image_workflow_emulator.server.server import WatchedServer
from image_workflow_emulator.service import engine
from image_workflow_emulator.service.records.record import RequestRecord
from image_workflow_emulator.service.sandbox.calls import key_for_clients
from image_workflow_emulator.service.sandbox.sandbox import DEFAULT_SANDBOX_ID, Sandbox
from image_workflow_emulator.service.sandbox.scenarios import count_rules
from image_workflow_emulator.settings import CLIENT_VARIABLES, SettingError, read_settings

_FILES = ("journal", "save_state", "coverage")
"""The options that name a file to be written when the command has ended, beside the report."""
_STANDARD_ERROR = 2
"""Its file number."""
_UNWIND_SECONDS = 0.1
"""How long requests in flight have to notice that their connection is gone."""


def execute(options: Namespace, environment: Mapping[str, str]) -> Report:
    """Run the command of `options.words` against an emulator.

    Raises UsageError, DocumentError or UnusableFileError for options and files that cannot be used, CommandError if the
    port is taken or the command cannot be started.
    """
    defaults = {"port": "0", "access_log": "off", "journal_requests": "100000"}
    settings = read_settings(vars(options), environment, defaults)
    _check_rules(options.ignore)
    named = {name: vars(options)[name] for name in _FILES if vars(options)[name] is not None}
    files = {name: check_writable(f"--{name.replace('_', '-')}", file) for name, file in named.items()}
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
        except UnusableFileError as error:
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
                from image_workflow_emulator.client.control_client import ControlClient
                from image_workflow_emulator.client.exports import saved_sandbox

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


# The report -----------------------------------------------------------------------------------------------------------


if TYPE_CHECKING:
    from image_workflow_emulator.examiner.coverage import Coverage
    from image_workflow_emulator.examiner.findings import Finding
    from image_workflow_emulator.examiner.points import Point

MAX_FINDINGS: Final = 1_000
_MAX_COMMAND: Final = 200
"""A longer command stands as CMD in the commands to run next."""


class Observed:
    """What happened in all sandboxes. The entries of their journals are kept too if they are wanted."""

    def __init__(self, ignored: Collection[str], *, keeps_entries: bool) -> None:
        """`ignored`: the rules of conduct that do not count."""
        self._ignored, self._keeps_entries = frozenset(ignored), keeps_entries
        self._entries: list[dict[str, Any]] = []
        self.requests: dict[str | None, dict[int, Counter[str]]] = {}
        """By operation or byte surface and status (0 without an answer): how many were `replayed`, `lost`, and
        `all`.
        """
        self.counts = {"requests": 0, "credits_charged": 0, "credits_reserved": 0, "emulator_time_ms": 0}
        """Those of the report: reserved Credits are those of work that was not finished, the time passed on
        all clocks.
        """
        self.left = 0
        """How many requests had left their journal before."""
        self.refusals: dict[tuple[str, str], dict[str, Any]] = {}
        """By operation and code, each with the remedy of the first."""
        self.rules: dict[tuple[str, str], RuleCounts] = {}
        """By the names of scenario and rule."""
        self.findings: list[tuple[str, Finding]] = []
        """Each with the id of its sandbox."""
        self.checked = Counter[str]()
        self.not_checked: Sequence[str] = ()
        self.covered: Counter[Point] = Counter()

    def judge(self, sandbox: Sandbox) -> None:
        """Add up a sandbox that ends, and judge its clients."""
        engine.enter(sandbox)
        self.counts["emulator_time_ms"] += sandbox.clock.now() - sandbox.opened_at
        for key, past in sandbox.past_rules.items():
            counts = self.rules.setdefault(key, RuleCounts())
            counts.matched, counts.fired = counts.matched + past.matched, counts.fired + past.fired
        for playbook in sandbox.playbooks.values():
            count_rules(self.rules, playbook)
        self.counts["credits_reserved"] += sum(account.ledger.reserved for account in sandbox.accounts.values())
        self.counts["requests"] += len(sandbox.journal.requests)
        self.left += sandbox.journal.dropped
        if sandbox.journal.requests:
            self._judge_requests(sandbox)

    def _judge_requests(self, sandbox: Sandbox) -> None:
        # Imported once there is something to judge.
        from image_workflow_emulator.examiner.conduct import judge
        from image_workflow_emulator.examiner.points import cover

        for record in sandbox.journal.requests:
            self._count(record)
        if self._keeps_entries:
            from image_workflow_emulator.control.describing import Masks, describe_request

            masks, journal = Masks(sandbox.credentials), sandbox.journal.requests
            self._entries += ({"sandbox": sandbox.id, **describe_request(record, masks)} for record in journal)
        records = sandbox.journal.completed()
        works = [sandbox.store.find_work(record.work_id) for record in records if record.work_id]
        self.counts["credits_charged"] += sum((work and work.charged_credits) or 0 for work in works)
        conduct = judge(records, sandbox.store, sandbox.clock.now(), has_ended=True, ignored=self._ignored)
        self.findings = [*self.findings, *((sandbox.id, finding) for finding in conduct.findings)][:MAX_FINDINGS]
        self.checked.update(conduct.checked)
        self.not_checked = self.not_checked or conduct.not_checked
        self.covered.update(cover(records, sandbox.store))

    def journal(self, suffix: str, url: str) -> bytes:
        """Return all entries in the order of their arrival: as HAR for a file with the suffix `.har`, else as JSON."""
        from image_workflow_emulator.client.exports import journal_as_har

        entries = sorted(self._entries, key=lambda entry: str(entry["arrived_at"]))
        content = journal_as_har(entries, url) if suffix == ".har" else {"data": entries}
        return orjson.dumps(content, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)

    def _count(self, record: RequestRecord) -> None:
        place = record.operation or record.byte_surface
        numbers = self.requests.setdefault(place, {}).setdefault(record.status or 0, Counter())
        numbers.update(all=1, replayed=int(record.replay_of is not None), lost=int(record.loss is not None))
        if record.problem is not None:
            from image_workflow_emulator.control.describing import remedy_of

            where = place or record.path
            first = {"operation": where, "code": record.problem.code, "count": 0, "remedy": remedy_of(record)}
            self.refusals.setdefault((where, record.problem.code), first)["count"] += 1


def report_on(
    options: Namespace, seen: Observed, command_status: int, application: Application, coverage: "Coverage | None"
) -> Report:
    """Return the report of a command that has ended. It fails with the command, or where the options forbid what it
    did.
    """
    is_judged = options.conduct != "off" and bool(seen.checked)
    conduct = [conduct_finding(finding, _place(sandbox)) for sandbox, finding in seen.findings] if is_judged else []
    findings = list(_findings(options, seen, coverage))
    forbidden = [*conduct, *findings] if options.conduct == "fail" else findings
    status = command_status or int(any(finding.severity == "error" for finding in forbidden))
    requests, charged = count_of(seen.counts["requests"], "request"), count_of(seen.counts["credits_charged"], "Credit")
    summary = f"{requests}, {charged} charged, {seen.counts['emulator_time_ms'] / 1000:g} s of emulator time"
    if is_judged:
        summary += f"; conduct: {conduct_words([finding for _, finding in seen.findings], seen.checked)}"
    rows = list(_rows(seen, application, seen.not_checked if is_judged else ()))
    if coverage is not None:
        rows.append(("coverage", coverage_words(coverage)))
    command = shlex.join(options.words)
    command = command if len(command) <= _MAX_COMMAND and command.isprintable() else "CMD"
    more = "exec --journal journal.json" if status or conduct or findings else "sweep"
    return Report(
        kind="exec",
        ok=status == 0,
        summary=f"Image Workflow Emulator: {summary}",
        findings=[*conduct, *findings],
        counts=seen.counts,
        checked=seen.checked if is_judged else {},
        tables=[ReportTable(title="", columns=(), rows=rows)],
        next=[f"image-workflow-emulator {more} -- {command}"],
        details={
            "judged": {"requests": seen.counts["requests"], "left": seen.left},
            "data": _data(command_status, seen, conduct, coverage),
        },
        status=status,
    )


def _place(sandbox: str) -> str:
    return "" if sandbox == DEFAULT_SANDBOX_ID else f", in the sandbox {sandbox}"


def _findings(options: Namespace, seen: Observed, coverage: "Coverage | None") -> Iterator[ReportFinding]:
    """Iterate over what makes the run worth less than it seems."""
    if not seen.requests:
        severity: Severity = "error" if options.conduct == "fail" else "warning"
        remedy, words = (
            "let it call the address in IMAGE_WORKFLOW_BASE_URL",
            "the command sent no request to its emulator",
        )
        yield ReportFinding(rule="no-request", severity=severity, where=None, message=words, remedy=remedy)
    for (scenario, name), counts in seen.rules.items():
        if not counts.fired:
            from image_workflow_emulator.testing.sandbox import Rule  # which takes time to import

            message = Rule(name=name, matched=counts.matched, fired=0).never_fired(scenario)
            yield ReportFinding(rule="rule-never-fired", severity="warning", where=None, message=message)
    least = options.coverage_fail_under
    if coverage is not None and least is not None and coverage["percent"] < least:
        message = f"{coverage['percent']:g} % of the contract; wanted {least:g} %"
        yield ReportFinding(rule="coverage", severity="error", where=None, message=message)


def _rows(seen: Observed, application: Application, not_checked: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Iterate over what people read of a run: names, and what is known of them."""
    order = (*application.contract.operations, *BYTE_SURFACES, None)
    for place in sorted(seen.requests, key=order.index):
        yield place or "(no operation)", "  ".join(_answers(seen.requests[place]))
    if readings := chosen(application.sandboxes.default.readings):
        yield "readings", ", ".join(readings)
    problems = Counter[str]()
    for refusal in seen.refusals.values():
        problems[refusal["code"]] += refusal["count"]
    if problems:
        yield "problems", ", ".join(f"{code} {count}" for code, count in problems.most_common())
    if seen.left:
        yield "journal", f"{count_of(seen.left, 'request')} left it before the end, and are not counted"
    if not_checked:
        yield "not checked", f"{', '.join(not_checked)}: an auto clock takes every wait"


def _answers(by_status: Mapping[int, Counter[str]]) -> Iterator[str]:
    for status, numbers in sorted(by_status.items()):
        fates = ", ".join(f"{numbers[fate]} {fate}" for fate in ("replayed", "lost") if numbers[fate])
        yield f"{status or 'no answer'}: {numbers['all']}" + (f" ({fates})" if fates else "")


def _data(status: int, seen: Observed, conduct: Sequence[ReportFinding], coverage: "Coverage | None") -> dict[str, Any]:
    unmet: list[str] = []
    if coverage is not None:
        from image_workflow_emulator.examiner.coverage import rows

        unmet = [f"{name} {gap}" for name, covered, _, gaps in rows(coverage) if covered for gap in gaps]
    return {
        "exit": status,
        "refusals": sorted(seen.refusals.values(), key=lambda refusal: -refusal["count"]),
        "conduct": Counter(finding.severity for finding in conduct),
        "coverage": {"percent": coverage and coverage["percent"], "unmet": unmet},
        "rules_never_fired": [f"{scenario}: {name}" for (scenario, name), rule in seen.rules.items() if not rule.fired],
    }
