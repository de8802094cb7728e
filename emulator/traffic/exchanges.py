"""One exchange of request and answer, as somebody recorded it. Knows nothing of the service, nor of any file format."""

from collections.abc import Iterable, Mapping
from typing import Literal, TypeAlias

from msgspec import Struct

Surface: TypeAlias = Literal["upload", "download"]


class RecordingError(Exception):
    """A recording that cannot be read; the text names the file and the reason."""


class RecordedExchange(Struct, frozen=True):
    """One request with its answer. Names of headers are in lower case."""

    where: str
    """Where it was recorded, for people: `session.har, entry 12`."""
    at: int | None
    """The instant of the request; None where the recording does not tell."""
    took_ms: float | None
    method: str
    url: str
    request_headers: Mapping[str, str]
    request_body: bytes | None
    status: int | None
    """None where no answer was recorded: it was lost, or the client left."""
    response_headers: Mapping[str, str]
    response_body: bytes | None
    surface: Surface | None = None
    """Which of the byte surfaces it came to, where the recording itself says so."""
    is_partial: bool = False
    """Whether a body was cut off or left out, so that the exchange is evidence for the status alone."""


def lower_names(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return headers by their names in lower case; the values of a repeated one are joined, as HTTP allows."""
    headers: dict[str, str] = {}
    for name, value in pairs:
        key = name.lower()
        headers[key] = f"{headers[key]}, {value}" if key in headers else value
    return headers
