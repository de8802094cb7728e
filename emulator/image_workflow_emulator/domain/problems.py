"""The catalogue of errors (section 7), the checks that raise them in their order (D01),
and the one exception class.

Nothing else in the project says which status or title a code has, or where a check
comes from.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, Literal, Self

from msgspec import Struct

from image_workflow_emulator.kernel.wording import excerpt


class Source(Struct, frozen=True):
    """Why something is checked: the section of the specification, and the decisions
    where it is silent.
    """

    section: str
    decisions: tuple[str, ...] = ()


class Check(StrEnum):
    """The checks that a request passes, in the order of D01; a problem names the one
    that decided.

    Each has its name, and its source: the section and the decisions.
    """

    source: Source

    def __new__(
        cls,
        name: str,
        section: str,
        *decisions: str,
    ) -> Self:
        """Make a check of its name, and the section and decisions of its source."""
        check = str.__new__(cls, name)
        check._value_ = name
        check.source = Source(section, decisions)
        return check

    ROUTE = "route", "4", "D06"
    CREDENTIAL = "credential", "5, rule 5", "D48"
    RATE = "request rate", "8", "D41", "D42"
    PROFILE = "permission profile", "5, rule 2"
    SHAPE = "request shape", "4", "D02", "D03", "D44", "D48"
    BODY = (
        "body against the contract",
        "4",
        "D03",
        "D04",
        "D05",
        "D22",
        "D32",
        "D33",
        "D34",
        "D39",
    )
    IDEMPOTENCY = "idempotency record", "4", "D10", "D11", "D12", "D13", "D14"
    PAUSE = "admission pause", "7"
    SUBSCRIPTION = "subscription", "5, rule 4", "D20"
    RESOURCE = "path's resource", "5, rule 6", "D07"
    READ_ONLY = "read-only global resource", "2", "D21"
    STATE = "state of the resource", "3", "D17", "D23"
    REFERENCES = "references in the body", "7"
    RULES = "business rules", "4", "D17", "D22", "D34"
    CONCURRENCY = "concurrency budget", "8", "D40", "D42", "D47"
    CREDITS = "Credits", "4", "D10", "D29", "D30"


ENTRANCE_CHECKS = (Check.CREDENTIAL, Check.RATE)
"""The checks before a scenario is asked what is to happen to a request."""


class ProblemKind(Struct, frozen=True):
    """One row of the catalogue: everything that is a fact of a problem code."""

    code: str
    status: int
    title: str
    check: Check
    """The check that usually answers with it."""
    recovery: str
    """What a client should do, as an instruction."""
    mended_by: Literal["time", "client", "people"] = "people"
    """`time`: after a wait, the same request can succeed. `client`: the client alone
    can succeed, by a new Upload Session. `people`: somebody has to change something."""
    depends_on_world: bool = False
    """Whether it depends on what no recording shows: other clients, the Team's account,
    the state of the service."""
    is_for_bytes: bool = False
    """Whether uploads and downloads of bytes can be asked to answer with it."""
    key: Literal["binds", "may-bind", "releases"] = "releases"
    """What becomes of the Idempotency-Key (D10). `binds`: it is bound as by an
    admission, since the recovery is a new logical request. `may-bind`: bound by one
    reading of D10."""
    source: Source | None = None
    """Why it is answered, where that is not the source of its check."""


_ROWS: Final = (
    ProblemKind(
        "invalid_request",
        400,
        "The request is malformed",
        Check.SHAPE,
        "correct the request",
    ),
    ProblemKind(
        "invalid_cursor",
        400,
        "The cursor is not of this collection",
        Check.SHAPE,
        "list again without a cursor",
    ),
    ProblemKind(
        "authentication_required",
        401,
        "A valid credential is required",
        Check.CREDENTIAL,
        "send a valid key as a Bearer token",
    ),
    ProblemKind(
        "credential_expired",
        401,
        "The credential has expired",
        Check.CREDENTIAL,
        "create a replacement credential",
        depends_on_world=True,
    ),
    ProblemKind(
        "credential_revoked",
        401,
        "The credential was revoked",
        Check.CREDENTIAL,
        "use another active credential",
        depends_on_world=True,
    ),
    ProblemKind(
        "insufficient_credits",
        402,
        "The Team has too few Credits",
        Check.CREDITS,
        "add Credits and send a new logical request, with a new key",
        depends_on_world=True,
        key="binds",
    ),
    ProblemKind(
        "permission_denied",
        403,
        "The credential does not permit this",
        Check.PROFILE,
        "use a full credential for writes",
    ),
    ProblemKind(
        "subscription_required",
        403,
        "An active Subscription is required",
        Check.SUBSCRIPTION,
        "restore the Subscription; reads remain available",
        depends_on_world=True,
    ),
    ProblemKind(
        "not_found",
        404,
        "There is no such resource",
        Check.RESOURCE,
        "treat the resource as unavailable",
        key="may-bind",
    ),
    ProblemKind(
        "upload_not_found",
        404,
        "There is no such Upload Session",
        Check.RESOURCE,
        "create a new Upload Session",
        mended_by="client",
        key="may-bind",
        source=Source("4", ("D07", "D16", "D17", "D45")),
    ),
    ProblemKind(
        "asset_not_found",
        404,
        "There is no such Asset",
        Check.RESOURCE,
        "use an Asset that exists",
        key="may-bind",
    ),
    ProblemKind(
        "product_not_found",
        404,
        "There is no such Product",
        Check.RESOURCE,
        "use a Product that exists",
        key="may-bind",
    ),
    ProblemKind(
        "idempotency_in_progress",
        409,
        "The key is still being admitted",
        Check.IDEMPOTENCY,
        "wait, then send the same request with the same key",
        mended_by="time",
        depends_on_world=True,
    ),
    ProblemKind(
        "resource_operation_in_progress",
        409,
        "Authoring work is in progress",
        Check.STATE,
        "poll the Operation named by active_operation_id, then try again",
        mended_by="time",
        key="may-bind",
    ),
    ProblemKind(
        "upload_bytes_conflict",
        409,
        "The session accepted other bytes",
        Check.STATE,
        "create a new Upload Session",
        mended_by="client",
        key="may-bind",
        source=Source("4", ("D16",)),
    ),
    ProblemKind(
        "upload_expired",
        410,
        "The upload window has passed",
        Check.STATE,
        "create a new Upload Session",
        mended_by="client",
        source=Source("4", ("D15", "D16", "D17")),
    ),
    ProblemKind(
        "invalid_input",
        422,
        "The input violates the contract",
        Check.BODY,
        "correct the fields",
    ),
    ProblemKind(
        "invalid_reference",
        422,
        "A reference is not usable",
        Check.REFERENCES,
        "replace the reference",
        key="may-bind",
    ),
    ProblemKind(
        "idempotency_key_reused",
        422,
        "The key belongs to another request",
        Check.IDEMPOTENCY,
        "send the original intent, or a new key",
    ),
    ProblemKind(
        "already_at_target_resolution",
        422,
        "The Asset already has this resolution",
        Check.RULES,
        "use the Asset as it is, or ask for a higher target",
        key="may-bind",
        source=Source("4", ("D35",)),
    ),
    ProblemKind(
        "concurrency_limit_reached",
        429,
        "Too much work is in progress",
        Check.CONCURRENCY,
        "wait for Retry-After, or for work to finish",
        mended_by="time",
        depends_on_world=True,
    ),
    ProblemKind(
        "rate_limited",
        429,
        "Too many requests",
        Check.RATE,
        "wait for Retry-After, then retry with backoff",
        mended_by="time",
        depends_on_world=True,
    ),
    ProblemKind(
        "internal_error",
        500,
        "The request could not be completed",
        Check.ROUTE,
        "retry; with the same key where the request takes one",
        mended_by="time",
        depends_on_world=True,
        is_for_bytes=True,
        source=Source("7"),
    ),
    ProblemKind(
        "service_unavailable",
        503,
        "New writes are paused",
        Check.PAUSE,
        "wait for Retry-After; reads and accepted work go on",
        mended_by="time",
        depends_on_world=True,
        is_for_bytes=True,
    ),
)

CATALOGUE: Final[Mapping[str, ProblemKind]] = {kind.code: kind for kind in _ROWS}
"""The codes of section 7."""
INVALID_SCENARIO: Final = ProblemKind(
    "invalid_scenario",
    422,
    "The scenario is not valid",
    Check.BODY,
    "correct the file",
)
"""What only the control plane answers."""
_KINDS: Final[Mapping[str, ProblemKind]] = {
    **CATALOGUE,
    INVALID_SCENARIO.code: INVALID_SCENARIO,
}

MENDED_BY_TIME: Final = frozenset(
    kind.code for kind in _ROWS if kind.mended_by == "time"
)
MENDED_BY_CLIENT: Final = frozenset(
    kind.code for kind in _ROWS if kind.mended_by == "client"
)
WORLD_CODES: Final = frozenset(kind.code for kind in _ROWS if kind.depends_on_world)
BYTE_CODES: Final = frozenset(kind.code for kind in _ROWS if kind.is_for_bytes)
KEY_BINDING_CODES: Final = frozenset(kind.code for kind in _ROWS if kind.key == "binds")
_DEFINITE_CODES: Final = frozenset(
    kind.code for kind in _ROWS if kind.key in ("binds", "may-bind")
)


def source_of(check: Check, code: str | None = None) -> Source:
    """Return why something is checked; with a code, why the check answered with it."""
    kind = CATALOGUE.get(code or "")
    if kind is None or kind.source is None:
        return check.source
    return kind.source


def key_binding_codes(reading: str) -> frozenset[str]:
    """Return the codes of the problems that bind an Idempotency-Key, by a reading of
    D10.
    """
    if reading == "binds-refusals":
        return _DEFINITE_CODES
    if reading == "releases":
        return frozenset()
    return KEY_BINDING_CODES


class Cause(Struct, frozen=True):
    """The timeline change that caused a state: where it is in the file, and when it was
    made.
    """

    file: str
    line: int
    at: int


@dataclass(eq=False)
class Problem(Exception):
    """A refusal: raised by any check, turned into an answer in one place.

    `detail` says where, what was found and what was expected (D08). `remedy` is the
    smallest change that would have let the request in, as an instruction ("add 3
    Credits"); only the journal shows it. `status` differs from the catalogue's only
    where statuses share the code `invalid_request` (405, 413, 416; D03, D06). `headers`
    are those that the status requires, such as Allow. `is_injected` marks what a
    scenario or the header Emulator-Fault asked for; `cause` is the change of a timeline
    that the refusal comes from. `missing_credits` is how many more Credits would have
    let the request in.
    """

    code: str
    detail: str
    status: int = 0
    check: Check | None = None
    retry_after: int | None = None
    retry_wait_ms: int = 0
    active_operation_id: str | None = None
    remedy: str | None = None
    headers: tuple[tuple[str, str], ...] = ()
    is_injected: bool = False
    cause: Cause | None = None
    missing_credits: int | None = None
    kind: ProblemKind = field(init=False)

    def __post_init__(self) -> None:
        self.kind = _KINDS[self.code]
        self.status = self.status or self.kind.status
        self.check = self.check or self.kind.check
        super().__init__(self.detail)


def invalid_request(
    where: str,
    found: str,
    expected: str,
    remedy: str,
    status: int = 400,
) -> Problem:
    """Build the refusal of a part of a request: its name, what was found in words, what
    was expected, what to do about it.
    """
    return Problem(
        "invalid_request",
        f"{where}: found {found}; expected {expected}",
        status=status,
        remedy=remedy,
    )


def invalid_input(
    where: str,
    found: object,
    expected: str,
    check: Check = Check.BODY,
    remedy: str | None = None,
) -> Problem:
    """Build a 422 for a field: its JSON Pointer, what was found there, what was
    expected, what to do about it.
    """
    detail = f"{where or '(body)'}: found {excerpt(found)}; expected {expected}"
    return Problem(
        "invalid_input",
        detail,
        check=check,
        remedy=remedy or f"set {where or 'the body'} to {expected}",
    )


def invalid_reference(
    where: str,
    found: object,
    expected: str,
    remedy: str | None = None,
) -> Problem:
    """Build a 422 for an id that the Team cannot use."""
    return Problem(
        "invalid_reference",
        f"{where}: found {excerpt(found)}; expected {expected}",
        remedy=remedy,
    )
