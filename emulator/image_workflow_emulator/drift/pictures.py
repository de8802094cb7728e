"""Pictures of a recording: described instead of kept, and stood in for while the recording is replayed."""

from typing import Any, Final

import orjson

from image_workflow_emulator.drift.exchanges import json_of

_MEMBER: Final = "recorded_picture"


def described(data: bytes, media_type: str, digest: str) -> bytes:
    """Return what is kept of bytes that are no JSON: a digest, their number, and of a picture its format and size."""
    from image_workflow_emulator.imaging.decoding import header_of

    description: dict[str, Any] = {"digest": digest, "size_bytes": len(data), "media_type": media_type}
    header = header_of(data)
    if header is not None:
        description |= {"format": header[0], "width": header[1], "height": header[2]}
    return orjson.dumps({_MEMBER: description})


def description_of(body: bytes | None) -> dict[str, Any] | None:
    """Return the description of recorded bytes, whether they were replaced by it or not; None if there are none."""
    if not body:
        return None
    try:
        value = json_of(body)
    except ValueError:
        value = orjson.loads(described(body, "", ""))
    description = value.get(_MEMBER) if isinstance(value, dict) else None
    return description if isinstance(description, dict) else None


def picture_size(body: bytes | None) -> tuple[int, int] | None:
    """Return the width and height in pixels of a recorded picture; None if they are unknown."""
    description = description_of(body) or {}
    width, height = description.get("width"), description.get("height")
    return (width, height) if isinstance(width, int) and isinstance(height, int) else None
