"""The playbook: a scenario as it runs. Owns the live counters, apart from the data, and the question what happens now.

It is asked exactly once for each request and for each piece of work, and counts as it answers. Rules are looked at in
the order of the file: each counts every request that it matches, whatever another rule does to that request, and the
first that is due is to act. So the counters of one rule do not depend on its neighbours. A rule for requests has fired
when what it says has come about: a request that is refused before the rule's turn has only matched.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Generic, TypedDict, TypeVar

from emulator.kernel.seed import Seed
from emulator.scenario.changes import AdmissionChange, Change, TimedChange
from emulator.scenario.faults.base import NO_FAULT, Fault
from emulator.scenario.matching import EVERY, RequestFacts, WorkFacts, is_team
from emulator.scenario.outcomes import NO_OUTCOME, WorkOutcome
from emulator.scenario.rules import RequestRule, WorkRule
from emulator.scenario.scenario import Scenario

_DRAW_RANGE: Final = 2**32

AnyRule = TypeVar("AnyRule", RequestRule, WorkRule)


@dataclass(slots=True)
class RuleCounts:
    """How often a rule matched and acted."""

    matched: int = 0
    fired: int = 0


@dataclass(frozen=True, slots=True)
class RequestDecision:
    """What is to happen to a request, and the rule that says so; `NO_FAULT` and None where nothing is."""

    fault: Fault = NO_FAULT
    rule: RequestRule | None = None
    _counts: RuleCounts | None = None

    def mark_fired(self) -> None:
        """Count that it has happened. To be called once at most."""
        if self._counts is not None:
            self._counts.fired += 1


@dataclass(frozen=True, slots=True)
class WorkDecision:
    """What becomes of work, and the rule that says so; `NO_OUTCOME` and None where all goes as usual."""

    outcome: WorkOutcome = NO_OUTCOME
    rule: WorkRule | None = None


NOTHING_HAPPENS: Final = RequestDecision()
AS_USUAL: Final = WorkDecision()


class RuleReport(TypedDict):
    """How often a rule matched, and how often what it says came about."""

    name: str
    matched: int
    fired: int


@dataclass(frozen=True, slots=True)
class _Live(Generic[AnyRule]):
    """A rule with its counters."""

    rule: AnyRule
    counts: RuleCounts

    def is_due(self, elapsed_ms: int, seed: Seed) -> bool:
        """Count a match, and tell whether the rule is due on it; its draw depends on nothing but its number."""
        self.counts.matched += 1
        number, when = self.counts.matched, self.rule.when
        draw = 0.0
        if when.probability < 1:
            draw = seed.number("scenario rule", self.rule.name, number) / _DRAW_RANGE
        return when.holds(number, elapsed_ms, draw)


@dataclass(slots=True)
class Playbook:
    """A scenario as it runs from an instant on. `team`, a name or id, limits its rules to one Team.

    Asking about an operation that no rule names costs no more than one look-up.
    """

    scenario: Scenario
    began_at: int
    seed: Seed
    team: str | None = None
    counts: dict[str, RuleCounts] = field(default_factory=dict)
    """By the names of rules, in the order of the file."""
    _requests: Mapping[str, Sequence[_Live[RequestRule]]] = field(init=False)
    _works: Mapping[str, Sequence[_Live[WorkRule]]] = field(init=False)
    _opens_at: list[int | None] = field(init=False)
    """By change of the timeline: when a later one opens admission."""

    def __post_init__(self) -> None:
        rules = self.scenario.rules
        self.counts = {rule.name: self.counts.get(rule.name) or RuleCounts() for rule in rules}
        requests = [rule for rule in rules if isinstance(rule, RequestRule)]
        works = [rule for rule in rules if isinstance(rule, WorkRule)]
        self._requests = self._indexed((rule, rule.match.operations) for rule in requests)
        self._works = self._indexed((rule, rule.match.works) for rule in works)
        self._opens_at = self._openings()

    def _openings(self) -> list[int | None]:
        openings: list[int | None] = []
        opens_at: int | None = None
        for due, change in reversed(self.changes_due()):
            openings.append(opens_at)
            opens_at = due if change == AdmissionChange("open") else opens_at
        return openings[::-1]

    def _indexed(self, rules: Iterable[tuple[AnyRule, frozenset[str]]]) -> Mapping[str, Sequence[_Live[AnyRule]]]:
        """Return the rules by what they name, in the order of the file; under `EVERY` those for what none names."""
        listed = [(_Live(rule, self.counts[rule.name]), names) for rule, names in rules]
        all_names = frozenset({EVERY}).union(*(names for _, names in listed))
        return {name: [live for live, names in listed if name in names or EVERY in names] for name in all_names}

    def for_request(self, facts: RequestFacts, now: int) -> RequestDecision:
        """Decide what happens to a request. Ask once for each: asking counts."""
        candidates = self._requests.get(facts.operation) or self._requests[EVERY]
        if not candidates or not is_team(self.team, facts.team_id, facts.team_name):
            return NOTHING_HAPPENS
        live = self._first_due([live for live in candidates if live.rule.match.matches(facts)], now)
        return NOTHING_HAPPENS if live is None else RequestDecision(live.rule.fault, live.rule, live.counts)

    def for_work(self, facts: WorkFacts, now: int) -> WorkDecision:
        """Decide what becomes of work that is being admitted. Ask once for each: asking counts."""
        candidates = self._works.get(facts.work) or self._works[EVERY]
        if not candidates or not is_team(self.team, facts.team_id, facts.team_name):
            return AS_USUAL
        live = self._first_due([live for live in candidates if live.rule.match.matches(facts)], now)
        if live is None:
            return AS_USUAL
        live.counts.fired += 1
        return WorkDecision(live.rule.outcome, live.rule)

    def _first_due(self, matching: Sequence[_Live[AnyRule]], now: int) -> _Live[AnyRule] | None:
        due = [live for live in matching if live.is_due(now - self.began_at, self.seed)]
        return due[0] if due else None

    def change(self, index: int) -> tuple[TimedChange, int | None]:
        """Return a change of the timeline, and the instant at which a later one opens admission; None if none does."""
        return self.scenario.timeline[index], self._opens_at[index]

    def changes_due(self) -> list[tuple[int, Change]]:
        """Return the changes of the timeline with the instant of each, in order, for the engine to schedule."""
        return [(self.began_at + timed.at_ms, timed.change) for timed in self.scenario.timeline]

    def rules_report(self) -> list[RuleReport]:
        """Return how often each rule matched and fired, in the order of the file."""
        return [
            {"name": name, "matched": counts.matched, "fired": counts.fired} for name, counts in self.counts.items()
        ]
