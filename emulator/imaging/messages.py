"""The messages between the server and its helper processes, and their form in a pipe.

A message is a head, which is JSON, and any number of parts, which are pictures. Written as the number of these, the
length of each in bytes, and then all of them. Owns this form. Must not import Pillow, nor know what messages mean.
"""

import json
import struct
from collections.abc import Mapping, Sequence
from typing import IO, Any

Head = Mapping[str, Any]
Message = tuple[Head, Sequence[bytes]]

IS_HEAVY: Head = {"is_heavy": True}
"""The answer to a job of the light lane that has a large picture in it."""

_COUNT = struct.Struct("<I")


def send_message(stream: IO[bytes], head: Head, parts: Sequence[bytes]) -> None:
    """Write a message. Raises OSError if the reader is gone."""
    whole = [json.dumps(head).encode(), *parts]
    stream.write(_COUNT.pack(len(whole)) + struct.pack(f"<{len(whole)}Q", *map(len, whole)))
    for part in whole:
        stream.write(part)
    stream.flush()


def receive_message(stream: IO[bytes]) -> Message:
    """Read a message. Raises EOFError if the other side has ended."""
    (count,) = _COUNT.unpack(_read_exactly(stream, _COUNT.size))
    lengths = struct.unpack(f"<{count}Q", _read_exactly(stream, 8 * count))
    head, *parts = [_read_exactly(stream, length) for length in lengths]
    return json.loads(head), parts


def _read_exactly(stream: IO[bytes], length: int) -> bytes:
    data = stream.read(length)
    if len(data) < length:
        raise EOFError
    return data
