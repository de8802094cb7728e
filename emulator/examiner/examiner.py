"""The examiner of a process: takes a note of each request, and keeps what was found before a sandbox forgot it.

A sandbox forgets everything when it is reset, loaded or deleted.

Registered with the sandboxes when the emulator starts. Must not know any rule, nor what reads the results.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from msgspec import Struct, structs

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
"""Limit of the findings kept of one sandbox, and of all deleted ones together."""


@dataclass(slots=True, eq=False)
class _Past:
    """What was found in a sandbox before it was last reset or loaded."""

    findings: Sequence[Finding] = ()
    checked: Counter[str] = field(default_factory=Counter)
    met: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True, eq=False)
class Examiner:
    """Takes notes. With `keeps_conduct`, sandboxes are examined to their end before they are deleted."""

    keeps_conduct: bool = False
    _pasts: dict[str, _Past] = field(default_factory=dict)
    """By the ids of the sandboxes that exist."""
    _found: list[tuple[str, Finding]] = field(default_factory=list)
    """In deleted sandboxes, with their ids; the same holds of the other two."""
    _checked: Counter[str] = field(default_factory=Counter)
    _met: Counter[str] = field(default_factory=Counter)

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
        """Keep what was found in a sandbox that is about to be reset, or replaced by a loaded one."""
        conduct = self.whole_conduct(sandbox)
        self._pasts[sandbox.id] = _Past(conduct.findings, Counter(conduct.checked), self.whole_met(sandbox))

    def dismiss(self, sandbox: Sandbox) -> None:
        """Keep what was found in a sandbox that is about to be deleted, for the totals of the process."""
        self._met.update(self.whole_met(sandbox))
        if self.keeps_conduct:
            self._found, self._checked = self._totals([sandbox])
        self._pasts.pop(sandbox.id, None)

    def whole_conduct(self, sandbox: Sandbox, has_ended: bool = True) -> "Conduct":
        """Return the conduct in a sandbox since its creation, before resets and loads too. `has_ended`: as in `examine`."""
        past, conduct = self._pasts.get(sandbox.id, _Past()), _examined(sandbox, has_ended)
        findings = [*past.findings, *conduct.findings]
        checked = {rule: past.checked[rule] + number for rule, number in conduct.checked.items()}
        return structs.replace(conduct, findings=tuple(findings[:MAXIMUM_KEPT]), checked=checked)

    def whole_met(self, sandbox: Sandbox) -> Counter[str]:
        """Return how often each point of the coverage was reached in a sandbox since its creation."""
        met = self._pasts.get(sandbox.id, _Past()).met.copy()
        met.update(points.met(sandbox))
        return met

    def conclude_all(self, sandboxes: Iterable[Sandbox]) -> "Totals":
        """Return the findings of all sandboxes, deleted ones included; no more requests will come."""
        findings, checked = self._totals(sandboxes)
        return Totals(tuple(findings), checked)

    def met(self, sandboxes: Iterable[Sandbox]) -> Counter[str]:
        """Return how often each point of the coverage was reached, in all sandboxes, deleted ones included."""
        met = self._met.copy()
        for sandbox in sandboxes:
            met.update(self.whole_met(sandbox))
        return met

    def _totals(self, sandboxes: Iterable[Sandbox]) -> tuple[list[tuple[str, Finding]], Counter[str]]:
        """Return what was found in deleted sandboxes and in some others, and how often rules were checked there."""
        findings, checked = self._found.copy(), self._checked.copy()
        for sandbox in sandboxes:
            conduct = self.whole_conduct(sandbox)
            findings += [(sandbox.id, finding) for finding in conduct.findings]
            checked.update(conduct.checked)
        return findings[:MAXIMUM_KEPT], checked


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
