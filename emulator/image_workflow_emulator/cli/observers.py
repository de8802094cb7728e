"""What `exec` adds up of all sandboxes, each when it ends: requests, Credits, conduct and coverage, as far as its journal goes."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

import orjson

from image_workflow_emulator.scenario.playbook import RuleCounts
from image_workflow_emulator.service import engine
from image_workflow_emulator.service.records.record import RequestRecord
from image_workflow_emulator.service.sandbox.sandbox import Sandbox
from image_workflow_emulator.service.sandbox.scenarios import count_rules

if TYPE_CHECKING:
    from image_workflow_emulator.examiner.findings import Finding
    from image_workflow_emulator.examiner.points import Point

MAX_FINDINGS: Final = 1_000


class Observed:
    """What happened in all sandboxes. The entries of their journals are kept too if they are wanted."""

    def __init__(self, ignored: Collection[str], *, keeps_entries: bool) -> None:
        """`ignored`: the rules of conduct that do not count."""
        self._ignored = frozenset(ignored)
        self._keeps_entries = keeps_entries
        self.entries: list[dict[str, Any]] = []
        self.requests: dict[str | None, dict[int, Counter[str]]] = {}
        """By operation or byte surface and status (0 without an answer): how many were `replayed`, `lost`, and `all`."""
        self.judged = Counter[str]()
        """The number of `requests`, and of those that had `left` their journal before."""
        self.refusals: dict[tuple[str, str], dict[str, Any]] = {}
        """By operation and code, each with the remedy of the first."""
        self.rules: dict[tuple[str, str], RuleCounts] = {}
        """By the names of scenario and rule."""
        self.credits_charged = 0
        self.credits_reserved = 0
        """For work that was not finished."""
        self.emulator_ms = 0
        """The time that passed on all clocks together."""
        self.findings: list[tuple[str, Finding]] = []
        """Each with the id of its sandbox."""
        self.checked = Counter[str]()
        self.not_checked: Sequence[str] = ()
        self.covered: Counter[Point] = Counter()

    def judge(self, sandbox: Sandbox) -> None:
        """Add up a sandbox that ends, and judge its clients."""
        engine.enter(sandbox)
        self.emulator_ms += sandbox.clock.now() - sandbox.opened_at
        for key, past in sandbox.past_rules.items():
            counts = self.rules.setdefault(key, RuleCounts())
            counts.matched, counts.fired = counts.matched + past.matched, counts.fired + past.fired
        for playbook in sandbox.playbooks.values():
            count_rules(self.rules, playbook)
        self.credits_reserved += sum(account.ledger.reserved for account in sandbox.accounts.values())
        self.judged.update(requests=len(sandbox.journal.requests), left=sandbox.journal.dropped)
        if sandbox.journal.requests:
            self._judge_requests(sandbox)

    def _judge_requests(self, sandbox: Sandbox) -> None:
        # Imported once there is something to judge.
        from image_workflow_emulator.examiner.conduct import judge
        from image_workflow_emulator.examiner.points import cover

        for record in sandbox.journal.requests:
            self._count(record)
        if self._keeps_entries:
            self.entries += _described(sandbox)
        records = sandbox.journal.completed()
        works = [sandbox.store.find_work(record.work_id) for record in records if record.work_id]
        self.credits_charged += sum((work and work.charged_credits) or 0 for work in works)
        conduct = judge(records, sandbox.store, sandbox.clock.now(), has_ended=True, ignored=self._ignored)
        self.findings = [*self.findings, *((sandbox.id, finding) for finding in conduct.findings)][:MAX_FINDINGS]
        self.checked.update(conduct.checked)
        self.not_checked = self.not_checked or conduct.not_checked
        self.covered.update(cover(records, sandbox.store))

    def journal(self, suffix: str, url: str) -> bytes:
        """Return all entries in the order of their arrival: as HAR for a file with the suffix `.har`, else as JSON."""
        from image_workflow_emulator.testing.har import journal_as_har

        entries = sorted(self.entries, key=lambda entry: str(entry["arrived_at"]))
        content = journal_as_har(entries, url) if suffix == ".har" else {"data": entries}
        return orjson.dumps(content, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)

    def _count(self, record: RequestRecord) -> None:
        place = record.operation or record.byte_surface
        numbers = self.requests.setdefault(place, {}).setdefault(record.status or 0, Counter())
        numbers.update(all=1, replayed=int(record.replay_of is not None), lost=int(record.loss is not None))
        if record.problem is not None:
            from image_workflow_emulator.control.explanations import remedy_of

            where = place or record.path
            first = {"operation": where, "code": record.problem.code, "count": 0, "remedy": remedy_of(record)}
            self.refusals.setdefault((where, record.problem.code), first)["count"] += 1


def _described(sandbox: Sandbox) -> Iterator[dict[str, Any]]:
    """Iterate over the entries of a journal."""
    from image_workflow_emulator.control.describing import Masks, describe_request

    masks = Masks(sandbox.credentials)
    for record in sandbox.journal.requests:
        yield {"sandbox": sandbox.id, **describe_request(record, masks)}
