"""The standard streams of the process, which may be closed, or lose their reader."""

import os
import sys
from typing import TextIO


def open_closed_streams() -> None:
    """Open the null device for each standard stream that is closed: else a socket would
    take its number.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            null = os.open(os.devnull, os.O_RDWR)  # the lowest number that is free
            os.set_inheritable(null, True)
            mode = "r" if name == "stdin" else "w"
            stream = os.fdopen(number, mode, closefd=False)
            setattr(sys, name, stream)


def discard(stream: TextIO) -> None:
    """Discard what a stream still holds and gets: else Python complains at its exit,
    with a status of its own.
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
