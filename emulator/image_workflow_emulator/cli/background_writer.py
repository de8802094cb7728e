"""Standard streams of a process that must not wait for their readers.

A thread writes, and everybody else only adds to what waits for it. Asking with
`select` before each write would not do: another process that has the same pipe may fill
it in between, and a shared file must not be made non-blocking.
"""

import io
import os
import select
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, TextIO

from image_workflow_emulator.kernel.wording import count_of

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

MAX_WAITING_BYTES: Final = 4 * 2**20
"""Limit of what is kept for a reader that is too slow."""
CLOSE_SECONDS: Final = 1.0
"""How long closing waits for the reader to take what is left, unless it is told."""
_LAST_WORD_SECONDS: Final = 1.0
"""How long it waits then for the line that tells how much was left out."""
_GATHER_SECONDS: Final = 0.1
"""Pause of the thread when nothing is left, so that busy times cost few writes."""


def left_out_note(lines: int) -> str:
    """Return what is written in place of lines that were left out."""
    return f"{count_of(lines, 'line')} left out: the reader was too slow"


@contextmanager
def written_in_background(
    stream: TextIO,
    note: Callable[[int], str] = left_out_note,
    close_seconds: float = CLOSE_SECONDS,
) -> Iterator[TextIO]:
    """Give a stream that writes to the same file and never waits for its reader.

    At the end of the block, what is left is written if the reader takes it within
    `close_seconds`. `note` returns the line for a number of lines that were left out.
    A stream without a file, as tests put in place of a standard one, is given back.
    """
    try:
        number = stream.fileno()
    except (OSError, ValueError):
        yield stream
        return
    writer = BackgroundWriter(
        number,
        lambda lines: f"{note(lines)}\n".encode(),
        close_seconds=close_seconds,
    )
    with io.TextIOWrapper(
        writer,
        encoding=stream.encoding,
        errors="backslashreplace",
        line_buffering=True,
    ) as unblocked_stream:
        yield unblocked_stream


class BackgroundWriter(io.BufferedIOBase):
    """A file to which a thread of its own writes.

    Lines that come while too many bytes wait are left out and counted, until the reader
    has taken all that waits; then a note says how many. If nobody can read the file any
    more, all is dropped.
    """

    def __init__(
        self,
        number: int,
        note: Callable[[int], bytes],
        max_waiting: int = MAX_WAITING_BYTES,
        close_seconds: float = CLOSE_SECONDS,
    ) -> None:
        """Write to the file with this number, which stays open at the end."""
        self.name = number  # as of a file that was opened by its number
        self._number = number
        self._note = note
        self._max_waiting = max_waiting
        self._close_seconds = close_seconds
        self._waiting = bytearray()
        self._left_out = 0
        self._has_given_up = False
        """Whether what waits is to be left out: the reader takes it too slowly."""
        self._line_end = b""
        """What ends a line that was written in part."""
        self._changed = threading.Condition()
        self._closing = threading.Event()
        # A daemon: a thread that is blocked must not keep the process from ending.
        thread = threading.Thread(
            target=self._run,
            name="writer",
            daemon=True,
        )
        thread.start()

    def writable(self) -> bool:
        """Return True."""
        return True

    def fileno(self) -> int:
        """Return the number of the file, for processes that get it too."""
        return self._number

    def isatty(self) -> bool:
        """Return whether the file is a terminal."""
        return os.isatty(self._number)

    def write(self, data: "ReadableBuffer") -> int:
        """Take whole lines, to be written soon."""
        added = bytes(data)
        with self._changed:
            is_full = len(self._waiting) + len(added) > self._max_waiting
            if is_full or self._left_out:
                self._left_out += added.count(b"\n")
            else:
                self._waiting += added
                self._changed.notify_all()
        return len(added)

    def close(self) -> None:
        """Wait until all is written, but only for so long. Then take no more.

        What is left then is left out. A reader that comes back at once is told so.
        """
        if self.closed:
            return
        try:
            self._closing.set()
            with self._changed:
                self._changed.notify_all()
                if not self._changed.wait_for(self._is_done, self._close_seconds):
                    self._has_given_up = True
                    self._changed.wait_for(self._is_done, _LAST_WORD_SECONDS)
        finally:
            super().close()

    def _is_done(self) -> bool:
        return not self._waiting

    def _run(self) -> None:
        """Write what waits, until the writer is closed and nothing is left."""
        while piece := self._next_piece():
            written = self._write_piece(piece)
            with self._changed:
                del self._waiting[:written]
                if self._has_given_up:
                    self._leave_out(piece[:written])
                if self._left_out and not self._waiting:
                    self._waiting += self._line_end + self._note(self._left_out)
                    self._line_end = b""
                    self._left_out = 0
                is_idle = not self._waiting
                self._changed.notify_all()
            if is_idle:
                self._closing.wait(_GATHER_SECONDS)

    def _leave_out(self, written: bytes) -> None:
        """Leave out what waits, and end the line that was written in part."""
        self._has_given_up = False
        self._left_out += self._waiting.count(b"\n")
        self._waiting.clear()
        self._line_end = b"" if written.endswith(b"\n") else b"\n"

    def _next_piece(self) -> bytes:
        """Wait for bytes to write; return none once the writer is closed."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._closing.is_set())
            return bytes(self._waiting[: select.PIPE_BUF])

    def _write_piece(self, piece: bytes) -> int:
        """Write to the file, and return how many bytes of the piece are done with."""
        try:
            return os.write(self._number, piece)
        except BlockingIOError:  # another process made the shared file non-blocking
            select.select((), (self._number,), ())
            return 0
        except OSError:  # its reader has gone, or the disk is full
            return len(piece)
