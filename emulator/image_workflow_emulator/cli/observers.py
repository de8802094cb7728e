"""What `exec` observes of all sandboxes while its command runs: the whole journal, the numbers of requests, and a tally."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import IO, TYPE_CHECKING, Any, Final, NamedTuple

import orjson

from image_workflow_emulator.control.describing import describe_request
from image_workflow_emulator.control.explanations import remedy_of
from image_workflow_emulator.control.masks import Masks
from image_workflow_emulator.domain.resources import Work
from image_workflow_emulator.scenario.matching import ByteSurface
from image_workflow_emulator.scenario.playbook import RuleCounts
from image_workflow_emulator.service.records.record import RequestRecord
from image_workflow_emulator.service.sandbox.sandbox import Sandbox
from image_workflow_emulator.service.sandbox.scenarios import count_rules

if TYPE_CHECKING:
    from image_workflow_emulator.examiner.findings import Conduct, Finding
    from image_workflow_emulator.examiner.points import Point

MAX_BYTES_IN_MEMORY: Final = 4 * 2**20
MAX_FINDINGS: Final = 1_000


class RequestCount(NamedTuple):
    """What is counted of a request: where it came, and how it ended. `status` is None where it was never answered."""

    operation: str | None
    status: int | None
    code: str | None
    byte_surface: ByteSurface | None = None
    is_replayed: bool = False
    is_lost: bool = False


@dataclass(slots=True)
class TeamTally:
    """The work that the Teams of one name ordered: Credits charged, Credits reserved for unfinished work, and concurrency."""

    credits_charged: int = 0
    credits_reserved: int = 0
    highest_concurrency: int = 0
    concurrency_limit: int = 0


@dataclass(slots=True)
class Tally:
    """What happened in all sandboxes, in numbers. `emulator_ms` is the time that passed on all their clocks together."""

    dropped: int = 0
    """Requests that a journal could not keep."""
    rules: dict[tuple[str, str], RuleCounts] = field(default_factory=dict)
    """By the names of scenario and rule."""
    teams: dict[str, TeamTally] = field(default_factory=dict)
    """By name."""
    emulator_ms: int = 0

    def add(self, sandbox: Sandbox) -> None:
        """Add a sandbox that ends."""
        self.emulator_ms += sandbox.clock.now() - sandbox.opened_at
        self.dropped += sandbox.journal.dropped
        for key, past in sandbox.past_rules.items():
            counts = self.rules.setdefault(key, RuleCounts())
            counts.matched, counts.fired = counts.matched + past.matched, counts.fired + past.fired
        for playbook in sandbox.playbooks.values():
            count_rules(self.rules, playbook)
        ordered = [sandbox.store.find_work(record.work_id) for record in sandbox.journal.completed() if record.work_id]
        for account in sandbox.accounts.values():
            work = [one for one in ordered if one is not None and one.team_id == account.team.id]
            team = self.teams.setdefault(account.team.name, TeamTally())
            team.credits_charged += sum(one.charged_credits or 0 for one in work)
            team.credits_reserved += account.ledger.reserved
            team.highest_concurrency = max(team.highest_concurrency, _highest_concurrency(work))
            team.concurrency_limit = account.team.concurrency_limit


def _highest_concurrency(work: Sequence[Work]) -> int:
    changes = [(one.created_at, 1) for one in work] + [(one.finished_at, -1) for one in work if one.finished_at]
    return max(accumulate(step for _, step in sorted(changes)), default=0)


class Observed:
    """Entries of the journal as they are completed, each with the id of its sandbox, and the numbers of requests.

    Entries are kept on disk meanwhile. Refusals are counted by operation and code too, each with the remedy of the first.
    """

    def __init__(self, *, keeps_entries: bool) -> None:
        self.counts = Counter[RequestCount]()
        self._has_ended = False
        self._lines: IO[bytes] | None = None
        if keeps_entries:
            import tempfile  # which takes time to import

            self._lines = tempfile.SpooledTemporaryFile(MAX_BYTES_IN_MEMORY)  # noqa: SIM115 (it outlives any block)
        self._refused: dict[tuple[str, str], dict[str, Any]] = {}

    def note(self, sandbox: Sandbox, record: RequestRecord) -> None:
        """Take a record of a sandbox's journal, once it is complete."""
        if not record.is_complete:
            return
        if self._lines is not None:
            described = {"sandbox": sandbox.id, **describe_request(record, Masks(sandbox.credentials))}
            self._lines.write(orjson.dumps(described, option=orjson.OPT_APPEND_NEWLINE))
        if self._has_ended:
            return
        self._count(record)
        if record.problem is not None:
            operation, code = record.operation or record.byte_surface or record.path, record.problem.code
            if (operation, code) not in self._refused:
                first = {"operation": operation, "code": code, "count": 0, "remedy": remedy_of(record)}
                self._refused[operation, code] = first
            self._refused[operation, code]["count"] += 1

    def end(self, sandboxes: Iterable[Sandbox]) -> None:
        """Count the requests that have no answer yet, and none that ends later."""
        self._has_ended = True
        for sandbox in sandboxes:
            for request in sandbox.journal.requests:
                if not request.is_complete:
                    self._count(request)

    def _count(self, request: RequestRecord) -> None:
        place = request.operation, request.status, request.code, request.byte_surface
        self.counts[RequestCount(*place, request.replay_of is not None, request.loss is not None)] += 1

    def refusals(self) -> list[dict[str, Any]]:
        """Return those refused as JSON, the most frequent first."""
        return sorted(self._refused.values(), key=lambda refusal: -refusal["count"])

    def content(self, suffix: str, url: str) -> bytes:
        """Return all entries in the order of their arrival: as HAR for a file with the suffix `.har`, else as JSON."""
        from image_workflow_emulator.testing.har import journal_as_har

        assert self._lines is not None
        self._lines.seek(0)
        with self._lines as lines:
            entries = sorted(map(orjson.loads, lines), key=lambda record: record["arrived_at"])
        content = journal_as_har(entries, url) if suffix == ".har" else {"data": entries}
        return orjson.dumps(content, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


@dataclass(slots=True)
class Totals:
    """What was found in all sandboxes together, and what was covered."""

    findings: "list[tuple[str, Finding]]" = field(default_factory=list)
    """Each with the id of its sandbox."""
    checked: Mapping[str, int] = field(default_factory=dict)
    not_checked: Sequence[str] = ()
    covered: "Counter[Point]" = field(default_factory=Counter)

    def add(self, sandbox_id: str, conduct: "Conduct", covered: "Mapping[Point, int]") -> None:
        """Add what was found in a sandbox."""
        self.findings = [*self.findings, *((sandbox_id, finding) for finding in conduct.findings)][:MAX_FINDINGS]
        self.checked = {rule: self.checked.get(rule, 0) + number for rule, number in conduct.checked.items()}
        self.not_checked = self.not_checked or conduct.not_checked
        self.covered.update(covered)

    @property
    def has_errors(self) -> bool:
        """Whether something was done that costs money, leaks a credential or gets a client banned."""
        return any(finding.severity == "error" for _, finding in self.findings)
