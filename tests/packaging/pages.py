"""The pages of the documentation, and the blocks that they show."""

import re
from pathlib import Path

from tests.support.served import ROOT

DOCUMENTATION = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
ANYTHING = "…"
"""In what a block is said to print: what is not said within a line, or from the end of one on for any lines."""


def fences(page: Path, *languages: str) -> list[tuple[str, str]]:
    """The language and the text of each block of a page, or of those in some languages."""
    found = re.findall(r"^```(\w+)\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return [(language, text) for language, text in found if not languages or language in languages]


def pattern_of(promise: str) -> str:
    """The pattern of all texts that are what a block says is printed."""
    within = re.escape(promise).replace(ANYTHING, ".*")
    return re.sub(r"\.\*(?=\\?$)", "(?s:.*)", within, flags=re.MULTILINE)
