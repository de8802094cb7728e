"""The catalogue of errors (section 7), the checks that raise them in their order (D01), and the one exception class.

Nothing else in the project says which status or title a code has.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Self


class Check(StrEnum):
    """The checks that a request passes, in the order of D01; a problem names the one that decided."""

    ROUTE = "route"
    CREDENTIAL = "credential"
    RATE = "request rate"
    PROFILE = "permission profile"
    SHAPE = "request shape"
    BODY = "body against the contract"
    IDEMPOTENCY = "idempotency record"
    PAUSE = "admission pause"
    SUBSCRIPTION = "subscription"
    RESOURCE = "the path's resource"
    READ_ONLY = "read-only global resource"
    STATE = "state of the resource"
    REFERENCES = "references in the body"
    RULES = "business rules"
    CONCURRENCY = "concurrency budget"
    CREDITS = "Credits"


@dataclass(frozen=True, slots=True)
class ProblemKind:
    """One row of the catalogue: a stable code, its HTTP status and title, the check it usually comes from, the way out."""

    code: str
    status: int
    title: str
    check: Check
    recovery: str


# fmt: off
_ROWS = (
    ProblemKind("invalid_request",                400, "The request is malformed",              Check.SHAPE,        "correct the request"),
    ProblemKind("invalid_cursor",                 400, "The cursor is not of this collection",  Check.SHAPE,        "list again without a cursor"),
    ProblemKind("authentication_required",        401, "A valid credential is required",        Check.CREDENTIAL,   "send a valid key as a Bearer token"),
    ProblemKind("credential_expired",             401, "The credential has expired",            Check.CREDENTIAL,   "create a replacement credential"),
    ProblemKind("credential_revoked",             401, "The credential was revoked",            Check.CREDENTIAL,   "use another active credential"),
    ProblemKind("insufficient_credits",           402, "The Team has too few Credits",          Check.CREDITS,      "add Credits and send a new logical request, with a new key"),
    ProblemKind("permission_denied",              403, "The credential does not permit this",   Check.PROFILE,      "use a full credential for writes"),
    ProblemKind("subscription_required",          403, "An active Subscription is required",    Check.SUBSCRIPTION, "restore the Subscription; reads remain available"),
    ProblemKind("not_found",                      404, "There is no such resource",             Check.RESOURCE,     "treat the resource as unavailable"),
    ProblemKind("upload_not_found",               404, "There is no such Upload Session",       Check.RESOURCE,     "create a new Upload Session"),
    ProblemKind("asset_not_found",                404, "There is no such Asset",                Check.RESOURCE,     "use an Asset that exists"),
    ProblemKind("product_not_found",              404, "There is no such Product",              Check.RESOURCE,     "use a Product that exists"),
    ProblemKind("idempotency_in_progress",        409, "The key is still being admitted",       Check.IDEMPOTENCY,  "wait, then send the same request with the same key"),
    ProblemKind("resource_operation_in_progress", 409, "Authoring work is in progress",         Check.STATE,        "poll the Operation named by active_operation_id, then try again"),
    ProblemKind("upload_bytes_conflict",          409, "The session accepted other bytes",      Check.STATE,        "create a new Upload Session"),
    ProblemKind("upload_expired",                 410, "The upload window has passed",          Check.STATE,        "create a new Upload Session"),
    ProblemKind("invalid_input",                  422, "The input violates the contract",       Check.BODY,         "correct the fields"),
    ProblemKind("invalid_reference",              422, "A reference is not usable",             Check.REFERENCES,   "replace the reference"),
    ProblemKind("idempotency_key_reused",         422, "The key belongs to another request",    Check.IDEMPOTENCY,  "send the original intent, or a new key"),
    ProblemKind("already_at_target_resolution",   422, "The Asset already has this resolution", Check.RULES,        "use the Asset as it is, or ask for a higher target"),
    ProblemKind("concurrency_limit_reached",      429, "Too much work is in progress",          Check.CONCURRENCY,  "wait for Retry-After, or for work to finish"),
    ProblemKind("rate_limited",                   429, "Too many requests",                     Check.RATE,         "wait for Retry-After, then retry with backoff"),
    ProblemKind("internal_error",                 500, "The request could not be completed",    Check.ROUTE,        "retry; with the same key where the request takes one"),
    ProblemKind("service_unavailable",            503, "New writes are paused",                 Check.PAUSE,        "wait for Retry-After; reads and accepted work go on"),
)
# fmt: on

CATALOGUE: Mapping[str, ProblemKind] = MappingProxyType({row.code: row for row in _ROWS})
"""The 24 codes of section 7."""

CONTROL_CATALOGUE: Mapping[str, ProblemKind] = MappingProxyType(
    {
        "invalid_scenario": ProblemKind(
            "invalid_scenario", 422, "The scenario is not valid", Check.BODY, "correct the file"
        )
    }
)
"""What only the control plane answers (interfaces, section 6)."""

KEY_BINDING_CODES = frozenset({"insufficient_credits"})
"""The problems that bind an Idempotency-Key as an admission does: their recovery is a new logical request (D10)."""


@dataclass(eq=False)
class Problem(Exception):
    """A refusal: raised anywhere below the road of a request, turned into an answer in one place.

    `detail` says where, what was found and what was expected (D08). `status` differs from the catalogue's only for 405
    and 413, which share the code `invalid_request` (D03, D06).
    """

    code: str
    detail: str
    status: int = 0
    check: Check | None = None
    retry_after: int | None = None
    retry_wait_ms: int = 0
    active_operation_id: str | None = None
    allow: str | None = None
    remedy: str | None = None
    kind: ProblemKind = field(init=False)

    def __post_init__(self) -> None:
        self.kind = CATALOGUE.get(self.code) or CONTROL_CATALOGUE[self.code]
        self.status = self.status or self.kind.status
        self.check = self.check or self.kind.check
        super().__init__(self.detail)

    def at(self, check: Check) -> Self:
        """Name the check that decided, where it is not the usual one of the code."""
        self.check = check
        return self


def invalid_input(where: str, found: object, expected: str, check: Check = Check.BODY) -> Problem:
    """Build a 422 for a field: its JSON Pointer, what was found there, what was expected."""
    return Problem("invalid_input", f"{where or '(body)'}: found {excerpt(found)}; expected {expected}", check=check)


def invalid_reference(where: str, found: object, expected: str) -> Problem:
    """Build a 422 for an id that the Team cannot use."""
    return Problem("invalid_reference", f"{where}: found {excerpt(found)}; expected {expected}")


def excerpt(value: object, limit: int = 80) -> str:
    """Show a value that a client sent, short and on one line."""
    if value is None or isinstance(value, bool):
        text = {None: "null", True: "true", False: "false"}[value]
    elif isinstance(value, str):
        text = '"' + value[: limit + 1].encode("unicode_escape").decode() + '"'
    elif isinstance(value, dict):
        text = "an object"
    elif isinstance(value, list | tuple):
        text = f"an array of {len(value)}"
    else:
        text = str(value)[: limit + 1]
    return text if len(text) <= limit else text[:limit] + "…"
