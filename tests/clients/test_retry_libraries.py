"""Clients whose retries nobody here wrote: on each library, a good one stays clean.

The good ones are what the examiner's remedies say of each library
(examiner/rules/libraries.py). A clock runs many times as fast as the real one, and the
clients' pauses are shorter by as much.
"""

import json
import sys
from collections.abc import Callable
from functools import cache
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
SPEED: Final = 50
"""How many times as fast as the real clock the emulator's runs."""
SOURCE: Final = CLIENTS / "retries"

Command = Callable[[str], list[str]]
"""Returns the command of a library's client."""


@pytest.fixture(scope="session")
def command_of(tmp_path_factory: pytest.TempPathFactory) -> Command:
    """The commands of the clients, whose environments are made when they are needed."""
    folder = tmp_path_factory.mktemp("retries")

    @cache
    def node_client() -> Path:
        for name in ("package.json", "package-lock.json", "stacks.mjs"):
            (folder / name).write_bytes((SOURCE / name).read_bytes())
        install_packages(folder)
        return folder / "stacks.mjs"

    @cache
    def python() -> Path:
        program = folder / "python" / "bin" / "python"
        requirements = SOURCE / "requirements.txt"
        run([sys.executable, "-m", "venv", folder / "python"], folder)
        run([program, "-m", "pip", "install", "-q", "-r", requirements], folder)
        return program

    def command(library: str) -> list[str]:
        if library in NODE:
            return ["node", str(node_client()), library]
        return [str(python()), str(SOURCE / "stacks.py"), library]

    return command


@pytest.mark.parametrize("library", [*PYTHON, *NODE])
def test_a_good_client_is_clean_under_every_scenario(
    command_of: Command,
    library: str,
    tmp_path: Path,
) -> None:
    """It runs its errand in one sandbox after another, and says how each ended."""
    complaints = tmp_path / "log"
    variables = {
        "SPEED": str(SPEED),
        "REMEDIES": json.dumps(dict(LIBRARIES)),
        "PHOTO": picture().hex(),
    }
    command = command_of(library)
    with (
        Emulator.start() as server,
        complaints.open("w") as log,
        started(
            *command,
            folder=tmp_path,
            stderr=log,
            **variables,
        ) as client,
    ):
        for scenario in LIBRARY:
            with server.sandbox(clock=f"x{SPEED}", scenario=scenario) as sandbox:
                print(sandbox.base_url, sandbox.api_key, file=client.stdin, flush=True)
                end = next_line(client) or complaints.read_text()

                assert end.startswith(("done", "stopped 4")), f"{scenario}: {end}"
                findings = list(map(str, sandbox.conduct().findings))
                assert findings == [], scenario
