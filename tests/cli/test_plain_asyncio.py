"""The served tests once more without uvloop: on Windows there is none."""

import sys
from pathlib import Path

import pytest

from tests.support.served import run_program

SERVED = ["tests/server/test_connections.py", "tests/cli/test_serve.py", "tests/packaging/test_pages_run.py"]


@pytest.mark.verify
def test_what_is_served_by_uvloop_is_served_by_plain_asyncio(tmp_path: Path) -> None:
    (tmp_path / "uvloop.py").write_text("raise ImportError('this run is without uvloop')\n")
    command = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *SERVED)
    run = run_program(*command, seconds=600, PYTHONPATH=str(tmp_path))
    assert run.status == 0, run.output[-3000:]
