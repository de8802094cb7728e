"""The rooms `drift` and `sweep` can be removed.

What goes are their folders, rows in the table of commands, tests and pages; of `drift`,
also the branch of `conduct` that judges recordings.
"""

import ast
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.clients.generated import TIME_LIMIT_SECONDS
from tests.packaging.pages import text_of
from tests.support.served import ROOT, run_program

PACKAGE = Path("emulator/image_workflow_emulator")
TABLE = PACKAGE / "cli/program.py"


@dataclass(frozen=True)
class Room:
    """A room that can be removed."""

    name: str
    page: str
    tests_of_others: list[str]
    """Those that must pass without it."""
    users: list[str]
    """The files of others that import it, each in a branch of its own."""


DRIFT = Room(
    name="drift",
    page="docs/drift.md",
    tests_of_others=["tests/cli/test_offline_commands.py", "tests/domain"],
    users=["cli/commands/conduct.py"],
)
SWEEP = Room(
    name="sweep",
    page="docs/reference/sweep.md",
    tests_of_others=["tests/console", "tests/testing", "tests/domain"],
    users=[],
)
NOT_COPIED = (
    ".venv",
    ".git",
    "node_modules",
    "_shipped",
    "__pycache__",
    ".*cache",
    ".hypothesis",
    "dist",
)
"""What a checkout has that is not in the repository."""


@pytest.fixture(params=[DRIFT, SWEEP], ids=lambda room: room.name)
def room(request: pytest.FixtureRequest) -> Room:
    taken_out: Room = request.param
    return taken_out


@pytest.fixture
def folder(room: Room, tmp_path: Path) -> Path:
    """A copy of the checkout without a room."""
    folder = tmp_path / "checkout"
    shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(*NOT_COPIED))
    shutil.rmtree(folder / PACKAGE / room.name)
    shutil.rmtree(folder / "tests" / room.name)
    (folder / room.page).unlink()
    take_out_rows(folder / TABLE, room.name)
    for user in room.users:
        take_out_branches(folder / PACKAGE / user, room.name)
    return folder


def take_out_rows(table: Path, room: str) -> None:
    """Delete the rows of the commands that a room runs."""
    text = text_of(table)
    lines = text.splitlines(keepends=True)
    home = f"image_workflow_emulator.{room}.command"
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Dict):
            continue
        for key, value in zip(node.keys, node.values, strict=True):
            if key and home in constants_in(value):
                blank(lines, key.lineno, value.end_lineno)
    table.write_text("".join(lines), encoding="utf-8")


def constants_in(node: ast.AST) -> list[object]:
    parts = ast.walk(node)
    return [part.value for part in parts if isinstance(part, ast.Constant)]


def take_out_branches(file: Path, room: str) -> None:
    """Delete the branches of functions that import a room."""
    text = text_of(file)
    lines = text.splitlines(keepends=True)
    for branch in ast.walk(ast.parse(text)):
        if isinstance(branch, ast.If) and imports_room(branch, room):
            blank(lines, branch.lineno, branch.end_lineno)
    file.write_text("".join(lines), encoding="utf-8")


def imports_room(branch: ast.AST, room: str) -> bool:
    for part in ast.walk(branch):
        if not isinstance(part, ast.ImportFrom) or part.module is None:
            continue
        if f".{room}." in part.module:
            return True
    return False


def blank(
    lines: list[str],
    first: int,
    last: int | None,
) -> None:
    """Empty some lines, which are counted from 1."""
    for number in range(first, (last or first) + 1):
        lines[number - 1] = ""


def run(folder: Path, *words: str) -> None:
    """Run a tool in the copy, which must succeed."""
    variables = {
        "PYTHONPATH": str(folder / "emulator"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    outcome = run_program(
        sys.executable,
        "-m",
        *words,
        folder=folder,
        seconds=TIME_LIMIT_SECONDS,
        **variables,
    )
    assert outcome.status == 0, outcome.output[-3000:] + outcome.complaint[-3000:]


def test_nothing_that_stays_imports_a_room_that_is_taken_out(
    folder: Path,
    room: Room,
) -> None:
    module = re.compile(rf"image_workflow_emulator\.{room.name}\b")

    for file in (folder / PACKAGE).rglob("*.py"):
        text = text_of(file)
        assert not module.search(text), file
    run(folder, "ruff", "check", "--no-cache", "emulator")
    run(folder, "importlinter.cli", "lint", "--no-cache")


@pytest.mark.verify
def test_the_tests_of_others_pass_without_a_room(folder: Path, room: Room) -> None:
    tests = room.tests_of_others

    run(
        folder,
        "pytest",
        "-q",
        "-x",
        "-p",
        "no:cacheprovider",
        *tests,
    )
