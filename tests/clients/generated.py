"""Clients as people generate them, outside of the checkout, and their tours.

Knows the tools and how they are called; nothing of what a client then says.
"""

import json
import os
import re
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.support.emulator_client import FULL
from tests.support.pictures import photo
from tests.support.served import ROOT, run_program, serving

CONTRACT = ROOT / "contract" / "openapi.yaml"
CLIENTS = Path(__file__).parent
TOURS = CLIENTS / "tours"
PACKAGE = "service_client"
"""Name of the generated Python clients."""
TIME_LIMIT_SECONDS = 300


def need(*programs: str) -> None:
    """Skip the test where a program is missing that it cannot do without."""
    missing = [program for program in programs if shutil.which(program) is None]
    if missing:
        pytest.skip(f"needs {' and '.join(missing)}, which this machine does not have")


def run(
    command: Sequence[str | Path],
    folder: Path,
    **variables: str,
) -> str:
    """Run a program in a folder, which must succeed.

    Returns what it wrote to standard output.
    """
    done = run_program(
        *map(str, command),
        folder=folder,
        seconds=TIME_LIMIT_SECONDS,
        **variables,
    )
    assert done.status == 0, (
        f"{command[0]} ended with {done.status}\n{done.output}\n{done.complaint}"
    )
    return done.output


def install_packages(folder: Path) -> None:
    """Install what the lock beside a package.json names.

    The test is skipped where npm is missing.
    """
    need("node", "npm")
    run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], folder)


def generate(
    folder: Path,
    *words: str,
    with_option: Sequence[str] = (),
) -> None:
    """Make a client in a folder.

    The command is that of docs/reference/clients.md that begins with these words.
    """
    command = documented_command(*words)
    if words[0] == "openapi-generator-cli":
        need("java")
    shutil.copy(CONTRACT, folder / "openapi.yaml")
    run([program_of(words[0], folder), *command[1:], *with_option], folder)


def documented_command(*words: str) -> list[str]:
    """Return the one command of the manual that begins with these words."""
    page = (ROOT / "docs/reference/clients.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```sh\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    commands = "".join(blocks).replace("\\\n", " ")
    pattern = re.compile(rf"^{' '.join(words)} .*$", re.MULTILINE)
    (line,) = pattern.findall(commands)
    return shlex.split(line)


def program_of(name: str, folder: Path) -> Path:
    """Return where a generator is installed, or skip the test."""
    for place in (folder / "node_modules" / ".bin", Path(sys.executable).parent):
        if (place / name).exists():
            return place / name
    pytest.skip(f"needs {name}, which `make verify` installs")


def take_tour(
    command: Sequence[str | Path],
    folder: Path,
    **variables: str,
) -> Mapping[str, Any]:
    """Take a tour against a fresh emulator whose clock skips the waits.

    Returns what the tour reports.
    """
    file = folder / "photo.jpg"
    file.write_bytes(photo("image/jpeg"))
    with serving("--clock", "auto") as emulator:
        written = run(
            command,
            folder,
            IMAGE_WORKFLOW_BASE_URL=emulator.base_url,
            IMAGE_WORKFLOW_API_KEY=FULL,
            TOUR_PHOTO=str(file),
            **variables,
        )
    report: Mapping[str, Any] = json.loads(written)
    return report


def check_types(tour: Path, folder: Path) -> None:
    """Have mypy look at a tour as strictly as it can, with the client that it uses."""
    path = os.pathsep.join((str(folder), str(TOURS)))
    options = (
        "--strict",
        "--follow-imports=silent",
        "--no-incremental",
        "--config-file=",
    )
    run([sys.executable, "-m", "mypy", *options, tour], folder, MYPYPATH=path)
