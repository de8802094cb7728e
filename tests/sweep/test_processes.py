"""A run ends when the process that started it does, in whatever way."""

import signal
import sys
from pathlib import Path

from image_workflow_emulator.sweep import supervisor
from tests.support.served import EMULATOR, PATIENCE_SECONDS, started
from tests.sweep.pipes import heard, pipe

ENDLESS = """
import sys
import time

mark = open(sys.argv[1], "w")
print("begun", file=mark, flush=True)
time.sleep(600)
"""
"""A command that tells that it runs in a pipe, which it holds open."""


def supervised(folder: Path, command: list[str]) -> list[str]:
    """The command that runs another under supervision."""
    return [sys.executable, supervisor.__file__, str(folder / "group"), *command]


def test_a_command_ends_when_nobody_holds_the_pipe_any_more(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    command = supervised(tmp_path, [sys.executable, "-c", ENDLESS, str(mark)])
    with pipe(mark) as reader, started(*command) as process:
        assert b"begun\n" == heard(reader)

        assert process.stdin is not None
        process.stdin.close()

        assert b"" == heard(reader)


def test_the_status_of_a_command_is_that_of_its_supervisor(tmp_path: Path) -> None:
    command = supervised(tmp_path, [sys.executable, "-c", "raise SystemExit(3)"])

    with started(*command) as process:
        assert 3 == process.wait(PATIENCE_SECONDS)


def test_a_sweep_that_is_killed_leaves_nothing_alive(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    command = [sys.executable, "-c", ENDLESS, str(mark)]
    with (
        pipe(mark) as reader,
        started(*EMULATOR, "sweep", "--", *command) as process,
    ):
        assert b"begun\n" == heard(reader)

        process.send_signal(signal.SIGKILL)

        assert b"" == heard(reader)
