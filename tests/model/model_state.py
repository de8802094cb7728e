"""The state of the service in the model, and what goes wrong in it on request.

The state is plain dicts, with the questions that all rules ask. A request to go wrong
is a scenario's rule, or the header `Emulator-Fault`. The check that decides a code
raises it, after all checks before it. A code that no such check decides is raised right
before the commit, where nothing else can refuse the request any more (D54).

A resource is kept as the API shows it, without what only the service can make up, such
as addresses, texts, and sizes in bytes.
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
"""The code for an absent resource, by kind (D07); `not_found` for all other kinds."""

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
"""Returns the id that the service has given to the resource that it has just made.

Its argument is the kind of the resource.
"""


class Refusal(Exception):
    """A request that must be refused.

    Args:
        code: the problem code.
        wait: what the client is asked to wait, in milliseconds.
        retry_after: the same in seconds, where it is not `wait` rounded up.
        active: the Operations in the way; the answer must name one of them.
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
        self.retry_after = retry_after
        if wait is not None and retry_after is None:
            self.retry_after = seconds_to_wait(wait)
        self.active = set(active)


def _no_resources() -> dict[str, dict[str, Json]]:
    return {kind: {} for kind in COLLECTIONS}


@dataclass(slots=True)
class State:
    now: int
    teams: dict[str, Json]
    """Teams by name.

    Their `credits` are free to spend, `granted` are all that were ever given, and
    `subscription` says whether there is one. `limit` is that of unfinished work.
    """
    credentials: dict[str, Json]
    """Credentials by key: team, id, name, profile, state, expires_at (an instant)."""
    skips_waits: bool = False
    """Whether the clock is `auto`: it moves by each wait that a client is asked for
    (D42).
    """
    resources: dict[str, dict[str, Json]] = field(default_factory=_no_resources)
    """Resources by kind and id.

    An Upload Session has type, size, expires_at, is_open, and the file that it took.
    """
    owner: dict[str, str | None] = field(default_factory=dict)
    """Name of the Team by id of the resource, deleted ones included.

    None for a premade ingredient.
    """
    versions: dict[str, int] = field(default_factory=dict)
    """Number of replacements of each ingredient's sources."""
    scenes: dict[str, str] = field(default_factory=dict)
    """Scene of each Asset: `clean` or `foreground`."""
    unfinished: dict[str, Json] = field(default_factory=dict)
    """Outcome of each unfinished Operation or Generation, decided at admission."""
    records: dict[tuple[str, ...], Json] = field(default_factory=dict)
    """What Idempotency-Keys are bound to, by credential, method, path and key."""
    pauses: dict[str | None, Json] = field(default_factory=dict)
    """Pauses by Team, and for everyone under None.

    They say whether new writes are refused, and how many seconds to wait.
    """
    rules: dict[str | None, list[Json]] = field(default_factory=dict)
    """Rules of the running scenarios, each with its matches so far.

    By Team, and for everyone under None.
    """
    timeline: list[Json] = field(default_factory=list)
    """The changes that running scenarios have still to make.

    Each has `at`, `order`, `set`, and `whose` scenario it is (a Team's, or None).
    """
    fault: Json = field(default_factory=dict)
    """Fault of the present request, from a scenario or its header."""
    planned: int = 0
    """Number of planned events: at one instant they happen in the planned order."""

    def next_order(self) -> int:
        self.planned += 1
        return self.planned

    # Resources ------------------------------------------------------------------------

    def find(
        self,
        kind: str,
        identifier: str,
        team: str,
    ) -> Json | None:
        """Return a resource that a Team can see (section 5, rule 6)."""
        resource = self.resources[kind].get(identifier)
        if resource is None:
            return None
        if self.owner[identifier] not in (team, None):
            return None
        return resource

    def get(
        self,
        kind: str,
        identifier: str,
        team: str,
    ) -> Json:
        resource = self.find(kind, identifier, team)
        if resource is None:
            raise Refusal(NOT_FOUND.get(kind, "not_found"))
        return resource

    def refer(
        self,
        kind: str,
        identifiers: Iterable[str],
        team: str,
    ) -> list[Json]:
        referred: list[Json] = []
        for identifier in identifiers:
            resource = self.find(kind, identifier, team)
            if resource is None:
                raise Refusal("invalid_reference")
            referred.append(resource)
        return referred

    def add(
        self,
        kind: str,
        identifier: str,
        team: str,
        fields: Json,
    ) -> Json:
        assert identifier not in self.owner, f"the id {identifier} was given twice"
        self.owner[identifier] = team
        resource = {
            "object": kind,
            "id": identifier,
            **fields,
        }
        self.resources[kind][identifier] = resource
        return resource

    def ids(self, kind: str, team: str) -> list[str]:
        """Return the ids of the resources that a Team can see."""
        return [
            identifier
            for identifier in self.resources[kind]
            if self.owner[identifier] in (team, None)
        ]

    def of_team(self, kind: str, team: str | None) -> list[Json]:
        own = [
            resource
            for identifier, resource in self.resources[kind].items()
            if self.owner[identifier] == team
        ]
        return newest_first(own)

    def work_of(self, team: str) -> dict[str, Json]:
        return {
            work_id: work
            for work_id, work in self.unfinished.items()
            if self.owner[work_id] == team
        }

    def time_to_next_place(self, team: str) -> int:
        due: list[int] = []
        for work in self.work_of(team).values():
            last_end = work["ends"][-1]
            if last_end is not None:
                due.append(last_end)
        if not due:
            return NOTHING_DUE
        return min(due) - self.now

    def time(self) -> str:
        return timestamp(self.now)

    # What goes wrong on request -------------------------------------------------------

    def count_match(
        self,
        subject: str,
        value: str,
        team: str,
    ) -> Json:
        """Count a request or work for the scenarios.

        `subject` is `operation` or `work`. Returns what the first rule that is due
        does; {} for nothing. Everyone's scenario is only asked where no rule of the
        Team's own is due. A rule that acts after the commit is only expected to act.
        """
        for whose in (team, None):
            rules = self._matching_rules(whose, subject, value, team)
            due = _due(rules)
            _count(_before_commit(rules))
            if due:
                return due[0]
        return {}

    def count_commit(self, operation: str, team: str) -> None:
        """Count a request that was carried out for the rules that act after the commit.

        The first that is due acts where no other rule does.
        """
        then = self._due_after_commit(operation, team)
        if not self.fault or _is_after_commit(self.fault):
            self.fault = then

    def _due_after_commit(self, operation: str, team: str) -> Json:
        for whose in (team, None):
            matching = self._matching_rules(whose, "operation", operation, team)
            rules = _after_commit(matching)
            due = _due(rules)
            _count(rules)
            if due:
                return due[0]
        return {}

    def _matching_rules(
        self,
        whose: str | None,
        subject: str,
        value: str,
        team: str,
    ) -> list[Json]:
        rules = self.rules.get(whose, [])
        return [rule for rule in rules if _matches(rule["match"], subject, value, team)]

    def drop_fault_after_commit(self) -> None:
        """Let nothing happen after the commit: the request committed nothing."""
        if _is_after_commit(self.fault):
            self.fault = {}

    def raise_at(self, check: str, team: str) -> None:
        """Raise the requested problem, if this check decides it. Raises Refusal."""
        code = self._requested_code()
        if code in CHECKS[check]:
            raise self.problem(code, team)

    def check_before_commit(self, team: str) -> None:
        """Raise the requested problem where nothing else can go wrong any more.

        Raises Refusal.
        """
        code = self._requested_code()
        if code:
            raise self.problem(code, team)

    def check_before_handling(self, team: str, *, is_read: bool) -> None:
        """Raise the requested problem if it does not wait for a commit.

        In a read none does, and `internal_error` nowhere. Raises Refusal.
        """
        code = self._requested_code()
        if code and (is_read or code == "internal_error"):
            raise self.problem(code, team)

    def hidden_by(self, team: str) -> Refusal | None:
        """Return the problem that replaces the answer once everything has happened."""
        if not _is_after_commit(self.fault):
            return None
        return self.problem(self.fault["problem"], team)

    def _requested_code(self) -> str:
        if _is_after_commit(self.fault):
            return ""
        code = self.fault.get("problem", "")
        return str(code)

    def problem(self, code: str, team: str) -> Refusal:
        match code:
            case "rate_limited":
                return Refusal(code, wait=RATE_WAIT)
            case "service_unavailable":
                pause = self._pause_of(team) or self.pauses.get(None, {})
                seconds = pause.get("retry_after", 5)
                return Refusal(code, wait=seconds * SECOND)
            case "concurrency_limit_reached":
                wait = self.time_to_next_place(team)
                return Refusal(code, wait=wait)
            case "resource_operation_in_progress":
                active = self._operations_in_the_way(team)
                return Refusal(code, active=active)
        return Refusal(code)

    def _pause_of(self, whose: str | None) -> Json:
        """Return the pause that a Team, or everyone, is under; {} for none."""
        pause = self.pauses.get(whose, {})
        if not pause.get("is_paused"):
            return {}
        return pause

    def _operations_in_the_way(self, team: str) -> list[str]:
        """Return the unfinished Operations of a Team; all of them if there is none."""
        unfinished = [
            work_id
            for work_id, work in self.work_of(team).items()
            if work["kind"] == "operation"
        ]
        operations = self.of_team("operation", team)
        every = [operation["id"] for operation in operations]
        return unfinished or every

    def check_pause(self, team: str) -> None:
        """Refuse a new write while admission is paused, for all or for the Team
        (section 7).

        Where a scenario says when it opens, an auto clock waits until then (D54).
        Raises Refusal.
        """
        for whose in (None, team):
            pause = self._pause_of(whose)
            if not pause:
                continue
            seconds = pause["retry_after"]
            until_opening = self._time_to_opening(whose)
            raise Refusal(
                "service_unavailable",
                wait=max(seconds * SECOND, until_opening),
                retry_after=seconds,
            )

    def _time_to_opening(self, whose: str | None) -> int:
        """Return when a scenario lets writes in again; 0 if it does not say."""
        openings: list[int] = []
        for timed in self.timeline:
            opens = timed["set"].get("admission") == "open"
            if opens and timed["whose"] == whose:
                openings.append(timed["at"])
        if not openings:
            return 0
        return min(openings) - self.now


def _matches(
    match: Json,
    subject: str,
    value: str,
    team: str,
) -> bool:
    if match.get(subject) not in (value, "*"):
        return False
    return match.get("team") in (team, None)


def _due(rules: Iterable[Json]) -> list[Json]:
    """Return what those rules do that are due on their next match."""
    return [rule["then"] for rule in rules if _is_due(rule)]


def _is_due(rule: Json) -> bool:
    if "when" not in rule:
        return True
    next_match = rule["matched"] + 1
    return bool(rule["when"]["nth"] == str(next_match))


def _count(rules: Iterable[Json]) -> None:
    for rule in rules:
        rule["matched"] += 1


def _is_after_commit(then: Json) -> bool:
    return then.get("at") == "after_commit"


def _before_commit(rules: Iterable[Json]) -> list[Json]:
    return [rule for rule in rules if not _is_after_commit(rule["then"])]


def _after_commit(rules: Iterable[Json]) -> list[Json]:
    return [rule for rule in rules if _is_after_commit(rule["then"])]


def newest_first(resources: Iterable[Json]) -> list[Json]:
    return sorted(resources, key=_created_and_id, reverse=True)


def _created_and_id(resource: Json) -> tuple[str, str]:
    return resource["created_at"], resource["id"]
