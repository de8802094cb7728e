"""Looks for barriers on a page with axe."""

from pathlib import Path
from typing import Final

from tests.page.browser import Visit

FIND_VIOLATIONS: Final = "axe.run().then(result => result.violations)"
GRAVE: Final = ("moderate", "serious", "critical")


class Axe:
    """Examines a page, and remembers what it has found."""

    def __init__(self, visit: Visit, node: Path) -> None:
        self._page = visit.page
        file = node / "node_modules/axe-core/axe.min.js"
        self._program = file.read_text(encoding="utf-8")
        self.findings: list[str] = []

    def examine(self, place: str) -> None:
        self._page.evaluate(self._program)
        violations = self._page.evaluate(FIND_VIOLATIONS)
        for violation in violations:
            if violation["impact"] in GRAVE:
                elements = [node["html"] for node in violation["nodes"]]
                rule = f"{violation['id']} ({violation['help']})"
                self.findings.append(f"{place}: {rule}: {elements[:3]}")
