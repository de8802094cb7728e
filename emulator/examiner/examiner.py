"""The examiner of a process: takes a note of each request, and keeps the conduct of sandboxes that have ended.

Registered with the sandboxes when the emulator starts. Must not know any rule, nor what reads the results.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from emulator.domain.lifecycles import TERMINAL
from emulator.examiner import points
from emulator.examiner.noting import LOOKS, note_of
from emulator.service.journal import Entry
from emulator.service.record import KEPT_NOTES, MAXIMUM_NOTES, Finding
from emulator.service.sandbox import Sandbox

if TYPE_CHECKING:
    from emulator.examiner.conduct import Conduct

_PLAIN_READS = frozenset(
    {"getTeam", "getAsset", "getProduct", "getPhotographyStyle", "getBackground", "getPose", "getFashionModel"}
)
"""Reads whose success is of no use to any rule by itself."""
MAXIMUM_KEPT = 1_000
"""Limit of the findings kept of deleted sandboxes."""


@dataclass(slots=True, eq=False)
class Examiner:
    """Takes notes. With `keeps_conduct`, sandboxes are examined to their end before they are reset or deleted."""

    keeps_conduct: bool = False
    _kept: list[tuple[str, Finding]] = field(default_factory=list)
    _checked: Counter[str] = field(default_factory=Counter)
    _met: Counter[str] = field(default_factory=Counter)
    _loaded: dict[str, int] = field(default_factory=dict)
    """By sandbox that was loaded from a state file: the number of its last request at that time."""

    def note(self, sandbox: Sandbox, entry: Entry) -> None:
        """Record a completed request."""
        record, operation = sandbox.record, entry.operation
        if entry.is_plain:
            if operation in _PLAIN_READS and not record.has_failed:
                return  # only what follows a failure can be its repetition
        else:
            points.count(sandbox, entry)
            record.has_failed = record.has_failed or entry.outcome != "answered"
        note = note_of(sandbox, entry)
        if note.work_status in TERMINAL and operation in LOOKS and note.loss is None:
            points.count_end(sandbox, note)
        record.notes.append(note)
        if len(record.notes) > MAXIMUM_NOTES:
            from emulator.examiner.conduct import condensed

            kept = record.notes[-KEPT_NOTES:]
            sandbox.record = condensed(record, sandbox.store, sandbox.clock.now(), kept)

    def conclude(self, sandbox: Sandbox) -> None:
        """Keep what was found in a sandbox that is about to forget what was done in it."""
        self._met.update(points.met(sandbox))
        if self.keeps_conduct:
            self._kept, self._checked = self._kept_and([sandbox])
        self._loaded.pop(sandbox.id, None)

    def discount(self, sandbox: Sandbox) -> None:
        """Exclude what a loaded state file holds: it belongs to other runs."""
        self._loaded[sandbox.id] = sandbox.journal.last_sequence
        self._met.subtract(points.met(sandbox))
        self._checked.subtract(_examined(sandbox, has_ended=False).checked)

    def conclude_all(self, sandboxes: Iterable[Sandbox]) -> "Totals":
        """Return the findings of all sandboxes, deleted ones included; no more requests will come."""
        findings, checked = self._kept_and(sandboxes)
        return Totals(tuple(findings), checked)

    def met(self, sandboxes: Iterable[Sandbox]) -> Counter[str]:
        """Return how often each point of the coverage was reached, in all sandboxes, deleted ones included."""
        met = self._met.copy()
        for sandbox in sandboxes:
            met.update(points.met(sandbox))
        return met

    def _kept_and(self, sandboxes: Iterable[Sandbox]) -> tuple[list[tuple[str, Finding]], Counter[str]]:
        """Return what is kept together with what some sandboxes give: the findings, and how often rules were checked."""
        findings, checked = self._kept.copy(), self._checked.copy()
        for sandbox in sandboxes:
            conduct, loaded = _examined(sandbox), self._loaded.get(sandbox.id, 0)
            found = [(sandbox.id, finding) for finding in conduct.findings if finding.requests[-1] > loaded]
            findings += found[: max(MAXIMUM_KEPT - len(findings), 0)]
            checked.update(conduct.checked)
        return findings, checked


def _examined(sandbox: Sandbox, has_ended: bool = True) -> "Conduct":
    from emulator.examiner.conduct import examine  # the rules are imported when somebody asks for the first time

    return examine(sandbox, has_ended)


class Totals(Struct, frozen=True):
    """The findings of all sandboxes, each with the sandbox's id, and how often each rule could have been broken."""

    findings: tuple[tuple[str, Finding], ...]
    checked: dict[str, int]

    @property
    def has_errors(self) -> bool:
        """Whether something was done that costs money, leaks a credential or gets a client banned."""
        return any(finding.severity == "error" for _, finding in self.findings)

    def without(self, rules: frozenset[str]) -> "Totals":
        """Return the same, but for some rules."""
        return Totals(
            tuple((sandbox, finding) for sandbox, finding in self.findings if finding.rule not in rules),
            {rule: number for rule, number in self.checked.items() if rule not in rules},
        )

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON: as in the control plane, with the `sandbox` of each finding."""
        from emulator.examiner.conduct import describe

        findings = [{"sandbox": sandbox, **describe(finding)} for sandbox, finding in self.findings]
        return {"findings": findings, "checked": self.checked}
