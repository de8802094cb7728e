"""What the examiner asks of a request, and of the work and uploads that it was about.

A record of the journal answers these questions, and so does a call of a recording
(`drift`). Must not know where a request comes from.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeAlias


class Credential(Protocol):
    """A credential of the service."""

    @property
    def id(self) -> str:
        """Its id, which is no secret."""


class Arrival(Protocol):
    """How a request arrived. Instants and spans are in milliseconds."""

    @property
    def sequence(self) -> int:
        """Its number in the order of arrival, from 1."""

    @property
    def at(self) -> int:
        """The instant of its arrival, by the emulator's clock."""

    @property
    def arrived_ms(self) -> float:
        """The host's time of its arrival, from any fixed moment on."""

    @property
    def method(self) -> str:
        """The method."""

    @property
    def path(self) -> str:
        """The path below the host, without escapes and query."""

    @property
    def query(self) -> bytes:
        """The query as it was sent, without the `?`."""

    @property
    def credential(self) -> Credential | None:
        """The credential that it was sent with; None if it is unknown."""

    @property
    def unknown_credential(self) -> str | None:
        """A digest of the header Authorization that names no credential."""

    @property
    def has_authorization(self) -> bool:
        """Whether it had the header Authorization."""

    @property
    def shows_key(self) -> bool:
        """Whether it shows the key of a credential where none belongs."""

    @property
    def idempotency_key(self) -> str | None:
        """The Idempotency-Key."""

    @property
    def user_agent(self) -> str | None:
        """The header User-Agent."""

    @property
    def connection(self) -> str | None:
        """The client's end of its connection; None if that is unknown."""

    @property
    def operation(self) -> str | None:
        """The operation id; None for a byte surface, and for any other path."""

    @property
    def byte_surface(self) -> str | None:
        """`upload` or `download`; None for everything else."""

    @property
    def request_body(self) -> bytes | None:
        """The body; None if there was none, or it was not kept."""

    @property
    def request_body_bytes(self) -> int:
        """The size of a body that was not kept."""

    @property
    def request_digest(self) -> str:
        """A digest of a body that was not kept; empty if there is none."""


class Departure(Protocol):
    """What a request did, and how it left."""

    @property
    def is_committed(self) -> bool:
        """Whether it was carried out."""

    @property
    def work_id(self) -> str | None:
        """The id of the Operation or Generation that it admitted."""

    @property
    def outcome(self) -> str:
        """How it ended, such as `answered` or `abandoned`."""

    @property
    def status(self) -> int | None:
        """The status of its answer; None if there was none."""

    @property
    def code(self) -> str | None:
        """The code of the problem that it was answered with."""

    @property
    def is_injected(self) -> bool:
        """Whether a scenario, or its own header, asked for that problem."""

    @property
    def replay_of(self) -> str | None:
        """The id of the request whose stored answer was sent again."""

    @property
    def available_credits(self) -> int | None:
        """The Team's available Credits, if they were too few for it."""

    @property
    def response_headers(self) -> Sequence[tuple[bytes, bytes]] | None:
        """The headers of its answer, with names in lower case."""

    @property
    def response_body(self) -> bytes | None:
        """The body of its answer; None if there was none, or it was not kept."""

    @property
    def response_end(self) -> bytes:
        """The end of a body that was not kept."""

    @property
    def answer(self) -> Mapping[str, Any]:
        """The JSON object of its answer; empty if there was none."""

    @property
    def loss(self) -> str | None:
        """How its answer was lost on the wire; None if it was not."""

    @property
    def is_unheard(self) -> bool:
        """Whether its client had hung up before the answer was sent."""

    @property
    def left_at(self) -> int:
        """The instant of its answer, by the emulator's clock."""

    @property
    def duration_ms(self) -> float | None:
        """How long its answer took, by the host's clock."""

    @property
    def last_arrival(self) -> int:
        """The number of the last request that had arrived when this one left."""

    @property
    def is_timed(self) -> bool:
        """Whether its time tells how long its client waited."""


class Request(Arrival, Departure, Protocol):
    """One request: how it arrived, what it did, and how it left."""

    def __hash__(self) -> int:
        """Requests are told apart by their identity."""


Requests: TypeAlias = Sequence[Request]


class Work(Protocol):
    """An Operation or a Generation, as it is now."""

    @property
    def id(self) -> str:
        """Its id."""

    @property
    def reserved_credits(self) -> int | None:
        """The Credits that were reserved for it; None if that is unknown."""

    @property
    def charged_credits(self) -> int | None:
        """The Credits that it was charged; None until it has finished."""

    @property
    def finished_at(self) -> int | None:
        """The instant of its end; None until then."""


class Upload(Protocol):
    """An Upload Session, as it is now."""

    @property
    def id(self) -> str:
        """Its id."""

    @property
    def expires_at(self) -> int:
        """The instant at which its window ends."""


class Outcomes(Protocol):
    """What has become of the work and the uploads that requests were about."""

    def find_work(self, identifier: str) -> Work | None:
        """Return a piece of work as it is now; None if there is none."""

    def find_upload(self, identifier: str) -> Upload | None:
        """Return an Upload Session as it is now; None if there is none."""
