"""What `exec` observes of all sandboxes while its command runs: requests, Credits, conduct and coverage, added up."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import IO, TYPE_CHECKING, Any, Final

import orjson

from image_workflow_emulator.control.describing import Masks, describe_request
from image_workflow_emulator.control.explanations import remedy_of
from image_workflow_emulator.scenario.playbook import RuleCounts
from image_workflow_emulator.service import engine
from image_workflow_emulator.service.records.record import RequestRecord
from image_workflow_emulator.service.sandbox.sandbox import Sandbox
from image_workflow_emulator.service.sandbox.scenarios import count_rules

if TYPE_CHECKING:
    from image_workflow_emulator.examiner.findings import Finding
    from image_workflow_emulator.examiner.points import Point

MAX_BYTES_IN_MEMORY: Final = 4 * 2**20
MAX_FINDINGS: Final = 1_000


class Observed:
    """What happened in all sandboxes. Entries of their journals are kept too where somebody wants them, on disk if they are many."""

    def __init__(self, ignored: Collection[str], *, keeps_entries: bool) -> None:
        """`ignored`: the rules of conduct that do not count."""
        self._ignored = frozenset(ignored)
        self._has_ended = False
        self._journal: IO[bytes] | None = None
        if keeps_entries:
            import tempfile  # which takes time to import

            self._journal = tempfile.SpooledTemporaryFile(MAX_BYTES_IN_MEMORY)  # noqa: SIM115 (it outlives any block)
        self.requests_total = 0
        self.requests: dict[str | None, dict[int, Counter[str]]] = {}
        """By operation or byte surface and status (0 without an answer): how many were `replayed`, `lost`, and `all`."""
        self.dropped = 0
        """How many a journal could not keep."""
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
        self.checked: Mapping[str, int] = {}
        self.not_checked: Sequence[str] = ()
        self.covered: Counter[Point] = Counter()

    def note(self, sandbox: Sandbox, record: RequestRecord) -> None:
        """Take the record of a request that has left."""
        if self._journal is not None:
            described = {"sandbox": sandbox.id, **describe_request(record, Masks(sandbox.credentials))}
            self._journal.write(orjson.dumps(described, option=orjson.OPT_APPEND_NEWLINE))
        if not self._has_ended:
            self._count(record)

    def _count(self, record: RequestRecord) -> None:
        place = record.operation or record.byte_surface
        numbers = self.requests.setdefault(place, {}).setdefault(record.status or 0, Counter())
        numbers["all"] += 1
        numbers["replayed"] += record.replay_of is not None
        numbers["lost"] += record.loss is not None
        self.requests_total += 1
        if record.problem is not None:
            where, code = place or record.path, record.problem.code
            if (where, code) not in self.refusals:
                first = {"operation": where, "code": code, "count": 0, "remedy": remedy_of(record)}
                self.refusals[where, code] = first
            self.refusals[where, code]["count"] += 1

    def end(self, sandboxes: Iterable[Sandbox]) -> None:
        """Count the requests that have no answer yet, and none that ends later; judge all sandboxes."""
        self._has_ended = True
        for sandbox in sandboxes:
            for request in sandbox.journal.requests:
                if not request.is_complete:
                    self._count(request)
            self.judge(sandbox)

    def judge(self, sandbox: Sandbox) -> None:
        """Add up a sandbox that ends, and judge its clients."""
        engine.enter(sandbox)
        self.emulator_ms += sandbox.clock.now() - sandbox.opened_at
        self.dropped += sandbox.journal.dropped
        for key, past in sandbox.past_rules.items():
            counts = self.rules.setdefault(key, RuleCounts())
            counts.matched, counts.fired = counts.matched + past.matched, counts.fired + past.fired
        for playbook in sandbox.playbooks.values():
            count_rules(self.rules, playbook)
        self.credits_reserved += sum(account.ledger.reserved for account in sandbox.accounts.values())
        records = sandbox.journal.completed()
        works = [sandbox.store.find_work(record.work_id) for record in records if record.work_id]
        self.credits_charged += sum((work and work.charged_credits) or 0 for work in works)
        if not records:
            return
        # Imported once there is something to judge.
        from image_workflow_emulator.examiner.conduct import judge
        from image_workflow_emulator.examiner.points import cover

        conduct = judge(records, sandbox.store, sandbox.clock.now(), has_ended=True, ignored=self._ignored)
        self.findings = [*self.findings, *((sandbox.id, finding) for finding in conduct.findings)][:MAX_FINDINGS]
        self.checked = {rule: self.checked.get(rule, 0) + number for rule, number in conduct.checked.items()}
        self.not_checked = self.not_checked or conduct.not_checked
        self.covered.update(cover(records, sandbox.store))

    def journal(self, suffix: str, url: str) -> bytes:
        """Return all entries in the order of their arrival: as HAR for a file with the suffix `.har`, else as JSON."""
        from image_workflow_emulator.testing.har import journal_as_har

        assert self._journal is not None
        self._journal.seek(0)
        with self._journal as lines:
            entries = sorted(map(orjson.loads, lines), key=lambda record: record["arrived_at"])
        content = journal_as_har(entries, url) if suffix == ".har" else {"data": entries}
        return orjson.dumps(content, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
