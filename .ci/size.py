"""Prints the lines of code of each room of the emulator, and the lines of its tests and its page, as a Markdown table.

A line of code is not blank, no comment and no part of a docstring.
"""

import ast
from collections import Counter
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
SOURCE: Final = ROOT / "emulator" / "image_workflow_emulator"
PAGE: Final = SOURCE / "control" / "page"


def code_lines(file: Path) -> int:
    """Count the lines of code of a file."""
    text = file.read_text(encoding="utf-8")
    prose: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            prose.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    lines = enumerate(text.splitlines(), 1)
    return sum(1 for number, line in lines if number not in prose and line.strip() and not line.strip().startswith("#"))


def all_lines(folder: Path, *suffixes: str) -> int:
    """Count all lines of the files of a folder that have one of some suffixes."""
    files = [file for file in folder.rglob("*") if file.suffix in suffixes]
    return sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files)


def main() -> None:
    """Print the table."""
    rooms = Counter[str]()
    for file in SOURCE.rglob("*.py"):
        inner = file.relative_to(SOURCE).parts
        rooms[inner[0] if len(inner) > 1 else "single files"] += code_lines(file)
    rows = [*rooms.most_common(), ("**together**", rooms.total())]
    rows += [("tests", all_lines(ROOT / "tests", ".py")), ("the page", all_lines(PAGE, ".js", ".css", ".html"))]
    print("| Room | Lines |\n|---|---|")
    for name, count in rows:
        print(f"| {name} | {count:,} |")


if __name__ == "__main__":
    main()
