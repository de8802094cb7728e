"""The examiner of a process: judges the records of requests when somebody asks, and keeps what must outlive a journal.

Records that a journal drops are handed over once. The newest of them are kept as they are, since later requests may show
what they meant; the rest are judged for the last time. A reset or a load begins anew; what was found before is kept for
the whole, and what was found in deleted sandboxes for the totals of the process.

Must not know any rule, nor what reads the results.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from msgspec import Struct, structs

from emulator.examiner import points
from emulator.examiner.findings import Finding
from emulator.service.record import Observed, RequestRecord

if TYPE_CHECKING:
    from emulator.examiner.conduct import Judgement

MAX_DROPPED = 200
"""The most dropped records that are kept. With one more, all but the newest are judged for the last time."""
MAX_DROPPED_BYTES = 16 * 1024 * 1024
KEPT_DROPPED = 100
"""How many of the newest are kept then."""


@dataclass(slots=True, eq=False)
class _Found:
    """What was found in records that are gone."""

    judgement: "Judgement"
    covered: Counter[points.Point] = field(default_factory=Counter)

    def add(self, judgement: "Judgement", covered: Counter[points.Point]) -> None:
        self.judgement += judgement
        self.covered += covered


def _nothing() -> _Found:
    from emulator.examiner.conduct import Judgement  # the rules are imported when somebody asks for the first time

    return _Found(Judgement())


@dataclass(slots=True, eq=False)
class _Memory:
    """What is known of a sandbox beyond its journal."""

    dropped: list[RequestRecord] = field(default_factory=list)
    dropped_bytes: int = 0
    judged: _Found = field(default_factory=_nothing)
    """What was found in records that were judged for the last time, since the sandbox was last reset or loaded."""
    before: _Found = field(default_factory=_nothing)
    """What was found before that."""

    def all_of(self, observed: Observed) -> Observed:
        """Return what is observed with the dropped records before it."""
        return structs.replace(observed, records=[*self.dropped, *observed.records])


@dataclass(slots=True, eq=False)
class Examiner:
    """Judges records. With `keeps_conduct`, sandboxes are examined to their end before they are deleted."""

    keeps_conduct: bool = False
    _memories: defaultdict[str, _Memory] = field(default_factory=lambda: defaultdict(_Memory))
    """By the ids of the sandboxes that exist."""
    _findings: list[tuple[str, Finding]] = field(default_factory=list)
    """In deleted sandboxes, with their ids; the same holds of the next."""
    _checked: Counter[str] = field(default_factory=Counter)
    _off: frozenset[str] = frozenset()
    _covered: Counter[points.Point] = field(default_factory=Counter)

    # What leaves the journals: an Observer ----------------------------------------------------------------------------

    def take(self, observed: Observed) -> None:
        """Take records that a journal dropped."""
        memory = self._memories[observed.sandbox_id]
        memory.dropped += observed.records
        memory.dropped_bytes += sum(record.held_bytes for record in observed.records)
        if len(memory.dropped) > MAX_DROPPED or memory.dropped_bytes > MAX_DROPPED_BYTES:
            self._judge_oldest(memory, observed)

    def conclude(self, observed: Observed) -> None:
        """Keep what was found in a sandbox that is about to be reset, or replaced by a loaded one."""
        found = _Found(self.judge(observed, has_ended=True, is_whole=True), self.covered(observed, is_whole=True))
        self._memories[observed.sandbox_id] = _Memory(before=found)

    def dismiss(self, observed: Observed) -> None:
        """Keep what was found in a sandbox that is about to be deleted, for the totals of the process."""
        self._covered += self.covered(observed, is_whole=True)
        if self.keeps_conduct:
            totals = self._totals([observed])
            self._findings, self._checked, self._off = list(totals.findings), Counter(totals.checked), totals.off
        self._memories.pop(observed.sandbox_id, None)

    def _judge_oldest(self, memory: _Memory, observed: Observed) -> None:
        """Judge the oldest of the dropped records for the last time, in the light of the newest."""
        from emulator.examiner.conduct import Judgement, examine

        kept = min(KEPT_DROPPED, len(memory.dropped) // 2)
        oldest, newest = memory.dropped[:-kept], memory.dropped[-kept:]
        whole = examine(structs.replace(observed, records=memory.dropped))
        rest = examine(structs.replace(observed, records=newest))
        checked = Counter(whole.checked) - Counter(rest.checked)
        memory.judged.add(Judgement(whole.found, checked, whole.off), points.cover(oldest, observed.works))
        memory.dropped, memory.dropped_bytes = newest, sum(record.held_bytes for record in newest)

    # What is known ----------------------------------------------------------------------------------------------------

    def judge(self, observed: Observed, *, has_ended: bool, is_whole: bool) -> "Judgement":
        """Judge the clients of a sandbox. `has_ended`: no more requests will come. `is_whole`: before resets and loads too."""
        from emulator.examiner.conduct import examine

        memory = self._memories[observed.sandbox_id]
        judgement = memory.judged.judgement + examine(memory.all_of(observed), has_ended)
        return memory.before.judgement + judgement if is_whole else judgement

    def covered(self, observed: Observed, *, is_whole: bool) -> Counter[points.Point]:
        """Return how often each point of the coverage was reached in a sandbox. `is_whole`: before resets and loads too."""
        memory = self._memories[observed.sandbox_id]
        covered = memory.judged.covered + points.cover(memory.all_of(observed).records, observed.works)
        return memory.before.covered + covered if is_whole else covered

    def conclude_all(self, sandboxes: Iterable[Observed]) -> "Totals":
        """Return the findings of all sandboxes, deleted ones included; no more requests will come."""
        return self._totals(sandboxes)

    def covered_in_all(self, sandboxes: Iterable[Observed]) -> Counter[points.Point]:
        """Return how often each point of the coverage was reached, in all sandboxes, deleted ones included."""
        covered = self._covered.copy()
        for observed in sandboxes:
            covered += self.covered(observed, is_whole=True)
        return covered

    def _totals(self, sandboxes: Iterable[Observed]) -> "Totals":
        """Return what was found in deleted sandboxes and in some others."""
        from emulator.examiner.conduct import MAX_FINDINGS
        from emulator.examiner.rules.registry import RULES

        findings, checked, off = self._findings.copy(), self._checked.copy(), self._off
        for observed in sandboxes:
            judgement = self.judge(observed, has_ended=True, is_whole=True)
            findings += [(observed.sandbox_id, finding) for finding in judgement.conduct.findings]
            checked.update(judgement.checked)
            off |= judgement.off
        return Totals(tuple(findings[:MAX_FINDINGS]), {rule.name: checked[rule.name] for rule in RULES}, off)


class Totals(Struct, frozen=True):
    """The findings of all sandboxes, each with the sandbox's id, and how often each rule could have been broken."""

    findings: tuple[tuple[str, Finding], ...]
    checked: dict[str, int]
    off: frozenset[str] = frozenset()
    """The rules that could not be checked of some requests, since an auto clock took every wait."""

    @property
    def has_errors(self) -> bool:
        """Whether something was done that costs money, leaks a credential or gets a client banned."""
        return any(finding.severity == "error" for _, finding in self.findings)

    def without(self, rules: frozenset[str]) -> "Totals":
        """Return the same, but for some rules."""
        return Totals(
            tuple((sandbox, finding) for sandbox, finding in self.findings if finding.rule not in rules),
            {rule: number for rule, number in self.checked.items() if rule not in rules},
            self.off - rules,
        )

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON: as in the control plane, with the `sandbox` of each finding."""
        findings = [{"sandbox": sandbox, **structs.asdict(finding)} for sandbox, finding in self.findings]
        not_checked = [rule for rule in self.checked if rule in self.off]
        return {"findings": findings, "checked": self.checked, "not_checked": not_checked}
