"""The pages of the documentation, and the blocks that they show."""

import os
import re
import sys
from pathlib import Path
from typing import NamedTuple

from image_workflow_emulator.cli.program import PROGRAM
from tests.support.served import ROOT

DOCUMENTATION = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
ANYTHING = "…"
"""Placeholder in a printed block.

Stands for any text within a line, or for any lines where it ends one.
"""


FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    """A block of a page, with the language that its fence names."""

    language: str
    text: str


def text_of(file: Path) -> str:
    return file.read_text(encoding="utf-8")


def fences(page: Path, *languages: str) -> list[Block]:
    """The blocks of a page, or those in some languages."""
    fenced = FENCE.findall(text_of(page))
    blocks = [Block(language, text) for language, text in fenced]
    if not languages:
        return blocks
    return [block for block in blocks if block.language in languages]


def path_with_program(folder: Path) -> str:
    """Put the emulator's command into a folder, and return a PATH that leads to it."""
    run_emulator = f'exec "{sys.executable}" -m image_workflow_emulator "$@"'
    programs = folder / "bin"
    write_program(programs / PROGRAM, f'PYTHONPATH="{ROOT}" {run_emulator}\n')
    return f"{programs}{os.pathsep}{os.environ['PATH']}"


def write_program(file: Path, script: str) -> None:
    """Write a script of the shell that can be run."""
    file.parent.mkdir(exist_ok=True)
    file.write_text(f"#!/bin/sh\n{script}")
    file.chmod(0o755)


def pattern_of(promise: str) -> str:
    """The pattern of all texts that are what a block says is printed."""
    within = re.escape(promise).replace(ANYTHING, ".*")
    return re.sub(r"\.\*(?=\\?$)", "(?s:.*)", within, flags=re.MULTILINE)
