"""Answers of the control plane as objects: recorded requests, explanations, rules. Names are those of its JSON.

A field that a newer emulator adds is left out here; nested objects and bodies stay as JSON has them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Final, Protocol, TypeVar

from emulator.kernel.printable import printable
from emulator.kernel.signing import without_signature

_SHOWN_REQUESTS: Final = 10


class _Record(Protocol):
    __dataclass_fields__: ClassVar[dict[str, Any]]


R = TypeVar("R", bound=_Record)


def record(kind: type[R], value: Mapping[str, Any], **more: Any) -> R:
    """Build a record of what JSON has under the names of its fields."""
    names = {field.name for field in fields(kind)}
    return kind(**{name: member for name, member in value.items() if name in names}, **more)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedRequest:
    """One request of the journal. What is not known yet, or does not apply, is None."""

    sequence: int
    at: str
    """The emulator's time when it arrived."""
    method: str
    path: str
    query: str = ""
    """As it was sent, without the `?`."""
    operation: str | None = None
    """The operation id; None for uploads and files, and for what is no operation."""
    credential: Mapping[str, Any] | None = None
    """`id`, `name`, `key` (masked) and `team` (with `id` and `name`)."""
    idempotency_key: str | None = None
    status: int | None = None
    """None where there was no answer, or is none yet."""
    code: str | None = None
    """The problem's code, if it was refused."""
    request_id: str | None = None
    replayed: bool = False
    """Whether a stored answer was sent again."""
    lost: bool = False
    """Whether a scenario lost its answer on the wire."""
    rule: Mapping[str, Any] | None = None
    """The rule of a scenario that acted: `name`, `file` and `line`."""
    duration_ms: float | None = None
    """Real time until the answer; None while there is none."""
    content_type: str | None = None
    """The header Content-Type of a request with a body."""
    emulator_fault: str | None = None
    """The header Emulator-Fault."""
    request_body: Any = None
    response_body: Any = None
    response_headers: Any = None
    user_agent: str | None = None
    arrived_at: str | None = None
    """The host's time when it arrived."""
    bytes: str | None = None
    """`upload` or `download` for a request that carries an image."""
    note: str | None = None

    @property
    def team(self) -> str | None:
        """The name of the Team whose key it brought."""
        return None if self.credential is None else str(self.credential["team"]["name"])

    def __str__(self) -> str:
        return request_line(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Why a request ended as it did."""

    request: RecordedRequest
    outcome: str
    summary: str
    checks: list[Mapping[str, Any]]
    """In their order: `check`, `result` (`passed`, `decided`, `not reached`), `detail`, `source`."""
    decided_by: Mapping[str, Any] | None = None
    remedy: str | None = None
    """The smallest change that would have succeeded; None for a request that was not refused."""
    recovery: str | None = None
    effects: list[str]
    rules: list[Mapping[str, Any]]
    related: Mapping[str, Any] | None = None

    def __str__(self) -> str:
        return self.summary


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A rule of the running scenario, with its counters."""

    name: str
    matched: int
    """The number of requests (or pieces of work) that it matched."""
    fired: int
    """The number on which it acted."""

    def never_fired(self, scenario: str) -> str:
        """Say, of a rule of this scenario, that it never fired."""
        matched = {0: "nothing matched it", 1: "it matched once"}.get(self.matched, f"it matched {self.matched} times")
        return f'the rule "{self.name}" of the scenario {scenario} never fired ({matched})'


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A mistake of a client."""

    rule: str
    severity: str
    """`error`, `warning` or `note`."""
    message: str
    source: str
    """The sentence of the specification."""
    requests: list[int]
    """Sequence numbers of the recorded requests."""
    client: Mapping[str, str | None]
    """`credential` (its id) and `user_agent`."""
    remedy: str

    def __str__(self) -> str:
        numbers = request_numbers(self.requests)
        return f"{self.severity}: {self.rule}: {self.message} ({numbers}); remedy: {self.remedy}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Conduct:
    """What the clients of a sandbox did wrong, and how often each rule could have been broken."""

    findings: list[Finding]
    checked: Mapping[str, int]

    @property
    def errors(self) -> list[Finding]:
        """The findings that cost money, leak a credential or get a client banned."""
        return [finding for finding in self.findings if finding.severity == "error"]


def request_numbers(requests: Sequence[int]) -> str:
    """Name requests by their sequence numbers, such as `requests 2, 5`."""
    shown = ", ".join(map(str, requests[:_SHOWN_REQUESTS]))
    left_out = f" and {len(requests) - _SHOWN_REQUESTS} more" if len(requests) > _SHOWN_REQUESTS else ""
    return f"{'request' if len(requests) == 1 else 'requests'} {shown}{left_out}"


def request_line(request: RecordedRequest) -> str:
    """Describe a request in one line: time, status, operation (or method and path), code, what became of its answer, duration, Team."""
    took = None if request.duration_ms is None else f"{request.duration_ms:.1f} ms"
    what = request.operation or f"{request.method} {without_signature(request.path)}"
    status = str(request.status or ("…" if request.duration_ms is None else "---"))
    fates = [fate for fate, applies in (("replayed", request.replayed), ("answer lost", request.lost)) if applies]
    parts = (request.at[11:23], status, what, request.code, *fates, took, request.team)
    return printable("  ".join(part for part in parts if part))
