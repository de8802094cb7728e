"""What happened in all sandboxes of `exec`, added up from the journal of each when it
ends.
"""

from collections import Counter
from typing import Any, Final

import msgspec
from msgspec import Struct, field, structs

from image_workflow_emulator.cli.judges import conduct_finding
from image_workflow_emulator.report import ReportFinding
from image_workflow_emulator.scenario.playbook import RuleCounts
from image_workflow_emulator.scenario.scenario import NO_SCENARIO
from image_workflow_emulator.service import engine
from image_workflow_emulator.service.records.record import RequestRecord
from image_workflow_emulator.service.sandbox.sandbox import (
    DEFAULT_SANDBOX_ID,
    RuleKey,
    Sandbox,
)
from image_workflow_emulator.service.sandbox.scenarios import count_rules

MAX_FINDINGS: Final = 1_000
_LEAK: Final = "credential-in-request"


class AnswerCount(Struct):
    """How often an operation was answered alike."""

    operation: str
    """Or the byte surface, or `(no operation)`."""
    code: str | None
    count: int
    remedy: str | None
    """That of the first such answer."""


class Totals(Struct):
    """Sums over all sandboxes."""

    requests: int = 0
    credits_charged: int = 0
    credits_reserved: int = 0
    """For work that was not finished."""
    emulator_time_ms: int = 0
    """The time that passed on all clocks."""


class RunScenario(Struct):
    """The scenario of the run, and which requests came to sandboxes that have it."""

    name: str = NO_SCENARIO.name
    has_rules: bool = False
    matched: int = 0
    """How often its rules matched."""
    requests: int = 0
    """How many requests came to sandboxes that have it."""
    requests_elsewhere: int = 0
    """How many came to sandboxes without it."""

    def is_missed(self) -> bool:
        """Tell whether requests came, and none of them met what it has to say."""
        if self.name == NO_SCENARIO.name or not self.requests_elsewhere:
            return False
        if self.has_rules:
            return not self.matched
        return not self.requests


class Observation(Struct, kw_only=True):
    """What happened in all sandboxes so far.

    `judges_conduct` and `keeps_journal` tell what is wanted beside the sums;
    `ignored_rules` are those of conduct that are left out.
    """

    run: RunScenario = field(default_factory=RunScenario)
    judges_conduct: bool
    ignored_rules: tuple[str, ...]
    keeps_journal: bool
    was_interrupted: bool = False
    """Whether a signal ended the command: then it left nothing undone by itself."""
    totals: Totals = field(default_factory=Totals)
    left: int = 0
    """How many requests had left their journal before."""
    answers: dict[tuple[str, str], AnswerCount] = field(default_factory=dict)
    """By operation and by answer, such as `402 insufficient_credits`."""
    rules: dict[tuple[str, str], RuleCounts] = field(default_factory=dict)
    """By the names of scenario and rule. Those of a shipped scenario only where they
    fired: its users did not write them, and need not meet them all."""
    others: Counter[str] = field(default_factory=Counter)
    """How many requests came to sandboxes other than the default one, by their ids."""
    conduct: list[ReportFinding] = field(default_factory=list)
    checked: Counter[str] = field(default_factory=Counter)
    """How often each rule of conduct had an occasion."""
    not_checked: list[str] = field(default_factory=list)
    """The rules of conduct that the clock leaves no occasion."""
    covered: Counter[tuple[str, str]] = field(default_factory=Counter)
    entries: list[dict[str, Any]] = field(default_factory=list)
    """The journals as JSON, if they are kept."""

    def add(self, sandbox: Sandbox) -> None:
        """Add up a sandbox that ends, and judge its clients."""
        now = engine.enter(sandbox)
        requests = sandbox.journal.requests
        self.totals.requests += len(requests)
        self.totals.emulator_time_ms += now - sandbox.opened_at
        for account in sandbox.accounts.values():
            self.totals.credits_reserved += account.ledger.reserved
        self.left += sandbox.journal.dropped
        if requests and sandbox.id != DEFAULT_SANDBOX_ID:
            self.others[sandbox.id] += len(requests)
        self._count_rules(sandbox)
        self._count_requests_of_run(sandbox)
        for record in requests:
            self._count_answer(record)
        if requests:
            self._judge(sandbox, now)
        if self.keeps_journal:
            self._keep_journal(sandbox)

    def _count_rules(self, sandbox: Sandbox) -> None:
        running = dict[RuleKey, RuleCounts]()
        for playbook in sandbox.playbooks.values():
            count_rules(running, playbook)
        for key, counts in (*sandbox.past_rules.items(), *running.items()):
            if key.scenario == self.run.name:
                self.run.matched += counts.matched
            if key.is_shipped and not counts.fired:
                continue
            name = (key.scenario, key.rule)
            total = self.rules.setdefault(name, RuleCounts())
            total.matched += counts.matched
            total.fired += counts.fired

    def _count_requests_of_run(self, sandbox: Sandbox) -> None:
        count = len(sandbox.journal.requests)
        began_with = sandbox.created_with.scenario.name
        runs = sandbox.options.scenario.name
        if self.run.name in (began_with, runs):
            self.run.requests += count
        else:
            self.run.requests_elsewhere += count

    def _count_answer(self, record: RequestRecord) -> None:
        operation = record.operation or record.byte_surface or "(no operation)"
        answer = _answer_of(record)
        counted = self.answers.get((operation, answer))
        if counted is not None:
            counted.count += 1
            return
        from image_workflow_emulator.control.explaining import remedy_of

        remedy = remedy_of(record)
        self.answers[operation, answer] = AnswerCount(operation, record.code, 1, remedy)

    def _judge(self, sandbox: Sandbox, now: int) -> None:
        """Judge the requests of a sandbox: what they cost, cover and do wrong."""
        # Imported once there is something to judge.
        from image_workflow_emulator.examiner.points import cover

        records = sandbox.journal.completed()
        store = sandbox.store
        for record in records:
            if not record.work_id:
                continue
            work = store.find_work(record.work_id)
            if work is not None and work.charged_credits:
                self.totals.credits_charged += work.charged_credits
        self.covered.update(cover(records, store))
        if self.judges_conduct:
            self._judge_conduct(sandbox, records, now)

    def _judge_conduct(
        self,
        sandbox: Sandbox,
        records: list[RequestRecord],
        now: int,
    ) -> None:
        from image_workflow_emulator.control.masks import Masks
        from image_workflow_emulator.examiner.conduct import judge

        conduct = judge(
            records,
            sandbox.store,
            now,
            has_ended=True,
            was_interrupted=self.was_interrupted,
            ignored=self.ignored_rules,
        )
        place = ""
        if sandbox.id != DEFAULT_SANDBOX_ID:
            place = f", in the sandbox {sandbox.id}"
        room = MAX_FINDINGS - len(self.conduct)
        masks = Masks(sandbox.credentials)
        for finding in conduct.findings[:room]:
            reported = conduct_finding(finding, place)
            if finding.rule == _LEAK:  # a User-Agent may have the key
                where = masks.of_text(reported.where or "")
                reported = structs.replace(reported, where=where)
            self.conduct.append(reported)
        self.checked.update(conduct.checked)
        if not self.not_checked:
            self.not_checked = list(conduct.not_checked)

    def _keep_journal(self, sandbox: Sandbox) -> None:
        from image_workflow_emulator.control.describing import describe_request
        from image_workflow_emulator.control.masks import Masks

        masks = Masks(sandbox.credentials)
        for record in sandbox.journal.requests:
            entry = describe_request(record, masks)
            self.entries.append({"sandbox": sandbox.id, **entry})

    def journal_content(self, suffix: str, url: str) -> bytes:
        """Return all entries in the order of their arrival: as HAR for a file with the
        suffix `.har`, else as JSON.
        """
        from image_workflow_emulator.client.exports import journal_as_har

        entries = sorted(self.entries, key=lambda entry: str(entry["arrived_at"]))
        content: Any = {"data": entries}
        if suffix == ".har":
            content = journal_as_har(entries, url)
        encoded = msgspec.json.encode(content)
        return msgspec.json.format(encoded) + b"\n"


def _answer_of(record: RequestRecord) -> str:
    """Return how a request was answered: status, code and fate."""
    words = [str(record.status or "no answer")]
    if record.code:
        words.append(record.code)
    if record.replay_of:
        words.append("replayed")
    if record.loss:
        words.append("lost")
    return " ".join(words)
