"""The served tests once more without uvloop: on Windows there is none."""

import subprocess
import sys

import pytest

from tests.cli.command import ROOT

SERVED = ["tests/cli/test_connections.py", "tests/cli/test_serve.py", "tests/packaging/test_curl_tour.py"]


@pytest.mark.verify
def test_what_is_served_by_uvloop_is_served_by_plain_asyncio(tmp_path: object) -> None:
    blocked = f"{tmp_path}/uvloop.py"
    with open(blocked, "w", encoding="utf-8") as module:  # noqa: PTH123
        module.write("raise ImportError('this run is without uvloop')\n")
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *SERVED],
        cwd=ROOT,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout[-3000:]
