"""Tries changed functions in copies of the package, with tests that start processes.

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
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Final

from tests.mutants.trials import ChangedFunction
from tests.support.served import ROOT

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


def noticed_by_processes(
    functions: Sequence[ChangedFunction],
    tests: str,
) -> set[str]:
    """Return the names of the changes with which a test fails.

    Raises RuntimeError if a test fails without any change.
    """
    if not passes(None, tests):
        raise RuntimeError(f"the tests fail: {tests}")
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        verdicts = list(pool.map(partial(passes, tests=tests), functions))
    noticed = set()
    for function, has_passed in zip(functions, verdicts, strict=True):
        if not has_passed:
            noticed.add(function.name)
    return noticed


def passes(function: ChangedFunction | None, tests: str) -> bool:
    """Tell whether all tests pass on a copy of the package, with a change if there is
    one.
    """
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "emulator")
        shutil.copytree(ROOT / "emulator", source)
        for name in SHIPPED:
            Path(folder, name).symlink_to(ROOT / name)
        if function is not None:
            change(source, function)
        try:
            ended = subprocess.run(
                [*PYTEST, tests],
                cwd=ROOT,
                env={**os.environ, "PYTHONPATH": str(source)},
                timeout=SECONDS,
                capture_output=True,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return False
    return ended.returncode == 0


def change(source: Path, function: ChangedFunction) -> None:
    """Write a changed function into its file."""
    file = source.joinpath(*function.module.split(".")).with_suffix(".py")
    text = file.read_text(encoding="utf-8")
    file.write_text(with_change(text, function), encoding="utf-8")


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
