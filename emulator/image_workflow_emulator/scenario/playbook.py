"""The playbook: a scenario as it runs. Owns the live counters, apart from the data, and
decides what happens now.

Rules are tried in the order of the file. Each counts every request that it matches,
whatever another rule does to that request, and the first that is due acts; so the
counters of one rule do not depend on its neighbours. A rule that acts after the commit
counts only requests that are carried out, when they are: until then its number is not
known, and it is only expected to act.

A rule for requests has fired when it has taken effect: a request that is refused before
the rule's turn has only matched, and so has work that has none of the outputs that are
to fail.
"""

from bisect import bisect
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Final, NamedTuple, TypeAlias

from msgspec import Meta, Struct

from image_workflow_emulator.domain.resources import Count, Instant
from image_workflow_emulator.kernel.seed import Seed
from image_workflow_emulator.scenario.faults import NO_FAULT, Fault
from image_workflow_emulator.scenario.matching import Facts
from image_workflow_emulator.scenario.outcomes import WorkOutcome
from image_workflow_emulator.scenario.scenario import Rule, Scenario
from image_workflow_emulator.scenario.timeline import OPEN, After

_DRAW_RANGE: Final = 2**32
MAX_SUBJECTS: Final = 10_000
"""Limit of the resources, keys and so on that are counted separately."""
_CountBySubject: TypeAlias = Annotated[
    dict[str, Count],
    Meta(max_length=MAX_SUBJECTS),
]


@dataclass(slots=True)
class RuleCounts:
    """How often a rule matched and acted."""

    matched: Count = 0
    fired: Count = 0
    each: _CountBySubject = field(default_factory=dict)
    """How often each subject matched, where the rule counts each separately; the least
    recently seen is dropped."""

    def next_number(self, subject: str | None) -> int:
        """Return which match the next one will be: of all, or of the subject's own."""
        if subject is None:
            return self.matched + 1
        return self.each.get(subject, 0) + 1

    def count(self, subject: str | None) -> None:
        """Count a match."""
        self.matched += 1
        if subject is None:
            return
        matched_before = self.each.pop(subject, 0)
        self.each[subject] = matched_before + 1
        if len(self.each) > MAX_SUBJECTS:
            least_recent = next(iter(self.each))
            del self.each[least_recent]


class ScheduledChange(NamedTuple):
    """A change of the timeline that has a time."""

    due: Instant
    timeline_index: int


@dataclass(slots=True, eq=False)
class AwaitedChange:
    """A change of the timeline that is made after a request."""

    matched: Count = 0
    """How many such requests were answered."""
    done_at: Instant | None = None
    """When it was made."""


class Decision(Struct, frozen=True):
    """What happens to a request or to work, and by which rule; nothing if no rule
    decides it.
    """

    fault: Fault = NO_FAULT
    outcome: WorkOutcome = WorkOutcome()
    rule: Rule | None = None
    draw: float = 0.0
    """The number from 0 to 1 (not included) that the seed gives to this match."""
    _counts: RuleCounts | None = None

    def mark_fired(self) -> None:
        """Count that the rule fired. Call it at most once."""
        if self._counts is not None:
            self._counts.fired += 1


NOTHING_HAPPENS: Final = Decision()


@dataclass(slots=True, eq=False)
class Playbook:
    """A scenario as it runs from an instant on."""

    scenario: Scenario
    began_at: int
    seed: Seed
    team: str | None = None
    """The name or id of the one Team whose requests and work it is asked about."""
    counts: dict[str, RuleCounts] = field(default_factory=dict)
    """The counts of each rule by its name, in the order of the file."""
    awaited: dict[int, AwaitedChange] = field(default_factory=dict)
    """The changes that are made after requests, by their index in the timeline."""
    _openings: list[ScheduledChange] = field(init=False)
    """Each change that opens admission at a fixed time, in order."""

    def __post_init__(self) -> None:
        # A state file may have counts of other rules, in another order.
        self.counts = {
            rule.name: self.counts.get(rule.name, RuleCounts())
            for rule in self.scenario.rules
        }
        stored_changes = self.awaited
        self.awaited = {}
        self._openings = []
        for index, timed in enumerate(self.scenario.timeline):
            if isinstance(timed.when, After):
                self.awaited[index] = stored_changes.get(index, AwaitedChange())
            elif timed.change == OPEN:
                opening = ScheduledChange(self.began_at + timed.when, index)
                self._openings.append(opening)

    # Rules --------------------------------------------------------------------------

    def decide(self, facts: Facts, now: int) -> Decision:
        """Decide what happens to a request, or to work that is being admitted.

        Call it once for each: it counts. If the rule of the decision acts after the
        commit, `decide_after_commit` has the last word.
        """
        rules = self._matching_rules(facts)
        decisions = self._due_decisions(rules, facts, now)
        counted_now = [rule for rule in rules if not rule.fault.needs_commit]
        self._count(counted_now, facts)
        for decision in decisions:
            if facts.kind != "work":
                return decision
            if decision.outcome != WorkOutcome():
                decision.mark_fired()
                return decision
        return NOTHING_HAPPENS

    def decide_after_commit(self, facts: Facts, now: int) -> Decision:
        """Decide what happens to the answer to a request that was carried out, or to a
        replay of it.

        Call it once for each: it counts.
        """
        matching_rules = self._matching_rules(facts)
        rules = [rule for rule in matching_rules if rule.fault.needs_commit]
        decisions = self._due_decisions(rules, facts, now)
        self._count(rules, facts)
        if not decisions:
            return NOTHING_HAPPENS
        return decisions[0]

    def _matching_rules(self, facts: Facts) -> list[Rule]:
        return [rule for rule in self.scenario.rules if rule.match.matches(facts)]

    def _due_decisions(
        self,
        rules: Sequence[Rule],
        facts: Facts,
        now: int,
    ) -> list[Decision]:
        """Return what those rules ask for that are due on their next match."""
        due_rules = [rule for rule in rules if self._is_due(rule, facts, now)]
        return [self._decision_of(rule, facts) for rule in due_rules]

    def _decision_of(self, rule: Rule, facts: Facts) -> Decision:
        """Return what a rule asks for."""
        return Decision(
            fault=rule.fault,
            outcome=rule.outcome.within(facts.outputs),
            rule=rule,
            draw=self._draw("fault", rule),
            _counts=self.counts[rule.name],
        )

    def _is_due(
        self,
        rule: Rule,
        facts: Facts,
        now: int,
    ) -> bool:
        """Tell whether a rule is due on its next match."""
        counts = self.counts[rule.name]
        number = counts.next_number(_subject(rule, facts))
        elapsed_ms = now - self.began_at
        draw = 0.0
        if rule.when.probability < 1:
            draw = self._draw("rule", rule)
        return rule.when.holds(number, elapsed_ms, draw)

    def _draw(self, purpose: str, rule: Rule) -> float:
        """Draw a number from 0 to 1, which depends only on the number of the match."""
        counts = self.counts[rule.name]
        number = counts.matched + 1
        drawn = self.seed.number(f"scenario {purpose}", rule.name, number)
        return drawn / _DRAW_RANGE

    def _count(self, rules: Sequence[Rule], facts: Facts) -> None:
        """Count a match of each rule."""
        for rule in rules:
            counts = self.counts[rule.name]
            counts.count(_subject(rule, facts))

    def rules_report(self) -> list[dict[str, Any]]:
        """Return how often each rule matched and fired, in the order of the file."""
        return [
            {
                "name": name,
                "matched": counts.matched,
                "fired": counts.fired,
            }
            for name, counts in self.counts.items()
        ]

    # The timeline -------------------------------------------------------------------

    def opens_at(self, index: int, now: int) -> int | None:
        """Return when a change after this one of the timeline opens admission.

        One at the same instant is after it if it is later in the timeline. None if no
        change opens admission.
        """
        past_count = bisect(self._openings, ScheduledChange(now, index))
        if past_count == len(self._openings):
            return None
        return self._openings[past_count].due

    def scheduled(self) -> list[ScheduledChange]:
        """Return each change that has a time, for the engine to schedule."""
        scheduled = []
        for index, timed in enumerate(self.scenario.timeline):
            if isinstance(timed.when, int):
                change = ScheduledChange(self.began_at + timed.when, index)
                scheduled.append(change)
        return scheduled

    @property
    def awaits_answer(self) -> bool:
        """Whether a change is still to be made after some request."""
        return any(awaited.done_at is None for awaited in self.awaited.values())

    def answered(self, facts: Facts, now: int) -> list[int]:
        """Count an answered request.

        Returns:
            The indexes of the changes to be made right after it.
        """
        due = []
        for index, awaited in self.awaited.items():
            if awaited.done_at is not None:
                continue
            after = self.scenario.timeline[index].when
            assert isinstance(after, After)
            if not after.match.matches(facts):
                continue
            awaited.matched += 1
            if awaited.matched == after.nth:
                awaited.done_at = now
                due.append(index)
        return due

    def done_at(self, index: int, now: int) -> int | None:
        """Return when a change of the timeline was made; None if it is to come."""
        when = self.scenario.timeline[index].when
        if isinstance(when, After):
            return self.awaited[index].done_at
        changes_at = self.began_at + when
        if changes_at > now:
            return None
        return changes_at


def _subject(rule: Rule, facts: Facts) -> str | None:
    """Return what a rule counts its matches for; None if it counts them together."""
    if rule.when.per is None:
        return None
    return facts.subject(rule.when.per)
