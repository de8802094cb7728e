"""Clients whose retries nobody here wrote: on each library, a good one stays clean.

The good ones are what the examiner's remedies say of each library (examiner/rules/libraries.py). A clock runs many
times as fast as the real one, and the clients' pauses are so much shorter.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from image_workflow_emulator.examiner.rules.libraries import LIBRARIES
from image_workflow_emulator.testing import Emulator
from tests.clients.generated import CLIENTS, install_packages, run
from tests.examiner.rule_examples import LIBRARY
from tests.support.pictures import picture
from tests.support.served import next_line, started

pytestmark = pytest.mark.verify

PYTHON: Final = ("urllib3", "requests", "httpx-retries", "aiohttp-retry")
NODE: Final = ("got", "axios-retry", "undici")


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], list[str]]:
    """Return the command of a library's client, in an environment that is made when it is first needed."""
    folder = tmp_path_factory.mktemp("retries")

    def command(library: str) -> list[str]:
        source = CLIENTS / "retries"
        if library in NODE:
            if not (folder / "node_modules").exists():
                for name in ("package.json", "package-lock.json", "stacks.mjs"):
                    (folder / name).write_bytes((source / name).read_bytes())
                install_packages(folder)
            return ["node", str(folder / "stacks.mjs"), library]
        python, installed = folder / "python" / "bin" / "python", folder / "installed"
        if not installed.exists():
            run([sys.executable, "-m", "venv", folder / "python"], folder)
            run(
                [
                    python,
                    "-m",
                    "pip",
                    "install",
                    "-q",
                    "-r",
                    source / "requirements.txt",
                ],
                folder,
            )
            installed.touch()
        return [str(python), str(source / "stacks.py"), library]

    return command


@pytest.mark.parametrize("library", [*PYTHON, *NODE])
def test_a_good_client_is_clean_under_every_scenario(
    programs: Callable[[str], list[str]], library: str, tmp_path: Path
) -> None:
    """The client runs its errand in one sandbox after another, and says how each ended."""
    found: dict[str, list[str]] = {}
    speed, complaints = 50, tmp_path / "log"
    variables = {
        "SPEED": str(speed),
        "REMEDIES": json.dumps(dict(LIBRARIES)),
        "PHOTO": picture().hex(),
    }
    with (
        Emulator.start() as server,
        complaints.open("w") as log,
        started(
            *programs(library), folder=tmp_path, stderr=log, **variables
        ) as process,
    ):
        for scenario in LIBRARY:
            with server.sandbox(clock=f"x{speed}", scenario=scenario) as sandbox:
                print(sandbox.base_url, sandbox.api_key, file=process.stdin, flush=True)
                end = next_line(process) or complaints.read_text()
                assert end.startswith(("done", "stopped 4")), f"{scenario}: {end}"
                found[scenario] = list(map(str, sandbox.conduct().findings))
    assert {} == {
        scenario: findings for scenario, findings in found.items() if findings
    }
