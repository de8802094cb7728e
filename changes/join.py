"""Joins the fragments of this folder into the changelog: `make changelog VERSION=0.3.0`.

The README beside it says more.
"""

import re
import sys
from pathlib import Path

FOLDER = Path(__file__).parent
CHANGELOG = FOLDER.parent / "CHANGELOG.md"
KINDS = ("added", "changed", "deprecated", "removed", "fixed", "security")


def join(version: str, date: str) -> None:
    """Move every fragment to its kind in the section of a version, made if need be."""
    head, *sections = re.split(r"(?m)^(?=## )", CHANGELOG.read_text(encoding="utf-8"))
    before = (
        sections.pop(0)
        if sections and sections[0].startswith(f"## [{version}]")
        else ""
    )
    lists = {
        kind: text.rstrip()
        for kind, text in re.findall(r"(?ms)^### (\w+)\n\n(.*?)(?=^###|\Z)", before)
    }
    files = {kind: sorted(FOLDER.glob(f"*.{kind}.md")) for kind in KINDS}
    section = f"## [{version}] - {date}\n\n"
    for kind in KINDS:
        items = [file.read_text(encoding="utf-8").strip() for file in files[kind]]
        if found := "\n".join(filter(None, [lists.get(kind.title(), ""), *items])):
            section += f"### {kind.title()}\n\n{found}\n\n"
    CHANGELOG.write_text("".join([head, section, *sections]), encoding="utf-8")
    for kind in KINDS:
        for file in files[kind]:
            file.unlink()


if __name__ == "__main__":
    join(*sys.argv[1:])
