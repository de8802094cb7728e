"""What a sandbox keeps for the examiner: a note of each request, the findings made so far, and the counts of the coverage.

Plain data, part of a sandbox's state, and bounded. Must not know what notes are used for: emulator/examiner writes and
reads them.
"""

from dataclasses import dataclass, field

from msgspec import Struct

MAXIMUM_NOTES = 2_000
"""With one more, all but the newest are examined for the last time and forgotten. So many are examined in 3 ms, or in 30 if
every request was refused and none came again."""
KEPT_NOTES = 500
MAXIMUM_FINDINGS = 1_000


@dataclass(slots=True, eq=False)
class Note:
    """What is remembered of one request. Instants are in milliseconds; those of the host are not kept in state files."""

    sequence: int
    left_before: int
    """The number of the last request that had come when this one was answered: later ones may know its answer."""
    at: int
    left_at: int
    is_timed: bool
    """Whether a wait could be kept or not: it cannot on an auto clock, which takes it itself."""
    host_ms: float | None
    """When it came, by the host's clock; None in a note of another process."""
    host_left_ms: float | None
    connected_ms: float | None
    """When its connection was made; None where that is not known."""
    connection: str | None
    credential: str | None
    """The id of its credential; of one that is not known, a digest of what it brought."""
    user_agent: str | None
    is_authorized: bool
    """Whether it brought the header Authorization."""
    operation: str | None
    surface: str | None
    method: str
    path: str
    query: str
    intent: str
    """A digest of its body; empty as long as `body` is kept."""
    key: str | None
    """Its Idempotency-Key."""
    status: int | None
    code: str | None
    is_injected: bool
    """Whether a scenario or the header Emulator-Fault asked for the problem: it is no mistake of the client."""
    loss: str | None
    """How its answer was lost on the wire; None for one that arrived."""
    retry_after: int | None
    is_committed: bool
    subject: str | None
    """The id of the work or Upload Session that it is about."""
    work_status: str | None
    """Of the work that its answer shows."""
    due: int | None
    """When the window of the Upload Session ends."""
    credits: int | None
    """The Team's Credits when they were found too few."""
    sunset: int | None
    cursor: str | None
    """The cursor to the next page that its answer gave."""
    body: bytes = field(default=b"", init=False)
    """Its body, if that is short, until a rule asks for the digest; never in a state file."""


class Finding(Struct, frozen=True):
    """A misdeed of a client. Findings of one rule about one subject are one finding."""

    rule: str
    subject: str
    severity: str
    message: str
    source: str
    requests: tuple[int, ...]
    remedy: str


@dataclass(slots=True, eq=False)
class Record:
    """The notes, oldest first by their leaving, and the findings of those that were dropped."""

    notes: list[Note] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    checked: dict[str, int] = field(default_factory=dict)
    """By rule: how often it could have been broken."""
    met: dict[str, int] = field(default_factory=dict)
    """By operation and point of the coverage: how often it was reached."""
    has_failed: bool = False
    """Whether any request was refused or lost, so that a later one may be its repetition."""
