"""The processes that draw the pictures of an emulator, as the system lists them."""

from collections.abc import Iterator
from pathlib import Path

PROCESSES = Path("/proc")


def helpers_of(pid: int) -> set[int]:
    """The processes for pictures that a process, or one that it started, has."""
    return {process for process in descendants(pid) if is_helper(process)}


def descendants(pid: int) -> Iterator[int]:
    """All processes that a process started, and that those started."""
    for file in PROCESSES.glob(f"{pid}/task/*/children"):
        for child in file.read_text().split():
            yield int(child)
            yield from descendants(int(child))


def is_helper(pid: int) -> bool:
    return b"helper_program" in command_line(pid)


def emulator_of(pid: int) -> int:
    """The `exec` that started a process, or what started it."""
    while b"\0exec\0" not in command_line(pid):
        pid = parent_of(pid)
    return pid


def command_line(pid: int) -> bytes:
    file = PROCESSES / str(pid) / "cmdline"
    return file.read_bytes()


def parent_of(pid: int) -> int:
    status = (PROCESSES / str(pid) / "status").read_text()
    (line,) = [line for line in status.splitlines() if line.startswith("PPid:")]
    return int(line.removeprefix("PPid:"))
