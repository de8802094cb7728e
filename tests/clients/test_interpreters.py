"""One conversation on every CPython that the emulator runs on: the same bytes, whichever of them serves.

Each is put into an environment of its own with the packages of requirements.lock. The transcript is that of the histories,
which goes through all that could differ; its client is the same each time.
"""

import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.clients.generated import run
from tests.histories import transcript
from tests.histories.transcript import Exchange
from tests.support.served import ROOT, run_program

pytestmark = pytest.mark.verify

OWN = f"{sys.version_info.major}.{sys.version_info.minor}"
VERSIONS = [version for version in ("3.11", "3.12", "3.13") if version != OWN]
ABOUT = "import sys; print(*sys.version_info[:3], sep='.', end='')"


def description(python: str) -> str:
    """Ask an interpreter for its version; nothing if it does not run."""
    return run_program(python, "-c", ABOUT).output


def candidates(version: str) -> Iterator[str]:
    """Go through the places where an interpreter may be: on the path, and among those of pyenv."""
    found = shutil.which(f"python{version}")
    if found is not None:
        yield found
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    yield from map(str, sorted((root / "versions").glob(f"{version}*/bin/python")))


def environment(version: str, folder: Path) -> str:
    """Make an environment with the emulator's packages; skip the test where there is no such interpreter."""
    python = next((path for path in candidates(version) if description(path).startswith(version)), None)
    if python is None:
        pytest.skip(f"needs CPython {version}, which this machine does not have")
    run([python, "-m", "venv", "--without-pip", folder], ROOT)
    options = ("--disable-pip-version-check", "--python", str(folder))
    lock = ("--quiet", "--only-binary=:all:", "--require-hashes", "-r", str(ROOT / "requirements.lock"))
    installer = next((own for own in (python, sys.executable) if has_pip(own)), "python3")
    run([installer, "-m", "pip", *options, "install", *lock], ROOT)
    return str(folder / "bin" / "python")


def has_pip(python: str) -> bool:
    """Tell whether an interpreter can install. Another's pip may be too old for it; that of `make verify` has none."""
    return run_program(python, "-m", "pip", "--version").status == 0


def played_on(python: str) -> list[Exchange]:
    """Hold the conversation with a fresh server of an interpreter.

    The words beside a status are left out: since 3.13 the standard library has those of RFC 9110. They mean nothing to HTTP.
    """
    return transcript.on_fresh_server(transcript.play, "--clock", "auto", "--seed", "7", python=python)


@pytest.fixture(scope="module")
def own_transcript() -> Sequence[Exchange]:
    return played_on(sys.executable)


@pytest.fixture(scope="module", params=VERSIONS)
def other_python(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    return environment(request.param, tmp_path_factory.mktemp("environment"))


def test_another_interpreter_answers_with_the_same_bytes(own_transcript: Sequence[Exchange], other_python: str) -> None:
    other = played_on(other_python)
    size_bytes = sum(len(answer.body) for _, answer in other)
    print(f"{description(sys.executable)} and {description(other_python)}: {len(other)} answers, {size_bytes} bytes")
    for expected, found in zip(own_transcript, other, strict=True):
        assert expected == found


def test_a_state_that_is_saved_half_way_goes_on_in_another_interpreter_with_the_same_bytes(other_python: str) -> None:
    for stays, moves in zip(*transcript.play_with_a_move(other_python), strict=True):
        assert stays == moves
