"""What closes a gap of the coverage: a scenario, a rule, a request, or the call."""

from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct

from image_workflow_emulator.domain.problems import CATALOGUE
from image_workflow_emulator.examiner.declared_points import ADMITTED_WORK, BYTES
from image_workflow_emulator.examiner.points import (
    LOST,
    LOST_AFTER,
    LOST_BEFORE,
    REPLAY,
)
from image_workflow_emulator.scenario.named_files import PROBLEM_PREFIX

FIRST_GAPS: Final = (
    LOST_AFTER,
    "429 rate_limited",
    "503 service_unavailable",
    "work failed",
    "output failed with content_rejected",
    "402 insufficient_credits",
    "429 concurrency_limit_reached",
    "500 internal_error",
    LOST,
    "401 credential_revoked",
    "410 upload_expired",
    "409 idempotency_in_progress",
)
"""The gaps to close first: what costs most where a client does not know it."""

_REQUESTS: Final[Mapping[str, Mapping[str, str]]] = {
    "upload": {
        "400 invalid_request": "send more or fewer bytes than size_bytes",
        "404 upload_not_found": (
            "send the bytes to upload.url with another last character"
        ),
        "409 upload_bytes_conflict": (
            "send other bytes to an upload.url that has accepted some"
        ),
        "410 upload_expired": "send the bytes after upload.expires_at",
    },
    "download": {
        "206": "ask for a part of the file, with the header Range",
        "304": (
            "ask again with the header If-None-Match and the ETag of the first answer"
        ),
        "404 not_found": "fetch the file of an Asset that was deleted",
        "416 invalid_request": (
            "ask for a part beyond the end of the file, with the header Range"
        ),
    },
}
"""By byte surface and point: the request that no rule makes of a plain one."""
_LOSSES: Final = (LOST, LOST_BEFORE, LOST_AFTER)
_ANY_FAILURE: Final = "processing_failed"
"""The failure of work where the point does not name one."""

Json = dict[str, Any]


class Closing(Struct, frozen=True, omit_defaults=True):
    """What closes a gap: one of these."""

    scenario: str | None = None
    """The name of a scenario of the library."""
    rule: Json | None = None
    """A rule to write into a scenario file."""
    request: str | None = None
    """The request to send, in words."""
    call: bool = False
    """Whether the call itself is enough."""


def closing_of(name: str, point: str) -> Closing:
    """Return what closes the gap at a point of an operation or byte surface."""
    request = _REQUESTS.get(name, {}).get(point)
    if request is not None:
        return Closing(request=request)
    if point == REPLAY or point in _LOSSES:
        return Closing(rule=_losing_rule(name, point))
    if " failed" in point:
        return Closing(rule=_failing_rule(name, point))
    _, _, code = point.partition(" ")
    if code not in CATALOGUE:
        return Closing(call=True)
    if name in BYTES:
        return Closing(rule=_once(name, {"problem": code}))
    return Closing(scenario=PROBLEM_PREFIX + code)


def _once(name: str, then: Json) -> Json:
    """Return a rule for the first call of an operation or byte surface."""
    match = {"operation": name}
    if name in BYTES:
        match = {"bytes": name}
    return {"match": match, "when": {"nth": 1}, "then": then}


def _losing_rule(name: str, point: str) -> Json:
    """Return the rule that loses an answer; a replay answers the repetition of it."""
    moment = "after_commit"
    if point in (LOST, LOST_BEFORE):
        moment = "before_commit"
    return _once(name, {"network": "reset", "at": moment})


def _failing_rule(name: str, point: str) -> Json:
    """Return the rule that lets work or its first output fail."""
    subject, _, end = point.partition(" failed")
    code = end.removeprefix(" with ") or _ANY_FAILURE
    then: Json = {"outputs": {"1": code}}
    if subject == "work":
        then = {"fail": code}
    return {"match": {"work": ADMITTED_WORK[name]}, "then": then}
