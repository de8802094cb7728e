"""The page's JavaScript holds to its types and to one style."""

import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.verify


@pytest.mark.parametrize(
    "command",
    [["tsc", "--project", "tsconfig.json"], ["biome", "check", "--error-on-warnings", "page"]],
    ids=["types", "style"],
)
def test_the_pages_files_pass(node: Path, command: list[str]) -> None:
    program = node / "node_modules" / ".bin" / command[0]
    done = subprocess.run([program, *command[1:]], cwd=node, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
