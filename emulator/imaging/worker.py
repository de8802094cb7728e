"""What a helper process does: one job after another from its input, each answered on its output, until the input ends.

Owns what jobs there are and their limits in time and memory. A decoder cannot be stopped from within, so the process
ends with a job that exceeds the time; its sender notices the end of the output. The form of messages is that of
`emulator.imaging.messages`.
"""

import contextlib
import faulthandler
import os
import queue
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Mapping, Sequence
from typing import IO

import msgspec

from emulator.domain.recipes import Recipe
from emulator.imaging.decoding import limit_decoders, size_of
from emulator.imaging.memory import give_back_large_blocks
from emulator.imaging.messages import IS_HEAVY, Head, Message, receive_message, send_message
from emulator.imaging.normalize import PIXEL_LIMIT, HeavyImageError, UnusableImage, normalize
from emulator.imaging.render import render
from emulator.imaging.scene import examine_scene_of

DECODING_SECONDS = 10
"""How long an upload in the light lane may take: many times what any usable one needs."""
USUAL_SECONDS = 60
"""How long any other job may take: a hundred megapixels need a quarter of it on a busy machine."""
MEMORY_BYTES = 3 << 30
"""How much address space a helper may have. A hundred megapixels of WebP need 2 GB."""


def main() -> None:
    """Work until the input ends, and then stop at once, even in the middle of a job."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which ends its helpers
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # nothing but answers goes to the output
    _limit_memory()
    give_back_large_blocks()
    limit_decoders()
    jobs: queue.SimpleQueue[Message] = queue.SimpleQueue()
    threading.Thread(target=_read_jobs, args=(sys.stdin.buffer, jobs), daemon=True).start()
    while True:
        job = jobs.get()
        faulthandler.dump_traceback_later(_seconds(job[0]), exit=True)
        answer = do(*job)
        faulthandler.cancel_dump_traceback_later()
        send_message(output, *answer)


def _seconds(head: Head) -> int:
    is_light = "pixels_at_once" in head
    return DECODING_SECONDS if is_light and head["job"] == "normalize" else USUAL_SECONDS


def _read_jobs(stream: IO[bytes], jobs: "queue.SimpleQueue[Message]") -> None:
    with contextlib.suppress(EOFError, OSError):
        while True:
            jobs.put(receive_message(stream))
    os._exit(0)


def _limit_memory() -> None:
    try:
        import resource
    except ImportError:  # Windows
        return
    with contextlib.suppress(ValueError, OSError):  # the limit is lower already, or the system has none
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))


def do(head: Head, parts: Sequence[bytes]) -> Message:
    """Do one job and return its answer; a defect is reported in the answer."""
    try:
        return _JOBS[head["job"]](head, parts)
    except HeavyImageError:
        return IS_HEAVY, []
    except Exception:
        return {"defect": traceback.format_exc()}, []


def _normalize(head: Head, parts: Sequence[bytes]) -> Message:
    try:
        image = normalize(parts[0], head["content_type"], head.get("pixels_at_once", PIXEL_LIMIT))
    except UnusableImage as refusal:
        return {"refusal": refusal.reason}, []
    found = {"format": image.format, "width": image.width, "height": image.height, "scene": image.scene}
    return found, [image.data]


def _render(head: Head, parts: Sequence[bytes]) -> Message:
    _check_inputs(head, parts)
    return {}, [render(msgspec.convert(head["recipe"], Recipe), parts)]


def _examine(head: Head, parts: Sequence[bytes]) -> Message:
    _check_inputs(head, parts)
    return {"scene": examine_scene_of(parts[0])}, []


def _check_inputs(head: Head, parts: Sequence[bytes]) -> None:
    most = head.get("pixels_at_once", PIXEL_LIMIT)
    if any(width * height > most for width, height in map(size_of, parts)):
        raise HeavyImageError


_JOBS: Mapping[str, Callable[[Head, Sequence[bytes]], Message]] = {
    "normalize": _normalize,
    "render": _render,
    "examine": _examine,
}
