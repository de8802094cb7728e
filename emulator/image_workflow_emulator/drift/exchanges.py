"""One recorded request with its answer, whichever tool recorded it.

The room's own form of an exchange; `har`, `cassettes` and `journals` make it.
"""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from image_workflow_emulator.control.recorded_request import RecordedRequest


class RecordedExchange(Struct, frozen=True):
    """One request with its answer. Names of headers are in lower case."""

    where: str
    """The place in the recording, for people: `session.har, entry 12`."""
    at: int | None
    """The instant of the request; None if the recording does not tell."""
    took_ms: float | None
    method: str
    url: str
    request_headers: Mapping[str, str]
    request_body: bytes | None
    status: int | None
    """None if no answer was recorded: it was lost, or the client left."""
    response_headers: Mapping[str, str]
    response_body: bytes | None
    is_coarse: bool = False
    """Whether the instant is in whole seconds, which is no evidence for waits."""
    sandbox: str = ""
    """The sandbox of the emulator that recorded it."""
    sequence: int = 0
    """Its number in the journal; 0 if it is from no journal."""
    arrived_at: int | None = None
    """The host's time of its arrival, where `at` is an emulator's time."""
    entry: RecordedRequest | None = None
    """Its entry in the emulator's journal."""


class Recording(Struct, frozen=True):
    """The exchanges of one client with one service, in the order of their requests."""

    exchanges: Sequence[RecordedExchange]
