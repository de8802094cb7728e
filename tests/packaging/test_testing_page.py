"""The Python that docs/testing.md shows is run: the tests by pytest with the plugin, the rest as it stands."""

import asyncio
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import ROOT, environment

TEXT = (ROOT / "docs/testing.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
SUITES = [block for block in BLOCKS if "(image_workflow" in block]
PRELUDE = (
    "from image_workflow_client import ImageWorkflow\nfrom test_image_workflow_client import PHOTO, make_product\n"
)


def test_each_block_is_run_below() -> None:
    assert len(BLOCKS) == len(SUITES) + 2


@pytest.mark.slow
def test_the_tests_that_are_shown_pass(tmp_path: Path) -> None:
    for number, block in enumerate(SUITES):
        (tmp_path / f"test_shown_{number}.py").write_text(PRELUDE + block)
    finished = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "emulator.pytest_plugin", "-p", "no:cacheprovider"],
        cwd=tmp_path,
        env=environment(PYTHONPATH=f"{ROOT}:{ROOT / 'examples/python'}", PYTEST_DISABLE_PLUGIN_AUTOLOAD="1"),
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert f"{len(SUITES)} passed" in finished.stdout, finished.stdout + finished.stderr


def test_the_program_that_is_shown_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (block,) = [block for block in BLOCKS if "Emulator.start(" in block]
    exec(block, {})
    assert "iwe_demo_full_sandbox-1" in capsys.readouterr().out


def test_the_test_in_the_same_process_that_is_shown_passes() -> None:
    (block,) = [block for block in BLOCKS if "create_app(" in block]
    shown: dict[str, Any] = {}
    exec(block, shown)
    asyncio.run(shown["test_the_team_is_active"]())
