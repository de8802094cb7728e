"""What a file may cost (D57), and that memory goes back to the system."""

import json
import platform
import struct
import sys
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image

from image_workflow_emulator.imaging.messages import Head
from tests.imaging.pictures import encoded, four_corners
from tests.support.pictures import png_chunk, png_of
from tests.support.served import run_program, run_script

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other systems measure other things")

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


def cost_of(folder: Path, data: bytes, content_type: str) -> tuple[Head | None, float, int]:
    """Give a file to a helper process of its own; return its answer, its seconds, and the most bytes it held."""
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
    header = png_chunk(b"IHDR", struct.pack(">IIBBBBB", *size, depth, color_type, 0, 0, interlace))
    return b"\x89PNG\r\n\x1a\n" + header + chunk + zeros(size[1] * row_bytes) + png_chunk(b"IEND", b"")


def announcing(source: bytes, place: int, numbers: bytes) -> bytes:
    return source[:place] + numbers + source[place + len(numbers) :]


def inserted(source: bytes, before: bytes, piece: bytes, count: int) -> bytes:
    place = source.rindex(before)
    return source[:place] + piece * count + source[place:]


def jpeg_of_many_scans() -> bytes:
    source = encoded(four_corners(), "JPEG", progressive=True)
    source = announcing(source, source.index(b"\xff\xc2") + 5, struct.pack(">HH", *SQUARE))
    last = source.rindex(b"\xff\xda")
    return source[:last] + source[last:-2] * 12 + source[-2:]


SMALL_JPEG, SMALL_GIF = encoded(four_corners(), "JPEG"), encoded(four_corners().quantize(8), "GIF")
SMALL_WEBP = encoded(four_corners(), "WEBP", lossless=True)

REFUSED: dict[str, tuple[str, Callable[[], bytes]]] = {
    "a PNG one pixel wide": ("image/png", lambda: png_of(1, 100_000_000, zeros(200_000_000))),
    "a GIF's long canvas": ("image/gif", lambda: announcing(SMALL_GIF, 6, struct.pack("<HH", 65_535, 1_525))),
    "a JPEG of 22 scans": ("image/jpeg", jpeg_of_many_scans),
    "a short WebP": ("image/webp", lambda: announcing(SMALL_WEBP, 21, struct.pack("<I", 16_382 | 6_102 << 14))),
    "a JPEG filled before a segment": ("image/jpeg", lambda: inserted(SMALL_JPEG, b"\xff\xdb", b"\xff", 15_000_000)),
    "a JPEG filled after its picture": ("image/jpeg", lambda: inserted(SMALL_JPEG, b"\xff\xd9", b"\xff", 15_000_000)),
    "a JPEG with bytes between segments": ("image/jpeg", lambda: inserted(SMALL_JPEG, b"\xff\xdb", b"\0", 15_000_000)),
    "a PNG of many chunks": ("image/png", lambda: png_of(4, 4, png_chunk(b"abCd", b"") * 500_000, zeros(20))),
    "a GIF of many extensions": (
        "image/gif", lambda: inserted(SMALL_GIF, SMALL_GIF[SMALL_GIF.index(b",\0\0\0\0") :], b"\x21\xfe\x01a\0", 2_500_000),
    ),
}  # fmt: skip

ANSWERED: dict[str, tuple[str, Callable[[], bytes]]] = {
    "a GIF with a long edge": ("image/gif", lambda: encoded(Image.new("P", (65_500, 1_526)), "GIF")),
    "a WebP": ("image/webp", lambda: encoded(Image.new("RGB", (8_000, 5_000)), "WEBP", lossless=True, method=0, quality=0)),
    "a transparent PNG": ("image/png", lambda: png_of_color(6, 8, 40_001)),
    "a PNG of 16 bits": ("image/png", lambda: png_of_color(0, 16, 20_001)),
    "a PNG of 16 bits with a transparent level": (
        "image/png", lambda: png_of_color(0, 16, 20_001, chunk=png_chunk(b"tRNS", bytes(2))),
    ),
    "an interlaced PNG": ("image/png", lambda: png_of_color(2, 8, 31_000, interlace=1)),
    "a progressive JPEG": ("image/jpeg", lambda: encoded(Image.new("RGB", SQUARE), "JPEG", progressive=True, subsampling=0)),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_costs_next_to_nothing(name: str, tmp_path: Path) -> None:
    content_type, make = REFUSED[name]
    found, seconds, peak_bytes = cost_of(tmp_path, make(), content_type)
    assert found is None or "refusal" in found
    assert seconds < 1
    assert peak_bytes < 256 * MEBIBYTE


@pytest.mark.verify
@pytest.mark.parametrize("name", ANSWERED)
def test_the_largest_of_every_kind_is_answered_within_bounds(name: str, tmp_path: Path) -> None:
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


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries decide by themselves")
def test_freed_blocks_between_small_ones_go_back_to_the_system() -> None:
    assert int(run_script(FREE_LARGE_BLOCKS)) < 60
