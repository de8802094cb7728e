"""What a file may cost the helper that decodes it (D57), and memory that is given
back.
"""

import json
import platform
import struct
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from statistics import median

import pytest
from msgspec import Struct
from PIL import Image

from image_workflow_emulator.imaging.messages import Head
from tests.imaging.helper_processes import SMALL_JPEG, on_linux
from tests.imaging.pictures import encoded, four_corners
from tests.support.pictures import png_chunk, png_of
from tests.support.served import run_program, run_script

MEBIBYTE = 1 << 20
SQUARE = (10_000, 10_000)
TRIALS = 3
HEADER_SECONDS = 0.5
"""What the headers of a picture may cost, whatever the machine."""
COST = """
import json, os, subprocess, sys
from image_workflow_emulator.imaging.messages import receive_message, send_message

path, head = sys.argv[1:]
start = "from image_workflow_emulator.imaging.worker import main; main()"
pipe = subprocess.PIPE
process = subprocess.Popen([sys.executable, "-c", start], stdin=pipe, stdout=pipe)
try:
    with open(path, "rb") as file:
        send_message(process.stdin, json.loads(head), [file.read()])
    answer, _ = receive_message(process.stdout)
    process.stdin.close()
except (EOFError, OSError):
    answer = None
_, _, usage = os.wait4(process.pid, 0)
print(json.dumps([answer, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024]))
"""
"""In a process that is small itself: what a new one inherits counts as its own."""


class Cost(Struct, frozen=True):
    """What a helper answered, its processor time, and the most memory that it held."""

    answer: Head | None
    seconds: float
    peak_bytes: int


def cost_of(
    folder: Path,
    file: bytes,
    content_type: str,
) -> Cost:
    """The cost of a file to a helper process of its own."""
    path = folder / "picture"
    path.write_bytes(file)
    head = {"job": "normalize", "content_type": content_type, "is_large": True}
    result = run_program(sys.executable, "-c", COST, str(path), json.dumps(head))
    return Cost(*json.loads(result.output))


# Files --------------------------------------------------------------------------------


def zeros(size_bytes: int) -> bytes:
    return png_chunk(b"IDAT", zlib.compress(bytes(size_bytes), 1))


def large_png(
    color_type: int,
    depth: int,
    row_bytes: int,
    interlace: int = 0,
    chunk: bytes = b"",
) -> bytes:
    numbers = (*SQUARE, depth, color_type, 0, 0, interlace)
    header = png_chunk(b"IHDR", struct.pack(">IIBBBBB", *numbers))
    rows = zeros(SQUARE[1] * row_bytes)
    return b"\x89PNG\r\n\x1a\n" + header + chunk + rows + png_chunk(b"IEND", b"")


def inserted(
    source: bytes,
    before: bytes,
    piece: bytes,
    count: int,
) -> bytes:
    place = source.rindex(before)
    return source[:place] + piece * count + source[place:]


def narrow_png() -> bytes:
    return png_of(1, 100_000_000, zeros(200_000_000))


def jpeg_filled_before_a_segment() -> bytes:
    return inserted(SMALL_JPEG, b"\xff\xdb", b"\xff", 15_000_000)


def jpeg_filled_after_its_picture() -> bytes:
    return inserted(SMALL_JPEG, b"\xff\xd9", b"\xff", 15_000_000)


def jpeg_with_bytes_between_segments() -> bytes:
    return inserted(SMALL_JPEG, b"\xff\xdb", b"\0", 15_000_000)


def png_of_many_chunks() -> bytes:
    return png_of(4, 4, png_chunk(b"abCd", b"") * 500_000, zeros(20))


def gif_of_many_extensions() -> bytes:
    source = encoded(four_corners().quantize(8), "GIF")
    picture = source[source.index(b",\0\0\0\0") :]
    return inserted(source, picture, b"\x21\xfe\x01a\0", 2_500_000)


def long_gif() -> bytes:
    return encoded(Image.new("P", (65_500, 1_526)), "GIF")


def large_webp() -> bytes:
    image = Image.new("RGB", (8_000, 5_000))
    return encoded(
        image,
        "WEBP",
        lossless=True,
        method=0,
        quality=0,
    )


def large_transparent_png() -> bytes:
    return large_png(
        color_type=6,
        depth=8,
        row_bytes=40_001,
    )


def large_deep_png() -> bytes:
    return large_png(
        color_type=0,
        depth=16,
        row_bytes=20_001,
    )


def large_deep_png_with_key() -> bytes:
    key = png_chunk(b"tRNS", bytes(2))
    return large_png(
        color_type=0,
        depth=16,
        row_bytes=20_001,
        chunk=key,
    )


def large_interlaced_png() -> bytes:
    return large_png(
        color_type=2,
        depth=8,
        row_bytes=31_000,
        interlace=1,
    )


def large_progressive_jpeg() -> bytes:
    image = Image.new("RGB", SQUARE)
    return encoded(image, "JPEG", progressive=True, subsampling=0)


REFUSED = [
    (narrow_png, "image/png"),
    (jpeg_filled_before_a_segment, "image/jpeg"),
    (jpeg_filled_after_its_picture, "image/jpeg"),
    (jpeg_with_bytes_between_segments, "image/jpeg"),
    (png_of_many_chunks, "image/png"),
    (gif_of_many_extensions, "image/gif"),
]

ANSWERED = [
    (long_gif, "image/gif"),
    (large_webp, "image/webp"),
    (large_transparent_png, "image/png"),
    (large_deep_png, "image/png"),
    (large_deep_png_with_key, "image/png"),
    (large_interlaced_png, "image/png"),
    (large_progressive_jpeg, "image/jpeg"),
]


@pytest.fixture
def small_seconds(tmp_path: Path) -> float:
    """The processor time of a picture of a few pixels, which is nearly all that a new
    process takes to start. It is the middle of several: one may be a third less.
    """
    costs = [cost_of(tmp_path, SMALL_JPEG, "image/jpeg") for _ in range(TRIALS)]
    return median(cost.seconds for cost in costs)


@on_linux
@pytest.mark.parametrize(("make", "content_type"), REFUSED)
def test_what_is_refused_costs_no_more_than_its_header_may(
    make: Callable[[], bytes],
    content_type: str,
    small_seconds: float,
    tmp_path: Path,
) -> None:
    cost = cost_of(tmp_path, make(), content_type)

    assert cost.answer is None or "refusal" in cost.answer
    assert cost.seconds < HEADER_SECONDS + 2 * small_seconds
    assert cost.peak_bytes < 256 * MEBIBYTE


@on_linux
@pytest.mark.verify
@pytest.mark.parametrize(("make", "content_type"), ANSWERED)
def test_the_largest_of_every_kind_is_answered_within_bounds(
    make: Callable[[], bytes],
    content_type: str,
    tmp_path: Path,
) -> None:
    cost = cost_of(tmp_path, make(), content_type)

    assert cost.answer is not None
    assert "width" in cost.answer
    assert cost.seconds < 5
    assert cost.peak_bytes < 1024 * MEBIBYTE


# Memory -------------------------------------------------------------------------------

FREE_LARGE_BLOCKS = """
from image_workflow_emulator.imaging.memory import give_back_large_blocks

give_back_large_blocks()
block = b"x" * (30 << 20)
del block  # glibc by itself would keep what is smaller from now on
blocks = [b"x" * size for _ in range(10) for size in (20 << 20, 100 << 10)]
del blocks[::2]
print(int(open("/proc/self/statm").read().split()[1]) * 4096 >> 20)
"""


@pytest.mark.skipif(
    platform.libc_ver()[0] != "glibc",
    reason="other C libraries decide by themselves",
)
def test_freed_blocks_between_small_ones_go_back_to_the_system() -> None:
    held_mebibytes = int(run_script(FREE_LARGE_BLOCKS))

    assert held_mebibytes < 60
