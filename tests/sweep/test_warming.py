"""The emulator of a sweep's runs, before the first of them."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from image_workflow_emulator.sweep.warming import warm_up
from image_workflow_emulator.testing import Emulator

PROCESSES = Path("/proc")


def helpers() -> set[int]:
    """The processes for pictures of emulators that this process started."""
    return {pid for pid in descendants(os.getpid()) if is_helper(pid)}


def descendants(pid: int) -> Iterator[int]:
    """All processes that a process started, and that those started."""
    for file in PROCESSES.glob(f"{pid}/task/*/children"):
        for child in file.read_text().split():
            yield int(child)
            yield from descendants(int(child))


def is_helper(pid: int) -> bool:
    file = PROCESSES / str(pid) / "cmdline"
    return b"helper_program" in file.read_bytes()


@pytest.mark.skipif(not PROCESSES.exists(), reason="there is no /proc here")
@pytest.mark.parametrize("token", [None, "open sesame"])
def test_the_processes_for_small_pictures_are_there_before_the_first_run(
    token: str | None,
) -> None:
    before = helpers()

    with Emulator.start(control_token=token) as emulator:
        warm_up(emulator, token)

        new = helpers() - before
        assert 2 == len(new)


def test_an_emulator_that_can_make_no_pictures_is_left_as_it_is(tmp_path: Path) -> None:
    world = tmp_path / "world.yaml"
    world.write_text("teams: {}")

    with Emulator.start(world=world) as emulator:
        warm_up(emulator, None)

        assert [] == emulator.default.requests()
