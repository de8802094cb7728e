"""The one reader of the files that options and arguments name, each within a limit.

A pipe or a device is read as a file is. One without an end, such as `/dev/zero`, is
refused as soon as it has more bytes than the limit.
"""

import os
from os import PathLike, fspath
from pathlib import Path
from typing import Final

from image_workflow_emulator.documents.complaints import (
    DocumentError,
    Position,
    error_at,
)
from image_workflow_emulator.documents.limits import MAX_BYTES

MAX_RECORDING_BYTES: Final = 256 * 1024 * 1024
"""Limit of a recording, a session and a report: what programs write."""
STATE_ROWS_BYTES: Final = 64 * 1024 * 1024
"""By how much a state file may exceed the limit of its pictures: all else, compressed."""
_CHUNK_BYTES: Final = 1024 * 1024


def read_file(file: str | PathLike[str], max_bytes: int = MAX_BYTES) -> bytes:
    """Return the content of a file, a pipe or a device.

    Raises:
        OSError: it cannot be read.
        DocumentError: it has more bytes than the limit, by default that of a document.
    """
    content = bytearray()
    with Path(file).open("rb") as opened:
        size = os.fstat(opened.fileno()).st_size  # 0 for a pipe or a device
        if size > max_bytes:
            raise _too_large(file, str(size), max_bytes)
        while chunk := opened.read(_CHUNK_BYTES):
            content += chunk
            if len(content) > max_bytes:
                raise _too_large(file, f"more than {max_bytes}", max_bytes)
    return bytes(content)


def _too_large(
    file: str | PathLike[str],
    found: str,
    max_bytes: int,
) -> DocumentError:
    return error_at(
        fspath(file),
        Position(),
        found=f"{found} bytes",
        expected=f"at most {max_bytes}",
    )
