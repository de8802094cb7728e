"""The model: a small service, obviously right, that the emulator is compared with
(sections 3 to 7, D01 to D54).

It answers each request by plain rules on plain dicts, in the order of D01. It cannot
make up identifiers: for what it admits, it asks which one the service gave. It must not
import anything of the emulator.
"""

from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any

from tests.model import creative_work
from tests.model.arithmetic import (
    KEY_RETENTION,
    SECOND,
    Json,
    instant_of,
    seconds_to_wait,
    timestamp,
)
from tests.model.creative_work import ResultOf
from tests.model.library_rules import OPERATIONS, take_bytes
from tests.model.materials import SampleFile
from tests.model.meanings import (
    INGREDIENTS,
    KINDS,
    WORKFLOWS,
    codes_of,
    meaning_of,
    operation_id,
)
from tests.model.model_state import Identify, Refusal, State, newest_first
from tests.support.contract_check import STATUSES

SCOPES: dict[str, tuple[bool, bool]] = {
    "team": (True, False),
    "global": (False, True),
    "all": (True, True),
}
"""Whether a list of ingredients shows the Team's own, and the premade ones."""


@dataclass(slots=True)
class Ask:
    """A request."""

    key: str
    method: str
    path: str
    """Without its query."""
    body: Any = None
    idempotency_key: str | None = None
    query: dict[str, str] = field(default_factory=dict)
    after: tuple[str, str] | None = None
    """The last item shown, (created_at, id), where the query has a cursor."""
    flaw: str | None = None
    """The code of what is wrong with the request by itself, if something is."""
    fault: str | None = None
    """Its header Emulator-Fault."""

    @property
    def operation(self) -> str:
        return operation_id(self.method, self.path)

    @property
    def kind(self) -> str:
        return KINDS.get(self.path.split("/")[1], "team")

    @property
    def identifier(self) -> str:
        """The id in the path; empty where there is none."""
        return "".join(self.path.split("/")[2:3])


@dataclass(slots=True)
class Expected:
    """The answer that a request must get."""

    status: int
    body: Any = None
    code: str | None = None
    location: str | None = None
    retry_after: int | None = None
    active: set[str] = field(default_factory=set)
    """The Operations of which the answer must name one."""
    first_answer: Any = None
    """The answer that a replay must repeat to the byte."""
    is_repeat: bool = False
    """Whether it was answered before, so that its Request-Id is an old one."""
    wait: int | None = None
    """The wait that is asked for, in milliseconds.

    `retry_after` is 0 where the clock has taken it.
    """


class ServiceModel:
    def __init__(
        self,
        now: int,
        teams: list[Json],
        premade: dict[str, list[Json]],
        result_of: ResultOf,
    ) -> None:
        self.state = State(now, {}, {})
        self._result_of = result_of
        for team in teams:
            self._add_team(team)
        for kind, ingredients in premade.items():
            for ingredient in ingredients:
                self._add_premade(kind, ingredient)

    def _add_team(self, team: Json) -> None:
        self.state.teams[team["name"]] = {
            "id": team["id"],
            "name": team["name"],
            "credits": team["credits"],
            "granted": team["credits"],
            "subscription": team["subscription"] == "active",
            "limit": team["concurrency_limit"],
        }
        for credential in team["credentials"]:
            self.state.credentials[credential["key"]] = {
                **credential,
                "team": team["name"],
                "expires_at": instant_of(credential["expires_at"]),
            }

    def _add_premade(self, kind: str, ingredient: Json) -> None:
        self.state.owner[ingredient["id"]] = None
        self.state.versions[ingredient["id"]] = 0
        self.state.resources[kind][ingredient["id"]] = ingredient

    # What is done to the service from outside -----------------------------------------

    def advance(self, until: int) -> None:
        creative_work.settle(self.state, until, self._result_of)

    def change_team(self, name: str, change: Json) -> None:
        creative_work.change_team(self.state.teams[name], change)

    def run_scenario(self, scenario: Json, whose: str | None = None) -> None:
        """Begin a scenario of a Team, or of everyone, in place of its last.

        What the last one has changed stays changed.
        """
        state = self.state
        rules = scenario.get("rules", [])
        state.rules[whose] = [{**rule, "matched": 0} for rule in rules]
        state.timeline = [timed for timed in state.timeline if timed["whose"] != whose]
        for timed in scenario.get("timeline", []):
            change = {
                "at": state.now + timed["at"] * SECOND,
                "order": state.next_order(),
                "whose": whose,
                "set": timed["set"],
            }
            state.timeline.append(change)

    # Requests -------------------------------------------------------------------------

    def handle(
        self,
        ask: Ask,
        answer: Any,
        identify: Identify,
    ) -> Expected:
        """Return the answer that a request must get.

        `answer` is what the service answered: what a key is bound to, opaque here. An
        auto clock moves by the wait that is asked for once the answer is settled (D42).
        """
        try:
            expected = self._handle(ask, answer, identify)
        except Refusal as refusal:
            expected = _refused(refusal)
        if expected.wait is None or not self.state.skips_waits:
            return expected
        self.advance(self.state.now + expected.wait)
        return replace(expected, retry_after=0)

    def _handle(
        self,
        ask: Ask,
        answer: Any,
        identify: Identify,
    ) -> Expected:
        """Go through the checks in the order of D01.

        What is to go wrong on request does so at the check that decides it.
        """
        credential = self._check_entrance(ask)
        team = credential["team"]
        if ask.method == "GET":
            self.state.check_before_handling(team, is_read=True)
            return self._read(ask, team)
        if ask.flaw is not None:
            raise Refusal(ask.flaw)
        self.state.raise_at("body", team)
        if ask.method == "DELETE":
            self._check_admission(ask, team)
            return self._admit(ask, credential, {}, identify)
        return self._write_with_key(ask, credential, answer, identify)

    def _check_entrance(self, ask: Ask) -> Json:
        """Check what every request must be, and return its credential."""
        state = self.state
        credential = self.check_credential(ask.key)
        team = credential["team"]
        state.fault = self._fault_of(ask, team)
        state.raise_at("entrance", team)
        if ask.method != "GET":
            if credential["profile"] != "full":
                raise Refusal("permission_denied")
            state.raise_at("profile", team)
        if ask.flaw == "invalid_request":
            raise Refusal(ask.flaw)
        state.raise_at("shape", team)
        return credential

    def _check_admission(self, ask: Ask, team: str) -> None:
        """Check what every write must be that is no replay."""
        state = self.state
        state.raise_at("idempotency", team)
        state.check_pause(team)
        state.raise_at("pause", team)
        if ask.method != "DELETE" and not state.teams[team]["subscription"]:
            raise Refusal("subscription_required")
        state.raise_at("subscription", team)

    def _write_with_key(
        self,
        ask: Ask,
        credential: Json,
        answer: Any,
        identify: Identify,
    ) -> Expected:
        """Replay a write, or admit it and bind its key to the answer (D10)."""
        team = credential["team"]
        meaning = {}
        if ask.body is not None:
            meaning = meaning_of(ask.operation, ask.body)
        scope = (ask.key, ask.method, ask.path, ask.idempotency_key or "")
        replay = self._replay(ask, scope, meaning, answer)
        if replay is not None:
            return self._hidden(team) or replay
        self._check_admission(ask, team)
        expected = self._admit(ask, credential, meaning, identify)
        is_success = expected.status < 300
        if not is_success and expected.code != "insufficient_credits":  # D10
            return expected
        hidden = None
        if is_success:
            self._note_commit(ask, team)
            hidden = self._hidden(team)
        self.state.records[scope] = {
            "at": self.state.now,
            "meaning": meaning,
            "expected": expected,
            "first_answer": None if hidden else answer,
        }
        return hidden or expected

    def _fault_of(self, ask: Ask, team: str) -> Json:
        """Return what is to go wrong: as the header says, or else as a scenario does.

        A scenario is asked once for each request, and counts it.
        """
        if ask.fault is None:
            return self.state.count_match("operation", ask.operation, team)
        if ask.fault not in codes_of(ask.method, ask.path):
            raise Refusal("invalid_request")
        return {"problem": ask.fault}

    def _note_commit(self, ask: Ask, team: str) -> None:
        """Count a request that was carried out, unless its own header asked for a fault."""
        if ask.fault is None:
            self.state.count_commit(ask.operation, team)

    def _hidden(self, team: str) -> Expected | None:
        """Return the problem that replaces the answer once everything has happened."""
        refusal = self.state.hidden_by(team)
        if refusal is None:
            return None
        return _refused(refusal)

    def check_credential(self, key: str) -> Json:
        credential = self.state.credentials.get(key)
        if credential is None:
            raise Refusal("authentication_required")
        if credential["state"] == "revoked":
            raise Refusal("credential_revoked")
        if self.state.now >= credential["expires_at"]:
            raise Refusal("credential_expired")
        return credential

    def _replay(
        self,
        ask: Ask,
        scope: tuple[str, ...],
        meaning: Json,
        answer: Any,
    ) -> Expected | None:
        record = self.state.records.get(scope)
        if record is None or self.state.now >= record["at"] + KEY_RETENTION:
            return None
        if record["meaning"] != meaning:
            raise Refusal("idempotency_key_reused")
        expected: Expected = record["expected"]
        team = self.state.credentials[ask.key]["team"]
        if expected.status < 300:
            self._note_commit(ask, team)
        else:
            self.state.drop_fault_after_commit()
        if record["first_answer"] is not None:
            return Expected(
                expected.status,
                first_answer=record["first_answer"],
                is_repeat=True,
            )
        # The answer was lost, and comes now for the first time.
        if self.state.hidden_by(team) is None:
            record["first_answer"] = answer
        return replace(expected, is_repeat=True)

    def _admit(
        self,
        ask: Ask,
        credential: Json,
        meaning: Json,
        identify: Identify,
    ) -> Expected:
        """Do what is asked; a refusal is an answer here, since one may bind the key."""
        try:
            self.state.check_before_handling(credential["team"], is_read=False)
            return self._write(ask, credential, meaning, identify)
        except Refusal as refusal:
            return _refused(refusal)

    # Reading --------------------------------------------------------------------------

    def _read(self, ask: Ask, team: str) -> Expected:
        if ask.flaw is not None:
            raise Refusal(ask.flaw)
        if ask.path == "/team":
            return Expected(200, self.team(ask.key))
        if not ask.identifier:
            return Expected(200, self._page(ask, team))
        resource = self.state.get(ask.kind, ask.identifier, team)
        wait = creative_work.time_to_change(self.state, ask.identifier)
        if wait is None:
            return Expected(200, deepcopy(resource))
        if self.state.skips_waits:
            return self._poll_after(wait, ask.identifier, resource)
        return Expected(200, deepcopy(resource), retry_after=seconds_to_wait(wait))

    def _poll_after(
        self,
        wait: int,
        work_id: str,
        resource: Json,
    ) -> Expected:
        """Move an auto clock by the wait of a poll, and show what work is then."""
        self.advance(self.state.now + wait)
        retry_after = None
        if work_id in self.state.unfinished:
            retry_after = 0
        return Expected(200, deepcopy(resource), retry_after=retry_after)

    def team(self, key: str) -> Json:
        credential = self.state.credentials[key]
        team = self.state.teams[credential["team"]]
        is_active = team["subscription"]
        can_write = is_active and credential["profile"] == "full"  # D20
        return {
            "object": "team",
            "id": team["id"],
            "name": team["name"],
            "credits": team["credits"],
            "credential": {
                "object": "api_credential",
                "id": credential["id"],
                "name": credential["name"],
                "profile": credential["profile"],
                "expires_at": timestamp(credential["expires_at"]),
            },
            "capabilities": {
                "api_access": True,
                "subscription_active": is_active,
                "creative_writes_allowed": can_write,
                "api_concurrency": {
                    "limit": team["limit"],
                    "used": len(self.state.work_of(team["name"])),
                },
            },
        }

    def listed(
        self,
        kind: str,
        team: str,
        filters: dict[str, str],
    ) -> list[Json]:
        """Return all that a list shows, on however many pages."""
        if kind in INGREDIENTS:
            return self._listed_ingredients(kind, team, filters.get("scope", "all"))
        return [
            resource
            for resource in self.state.of_team(kind, team)
            if _passes(resource, filters)
        ]

    def _listed_ingredients(
        self,
        kind: str,
        team: str,
        scope: str,
    ) -> list[Json]:
        shows_own, shows_premade = SCOPES[scope]
        ingredients: list[Json] = []
        if shows_own:
            ingredients += self.state.of_team(kind, team)
        if shows_premade:
            ingredients += self.state.of_team(kind, None)
        return newest_first(ingredients)

    def _page(self, ask: Ask, team: str) -> Json:
        filters = dict(ask.query)
        limit = int(filters.pop("limit", "25"))
        filters.pop("after", None)
        items = self.listed(ask.kind, team, filters)
        if ask.after is not None:
            items = [
                item for item in items if (item["created_at"], item["id"]) < ask.after
            ]
        return {"data": deepcopy(items[:limit]), "has_more": len(items) > limit}

    # Writing --------------------------------------------------------------------------

    def _write(
        self,
        ask: Ask,
        credential: Json,
        meaning: Json,
        identify: Identify,
    ) -> Expected:
        team = credential["team"]
        if ask.kind in INGREDIENTS:
            return self._write_ingredient(ask, team, meaning, identify)
        if ask.kind == "generation":
            workflow = WORKFLOWS[ask.path.split("/")[2]]
            generation = creative_work.generate(
                self.state,
                credential,
                workflow,
                meaning,
                identify,
            )
            return Expected(202, deepcopy(generation))
        operation = OPERATIONS[ask.operation]
        resource = operation.rule(self.state, team, ask.identifier, meaning, identify)
        location = None
        if operation.located_in is not None and resource is not None:
            location = f"/{operation.located_in}/{resource['id']}"
        return Expected(operation.status, deepcopy(resource), location=location)

    def send_bytes(self, session_id: str, file: SampleFile) -> Expected:
        try:
            take_bytes(self.state, session_id, file)
        except Refusal as refusal:
            return _refused(refusal)
        return Expected(200)

    def _write_ingredient(
        self,
        ask: Ask,
        team: str,
        meaning: Json,
        identify: Identify,
    ) -> Expected:
        if ask.method == "POST":
            return self._author(ask.kind, team, None, meaning, identify)
        state = self.state
        ingredient = state.get(ask.kind, ask.identifier, team)
        if ingredient["scope"] == "global":
            raise Refusal("permission_denied")  # D21
        creative_work.check_idle(state, ask.identifier)
        if ask.method == "DELETE":
            state.check_before_commit(team)
            del state.resources[ask.kind][ask.identifier]
            return Expected(204)
        if "asset_id" in meaning or "asset_ids" in meaning:
            return self._author(ask.kind, team, ask.identifier, meaning, identify)
        state.check_before_commit(team)
        ingredient.update(meaning, updated_at=state.time())
        return Expected(200, deepcopy(ingredient))

    def _author(
        self,
        kind: str,
        team: str,
        target: str | None,
        meaning: Json,
        identify: Identify,
    ) -> Expected:
        operation = creative_work.author(
            self.state,
            team,
            kind,
            target,
            meaning,
            identify,
        )
        location = f"/operations/{operation['id']}"
        return Expected(202, deepcopy(operation), location=location)


def _passes(resource: Json, filters: dict[str, str]) -> bool:
    """Whether a list with these filters shows a resource."""
    for name, value in filters.items():
        if name == "target_id":
            target = resource["target"] or {}
            if target.get("id") != value:
                return False
        elif resource[name] != value:
            return False
    return True


def _refused(refusal: Refusal) -> Expected:
    code = refusal.code
    return Expected(
        STATUSES[code],
        code=code,
        retry_after=refusal.retry_after,
        active=refusal.active,
        wait=refusal.wait,
    )
