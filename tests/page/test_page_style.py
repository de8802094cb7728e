"""The page's JavaScript holds to its types and to one style."""

from pathlib import Path

import pytest

from tests.support.served import run_program

pytestmark = pytest.mark.verify


@pytest.mark.parametrize(
    "command",
    [["tsc", "--project", "tsconfig.json"], ["biome", "check", "--error-on-warnings", "page"]],
    ids=["types", "style"],
)
def test_the_pages_files_pass(node: Path, command: list[str]) -> None:
    program = node / "node_modules" / ".bin" / command[0]
    done = run_program(str(program), *command[1:], folder=node, seconds=300)
    assert done.status == 0, done.output + done.complaint
