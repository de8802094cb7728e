"""One exchange of request and answer, as somebody recorded it. Knows nothing of the service, nor of any file format."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any, Final, Literal, TypeAlias

import orjson
from msgspec import Struct

from image_workflow_emulator.control.recorded_request import RecordedRequest
from image_workflow_emulator.kernel.timestamps import parse_timestamp
from image_workflow_emulator.settings import UsageError

Surface: TypeAlias = Literal["upload", "download"]
MAX_DEPTH: Final = 100
"""Limit of the levels of JSON in a body: what is deeper is no body of the service, and would exhaust the stack."""


class RecordingError(UsageError):
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
    is_coarse: bool = False
    """Whether its instant is known in whole seconds only, which is no evidence for waits."""
    arrived_at: int | None = None
    """The host's time of its arrival, where `at` is the time of an emulator's clock."""
    sandbox: str = ""
    """The sandbox of the emulator that recorded it."""
    entry: RecordedRequest | None = None
    """What the emulator's journal has of it."""

    @property
    def sequence(self) -> int:
        """Its number in the journal; 0 where no journal has it."""
        return self.entry.sequence if self.entry else 0


def json_of(body: bytes | None) -> Any:
    """Return the JSON of a body; None where it is none, or too deep."""
    with suppress(ValueError):
        value = orjson.loads(body or b"null")
        level: list[Any] = [[value]]
        for _ in range(MAX_DEPTH + 1):
            holders = [each.values() if isinstance(each, dict) else each for each in level]
            level = [member for holder in holders for member in holder if isinstance(member, dict | list)]
            if not level:
                return value
    return None


def instant_of(text: object) -> int | None:
    """Return the instant of a timestamp; None if it is none."""
    with suppress(ValueError):
        return parse_timestamp(text) if isinstance(text, str) else None
    return None


def leaves(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Iterate over the texts, numbers and the like in some JSON, each with the name of the member that holds it."""
    if isinstance(value, dict):
        for member, item in value.items():
            yield from leaves(item, member)
    elif isinstance(value, list):
        for item in value:
            yield from leaves(item, name)
    else:
        yield name, value


def with_leaves(value: Any, change: Callable[[Any], Any]) -> Any:
    """Return some JSON with what `change` makes of each of its leaves."""
    if isinstance(value, dict):
        return {member: with_leaves(item, change) for member, item in value.items()}
    if isinstance(value, list):
        return [with_leaves(item, change) for item in value]
    return change(value)
