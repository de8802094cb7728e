"""What a helper process does: one job after another from its input, each answered on
its output, until the input ends.

Owns what jobs there are (`normalize`, `render` and `examine`), and keeps their limits
of time and memory. A decoder cannot be stopped from within, so the process ends with a
job that takes too much time; its sender notices that.
"""

import contextlib
import os
import signal
import sys
import traceback
from collections.abc import Sequence

import msgspec

from image_workflow_emulator.domain.recipes import Recipe
from image_workflow_emulator.imaging.codecs import header_of, load
from image_workflow_emulator.imaging.memory import give_back_large_blocks
from image_workflow_emulator.imaging.messages import (
    IS_LARGE,
    Head,
    Message,
    max_seconds,
    receive_message,
    send_message,
)
from image_workflow_emulator.imaging.normalize import UnusableImage, normalize
from image_workflow_emulator.imaging.render import render
from image_workflow_emulator.imaging.scene import SCENE_EDGE, examine_scene

MAX_MEMORY_BYTES = 5 << 28
"""Of address space: a gibibyte for the job, and what the interpreter and its libraries
take.
"""
LARGE_PIXELS = 1 << 22
"""A picture with more of them is large: of these, one at a time is decoded."""
MAX_HEADER_SECONDS = 0.5
"""Processor time to read the headers of a job's pictures; any sound ones take a
hundredth of it.
"""


def main() -> None:
    """Work until the input ends."""
    # Ctrl-C is for the server, which ends its helpers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # nothing but answers goes to the output
    give_back_large_blocks()
    _limit_memory(MAX_MEMORY_BYTES)
    with contextlib.suppress(EOFError, OSError):  # the server has ended
        while True:
            head, parts = receive_message(sys.stdin.buffer)
            answer_head, answer_parts = _answer(head, parts)
            send_message(output, answer_head, answer_parts)


def _answer(head: Head, parts: Sequence[bytes]) -> Message:
    """The answer to a message, within the limits of time."""
    _limit_seconds(MAX_HEADER_SECONDS)
    has_large = any(_is_large(part) for part in parts)
    if has_large and not head["is_large"]:
        _limit_seconds(0)
        return IS_LARGE, []
    _limit_seconds(max_seconds(head))
    answer = do(head, parts)
    _limit_seconds(0)
    return answer


def _is_large(data: bytes) -> bool:
    header = header_of(data)
    if header is None:
        return False
    return header.width * header.height > LARGE_PIXELS


def _limit_memory(size_bytes: int) -> None:
    # Windows has none; a hard limit may be lower; a system may be without limits.
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        _, hard_limit = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (size_bytes, hard_limit))


def _limit_seconds(seconds: float) -> None:
    """End this process, by SIGPROF, when it has used so much more processor time; 0 is
    no limit.
    """
    # Windows has no such timer: there the sender's deadline has to do.
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_PROF, seconds)


def do(head: Head, parts: Sequence[bytes]) -> Message:
    """Do one job and return its answer; a defect is reported in the answer."""
    try:
        match head["job"]:
            case "normalize":
                return _normalize(head, parts[0])
            case "render":
                recipe = msgspec.convert(head["recipe"], Recipe)
                return {}, [render(recipe, parts)]
            case _:
                image = load(parts[0], SCENE_EDGE)
                return {"scene": examine_scene(image)}, []
    except UnusableImage as refusal:
        return {"refusal": str(refusal)}, []
    except Exception:
        return {"defect": traceback.format_exc()}, []


def _normalize(head: Head, data: bytes) -> Message:
    normalized = normalize(
        data,
        content_type=head["content_type"],
        stored_as=head.get("stored_as"),
    )
    answer = msgspec.structs.asdict(normalized)
    file = answer.pop("data")
    return answer, [file]
