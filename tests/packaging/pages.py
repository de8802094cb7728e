"""The pages of the documentation, and the blocks that they show."""

import os
import re
import sys
from pathlib import Path

from image_workflow_emulator.cli.program import PROGRAM
from tests.support.served import ROOT

DOCUMENTATION = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
ANYTHING = "…"
"""Placeholder in a printed block: any text within a line, or any lines where it ends one."""


def fences(page: Path, *languages: str) -> list[tuple[str, str]]:
    """The language and the text of each block of a page, or of those in some languages."""
    found = re.findall(
        r"^```(\w+)\n(.*?)^```$",
        page.read_text(encoding="utf-8"),
        re.MULTILINE | re.DOTALL,
    )
    return [
        (language, text)
        for language, text in found
        if not languages or language in languages
    ]


def path_with_program(folder: Path) -> str:
    """Put the emulator's command into a folder, and return a PATH on which a shell finds it."""
    write_program(
        folder / "bin" / PROGRAM,
        f'PYTHONPATH="{ROOT}" exec "{sys.executable}" -m image_workflow_emulator "$@"\n',
    )
    return os.pathsep.join([str(folder / "bin"), os.environ["PATH"]])


def write_program(file: Path, script: str) -> None:
    """Write a script of the shell that can be run."""
    file.parent.mkdir(exist_ok=True)
    file.write_text(f"#!/bin/sh\n{script}")
    file.chmod(0o755)


def pattern_of(promise: str) -> str:
    """The pattern of all texts that are what a block says is printed."""
    within = re.escape(promise).replace(ANYTHING, ".*")
    return re.sub(r"\.\*(?=\\?$)", "(?s:.*)", within, flags=re.MULTILINE)
