"""The state of the service in the model: plain dicts, the questions that all of its rules ask, and what goes wrong on
request, by a scenario's rule or by the header `Emulator-Fault`.

The check that the code of a fault belongs to decides, after all checks before it; what has no check of its own before
the commit is raised right before that, where nothing else can refuse the request any more (D54).

A resource is kept as it looks on the wire, without what only the service can make up (addresses, texts, sizes in
bytes).
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from tests.model.arithmetic import SECOND, Json, seconds_to_wait, timestamp
from tests.model.meanings import COLLECTIONS

NOT_FOUND = {
    "asset": "asset_not_found",
    "product": "product_not_found",
    "upload": "upload_not_found",
}
"""D07; every other kind is `not_found`."""

NOTHING_DUE = 60 * SECOND  # D47

CHECKS = {
    "entrance": {
        "authentication_required",
        "credential_expired",
        "credential_revoked",
        "rate_limited",
    },
    "profile": {"permission_denied"},
    "shape": {"invalid_request", "invalid_cursor"},
    "body": {"invalid_input"},
    "idempotency": {"idempotency_in_progress", "idempotency_key_reused"},
    "pause": {"service_unavailable"},
    "subscription": {"subscription_required"},
}
"""The codes that each check decides; all others are decided later (D01)."""
RATE_WAIT = 5 * SECOND

Identify = Callable[[str], str]
"""Tells the id that the service has given to the resource that it has just made, by its kind."""


class Refusal(Exception):
    """A request that must be refused; `active` are the Operations of which one must be named.

    `wait` is what the client is asked to wait, in milliseconds; `retry_after` says it in seconds, if those are others.
    """

    def __init__(
        self,
        code: str,
        *,
        wait: int | None = None,
        retry_after: int | None = None,
        active: Iterable[str] = (),
    ) -> None:
        super().__init__(code)
        self.code = code
        self.wait = wait
        self.retry_after = (
            seconds_to_wait(wait)
            if wait is not None and retry_after is None
            else retry_after
        )
        self.active = set(active)


@dataclass(slots=True)
class State:
    now: int
    teams: dict[str, Json]
    """Teams by name: id, name, credits (free to spend), granted (all that were ever given), subscription, limit."""
    credentials: dict[str, Json]
    """Credentials by key: team, id, name, profile, state, expires_at (an instant)."""
    skips_waits: bool = False
    """Whether the clock is `auto`: the waits that a client would be asked for are taken at once (D42)."""
    things: dict[str, dict[str, Json]] = field(
        default_factory=lambda: {kind: {} for kind in COLLECTIONS}
    )
    """Resources by kind and id. An Upload Session has type, size, file (that it took, or None), expires_at, is_open."""
    owner: dict[str, str | None] = field(default_factory=dict)
    """Name of the Team by id, deleted resources included; None for a premade ingredient."""
    versions: dict[str, int] = field(default_factory=dict)
    """Number of replacements of each ingredient's sources."""
    scenes: dict[str, str] = field(default_factory=dict)
    """Scene of each Asset: `clean` or `foreground`."""
    unfinished: dict[str, Json] = field(default_factory=dict)
    """Outcome of each unfinished Operation or Generation, decided at admission."""
    records: dict[tuple[str, ...], Json] = field(default_factory=dict)
    """Answers that Idempotency-Keys are bound to, by credential, method, path and key."""
    pauses: dict[str | None, Json] = field(default_factory=dict)
    """Pauses by Team, and for everyone under None: whether new writes are refused, and the seconds to wait."""
    rules: dict[str | None, list[Json]] = field(default_factory=dict)
    """Rules of the running scenario by Team, and for everyone under None, each with its matches so far."""
    timeline: list[Json] = field(default_factory=list)
    """The changes that running scenarios have still to make: at, order, whose (a Team or None), set."""
    fault: Json = field(default_factory=dict)
    """Fault of the present request, from a scenario or its header."""
    planned: int = 0
    """Number of planned events: at one instant they happen in the order in which they were planned."""

    def next_order(self) -> int:
        self.planned += 1
        return self.planned

    def find(self, kind: str, identifier: str, team: str) -> Json | None:
        """Return what a Team can see under an id: its own, or what is premade (section 5, rule 6)."""
        thing = self.things[kind].get(identifier)
        return (
            thing
            if thing is not None and self.owner[identifier] in (team, None)
            else None
        )

    def get(self, kind: str, identifier: str, team: str) -> Json:
        thing = self.find(kind, identifier, team)
        if thing is None:
            raise Refusal(NOT_FOUND.get(kind, "not_found"))
        return thing

    def refer(self, kind: str, identifiers: Iterable[str], team: str) -> list[Json]:
        found = [self.find(kind, identifier, team) for identifier in identifiers]
        if None in found:
            raise Refusal("invalid_reference")
        return [thing for thing in found if thing is not None]

    def add(self, kind: str, identifier: str, team: str, fields: Json) -> Json:
        assert identifier not in self.owner, f"the id {identifier} was given twice"
        self.owner[identifier] = team
        self.things[kind][identifier] = {"object": kind, "id": identifier, **fields}
        return self.things[kind][identifier]

    def ids(self, kind: str, team: str) -> list[str]:
        """Return the ids of what a Team can see."""
        return [
            thing for thing in self.things[kind] if self.owner[thing] in (team, None)
        ]

    def of_team(self, kind: str, team: str | None) -> list[Json]:
        found = [
            thing
            for identifier, thing in self.things[kind].items()
            if self.owner[identifier] == team
        ]
        return newest_first(found)

    def work_of(self, team: str) -> dict[str, Json]:
        return {
            identifier: work
            for identifier, work in self.unfinished.items()
            if self.owner[identifier] == team
        }

    def time_to_next_place(self, team: str) -> int:
        ends = [
            ends_at
            for work in self.work_of(team).values()
            if (ends_at := work["ends"][-1]) is not None
        ]
        return min(ends) - self.now if ends else NOTHING_DUE

    def time(self) -> str:
        return timestamp(self.now)

    def count_match(self, name: str, value: str, team: str) -> Json:
        """Count a request or work for the scenarios, and return what the first rule that is due does; {} for nothing.

        Everyone's scenario is only asked where the Team's own has nothing in mind.
        """
        for whose in (team, None):
            due: list[Json] = []
            for rule in self.rules.get(whose, []):
                match = rule["match"]
                if match.get(name) in (value, "*") and match.get("team") in (
                    team,
                    None,
                ):
                    rule["matched"] += 1
                    if "when" not in rule or rule["when"]["nth"] == str(
                        rule["matched"]
                    ):
                        due.append(rule["then"])
            if due:
                return due[0]
        return {}

    # What goes wrong on request --------------------------------------------------------------------------------------

    def raise_at(self, check: str, team: str) -> None:
        """Raise what is to go wrong, if it is this check that decides it. Raises Refusal."""
        code = self._due()
        if code in CHECKS[check]:
            raise self.problem(code, team)

    def check_before_commit(self, team: str) -> None:
        """Raise what is to go wrong, where nothing has happened yet and nothing else can go wrong. Raises Refusal."""
        code = self._due()
        if code:
            raise self.problem(code, team)

    def check_before_handling(self, team: str, *, is_read: bool) -> None:
        """Raise what does not wait for a commit: anything in a read, and what breaks down anywhere. Raises Refusal."""
        code = self._due()
        if code and (is_read or code == "internal_error"):
            raise self.problem(code, team)

    def hidden_by(self, team: str) -> Refusal | None:
        fault = self.fault
        return (
            self.problem(fault["problem"], team)
            if fault.get("at") == "after_commit"
            else None
        )

    def _due(self) -> str:
        return (
            ""
            if self.fault.get("at") == "after_commit"
            else str(self.fault.get("problem", ""))
        )

    def problem(self, code: str, team: str) -> Refusal:
        if code == "rate_limited":
            return Refusal(code, wait=RATE_WAIT)
        if code == "service_unavailable":
            pauses = [self.pauses.get(whose, {}) for whose in (team, None)]
            pause = pauses[0] if pauses[0].get("is_paused") else pauses[1]
            return Refusal(code, wait=pause.get("retry_after", 5) * SECOND)
        if code == "concurrency_limit_reached":
            return Refusal(code, wait=self.time_to_next_place(team))
        if code == "resource_operation_in_progress":
            unfinished = {
                name
                for name, work in self.work_of(team).items()
                if work["kind"] == "operation"
            }
            return Refusal(
                code,
                active=unfinished
                or {one["id"] for one in self.of_team("operation", team)},
            )
        return Refusal(code)

    def check_pause(self, team: str) -> None:
        """Let no new write in while admission is paused, for all or for the Team (section 7). Raises Refusal.

        Where a scenario says when it opens, an auto clock waits until then (D54).
        """
        for whose in (None, team):
            pause = self.pauses.get(whose, {})
            if pause.get("is_paused"):
                to_come = [timed for timed in self.timeline if timed["whose"] == whose]
                opens_at = [
                    timed["at"]
                    for timed in to_come
                    if timed["set"].get("admission") == "open"
                ]
                seconds = pause["retry_after"]
                wait = max(seconds * SECOND, min(opens_at, default=self.now) - self.now)
                raise Refusal("service_unavailable", wait=wait, retry_after=seconds)


def newest_first(things: Iterable[Json]) -> list[Json]:
    return sorted(
        things, key=lambda thing: (thing["created_at"], thing["id"]), reverse=True
    )
