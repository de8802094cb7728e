"""The rooms `drift` and `sweep` can be removed.

What goes are their folders, rows in the table of commands, tests and pages; of `drift`,
also the branch of `conduct` that judges recordings.
"""

import ast
import re
import shutil
import sys
from pathlib import Path

import pytest

from tests.clients.generated import TIME_LIMIT_SECONDS
from tests.support.served import ROOT, run_program

PACKAGE = Path("emulator/image_workflow_emulator")
TABLE = PACKAGE / "cli/program.py"
USERS = {"drift": [PACKAGE / "cli/commands/conduct.py"], "sweep": []}
"""The files of others that import a room, each in a branch of its own."""
ROOMS = {
    "drift": (
        ["docs/drift.md"],
        ["tests/cli/test_offline_commands.py", "tests/domain"],
    ),
    "sweep": (
        ["docs/reference/sweep.md"],
        ["tests/console", "tests/testing", "tests/domain"],
    ),
}
"""Pages of each room, and tests of others that must pass without it."""


@pytest.fixture(params=ROOMS)
def copy(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, str]:
    """A copy of the checkout without a room, and the room's name."""
    room = str(request.param)
    folder = tmp_path / "checkout"
    made = (
        ".venv",
        ".git",
        "node_modules",
        "_shipped",
        "__pycache__",
        ".*cache",
        ".hypothesis",
        "dist",
    )
    shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(*made))
    shutil.rmtree(folder / PACKAGE / room)
    shutil.rmtree(folder / "tests" / room)
    for page in ROOMS[room][0]:
        (folder / page).unlink()
    take_out_rows(folder / TABLE, room)
    for user in USERS[room]:
        take_out_branches(folder / user, room)
    return folder, room


def take_out_rows(table: Path, room: str) -> None:
    """Delete the rows of the commands that a room runs."""
    text = table.read_text(encoding="utf-8")
    lines = text.splitlines(keepends=True)
    home = f"image_workflow_emulator.{room}.command"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if key and home in constants_in(value):
                    blank(lines, key.lineno, value.end_lineno)
    table.write_text("".join(lines), encoding="utf-8")


def constants_in(node: ast.AST) -> list[object]:
    parts = ast.walk(node)
    return [part.value for part in parts if isinstance(part, ast.Constant)]


def take_out_branches(file: Path, room: str) -> None:
    """Delete the branches of functions that import a room."""
    text = file.read_text(encoding="utf-8")
    lines = text.splitlines(keepends=True)
    for branch in ast.walk(ast.parse(text)):
        if isinstance(branch, ast.If) and imports_room(branch, room):
            blank(lines, branch.lineno, branch.end_lineno)
    file.write_text("".join(lines), encoding="utf-8")


def imports_room(branch: ast.AST, room: str) -> bool:
    parts = ast.walk(branch)
    imports = [part for part in parts if isinstance(part, ast.ImportFrom)]
    return any(f".{room}." in (part.module or "") for part in imports)


def blank(lines: list[str], first: int, last: int | None) -> None:
    """Empty some lines, which are counted from 1."""
    for number in range(first, (last or first) + 1):
        lines[number - 1] = ""


def run(folder: Path, *words: str) -> None:
    """Run a tool in the copy, which must succeed."""
    variables = {"PYTHONPATH": str(folder / "emulator"), "PYTHONDONTWRITEBYTECODE": "1"}
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
    copy: tuple[Path, str],
) -> None:
    folder, room = copy
    module = re.compile(rf"image_workflow_emulator\.{room}\b")

    for file in (folder / PACKAGE).rglob("*.py"):
        assert not module.search(file.read_text(encoding="utf-8")), file
    run(folder, "ruff", "check", "--no-cache", "emulator")
    run(folder, "importlinter.cli", "lint", "--no-cache")


@pytest.mark.verify
def test_the_tests_of_others_pass_without_a_room(copy: tuple[Path, str]) -> None:
    folder, room = copy
    run(folder, "pytest", "-q", "-x", "-p", "no:cacheprovider", *ROOMS[room][1])
