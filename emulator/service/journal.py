"""The journal of a sandbox: every request, written when it arrives and completed when it leaves.

Bounded by entries and by bytes; what is dropped is counted. Entries keep what happened, not how it reads: the control
plane words them on request. Never holds image bytes. Must not know its readers: watchers are called with each entry
that is complete; nothing here waits.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Protocol, TypeAlias

import orjson

from emulator.domain.problems import Check, Problem
from emulator.domain.resources import Credential
from emulator.kernel.clock import host_elapsed_ms, host_now
from emulator.scenario.matching import ByteSurface
from emulator.scenario.rules import RequestRule, WorkRule
from emulator.service.feed import Feed
from emulator.service.teams import TeamAccount

MAXIMUM_ENTRIES = 10_000
MAXIMUM_BYTES = 64 * 1024 * 1024
MAXIMUM_BODY_BYTES = 64 * 1024
"""A longer body is left out of an entry; its size is kept."""


EntryOutcome = Literal["in flight", "answered", "replayed", "refused", "replaced", "failed", "lost", "abandoned"]
"""How a request ended. `replaced`: a scenario hid what was done behind a problem. `lost`: a scenario lost it before
anything was done. `failed`: by a defect of the emulator. `abandoned`: its client left before it was whole."""


class Identity(Protocol):
    """Who sent a request."""

    @property
    def credential(self) -> Credential:
        """The credential whose key it brought."""

    @property
    def account(self) -> TeamAccount:
        """The account of the credential's Team."""


@dataclass(slots=True, eq=False)
class Entry:
    """One request. What is not known yet, or does not apply, is None."""

    sequence: int
    at: int
    request_id: str
    """The id that it was given when it arrived; a replay is answered with another, `replay_of`."""
    method: str
    path: str
    caller: Identity | None = None
    operation: str | None = None
    idempotency_key: str | None = None
    """The key that it came with, whatever became of it."""
    user_agent: str | None = None
    query: bytes = b""
    content_type: bytes | None = None
    """The header Content-Type of a request that announced a body, empty if it had none; None for one without a body."""
    fault_header: bytes | None = None
    """The header Emulator-Fault, where it was looked at."""
    authorization: bytes | None = None
    """The header Authorization that it brought; never shown, and let go when it leaves."""
    connection: str | None = None
    """The client's end of the connection that it came on; None where the server does not tell."""
    connected_ms: float | None = None
    """When that connection was made, as `arrived_ms`."""
    byte_surface: ByteSurface | None = None
    """Which of the byte surfaces it came to; None for an operation."""
    request_body: bytes | None = None
    request_body_bytes: int = 0
    """The size of a request's body that is not kept: it is long, or not JSON."""
    checks: tuple[Check, ...] = ()
    """The checks that its operation has, in their order."""
    passed: list[Check] = field(default_factory=list)
    """Those that it has passed."""
    is_committed: bool = False
    """Whether it was carried out."""
    rule: RequestRule | None = None
    """The rule that was due."""
    has_rule_acted: bool = False
    """Whether the rule fired."""
    work_id: str | None = None
    """The Operation or Generation that it admitted."""
    work_rule: WorkRule | None = None
    """The rule that decided what becomes of the work that it admitted."""
    outcome: EntryOutcome = "in flight"
    status: int | None = None
    problem: Problem | None = None
    replay_of: str | None = None
    """The id of the request whose stored answer was sent again (D11)."""
    response_headers: tuple[tuple[bytes, bytes], ...] | None = None
    response_body: bytes | None = None
    response_body_bytes: int = 0
    """The size of an answer's body that is not kept."""
    arrived_at: int = 0
    """When it arrived by the host's clock, as an instant."""
    arrived_ms: float = 0.0
    change: int = 0
    """The number of its arrival among the changes of its sandbox."""
    held_bytes: int = 0
    """What it counts for in the journal, once it is complete."""
    duration_ms: float | None = None
    """How long the answer took, in real time; None while the request is in flight."""

    @property
    def is_complete(self) -> bool:
        """Whether the request has left: answered, or given up by its client."""
        return self.duration_ms is not None

    @property
    def is_injected(self) -> bool:
        """Whether its problem was asked for, by a scenario or the header Emulator-Fault: not the service's own."""
        return self.problem is not None and self.problem.is_injected

    @property
    def loss(self) -> str | None:
        """How a scenario lost its answer on the wire, whatever was done; None if it did not."""
        return self.rule.fault.loss if self.rule is not None and self.has_rule_acted else None

    @property
    def is_plain(self) -> bool:
        """Whether it was carried out and met no rule, as nearly all are."""
        return self.outcome == "answered" and self.rule is None

    @property
    def counted(self) -> "Outcome":
        """What is counted of it."""
        is_replayed = self.replay_of is not None
        code = self.code if self.status is None or self.status >= 400 else None
        return Outcome(self.operation, self.status, code, self.byte_surface, is_replayed, self.loss is not None)

    @property
    def answered_id(self) -> str:
        """The Request-Id that its answer carries: on a replay, the first answer's own."""
        return self.replay_of or self.request_id

    @property
    def code(self) -> str | None:
        """The code of the problem that was answered with, if one was."""
        if self.problem is not None:
            return self.problem.code
        if self.replay_of is None or self.status is None or self.status < 400:
            return None
        code: str | None = orjson.loads(self.response_body or b"{}").get("code")
        return code


Watcher: TypeAlias = Callable[[Entry], None]


class Outcome(NamedTuple):
    """What is counted of a request: where it came, and how it ended. `status` is None where it was never answered."""

    operation: str | None
    status: int | None
    code: str | None
    byte_surface: ByteSurface | None = None
    is_replayed: bool = False
    is_lost: bool = False


PlainAnswer: TypeAlias = tuple[str | None, ByteSurface | None, int | None]
"""Where a request came, operation or byte surface, and the status that it was answered with."""


@dataclass(slots=True, eq=False)
class Journal:
    """The entries, oldest first."""

    feed: Feed = field(default_factory=Feed)
    watchers: list[Watcher] = field(default_factory=list)
    """Called with each entry that is complete, or that stays in admission. They must be quick, and must not raise."""
    examine: Watcher | None = None
    """Called with each entry that is complete, one cleared in flight included, before long bodies are left out."""
    entries: deque[Entry] = field(default_factory=deque)
    last_sequence: int = 0
    dropped: int = 0
    held_bytes: int = 0
    answered: dict[PlainAnswer, int] = field(default_factory=dict)
    """The plain ones of the complete requests since the sandbox began."""
    _other_outcomes: Counter[Outcome] = field(default_factory=Counter)
    _cleared_up_to: int = 0
    _outcomes_at_clearing: Counter[Outcome] = field(default_factory=Counter)

    def arrive(self, at: int, request_id: str, method: str, path: str, caller: Identity | None) -> Entry:
        """Write down a request that has arrived; its number is never used again, whatever is dropped or cleared."""
        self.last_sequence += 1
        entry = Entry(self.last_sequence, at, request_id, method, path, caller)
        entry.arrived_at, entry.arrived_ms = host_now(), host_elapsed_ms()
        self.entries.append(entry)
        entry.change = self.feed.note("arrived", entry)
        if len(self.entries) > MAXIMUM_ENTRIES:
            self._drop_oldest()
        return entry

    def leave(self, entry: Entry) -> None:
        """Complete an entry, within the bounds; it is not touched again."""
        entry.duration_ms = host_elapsed_ms() - entry.arrived_ms
        if entry.is_plain:
            counted = entry.operation, entry.byte_surface, entry.status
            self.answered[counted] = self.answered.get(counted, 0) + 1
        else:
            self._other_outcomes[entry.counted] += 1
            if entry.problem is not None:
                _forget_circumstances(entry.problem)
        if self.examine is not None:
            self.examine(entry)
        entry.authorization = None
        if entry.sequence <= self._cleared_up_to:
            return
        if self.entries and self.entries[0].sequence <= entry.sequence:
            entry.held_bytes = _size_bytes(entry)
            if entry.held_bytes > MAXIMUM_BODY_BYTES:
                _leave_out_long_bodies(entry)
                entry.held_bytes = _size_bytes(entry)
            self.held_bytes += entry.held_bytes
            while self.held_bytes > MAXIMUM_BYTES:
                self._drop_oldest()
        self.feed.note("left", entry)
        if self.watchers:
            self.tell(entry)

    def tell(self, entry: Entry) -> None:
        """Let the watchers know of an entry: it is complete, or its request is kept in admission."""
        for watcher in tuple(self.watchers):
            watcher(entry)

    def clear(self) -> None:
        """Forget every entry; a request still in flight leaves no trace either."""
        self.entries.clear()
        self.feed.forget_before(self.feed.last_number + 1)
        self.held_bytes = 0
        self.dropped = 0
        self._cleared_up_to = self.last_sequence
        self._outcomes_at_clearing = self.outcomes
        self.feed.note("cleared", self.last_sequence)

    @property
    def outcomes(self) -> Counter[Outcome]:
        """Count the complete requests since the sandbox began, those included whose entries were dropped or cleared."""
        outcomes = self._other_outcomes.copy()
        for (operation, byte_surface, status), number in self.answered.items():
            outcomes[Outcome(operation, status, None, byte_surface)] += number
        return outcomes

    def outcomes_since_clearing(self) -> Counter[Outcome]:
        """Count the complete requests since the journal was last cleared, those included whose entries were dropped."""
        return self.outcomes - self._outcomes_at_clearing

    def find(self, identifier: str) -> Entry | None:
        """Return the newest entry whose answer carries a Request-Id, or which arrived under it; None if there is none.

        So of a request and its replays, which all carry the same one, the last replay is found; the first answer, and
        every other, has a sequence number of its own.
        """
        return next((entry for entry in self.newest_first() if identifier in (entry.request_id, entry.replay_of)), None)

    def at_sequence(self, sequence: int) -> Entry | None:
        """Return the entry of a sequence number, or None if there is none (any more)."""
        index = sequence - self.entries[0].sequence if self.entries else -1  # each number has one entry
        return self.entries[index] if 0 <= index < len(self.entries) else None

    def original_of(self, replay: Entry) -> Entry | None:
        """Return the entry of the request whose stored answer a replay sent again, or None if it was dropped."""
        return next((entry for entry in self.newest_first() if entry.request_id == replay.replay_of), None)

    def newest_first(self, since: int = 0) -> Iterator[Entry]:
        """Go through the entries from the newest on, down to those later than a sequence number."""
        for entry in reversed(self.entries):
            if entry.sequence <= since:
                return
            yield entry

    def _drop_oldest(self) -> None:
        entry = self.entries.popleft()
        self.dropped += 1
        self.feed.forget_before(entry.change + 1)
        self.held_bytes -= entry.held_bytes


def _forget_circumstances(problem: Problem) -> None:
    """Drop the traceback of a problem: its frames would keep all local values alive."""
    problem.__traceback__ = problem.__context__ = problem.__cause__ = None


def _leave_out_long_bodies(entry: Entry) -> None:
    request, response = entry.request_body, entry.response_body
    if request is not None and len(request) > MAXIMUM_BODY_BYTES:
        entry.request_body, entry.request_body_bytes = None, len(request)
    if response is not None and len(response) > MAXIMUM_BODY_BYTES:
        entry.response_body, entry.response_body_bytes = None, len(response)


def _size_bytes(entry: Entry) -> int:
    """What an entry holds that a client can make long."""
    return (
        len(entry.request_body or b"")
        + len(entry.response_body or b"")
        + len(entry.path)
        + len(entry.query)
        + len(entry.content_type or b"")
        + len(entry.idempotency_key or "")
        + len(entry.user_agent or "")
    )
