"""Faults: what can go wrong with a request or with work, as small frozen values, each named by its word in a scenario.

Owns the nouns and their words. How they come about on the road of a request or in the engine is the business of those
rooms; how often is the playbook's; how a file spells them is `fault_words`'. "No fault" is a value like the others.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, Literal, TypeAlias, get_args

from emulator.domain.resources import Scene

Moment = Literal["before_commit", "after_commit"]
"""`before_commit`: nothing happened. `after_commit`: everything happened, only the answer is lost or replaced."""
NetworkKind = Literal["latency", "reset", "truncate", "stall", "garbage"]
FailureCode = Literal["processing_failed", "timed_out", "content_rejected"]

MOMENTS: Final[tuple[Moment, ...]] = get_args(Moment)
NETWORK_KINDS: Final[tuple[NetworkKind, ...]] = get_args(NetworkKind)
FAILURE_CODES: Final[tuple[FailureCode, ...]] = get_args(FailureCode)
"""How work and outputs can fail (D31)."""
SCENES: Final[tuple[Scene, ...]] = get_args(Scene)
AFTER_COMMIT_CODES: Final = frozenset({"internal_error", "service_unavailable"})
"""The problems that can hide that a request was carried out."""
MAXIMUM_SLOTS: Final = 6
"""The most outputs that one Generation can have (section 8)."""


@dataclass(frozen=True, slots=True)
class NoFault:
    """Nothing goes wrong."""


@dataclass(frozen=True, slots=True)
class ProblemFault:
    """The answer is a problem. `retry_after` (seconds) and `detail` None: what the service itself would say."""

    code: str
    retry_after: int | None = None
    detail: str | None = None
    at: Moment = "before_commit"


@dataclass(frozen=True, slots=True)
class HoldFault:
    """The request stays in admission for a span of emulator time, its Idempotency-Key taken (D13)."""

    duration_ms: int


@dataclass(frozen=True, slots=True)
class NetworkFault:
    """The connection misbehaves, in real time on the wire.

    `latency` delays the true answer by `latency_ms`: before the request is looked at, or after it was carried out. The
    other kinds lose the answer: `reset` breaks the connection off, `truncate` stops half way through the body, `stall`
    sends nothing for ever, `garbage` sends a body that is no JSON. `latency_ms` is 0 for these.
    """

    kind: NetworkKind
    latency_ms: int = 0
    at: Moment = "before_commit"


@dataclass(frozen=True, slots=True)
class DeprecatedFault:
    """The true answer, with the headers of deprecated behaviour (section 9, D43): `sunset` is an instant, `link` a URL."""

    sunset: int | None = None
    link: str | None = None


Fault: TypeAlias = NoFault | ProblemFault | HoldFault | NetworkFault | DeprecatedFault

NO_FAULT: Final = NoFault()

FAULTS: Final[Mapping[str, type[Fault]]] = MappingProxyType(
    {"problem": ProblemFault, "hold": HoldFault, "network": NetworkFault, "deprecated": DeprecatedFault}
)
"""The faults of a request, by their word under `then`."""


@dataclass(frozen=True, slots=True)
class WorkOutcome:
    """What becomes of accepted work, decided when it is admitted; what is None, empty or False goes as usual.

    `outputs` names the failures of single slots, counted from 1; `fail` is the failure of the whole work. `duration_ms`
    is the time from the start of the work to its last end. Stalled work never ends. `scene` is what a Background's
    source is taken to show (D30).
    """

    outputs: Mapping[int, FailureCode] = field(default_factory=lambda: MappingProxyType({}))
    fail: FailureCode | None = None
    duration_ms: int | None = None
    stall: bool = False
    scene: Scene | None = None


NO_OUTCOME: Final = WorkOutcome()

OUTCOME_WORDS: Final = ("outputs", "fail", "duration", "stall", "scene")
"""The words under `then` that make up a `WorkOutcome`."""
