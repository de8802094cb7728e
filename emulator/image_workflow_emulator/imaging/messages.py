"""The messages between the server and its helper processes, and their form in a pipe.

A message is a head, which is JSON, and any number of parts, which are pictures. Written
as a line with the head, which also has the size of each part, and then all of these.
Owns this form, and the time that a job may take, by its name in the head, `job`. Must
not import Pillow, nor know what a job does.
"""

import json
from collections.abc import Mapping, Sequence
from typing import IO, Any

Head = Mapping[str, Any]
Message = tuple[Head, Sequence[bytes]]

IS_LARGE: Head = {"is_large": True}
"""The answer to a job that has a large picture in it and was not announced as large:
nothing was done.
"""

MAX_DECODING_SECONDS = 4.5
MAX_DRAWING_SECONDS = 20


def max_seconds(head: Head) -> float:
    """How much processor time a job may take."""
    if head["job"] == "normalize":
        return MAX_DECODING_SECONDS
    return MAX_DRAWING_SECONDS


def send_message(
    stream: IO[bytes],
    head: Head,
    parts: Sequence[bytes],
) -> None:
    """Write a message. Raises OSError if the reader is gone."""
    line = json.dumps([head, _sizes_of(parts)]).encode()
    stream.writelines((line, b"\n", *parts))
    stream.flush()


def receive_message(stream: IO[bytes]) -> Message:
    """Read a message. Raises EOFError if the other side has ended."""
    line = stream.readline()
    if not line.endswith(b"\n"):
        raise EOFError
    head, sizes = json.loads(line)
    parts = [stream.read(size) for size in sizes]
    if sizes != _sizes_of(parts):
        raise EOFError
    return head, parts


def _sizes_of(parts: Sequence[bytes]) -> list[int]:
    return [len(part) for part in parts]
