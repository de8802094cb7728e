"""The faults that a sweep tries: their names, their kinds, and what the rule of each
says.

A fault is a problem code of the contract, or one of the words here. Must not know which
calls a command makes.
"""

from collections.abc import Mapping
from typing import Any, Final

from image_workflow_emulator.domain.problems import (
    CATALOGUE,
    MENDED_BY_CLIENT,
    MENDED_BY_TIME,
)
from image_workflow_emulator.scenario.outcomes import FAILURE_CODES

Outcome = Mapping[str, Any]
"""The `then` of a rule."""

PROBLEMS: Final = "problems"
NETWORK: Final = "network"
OUTPUTS: Final = "outputs"
GROUPS: Final = (PROBLEMS, NETWORK, OUTPUTS)
"""The kinds of faults of the service that can be chosen."""
CLIENT: Final = "client"
"""The kind of faults of the client. In their cells it takes the place of an operation:
`client:drop-key`."""

LOST_AFTER: Final = "lost-after-commit"
FAILED_AFTER: Final = "internal_error-after-commit"
SLOW: Final = "slow"
STALL: Final = "stall"
SLOW_SECONDS: Final = 30
"""How late a slow answer is: beyond the usual time limits of clients."""
_LATE: Final = {"latency": f"{SLOW_SECONDS}s"}
_AFTER: Final = {"at": "after_commit"}

OF_A_CALL: Final[Mapping[str, Outcome]] = {
    LOST_AFTER: {"network": "reset", **_AFTER},
    FAILED_AFTER: {"problem": "internal_error", **_AFTER},
    "lost-before-commit": {"network": "reset"},
    "cut": {"network": "truncate", **_AFTER},
    "garbled": {"network": "garbage", **_AFTER},
    STALL: {"network": "stall", **_AFTER},
    SLOW: {"network": _LATE, **_AFTER},
}
"""The faults of a call that are no problem code. Those that cost most come first."""
AFTER_COMMIT: Final = {fault for fault, then in OF_A_CALL.items() if "at" in then}
"""Those of requests that were carried out: they count no others."""

_FAIL: Final = "fail-"
_OUTPUT: Final = "output-1-"
_OF_WHOLE_WORK: Final = {f"{_FAIL}{code}": {"fail": code} for code in FAILURE_CODES}
_OF_AN_OUTPUT: Final = {
    f"{_OUTPUT}{code}": {"outputs": {"1": code}} for code in FAILURE_CODES
}
OF_WORK: Final[Mapping[str, Outcome]] = {**_OF_WHOLE_WORK, **_OF_AN_OUTPUT}
"""What may become of admitted work."""

OF_A_CLIENT: Final[Mapping[str, str]] = {
    "drop-key": "your client sent no Idempotency-Key",
    "new-key": "your client sent another Idempotency-Key at each attempt",
    "one-key": "your client sent the same Idempotency-Key with all writes",
    "drop-query": "your client sent no query",
    "ignore-hint": "your client did not read Retry-After",
    "drop-authorization": "your client sent no API key",
}
"""The faults of a client, in words."""

RECOVERABLE: Final = MENDED_BY_TIME | MENDED_BY_CLIENT | OF_A_CALL.keys()
"""The faults that a client can recover from: by asking again, by waiting, or with a new
Upload Session."""
_NOT_FOUND: Final = {code for code, kind in CATALOGUE.items() if kind.status == 404}
LOSES_A_RESOURCE: Final = _NOT_FOUND | {"invalid_reference"}
"""The problems after which a client may make anew what it refers to."""


def is_of_one_output(fault: str) -> bool:
    """Tell whether a fault lets one output of work fail, and no other."""
    return fault in _OF_AN_OUTPUT


def outcome_of(fault: str) -> Outcome:
    """Return the `then` of the rule of a fault of the service."""
    if fault in OF_WORK:
        return OF_WORK[fault]
    return OF_A_CALL.get(fault, {"problem": fault})
