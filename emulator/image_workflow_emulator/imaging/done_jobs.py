"""The answers to jobs that were done before.

A job is all that its answer depends on, and tests upload the same photo and order the
same pictures in one sandbox after another. Owns how many bytes are kept. Must not know
what a job does.
"""

import json
from collections import OrderedDict
from collections.abc import Sequence
from hashlib import blake2b
from threading import Lock
from typing import Final

from image_workflow_emulator.imaging.messages import Head, Message

MAX_KEPT_BYTES: Final = 32 << 20
_ENTRY_BYTES: Final = 1_024
"""More than an answer takes here beside its parts; a refusal has none of these."""
_LARGEST_PART: Final = 8
"""An answer of more than this part of all bytes is not kept: it would displace many."""


class DoneJobs:
    """The answers that were asked for last; safe to use from several threads."""

    def __init__(self, max_bytes: int = MAX_KEPT_BYTES) -> None:
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

    def keep(self, job: bytes, answer: Message) -> None:
        """Keep an answer, in place of those that were not asked for for longest."""
        size_bytes = _size_bytes(answer)
        if size_bytes > self._max_bytes // _LARGEST_PART:
            return
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
