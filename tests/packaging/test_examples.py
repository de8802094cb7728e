"""The examples, and the TypeScript that the documentation shows, are run as their reader would run them."""

import shutil
from pathlib import Path

import pytest

from tests.packaging.pages import fences
from tests.support.served import EMULATOR, ROOT, run_program, run_pytest

EXAMPLES = ROOT / "examples"


@pytest.mark.slow
def test_the_suite_of_the_python_client_passes() -> None:
    outcome = run_pytest(EXAMPLES / "python", "-q", "-c", "pytest.ini", seconds=300)
    assert outcome.status == 0, outcome.output + outcome.complaint
    assert "23 passed" in outcome.output


@pytest.mark.verify
def test_the_suite_of_the_typescript_client_passes(tmp_path: Path) -> None:
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    shutil.copytree(EXAMPLES / "typescript", tmp_path, dirs_exist_ok=True)
    run("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", folder=tmp_path)
    for page in ("README.md", "docs/testing.md"):
        ((_, shown),) = fences(ROOT / page, "ts")
        (tmp_path / f"{Path(page).stem}.test.ts").write_text(shown)
    run("npx", "tsc", "--noEmit", folder=tmp_path)
    run(*EMULATOR, "exec", "--", "npx", "vitest", "run", folder=tmp_path)


def run(*command: str, folder: Path) -> None:
    """Run a command that must succeed."""
    outcome = run_program(*command, folder=folder, seconds=300, PYTHONPATH=str(ROOT))
    assert outcome.status == 0, outcome.output + outcome.complaint
