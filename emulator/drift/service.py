"""An emulator in this process for one replay: asked as a client asks a service, without a socket, a helper or a picture.

What the pictures are does not matter to a recording, only their format and size. So uploads are descriptions of the
recorded files, and nothing is drawn.
"""

from collections.abc import Sequence
from typing import Final

import orjson

from emulator.imaging.helpers import Helpers
from emulator.imaging.messages import Head, Message
from emulator.traffic.pictures import description_of

_FORMATS: Final = {"image/jpeg": "jpeg", "image/webp": "webp"}


class DescribedPictures(Helpers):
    """Does the jobs of helper processes with descriptions in place of pictures."""

    async def run(self, head: Head, parts: Sequence[bytes]) -> Message:
        """Answer a job at once."""
        description = description_of(parts[0]) if parts else None
        if head["job"] != "normalize":
            return {"scene": "clean"}, [orjson.dumps(head.get("recipe"))]
        description = description or {}
        if description.get("refusal"):
            return {"refusal": description["refusal"]}, []
        size = {"width": description.get("width") or 1_000, "height": description.get("height") or 1_000}
        stored = head.get("stored_as") or description.get("stored_format") or _FORMATS.get(head["content_type"], "png")
        return {"format": stored, "scene": "clean", **size}, [parts[0]]
