"""The examples, and the TypeScript that the documentation shows, are run as their reader would run them."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.command import ROOT, environment

EXAMPLES = ROOT / "examples"


@pytest.mark.slow
def test_the_suite_of_the_python_client_passes() -> None:
    finished = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "emulator.pytest_plugin",
            "-p",
            "no:cacheprovider",
            "-c",
            "pytest.ini",
        ],
        cwd=EXAMPLES / "python",
        env=environment(PYTHONPATH=str(ROOT), PYTEST_DISABLE_PLUGIN_AUTOLOAD="1"),
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert finished.returncode == 0, finished.stdout + finished.stderr
    assert "23 passed" in finished.stdout


@pytest.mark.verify
def test_the_suite_of_the_typescript_client_passes(tmp_path: Path) -> None:
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    shutil.copytree(EXAMPLES / "typescript", tmp_path, dirs_exist_ok=True)
    run("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", folder=tmp_path)
    for page in ("README.md", "docs/testing.md"):
        (shown,) = re.findall(
            r"^```ts\n(.*?)^```$", (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
        )
        (tmp_path / f"{Path(page).stem}.test.ts").write_text(shown)
    run("npx", "tsc", "--noEmit", folder=tmp_path)
    run(sys.executable, "-m", "emulator", "exec", "--", "npx", "vitest", "run", folder=tmp_path)


def run(*command: str, folder: Path) -> None:
    """Run a command that must succeed."""
    finished = subprocess.run(
        command,
        cwd=folder,
        env=environment(PYTHONPATH=str(ROOT)),
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert finished.returncode == 0, finished.stdout + finished.stderr
