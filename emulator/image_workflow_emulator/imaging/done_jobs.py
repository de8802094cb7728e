"""The answers to jobs that were done before.

A job is all that its answer depends on, and tests upload the same photo and order the
same pictures in one sandbox after another. The runs of a sweep do so in one emulator
after another: these share a folder. Owns how many bytes are kept, and the form of a
file. Must not know what a job does.
"""

import contextlib
import json
import tempfile
from collections import OrderedDict
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path
from threading import Lock
from typing import Final

from image_workflow_emulator.imaging.messages import (
    Head,
    Message,
    receive_message,
    send_message,
)

MAX_KEPT_BYTES: Final = 32 << 20
MAX_FOLDER_BYTES: Final = 128 << 20
_ENTRY_BYTES: Final = 1_024
"""More than an answer takes here beside its parts; a refusal has none of these."""
_LARGEST_PART: Final = 8
"""An answer of more than this part of all bytes is not kept: it would displace many."""


class JobFolder:
    """A folder with answers of other emulators, each in a file that is named by its
    job.
    """

    def __init__(self, path: Path, max_bytes: int = MAX_FOLDER_BYTES) -> None:
        path.mkdir(exist_ok=True)
        self._path = path
        self._left_bytes = max_bytes
        for file in path.iterdir():
            # Another emulator has just given it its name.
            with contextlib.suppress(FileNotFoundError):
                self._left_bytes -= file.stat().st_size

    def answer_to(self, job: bytes) -> Message | None:
        """Return the answer to a job; None if it is not there, or not whole."""
        try:
            with self._file(job).open("rb") as file:
                return receive_message(file)
        except (OSError, EOFError, ValueError):
            return None

    def keep(self, job: bytes, answer: Message) -> None:
        """Write an answer to a file, as long as there is room."""
        self._left_bytes -= _size_bytes(answer)
        if self._left_bytes < 0:
            return
        # A disk may be full: then the job is done again.
        with contextlib.suppress(OSError):
            # Another emulator may read it: it is there once it is whole.
            with tempfile.NamedTemporaryFile(dir=self._path, delete=False) as file:
                send_message(file, *answer)
            Path(file.name).replace(self._file(job))

    def _file(self, job: bytes) -> Path:
        return self._path / job.hex()


class DoneJobs:
    """The answers that were asked for last; safe to use from several threads."""

    def __init__(
        self,
        folder: JobFolder | None = None,
        *,
        max_bytes: int = MAX_KEPT_BYTES,
    ) -> None:
        self._folder = folder
        self._max_bytes = max_bytes
        self._kept_bytes = 0
        self._answers: OrderedDict[bytes, Message] = OrderedDict()
        self._lock = Lock()

    def answer_to(self, job: bytes) -> Message | None:
        """Return the answer to a job, by its digest; None if it is not kept."""
        with self._lock:
            answer = self._answers.get(job)
            if answer is not None:
                self._answers.move_to_end(job)
                return answer
        if self._folder is None:
            return None
        answer = self._folder.answer_to(job)
        if answer is not None:
            self._keep_here(job, answer)
        return answer

    def keep(self, job: bytes, answer: Message) -> None:
        """Keep an answer, in place of those that were not asked for for longest."""
        if _size_bytes(answer) > self._max_bytes // _LARGEST_PART:
            return
        self._keep_here(job, answer)
        if self._folder is not None:
            self._folder.keep(job, answer)

    def _keep_here(self, job: bytes, answer: Message) -> None:
        size_bytes = _size_bytes(answer)
        with self._lock:
            if job in self._answers:
                return
            self._answers[job] = answer
            self._kept_bytes += size_bytes
            while self._kept_bytes > self._max_bytes:
                _, oldest = self._answers.popitem(last=False)
                self._kept_bytes -= _size_bytes(oldest)


def digest_of(head: Head, parts: Sequence[bytes]) -> bytes:
    """Return a digest of all that a job is."""
    digest = blake2b(json.dumps(head).encode(), digest_size=16)
    for part in parts:
        digest.update(b"%d:" % len(part))
        digest.update(part)
    return digest.digest()


def _size_bytes(answer: Message) -> int:
    _, parts = answer
    return _ENTRY_BYTES + sum(map(len, parts))
