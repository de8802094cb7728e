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
    for number, (_, shown) in enumerate(fences(ROOT / "docs/any-language.md", "ts")):
        (tmp_path / f"shown-{number}.test.ts").write_text(shown)
    run(["npx", "tsc", "--noEmit"], tmp_path)
    for readings in ("plain", "stingy", "other"):
        command = [*EMULATOR, "exec", "--readings", readings, "--", "npx", "vitest", "run"]
        run(command, tmp_path, PYTHONPATH=str(ROOT))


@pytest.mark.slow
@pytest.mark.parametrize("readings", ["stingy", "other"])
def test_the_python_client_passes_under_sets_of_readings(readings: str) -> None:
    arguments = ("-q", "-c", "pytest.ini", "--image-workflow-readings", readings)
    outcome = run_pytest(EXAMPLES / "python", *arguments, seconds=300)
    assert outcome.status == 0, outcome.output


@pytest.mark.verify
def test_the_python_client_passes_under_every_reading() -> None:
    arguments = ("-q", "-c", "pytest.ini", "-p", "tests.packaging.every_reading")
    outcome = run_pytest(EXAMPLES / "python", *arguments, seconds=1_800)
    assert outcome.status == 0, outcome.output
