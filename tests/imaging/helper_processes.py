"""Helper processes for the tests: those of a server, and single ones."""

import asyncio
import contextlib
import subprocess
import sys
from collections.abc import Iterator, Sequence
from threading import Event
from typing import IO, Any

import msgspec
import pytest

from image_workflow_emulator.domain.recipes import Recipe
from image_workflow_emulator.imaging.helpers import Helpers
from image_workflow_emulator.imaging.messages import Head, Message, send_message
from tests.imaging.pictures import encoded, four_corners

on_linux = pytest.mark.skipif(
    sys.platform != "linux",
    reason="other systems limit and measure other things",
)
PATIENCE_SECONDS = 20
NORMALIZE_JPEG: Head = {"job": "normalize", "content_type": "image/jpeg"}
SMALL_JPEG = encoded(four_corners(), "JPEG")


class Processes(list["subprocess.Popen[bytes]"]):
    """The processes that were started."""

    def __init__(self) -> None:
        super().__init__()
        self.first = Event()

    async def wait_for_first(self) -> None:
        await asyncio.to_thread(self.first.wait, PATIENCE_SECONDS)

    def ended(self) -> list[bool]:
        return [process.poll() is not None for process in self]


def run(
    helpers: Helpers,
    head: Head,
    *parts: bytes,
) -> Message:
    return asyncio.run(helpers.run(head, parts))


def rendering(recipe: Recipe) -> Head:
    return {"job": "render", "recipe": msgspec.to_builtins(recipe)}


@contextlib.contextmanager
def single_helper(code: str = "worker.main()") -> Iterator["subprocess.Popen[bytes]"]:
    """A helper process with no server, which runs some code of its module."""
    start = f"from image_workflow_emulator.imaging import worker; {code}"
    command = [sys.executable, "-c", start]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command,
        stdin=pipe,
        stdout=pipe,
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def give(
    process: "subprocess.Popen[bytes]",
    head: Head,
    parts: Sequence[bytes],
) -> None:
    """Send a job to a single helper."""
    send_message(input_of(process), {**head, "is_large": True}, parts)


def input_of(process: "subprocess.Popen[bytes]") -> IO[bytes]:
    assert process.stdin is not None
    return process.stdin


def output_of(process: "subprocess.Popen[bytes]") -> IO[bytes]:
    assert process.stdout is not None
    return process.stdout


def started_processes(monkeypatch: pytest.MonkeyPatch) -> Processes:
    """The processes that are started from now on."""
    started = Processes()

    class Started(subprocess.Popen[bytes]):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            started.append(self)
            started.first.set()

    monkeypatch.setattr(subprocess, "Popen", Started)
    return started
