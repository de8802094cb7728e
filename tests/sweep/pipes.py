"""Named pipes, by which tests hear that processes run, and that they are gone."""

import os
import select
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.served import PATIENCE_SECONDS


@contextmanager
def pipe(path: Path) -> Iterator[int]:
    """Make a named pipe, and read it."""
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        yield reader
    finally:
        os.close(reader)


def heard(reader: int) -> bytes:
    """What is written next to a pipe; nothing once nobody is left who holds it open."""
    assert select.select([reader], [], [], PATIENCE_SECONDS)[0]
    return os.read(reader, 4096)
