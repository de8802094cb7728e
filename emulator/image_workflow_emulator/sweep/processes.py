"""The processes of runs: each is supervised by another, and has a limit of time.

Must not know which cells are tried.
"""

import contextlib
import math
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from image_workflow_emulator.kernel.clock import host_elapsed_ms
from image_workflow_emulator.sweep import noted_command, supervisor
from image_workflow_emulator.sweep.evidence import FOLDER_VARIABLE, NOTES

GROUP_FILE: Final = "group"
"""The file with the process group of the command that `exec` runs."""
_PLUGIN: Final = {"IMAGE_WORKFLOW_PYTEST": "image_workflow_emulator.sweep.in_pytest"}
"""The variable by which the plugin of pytest loads another."""
_PYTHON: Final = (sys.executable, "-I", "-S")
_POLL_SECONDS: Final = 0.05


@dataclass(frozen=True, kw_only=True)
class TimeLimit:
    """How long a run may take."""

    seconds: float = math.inf
    """Each time that the notes of a run of tests grow, it has that time again."""
    first_seconds: float = 0
    """The time until the first note that it has in addition."""


def noting(folder: Path, words: Sequence[str]) -> list[str]:
    """Return a command that first notes its process group in a folder."""
    return [*_PYTHON, noted_command.__file__, str(folder / GROUP_FILE), *words]


def run_to_end(
    folder: Path,
    words: Sequence[str],
    *,
    variables: Mapping[str, str],
    output: int | None,
    limit: TimeLimit,
    is_stopped: Callable[[], bool],
) -> int | None:
    """Run a command, and end all that it leaves.

    `folder` is for the files of the run. `output` is where its output goes, as
    `subprocess` takes it. Returns its exit status; None if it did not end in time, or
    was stopped.
    """
    process = subprocess.Popen(  # noqa: S603
        [*_PYTHON, supervisor.__file__, str(folder / GROUP_FILE), *words],
        env={**variables, **_PLUGIN, FOLDER_VARIABLE: str(folder)},
        stdin=subprocess.PIPE,
        stdout=output,
        stderr=output,
        start_new_session=True,  # Ctrl-C is for the sweep
    )
    try:
        _wait(process, folder / NOTES, limit, is_stopped)
        return process.poll()
    finally:
        assert process.stdin is not None
        process.stdin.close()  # the supervisor ends what still runs
        process.wait()


def _wait(
    process: "subprocess.Popen[bytes]",
    notes: Path,
    limit: TimeLimit,
    is_stopped: Callable[[], bool],
) -> None:
    """Wait for the end of a process, for its limit of time, or until it is stopped."""
    ends_at_ms = host_elapsed_ms() + 1000 * (limit.seconds + limit.first_seconds)
    size = 0
    while host_elapsed_ms() < ends_at_ms and not is_stopped():
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_POLL_SECONDS)
            return
        if notes.exists() and notes.stat().st_size > size:
            size = notes.stat().st_size
            ends_at_ms = host_elapsed_ms() + 1000 * limit.seconds
