"""The record of a request: who sent what, which checks it passed, what decided, and
what was answered.

The one description of a request, in three parts: its arrival, its passage through the
checks, its departure. The exchange fills it while the request is on its way; the
journal, the control plane, the examiner and every report read the same object. Nothing
changes it after the request has left. It keeps references, not copies: headers and
bodies are decoded when somebody asks. Never holds image bytes, nor the header
Authorization.

No record is part of a circle, and there are thousands: the garbage collector need not
look at them (`gc=False`). Its passes, which stop everything else, would take 5 ms and
more.
"""

import hashlib
from typing import Any, Final, Literal, Self

import orjson
from msgspec import Struct, structs

from image_workflow_emulator.domain.problems import Check, Problem
from image_workflow_emulator.domain.resources import Credential, Team
from image_workflow_emulator.http.heads import Head
from image_workflow_emulator.scenario.matching import ByteSurface
from image_workflow_emulator.scenario.scenario import Rule

_FAULT_HEADER: Final = b"emulator-fault"
MAX_KEPT_BODY_BYTES = 64 * 1024
"""A longer body is left out of a record; its size is kept."""
_KEPT_END_BYTES = 512
"""How much is kept of the end of a long answer, where a list has its cursor."""

RequestOutcome = Literal[
    "in flight",
    "answered",
    "replayed",
    "refused",
    "replaced",
    "failed",
    "lost",
    "abandoned",
]
"""How a request ended. `replaced`: a scenario hid what was done behind a problem.
`lost`: a scenario lost it before anything was done. `failed`: by a defect of the
emulator. `abandoned`: its client left before it was whole."""


class Arrival(Struct, eq=False, gc=False, kw_only=True):
    """How a request arrived. What is unknown, or does not apply, is None. Instants and
    spans are in milliseconds.
    """

    at: int
    """The emulator's time."""
    request_id: str
    """The id that it was given when it arrived; a replay is answered with another,
    `replay_of`."""
    method: str
    path: str
    sequence: int = 0
    """Its number in the journal, which is used once."""
    query: bytes = b""
    credential: Credential | None = None
    team: Team | None = None
    unknown_credential: str | None = None
    """A digest of the header Authorization that names no credential."""
    has_authorization: bool = False
    """Whether it had the header Authorization."""
    shows_key: bool = False
    """Whether the key of a credential stands where none belongs: in the query, the
    Idempotency-Key, the User-Agent or the body; in a request for bytes, in any
    header."""
    key_header: bytes | None = None
    user_agent_header: bytes | None = None
    content_type_header: bytes | None = None
    """The header Content-Type of a request that announced a body, empty if it had none;
    None for one without a body."""
    fault_header: bytes | None = None
    """The header Emulator-Fault, of a request to an operation."""
    connection: str | None = None
    """The client's end of the connection that it came on; None where the server does
    not tell."""
    operation: str | None = None
    byte_surface: ByteSurface | None = None
    """Which of the byte surfaces it came to; None for an operation."""
    checks: tuple[Check, ...] = ()
    """The checks that its operation has, in their order; one that is made in two steps
    comes twice."""
    arrived_at: int = 0
    """The host's time as an instant."""
    arrived_ms: float = 0.0
    """The host's monotonic time."""
    change: int = 0
    """The number of its arrival among the changes of its sandbox."""


class Passage(Arrival, eq=False, gc=False, kw_only=True):
    """What a request did on its way."""

    steps_passed: int = 0
    """How many of its `checks` it has passed."""
    is_committed: bool = False
    """Whether it was carried out."""
    rule: Rule | None = None
    """The rule that was due."""
    has_rule_acted: bool = False
    """Whether the rule fired."""
    work_id: str | None = None
    """The Operation or Generation that it admitted."""
    work_rule: Rule | None = None
    """The rule that decided what becomes of the work that it admitted."""
    request_body: bytes | None = None
    request_body_bytes: int = 0
    """The size of a request's body that is not kept: it is long, or not JSON."""
    request_digest: str = ""
    """The digest of a body that was left out because it is long."""


class RequestRecord(Passage, eq=False, gc=False, kw_only=True):
    """One request: how it arrived, what it passed, and how it left."""

    outcome: RequestOutcome = "in flight"
    status: int | None = None
    problem: Problem | None = None
    replay_of: str | None = None
    """The id of the request whose stored answer was sent again (D11)."""
    available_credits: int | None = None
    """The Team's available Credits, if they were too few for it."""
    response_headers: tuple[tuple[bytes, bytes], ...] | None = None
    response_body: bytes | None = None
    response_body_bytes: int = 0
    """The size of an answer's body that is not kept."""
    response_end: bytes = b""
    """The end of an answer's body that was left out because it is long."""
    is_unheard: bool = False
    """Whether its client had closed the connection before the answer was sent."""
    left_at: int = 0
    """The emulator's time."""
    is_timed: bool = True
    """Whether its time tells how long its client waited: an auto clock skips the waits
    that it asks for."""
    last_arrival: int = 0
    """The number of the last request that had arrived when this one left: later ones
    may know its answer."""
    duration_ms: float | None = None
    """How long the answer took, by the host's clock; None while the request is in
    flight."""
    held_bytes: int = 0
    """What it counts for in the journal, once it is complete."""

    @classmethod
    def arrived(
        cls,
        head: Head,
        *,
        at: int,
        request_id: str,
        has_body: bool,
        credential: Credential | None,
        team: Team | None,
        shows_key: bool,
        operation: str | None,
        byte_surface: ByteSurface | None,
        checks: tuple[Check, ...],
        steps_passed: int,
    ) -> Self:
        """Return the record of a request that has arrived, from its head and from where
        it belongs.
        """
        headers = head.headers
        authorization = headers.get(b"authorization")
        record = cls(
            at=at,
            request_id=request_id,
            method=head.method,
            path=head.path,
            query=head.query_string,
            credential=credential,
            team=team,
            has_authorization=authorization is not None,
            shows_key=shows_key,
            key_header=headers.get(b"idempotency-key"),
            user_agent_header=headers.get(b"user-agent"),
            operation=operation,
            byte_surface=byte_surface,
            checks=checks,
            steps_passed=steps_passed,
        )
        if credential is None and authorization is not None:
            record.unknown_credential = digest(authorization)
        if has_body:
            record.content_type_header = headers.get(b"content-type", b"")
        if operation is not None:
            record.fault_header = headers.get(_FAULT_HEADER)
        if head.connection is not None:
            record.connection = head.connection.peer
        return record

    def complete(self) -> None:
        """Make the record of a request that has left fit to be kept: without long
        bodies and the frames of a traceback.
        """
        if self.problem is not None:
            _forget_traceback(self.problem)
        self.held_bytes = self._size_bytes()
        if self.held_bytes > MAX_KEPT_BODY_BYTES:
            self._leave_out_long_bodies()
            self.held_bytes = self._size_bytes()

    def _size_bytes(self) -> int:
        """Return the size of what a client can make long."""
        return (
            len(self.path)
            + len(self.query)
            + len(self.request_body or b"")
            + len(self.response_body or b"")
            + len(self.key_header or b"")
            + len(self.user_agent_header or b"")
            + len(self.content_type_header or b"")
        )

    def _leave_out_long_bodies(self) -> None:
        request = self.request_body
        if request is not None and len(request) > MAX_KEPT_BODY_BYTES:
            self.request_body = None
            self.request_body_bytes = len(request)
            self.request_digest = digest(request)
        response = self.response_body
        if response is not None and len(response) > MAX_KEPT_BODY_BYTES:
            self.response_body = None
            self.response_body_bytes = len(response)
            self.response_end = response[-_KEPT_END_BYTES:]

    @property
    def as_arrived(self) -> "RequestRecord":
        """The record as it was when the request arrived."""
        values = structs.asdict(self)
        arrival = {field: values[field] for field in Arrival.__struct_fields__}
        return RequestRecord(**arrival)

    # What is read when somebody asks --------------------------------------------------

    @property
    def passed(self) -> tuple[Check, ...]:
        """The checks that it has passed."""
        return self.checks[: self.steps_passed]

    @property
    def idempotency_key(self) -> str | None:
        """The Idempotency-Key that it came with, whatever became of it."""
        if self.key_header is None:
            return None
        return self.key_header.strip().decode("latin-1")

    @property
    def user_agent(self) -> str | None:
        """The header User-Agent."""
        return _text(self.user_agent_header)

    @property
    def content_type(self) -> str | None:
        """The header Content-Type of a request with a body."""
        return _text(self.content_type_header) or None

    @property
    def emulator_fault(self) -> str | None:
        """The header Emulator-Fault."""
        return _text(self.fault_header)

    @property
    def is_complete(self) -> bool:
        """Whether the request has left: answered, or given up by its client."""
        return self.duration_ms is not None

    @property
    def is_injected(self) -> bool:
        """Whether its problem was asked for, by a scenario or the header
        Emulator-Fault: not the service's own.
        """
        return self.problem is not None and self.problem.is_injected

    @property
    def loss(self) -> str | None:
        """How a scenario lost its answer on the wire, whatever was done; None if it did
        not.
        """
        if self.rule is None or not self.has_rule_acted:
            return None
        return self.rule.fault.loss

    @property
    def answered_id(self) -> str:
        """The Request-Id of its answer: on a replay, the first answer's own."""
        return self.replay_of or self.request_id

    @property
    def code(self) -> str | None:
        """The code of the problem that was answered with, if one was."""
        if self.problem is not None:
            return self.problem.code
        if self.replay_of is None or self.status is None or self.status < 400:
            return None
        code: str | None = self.answer.get("code")
        return code

    @property
    def answer(self) -> dict[str, Any]:
        """The JSON object that was answered; an empty one if there was none, or it is
        not kept.
        """
        answer = orjson.loads(self.response_body or b"{}")
        if not isinstance(answer, dict):
            return {}
        return answer


def json_or_none(body: bytes | None) -> Any:
    """Return the JSON of a body; None where it is none."""
    if not body:
        return None
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        return None


def digest(data: bytes) -> str:
    """Return a short name for some bytes."""
    return hashlib.blake2b(data, digest_size=9).hexdigest()


def _forget_traceback(problem: Problem) -> None:
    """Forget where a problem was raised: the frames would keep all local values alive."""
    problem.__traceback__ = None
    problem.__context__ = None
    problem.__cause__ = None


def _text(header: bytes | None) -> str | None:
    if header is None:
        return None
    return header.decode("latin-1")
