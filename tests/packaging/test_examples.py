"""The examples, and the TypeScript that the documentation shows, are run as their reader would run them."""

import shutil
from pathlib import Path

import pytest

from tests.clients.generated import install_packages, run
from tests.packaging.pages import fences
from tests.support.served import EMULATOR, ROOT, run_pytest

EXAMPLES = ROOT / "examples"


@pytest.mark.slow
def test_the_suite_of_the_python_client_passes() -> None:
    outcome = run_pytest(EXAMPLES / "python", "-q", "-c", "pytest.ini", seconds=300)
    assert outcome.status == 0, outcome.output + outcome.complaint
    assert "25 passed" in outcome.output


@pytest.mark.verify
def test_the_suite_of_the_typescript_client_passes(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLES / "typescript", tmp_path, dirs_exist_ok=True)
    install_packages(tmp_path)
    for page in ("README.md", "docs/testing.md"):
        ((_, shown),) = fences(ROOT / page, "ts")
        (tmp_path / f"{Path(page).stem}.test.ts").write_text(shown)
    run(["npx", "tsc", "--noEmit"], tmp_path)
    run([*EMULATOR, "exec", "--", "npx", "vitest", "run"], tmp_path, PYTHONPATH=str(ROOT))
