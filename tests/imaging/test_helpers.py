"""Helper processes: what they answer, what ends them alone, what a file may cost them
(D57), and freed memory.
"""

import asyncio
import contextlib
import json
import platform
import signal
import struct
import subprocess
import sys
import threading
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import msgspec
import pytest
from PIL import Image

from image_workflow_emulator.domain.recipes import EditRecipe, PremadeRecipe, Recipe
from image_workflow_emulator.imaging import helpers as helpers_module
from image_workflow_emulator.imaging.helpers import (
    MAX_HELPERS,
    Helpers,
    LostHelperError,
)
from image_workflow_emulator.imaging.messages import (
    Head,
    Message,
    receive_message,
    send_message,
)
from image_workflow_emulator.imaging.normalize import normalize
from image_workflow_emulator.imaging.render import render
from image_workflow_emulator.imaging.worker import LARGE_PIXELS
from tests.imaging.pictures import encoded, four_corners
from tests.support.pictures import png_chunk, png_of, slow_jpeg
from tests.support.served import run_program, run_script

on_linux = pytest.mark.skipif(
    sys.platform != "linux", reason="other systems limit and measure other things"
)
PATIENCE_SECONDS = 20
NORMALIZE_JPEG = {"job": "normalize", "content_type": "image/jpeg"}
SMALL_JPEG = encoded(four_corners(), "JPEG")
WIDE_EDGE = 2_100
"""Pixels; a square of this edge is a large picture."""


class Processes(list["subprocess.Popen[bytes]"]):
    def __init__(self) -> None:
        super().__init__()
        self.first = threading.Event()


@pytest.fixture
def processes(monkeypatch: pytest.MonkeyPatch) -> Processes:
    started = Processes()

    class Started(subprocess.Popen[bytes]):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            started.append(self)
            started.first.set()

    monkeypatch.setattr(subprocess, "Popen", Started)
    return started


@pytest.fixture
def helpers(processes: Processes) -> Iterator[Helpers]:
    with contextlib.closing(Helpers()) as helpers:
        yield helpers


def run(helpers: Helpers, head: Head, *parts: bytes) -> Message:
    return asyncio.run(helpers.run(head, parts))


def rendering(recipe: Recipe) -> Head:
    return {"job": "render", "recipe": msgspec.to_builtins(recipe)}


def test_an_upload_becomes_what_it_becomes_in_process_or_is_refused_in_words(
    helpers: Helpers,
) -> None:
    expected = normalize(SMALL_JPEG, "image/jpeg")
    head, parts = run(helpers, NORMALIZE_JPEG, SMALL_JPEG)
    assert head == {
        "format": "jpeg",
        "width": 48,
        "height": 32,
        "scene": expected.scene,
    }
    assert parts == [expected.data]
    head, parts = run(helpers, NORMALIZE_JPEG, b"no picture")
    assert "The bytes are no image of a known format" in head["refusal"]
    assert parts == []


def test_nothing_runs_before_the_first_job_and_one_helper_does_many(
    helpers: Helpers, processes: Processes
) -> None:
    assert processes == []
    for _ in range(3):
        run(helpers, NORMALIZE_JPEG, SMALL_JPEG)
    assert [None] == [process.poll() for process in processes]


def test_a_small_picture_does_not_wait_for_the_large_ones_before_it(
    helpers: Helpers, processes: Processes
) -> None:
    async def done_before_the_small_one() -> tuple[int, int]:
        photos = [
            asyncio.ensure_future(helpers.run(NORMALIZE_JPEG, [slow_jpeg(WIDE_EDGE)]))
            for _ in range(12)
        ]
        await asyncio.sleep(0)  # they are in the queue
        await helpers.run(NORMALIZE_JPEG, [SMALL_JPEG])
        found = sum(photo.done() for photo in photos), len(processes)
        helpers.close()
        await asyncio.gather(*photos, return_exceptions=True)
        return found

    photos_done, started = asyncio.run(done_before_the_small_one())
    assert (photos_done <= 1, started >= MAX_HELPERS) == (True, True)


def test_of_large_pictures_one_is_decoded_at_a_time(
    helpers: Helpers, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert WIDE_EDGE**2 > LARGE_PIXELS
    in_work: dict[int, bool] = {}
    """By thread, whether its helper decodes a large picture."""
    most = 0

    def send(stream: IO[bytes], head: Head, parts: Sequence[bytes]) -> None:
        nonlocal most
        in_work[threading.get_ident()] = head["is_large"]
        most = max(most, sum(in_work.values()))
        send_message(stream, head, parts)

    def receive(stream: IO[bytes]) -> Message:
        answer = receive_message(stream)
        in_work[threading.get_ident()] = False
        return answer

    monkeypatch.setattr(helpers_module, "send_message", send)
    monkeypatch.setattr(helpers_module, "receive_message", receive)

    async def run_four() -> None:
        large = encoded(Image.new("L", (WIDE_EDGE, WIDE_EDGE), 90), "PNG")
        await asyncio.gather(
            *(
                helpers.run({**NORMALIZE_JPEG, "content_type": "image/png"}, [large])
                for _ in range(4)
            )
        )

    asyncio.run(run_four())
    assert most == 1


def test_a_defect_is_raised_with_what_the_helper_said(helpers: Helpers) -> None:
    recipe = PremadeRecipe(
        kind="pose", name="Walking", index=0, width=2, height=2, format="png"
    )
    with pytest.raises(RuntimeError, match="the recipe names 0"):
        run(helpers, rendering(recipe), SMALL_JPEG)
    assert run(helpers, NORMALIZE_JPEG, SMALL_JPEG)[1]


def test_a_job_whose_helper_is_ended_is_done_by_another(
    helpers: Helpers, processes: Processes
) -> None:
    async def end_one() -> Message:
        slow = asyncio.ensure_future(helpers.run(NORMALIZE_JPEG, [slow_jpeg(2000)]))
        await asyncio.to_thread(processes.first.wait, PATIENCE_SECONDS)
        processes[0].kill()
        return await slow

    assert asyncio.run(end_one())[0]["width"] == 2000
    assert len(processes) == 2


def test_a_stopped_helper_is_given_up(
    helpers: Helpers, processes: Processes, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(helpers, NORMALIZE_JPEG, SMALL_JPEG)
    monkeypatch.setattr(helpers_module, "max_seconds", lambda head: 0.5)
    processes[0].send_signal(signal.SIGSTOP)
    assert run(helpers, NORMALIZE_JPEG, SMALL_JPEG)[1]
    assert [True, False] == [process.poll() is not None for process in processes]


@pytest.mark.parametrize("started", [0, helpers_module._TRIES])
def test_where_no_helper_does_it_an_upload_is_lost_and_a_drawing_shows_no_inputs(
    helpers: Helpers,
    processes: Processes,
    monkeypatch: pytest.MonkeyPatch,
    started: int,
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(helpers_module, "max_seconds", lambda head: 0)
    if not started:
        monkeypatch.setattr(subprocess, "Popen", fail)
    with pytest.raises(LostHelperError):
        run(helpers, NORMALIZE_JPEG, slow_jpeg(2000))
    assert started == len(processes)
    recipe = EditRecipe(
        inputs=("one",), instructions="Make it so.", width=80, height=80, format="png"
    )
    assert [render(recipe, [b""])] == run(helpers, rendering(recipe), SMALL_JPEG)[1]
    assert "clean" == run(helpers, {"job": "examine"}, SMALL_JPEG)[0]["scene"]


def test_closing_ends_every_helper_whatever_it_does(
    helpers: Helpers, processes: Processes
) -> None:
    async def close_while_one_works() -> object:
        slow = asyncio.ensure_future(helpers.run(NORMALIZE_JPEG, [slow_jpeg(2000)]))
        await asyncio.to_thread(processes.first.wait, PATIENCE_SECONDS)
        helpers.close()
        (lost,) = await asyncio.gather(slow, return_exceptions=True)
        return lost

    assert isinstance(asyncio.run(close_while_one_works()), LostHelperError)
    assert [process.returncode is not None for process in processes] == [True]
    with pytest.raises(LostHelperError):
        run(helpers, NORMALIZE_JPEG, SMALL_JPEG)


# What a helper does by itself -----------------------------------------------------------------------------------------


@contextlib.contextmanager
def helper(code: str = "worker.main()") -> Iterator["subprocess.Popen[bytes]"]:
    command = [
        sys.executable,
        "-c",
        f"from image_workflow_emulator.imaging import worker; {code}",
    ]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def give(
    process: "subprocess.Popen[bytes]", head: Head, parts: Sequence[bytes]
) -> None:
    assert process.stdin is not None
    send_message(process.stdin, {**head, "is_large": True}, parts)


@pytest.mark.parametrize("is_busy", [False, True])
def test_a_helper_ends_with_whoever_started_it(is_busy: bool) -> None:
    with helper() as process:
        if is_busy:
            give(process, NORMALIZE_JPEG, [slow_jpeg(2000)])
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(PATIENCE_SECONDS) == 0


def test_a_helper_ends_when_a_job_takes_too_long() -> None:
    with helper("worker.max_seconds = lambda head: 0.1; worker.main()") as process:
        assert process.stdout is not None
        give(process, NORMALIZE_JPEG, [slow_jpeg(2000)])
        with pytest.raises(EOFError):
            receive_message(process.stdout)
        assert process.wait(PATIENCE_SECONDS) == -signal.SIGPROF


@on_linux
def test_a_helper_takes_no_more_memory_than_its_limit() -> None:
    with helper("worker.MAX_MEMORY_BYTES = 400 << 20; worker.main()") as process:
        assert process.stdout is not None
        square = encoded(
            Image.new("RGB", (6_000, 6_000)), "WEBP", lossless=True, method=0, quality=0
        )
        give(process, {**NORMALIZE_JPEG, "content_type": "image/webp"}, [square])
        assert "do not decode as WEBP" in receive_message(process.stdout)[0]["refusal"]


# What a file may cost -------------------------------------------------------------------------------------------------

MEBIBYTE = 1 << 20
SQUARE = (10_000, 10_000)
COST = """
import json, os, subprocess, sys
from image_workflow_emulator.imaging.messages import receive_message, send_message

path, head = sys.argv[1:]
command = [sys.executable, "-c", "from image_workflow_emulator.imaging.worker import main; main()"]
process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
try:
    with open(path, "rb") as file:
        send_message(process.stdin, json.loads(head), [file.read()])
    found, _ = receive_message(process.stdout)
    process.stdin.close()
except (EOFError, OSError):
    found = None
_, _, usage = os.wait4(process.pid, 0)
print(json.dumps([found, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024]))
"""
"""In a process that is small itself, for what a new one inherits counts as its own."""


def cost_of(
    folder: Path, data: bytes, content_type: str
) -> tuple[Head | None, float, int]:
    """Give a file to a helper process of its own; return its answer, its seconds, and
    the most bytes it held.
    """
    path = folder / "picture"
    path.write_bytes(data)
    head = {"job": "normalize", "content_type": content_type, "is_large": True}
    result = run_program(sys.executable, "-c", COST, str(path), json.dumps(head))
    found, seconds, peak_bytes = json.loads(result.output)
    return found, seconds, peak_bytes


def zeros(size_bytes: int) -> bytes:
    return png_chunk(b"IDAT", zlib.compress(bytes(size_bytes), 1))


def png_of_color(
    color_type: int,
    depth: int,
    row_bytes: int,
    interlace: int = 0,
    size: tuple[int, int] = SQUARE,
    chunk: bytes = b"",
) -> bytes:
    header = png_chunk(
        b"IHDR", struct.pack(">IIBBBBB", *size, depth, color_type, 0, 0, interlace)
    )
    return (
        b"\x89PNG\r\n\x1a\n"
        + header
        + chunk
        + zeros(size[1] * row_bytes)
        + png_chunk(b"IEND", b"")
    )


def inserted(source: bytes, before: bytes, piece: bytes, count: int) -> bytes:
    place = source.rindex(before)
    return source[:place] + piece * count + source[place:]


SMALL_GIF = encoded(four_corners().quantize(8), "GIF")

REFUSED: dict[str, tuple[str, Callable[[], bytes]]] = {
    "a PNG one pixel wide": (
        "image/png",
        lambda: png_of(1, 100_000_000, zeros(200_000_000)),
    ),
    "a JPEG filled before a segment": (
        "image/jpeg",
        lambda: inserted(SMALL_JPEG, b"\xff\xdb", b"\xff", 15_000_000),
    ),
    "a JPEG filled after its picture": (
        "image/jpeg",
        lambda: inserted(SMALL_JPEG, b"\xff\xd9", b"\xff", 15_000_000),
    ),
    "a JPEG with bytes between segments": (
        "image/jpeg",
        lambda: inserted(SMALL_JPEG, b"\xff\xdb", b"\0", 15_000_000),
    ),
    "a PNG of many chunks": (
        "image/png",
        lambda: png_of(4, 4, png_chunk(b"abCd", b"") * 500_000, zeros(20)),
    ),
    "a GIF of many extensions": (
        "image/gif",
        lambda: inserted(
            SMALL_GIF,
            SMALL_GIF[SMALL_GIF.index(b",\0\0\0\0") :],
            b"\x21\xfe\x01a\0",
            2_500_000,
        ),
    ),
}

ANSWERED: dict[str, tuple[str, Callable[[], bytes]]] = {
    "a GIF with a long edge": (
        "image/gif",
        lambda: encoded(Image.new("P", (65_500, 1_526)), "GIF"),
    ),
    "a WebP": (
        "image/webp",
        lambda: encoded(
            Image.new("RGB", (8_000, 5_000)), "WEBP", lossless=True, method=0, quality=0
        ),
    ),
    "a transparent PNG": ("image/png", lambda: png_of_color(6, 8, 40_001)),
    "a PNG of 16 bits": ("image/png", lambda: png_of_color(0, 16, 20_001)),
    "a PNG of 16 bits with a transparent level": (
        "image/png",
        lambda: png_of_color(0, 16, 20_001, chunk=png_chunk(b"tRNS", bytes(2))),
    ),
    "an interlaced PNG": ("image/png", lambda: png_of_color(2, 8, 31_000, interlace=1)),
    "a progressive JPEG": (
        "image/jpeg",
        lambda: encoded(
            Image.new("RGB", SQUARE), "JPEG", progressive=True, subsampling=0
        ),
    ),
}


@on_linux
@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_costs_next_to_nothing(name: str, tmp_path: Path) -> None:
    content_type, make = REFUSED[name]
    found, seconds, peak_bytes = cost_of(tmp_path, make(), content_type)
    assert found is None or "refusal" in found
    assert seconds < 1
    assert peak_bytes < 256 * MEBIBYTE


@on_linux
@pytest.mark.verify
@pytest.mark.parametrize("name", ANSWERED)
def test_the_largest_of_every_kind_is_answered_within_bounds(
    name: str, tmp_path: Path
) -> None:
    content_type, make = ANSWERED[name]
    found, seconds, peak_bytes = cost_of(tmp_path, make(), content_type)
    assert found is not None
    assert "width" in found
    assert seconds < 5
    assert peak_bytes < 1024 * MEBIBYTE


FREE_LARGE_BLOCKS = """
from image_workflow_emulator.imaging.memory import give_back_large_blocks

give_back_large_blocks()
block = b"x" * (30 << 20)
del block  # glibc by itself would keep what is smaller from now on
blocks = [b"x" * size_bytes for _ in range(10) for size_bytes in (20 << 20, 100 << 10)]
del blocks[::2]
print(int(open("/proc/self/statm").read().split()[1]) * 4096 >> 20)
"""


@pytest.mark.skipif(
    platform.libc_ver()[0] != "glibc", reason="other C libraries decide by themselves"
)
def test_freed_blocks_between_small_ones_go_back_to_the_system() -> None:
    assert int(run_script(FREE_LARGE_BLOCKS)) < 60
