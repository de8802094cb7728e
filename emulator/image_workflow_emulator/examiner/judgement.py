"""What was found in all sandboxes of a process together. Must not know how a request is judged."""

from collections import Counter
from collections.abc import Collection, Mapping
from typing import Any

from msgspec import Struct, field, structs

from image_workflow_emulator.examiner.findings import Conduct, Finding
from image_workflow_emulator.examiner.points import Point

MAX_FINDINGS = 1_000


class Totals(Struct):
    """The findings of all sandboxes, each with the sandbox's id, and what they covered."""

    findings: list[tuple[str, Finding]] = []
    checked: dict[str, int] = {}
    """By rule, in the order in which rules are reported."""
    not_checked: set[str] = set()
    """The rules that could not be checked of some requests, since an auto clock took every wait."""
    covered: Counter[Point] = field(default_factory=Counter)
    """How often each point of the coverage was reached."""

    def add(self, sandbox_id: str, conduct: Conduct, covered: Mapping[Point, int]) -> None:
        """Add what was found in a sandbox."""
        self.findings += ((sandbox_id, finding) for finding in conduct.findings)
        del self.findings[MAX_FINDINGS:]
        self.checked = {rule: self.checked.get(rule, 0) + number for rule, number in conduct.checked.items()}
        self.not_checked |= set(conduct.not_checked)
        self.covered.update(covered)

    @property
    def has_errors(self) -> bool:
        """Whether something was done that costs money, leaks a credential or gets a client banned."""
        return any(finding.severity == "error" for _, finding in self.findings)

    def without(self, rules: Collection[str]) -> "Totals":
        """Return the same, but for some rules."""
        findings = [(sandbox, finding) for sandbox, finding in self.findings if finding.rule not in rules]
        checked = {rule: number for rule, number in self.checked.items() if rule not in rules}
        return structs.replace(self, findings=findings, checked=checked)

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON: as in the control plane, with the `sandbox` of each finding."""
        findings = [{"sandbox": sandbox, **structs.asdict(finding)} for sandbox, finding in self.findings]
        not_checked = [rule for rule in self.checked if rule in self.not_checked]
        return {"findings": findings, "checked": self.checked, "not_checked": not_checked}
