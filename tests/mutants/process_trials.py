"""Tries changed functions in a copy of the package, with tests that start processes.

`trials.py` changes a function in its own process, which no server of a test sees. Here
the change is written to a file, and pytest is started for each one: some seconds, so
this is for the few files whose code only a real connection reaches.
"""

import ast
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from typing import Final

from tests.mutants.trials import ChangedFunction

ROOT: Final = Path(__file__).resolve().parents[2]
PACKAGE: Final = "image_workflow_emulator"
SHIPPED: Final = ("contract", "scenarios")
"""The folders beside `emulator` that the package reads."""
PYTEST: Final = (
    sys.executable,
    "-m",
    "pytest",
    "--exitfirst",
    "--quiet",
    "-pno:cacheprovider",
)
SECONDS: Final = 300
"""A change is noticed, too, if its tests take this long."""


class PackageCopy:
    """A copy of the package, in which one function at a time is changed."""

    def __init__(self, folder: Path) -> None:
        self._source = folder / "emulator"
        shutil.copytree(ROOT / "emulator" / PACKAGE, self._source / PACKAGE)
        for name in SHIPPED:
            (folder / name).symlink_to(ROOT / name)

    def notices(self, function: ChangedFunction, tests: str) -> bool:
        """Tell whether one of the tests fails with this change."""
        with self._changed(function):
            return not self.passes(tests)

    def passes(self, tests: str) -> bool:
        """Tell whether all tests pass with the code as it is in this copy."""
        environment = {
            **os.environ,
            "PYTHONPATH": str(self._source),
            # Only the age in seconds tells a compiled file from that of another change.
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        try:
            ended = subprocess.run(
                [*PYTEST, tests],
                cwd=ROOT,
                env=environment,
                timeout=SECONDS,
                capture_output=True,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return False
        return ended.returncode == 0

    @contextmanager
    def _changed(self, function: ChangedFunction) -> Iterator[None]:
        file = self._source / Path(*function.module.split(".")).with_suffix(".py")
        text = file.read_text(encoding="utf-8")
        for compiled in (file.parent / "__pycache__").glob(f"{file.stem}.*"):
            compiled.unlink()
        file.write_text(with_change(text, function), encoding="utf-8")
        try:
            yield
        finally:
            file.write_text(text, encoding="utf-8")


def with_change(text: str, function: ChangedFunction) -> str:
    """Return the text of a module with the changed function in place of its own."""
    node: ast.AST = ast.parse(text)
    for name in function.path:
        node = member_of(node, name)
    assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    lines = text.splitlines()
    changed = textwrap.indent(function.source, " " * node.col_offset)
    lines[node.lineno - 1 : node.end_lineno] = changed.splitlines()
    return "\n".join([*lines, ""])


def member_of(node: ast.AST, name: str) -> ast.AST:
    """Return the function or class of this name that a module or class defines."""
    for child in ast.iter_child_nodes(node):
        if getattr(child, "name", None) == name:
            return child
    raise LookupError(name)


def noticed_by_processes(
    functions: Sequence[ChangedFunction],
    tests: str,
) -> set[str]:
    """Return the names of the changes with which a test fails.

    Raises RuntimeError if a test fails without any change.
    """
    most_at_once = os.cpu_count() or 1
    with tempfile.TemporaryDirectory() as folder:
        copies = [PackageCopy(Path(folder, str(name))) for name in range(most_at_once)]
        if not copies[0].passes(tests):
            raise RuntimeError(f"the tests fail: {tests}")
        free = SimpleQueue[PackageCopy]()
        for copy in copies:
            free.put(copy)

        def is_noticed(function: ChangedFunction) -> bool:
            copy = free.get()
            try:
                return copy.notices(function, tests)
            finally:
                free.put(copy)

        with ThreadPoolExecutor(most_at_once) as pool:
            verdicts = list(pool.map(is_noticed, functions))
    noticed = set()
    for function, is_seen in zip(functions, verdicts, strict=True):
        if is_seen:
            noticed.add(function.name)
    return noticed
