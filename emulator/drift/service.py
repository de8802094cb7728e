"""An emulator in this process for one replay: asked as a client asks a service, without a socket, a helper or a picture.

What the pictures are does not matter to a recording, only their format and size. So uploads are descriptions of the
recorded files, and nothing is drawn.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import orjson

from emulator.drift.answer import Answer
from emulator.imaging.helpers import Helpers
from emulator.imaging.messages import Head, Message
from emulator.traffic.pictures import description_of
from emulator.web.wire import LostAnswerError

if TYPE_CHECKING:
    from emulator.app import Application

HOST: Final = "localhost"
ORIGIN: Final = f"http://{HOST}"
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


async def ask(
    application: "Application", method: str, target: str, headers: Mapping[str, str], body: bytes = b""
) -> Answer | None:
    """Send a request and return its answer; None if it was lost. `target` is a path with its query."""
    path, _, query = target.partition("?")
    sent = {**headers, "host": HOST, "content-length": str(len(body))}
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [
            (name.lower().encode("latin-1", "replace"), value.encode("latin-1", "replace"))
            for name, value in sent.items()
        ],
        "client": None,
        "server": (HOST, 80),
    }
    pieces = [{"type": "http.request", "body": body, "more_body": False}]
    answered: list[Any] = []

    async def receive() -> Any:
        return pieces.pop() if pieces else await asyncio.Event().wait()  # the client stays

    async def send(message: Any) -> None:
        answered.append(message)

    try:
        await application(scope, receive, send)
    except LostAnswerError:
        return None
    found = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in answered[0]["headers"]}
    return Answer(answered[0]["status"], found, b"".join(message.get("body", b"") for message in answered))
