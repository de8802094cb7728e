"""The examiner's record of a sandbox: a note of each request, the findings made so far, and the counts of the coverage.

Plain data, part of a sandbox's state, and bounded. Must not know what notes are used for: emulator/examiner writes and
reads them.
"""

from dataclasses import dataclass, field

from msgspec import Struct

MAXIMUM_NOTES = 2_000
"""The most notes that are kept. With one more, all but the newest are examined for the last time and dropped, which takes
3 ms, or up to 30 if every request was refused and none was repeated."""
KEPT_NOTES = 500
"""How many of the newest are not dropped."""
MAXIMUM_FINDINGS = 1_000


@dataclass(slots=True, eq=False)
class Note:
    """One request, as the rules of conduct need it. Instants are in milliseconds; those of the host are not kept in state files."""

    sequence: int
    left_before: int
    """The number of the last request that had arrived when this one was answered: later ones may know its answer."""
    at: int
    left_at: int
    is_timed: bool
    """Whether it tells how long its client waited: on an auto clock it does not, since the clock skips the wait."""
    host_ms: float | None
    """When it arrived, by the host's clock; None in a note of another process."""
    host_left_ms: float | None
    connected_ms: float | None
    """When its connection was made; None where that is not known."""
    connection: str | None
    credential: str | None
    """The id of its credential; for an unknown one, a digest of the header Authorization."""
    user_agent: str | None
    is_authorized: bool
    """Whether it had the header Authorization."""
    operation: str | None
    surface: str | None
    method: str
    path: str
    query: str
    intent: str
    """A digest of its body; empty while `body` is kept."""
    key: str | None
    """Its Idempotency-Key."""
    status: int | None
    code: str | None
    is_injected: bool
    """Whether a scenario or the header Emulator-Fault asked for its problem, which is then no mistake of the client."""
    loss: str | None
    """How its answer was lost on the wire; None for one that arrived."""
    retry_after: int | None
    is_committed: bool
    subject: str | None
    """The id of the work or Upload Session that it is about."""
    work_status: str | None
    """The status of the work that its answer shows."""
    due: int | None
    """When the window of the Upload Session ends."""
    credits: int | None
    """The Team's available Credits, if they were too few for it."""
    sunset: int | None
    cursor: str | None
    """The cursor to the next page that its answer gave."""
    body: bytes = field(default=b"", init=False)
    """Its body, if that is short, until a rule asks for the digest. Never in a state file."""


class Finding(Struct, frozen=True):
    """A breach of a rule of conduct. All breaches of one rule about one subject are one finding."""

    rule: str
    subject: str
    severity: str
    message: str
    source: str
    requests: tuple[int, ...]
    remedy: str
    credential: str | None
    """As in a note; of its first request, as the next."""
    user_agent: str | None


@dataclass(slots=True, eq=False)
class Record:
    """The notes, in the order in which their requests were answered, and the findings of those that were dropped."""

    notes: list[Note] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    checked: dict[str, int] = field(default_factory=dict)
    """By rule: how often it was checked."""
    met: dict[str, int] = field(default_factory=dict)
    """By operation and point of the coverage: how often it was reached."""
    has_failed: bool = False
    """Whether any request was refused or lost, so that a later one may be its repetition."""
