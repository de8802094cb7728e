"""The pages of the documentation, and the blocks that they show."""

import os
import re
import sys
from pathlib import Path

from image_workflow_emulator.cli.program import PROGRAM
from tests.support.served import ROOT

DOCUMENTATION = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
ANYTHING = "…"
"""Placeholder in a printed block.

Stands for any text within a line, or for any lines where it ends one.
"""


def fences(page: Path, *languages: str) -> list[tuple[str, str]]:
    """The language and the text of each block, or of those in some languages."""
    text = page.read_text(encoding="utf-8")
    blocks = re.findall(r"^```(\w+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    if not languages:
        return blocks
    return [block for block in blocks if block[0] in languages]


def path_with_program(folder: Path) -> str:
    """Put the emulator's command into a folder, and return a PATH that leads to it."""
    run_emulator = f'exec "{sys.executable}" -m image_workflow_emulator "$@"'
    write_program(folder / "bin" / PROGRAM, f'PYTHONPATH="{ROOT}" {run_emulator}\n')
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
