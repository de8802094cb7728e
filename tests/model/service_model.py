"""The model: a small service, obviously right, against which the emulator is held (sections 3 to 7, D01 to D54).

It answers each request by straight rules on plain dicts, in the order of D01. It cannot make up identifiers: for what
it admits, it asks which one the service gave. Must not import anything of the emulator.
"""

from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any

from tests.model import creative_work, library_rules
from tests.model.arithmetic import (
    KEY_RETENTION,
    SECOND,
    Json,
    instant_of,
    seconds_to_wait,
    timestamp,
)
from tests.model.creative_work import ResultOf
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


@dataclass(slots=True)
class Ask:
    """A request: `path` has no query. `flaw` is the code of what is wrong with it by itself, if something is.

    `after` is the last item shown, (created_at, id), where the query has a cursor. `fault` is its header
    Emulator-Fault.
    """

    key: str
    method: str
    path: str
    body: Any = None
    idempotency_key: str | None = None
    query: dict[str, str] = field(default_factory=dict)
    after: tuple[str, str] | None = None
    flaw: str | None = None
    fault: str | None = None

    @property
    def operation(self) -> str:
        return operation_id(self.method, self.path)

    @property
    def kind(self) -> str:
        return KINDS.get(self.path.split("/")[1], "team")

    @property
    def identifier(self) -> str:
        return "".join(self.path.split("/")[2:3])


@dataclass(slots=True)
class Expected:
    """The answer that a request must get. `told` is the first answer of a replay, to be repeated to the byte.

    `is_repeat`: it was answered before, so its Request-Id is an old one.
    """

    status: int
    body: Any = None
    code: str | None = None
    location: str | None = None
    retry_after: int | None = None
    active: set[str] = field(default_factory=set)
    told: Any = None
    is_repeat: bool = False
    wait: int | None = None
    """The wait that is asked for, in milliseconds: `retry_after` in seconds is 0 where the clock has taken it."""


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
            self.state.teams[team["name"]] = {
                **{name: team[name] for name in ("id", "name", "credits")},
                "granted": team["credits"],
                "subscription": team["subscription"] == "active",
                "limit": team["concurrency_limit"],
            }
            for credential in team["credentials"]:
                known = {
                    **credential,
                    "team": team["name"],
                    "expires_at": instant_of(credential["expires_at"]),
                }
                self.state.credentials[credential["key"]] = known
        for kind, ingredients in premade.items():
            for ingredient in ingredients:
                self.state.owner[ingredient["id"]] = None
                self.state.versions[ingredient["id"]] = 0
                self.state.things[kind][ingredient["id"]] = ingredient

    # What is done to the service from outside -------------------------------------------------------------------------

    def advance(self, until: int) -> None:
        creative_work.settle(self.state, until, self._result_of)

    def change_team(self, name: str, change: Json) -> None:
        creative_work.change_team(self.state.teams[name], change)

    def run_scenario(self, scenario: Json, whose: str | None = None) -> None:
        """Let a scenario of a Team, or of everyone, begin in place of its last; what that one changed stays changed."""
        state = self.state
        state.rules[whose] = [
            {**rule, "matched": 0} for rule in scenario.get("rules", [])
        ]
        state.timeline = [timed for timed in state.timeline if timed["whose"] != whose]
        for timed in scenario.get("timeline", []):
            at = state.now + timed["at"] * SECOND
            state.timeline.append(
                {
                    "at": at,
                    "order": state.next_order(),
                    "whose": whose,
                    "set": timed["set"],
                }
            )

    # Requests ---------------------------------------------------------------------------------------------------------

    def handle(self, ask: Ask, answer: Any, identify: Identify) -> Expected:
        """Answer a request. `answer` is what the service answered: what a key is bound to, opaque here.

        An auto clock skips the wait that is asked for once the answer is settled (D42).
        """
        try:
            expected = self._handle(ask, answer, identify)
        except Refusal as refusal:
            expected = _refused(refusal)
        if expected.wait is None or not self.state.skips_waits:
            return expected
        self.advance(self.state.now + expected.wait)
        return replace(expected, retry_after=0)

    def _handle(self, ask: Ask, answer: Any, identify: Identify) -> Expected:
        """Go through the checks in the order of D01; what is to go wrong does so at the check that decides it."""
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
        if ask.method == "GET":
            state.check_before_handling(team, is_read=True)
            return self._read(ask, team)
        if ask.flaw is not None:
            raise Refusal(ask.flaw)
        state.raise_at("body", team)
        meaning = meaning_of(ask.operation, ask.body) if ask.body is not None else {}
        record_key = (ask.key, ask.method, ask.path, ask.idempotency_key or "")
        if ask.method != "DELETE":
            replay = self._replay(ask, record_key, meaning, answer)
            if replay is not None:
                return self._hidden(team) or replay
        state.raise_at("idempotency", team)
        state.check_pause(team)
        state.raise_at("pause", team)
        if ask.method != "DELETE" and not state.teams[team]["subscription"]:
            raise Refusal("subscription_required")
        state.raise_at("subscription", team)
        expected = self._admit(ask, credential, meaning, identify)
        if ask.method == "DELETE" or (
            expected.status >= 300 and expected.code != "insufficient_credits"
        ):  # D10
            return expected
        hidden = self._hidden(team) if expected.status < 300 else None
        told = answer if hidden is None else None
        state.records[record_key] = {
            "at": state.now,
            "meaning": meaning,
            "expected": expected,
            "told": told,
        }
        return hidden or expected

    def _fault_of(self, ask: Ask, team: str) -> Json:
        """Return what is to go wrong: as the header says, or else as a scenario does, which is then asked once."""
        if ask.fault is None:
            return self.state.count_match("operation", ask.operation, team)
        if ask.fault not in codes_of(ask.method, ask.path):
            raise Refusal("invalid_request")
        return {"problem": ask.fault}

    def _hidden(self, team: str) -> Expected | None:
        """Return the problem that a scenario puts in the place of the answer, when everything has happened."""
        refusal = self.state.hidden_by(team)
        return None if refusal is None else _refused(refusal)

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
        self, ask: Ask, record_key: tuple[str, ...], meaning: Json, answer: Any
    ) -> Expected | None:
        record = self.state.records.get(record_key)
        if record is None or self.state.now >= record["at"] + KEY_RETENTION:
            return None
        if record["meaning"] != meaning:
            raise Refusal("idempotency_key_reused")
        expected: Expected = record["expected"]
        if (
            record["told"] is None
        ):  # the answer was lost, and comes now for the first time
            if self.state.hidden_by(self.state.credentials[ask.key]["team"]) is None:
                record["told"] = answer
            return replace(expected, is_repeat=True)
        return Expected(expected.status, told=record["told"], is_repeat=True)

    def _admit(
        self, ask: Ask, credential: Json, meaning: Json, identify: Identify
    ) -> Expected:
        """Do what is asked; a refusal is an answer here, since one of them binds the key."""
        try:
            self.state.check_before_handling(credential["team"], is_read=False)
            return self._write(ask, credential, meaning, identify)
        except Refusal as refusal:
            return _refused(refusal)

    # Reading ----------------------------------------------------------------------------------------------------------

    def _read(self, ask: Ask, team: str) -> Expected:
        if ask.flaw is not None:
            raise Refusal(ask.flaw)
        if ask.path == "/team":
            return Expected(200, self.team(ask.key))
        if ask.path.count("/") == 1:
            return Expected(200, self._page(ask, team))
        thing = self.state.get(ask.kind, ask.identifier, team)
        wait = creative_work.time_to_change(self.state, ask.identifier)
        if wait is None or not self.state.skips_waits:
            return Expected(
                200,
                deepcopy(thing),
                retry_after=None if wait is None else seconds_to_wait(wait),
            )
        self.advance(
            self.state.now + wait
        )  # a poll skips the wait first, and shows what then is
        is_over = ask.identifier not in self.state.unfinished
        return Expected(200, deepcopy(thing), retry_after=None if is_over else 0)

    def team(self, key: str) -> Json:
        credential = self.state.credentials[key]
        team = self.state.teams[credential["team"]]
        is_active = team["subscription"]
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
                "creative_writes_allowed": is_active
                and credential["profile"] == "full",  # D20
                "api_concurrency": {
                    "limit": team["limit"],
                    "used": len(self.state.work_of(team["name"])),
                },
            },
        }

    def listed(self, kind: str, team: str, filters: dict[str, str]) -> list[Json]:
        if kind not in INGREDIENTS:
            found = self.state.of_team(kind, team)
            target = filters.get("target_id")
            named = {
                name: value for name, value in filters.items() if name != "target_id"
            }
            return [
                thing
                for thing in found
                if all(thing[name] == value for name, value in named.items())
                and (target is None or (thing["target"] or {}).get("id") == target)
            ]
        scopes: dict[str, list[str | None]] = {
            "team": [team],
            "global": [None],
            "all": [team, None],
        }
        owners = scopes[filters.get("scope", "all")]
        return newest_first(
            thing for owner in owners for thing in self.state.of_team(kind, owner)
        )

    def _page(self, ask: Ask, team: str) -> Json:
        filters = {
            name: value
            for name, value in ask.query.items()
            if name not in ("limit", "after")
        }
        found = self.listed(ask.kind, team, filters)
        if ask.after is not None:
            found = [
                thing
                for thing in found
                if (thing["created_at"], thing["id"]) < ask.after
            ]
        limit = int(ask.query.get("limit", "25"))
        return {
            "data": [deepcopy(thing) for thing in found[:limit]],
            "has_more": len(found) > limit,
        }

    # Writing ----------------------------------------------------------------------------------------------------------

    def _write(
        self, ask: Ask, credential: Json, meaning: Json, identify: Identify
    ) -> Expected:
        team = credential["team"]
        if ask.kind in INGREDIENTS:
            return self._write_ingredient(ask, team, meaning, identify)
        if ask.kind == "generation":
            workflow = WORKFLOWS[ask.path.split("/")[2]]
            return Expected(
                202,
                deepcopy(
                    creative_work.generate(
                        self.state, credential, workflow, meaning, identify
                    )
                ),
            )
        status, rule = library_rules.RULES[ask.operation]
        made = rule(self.state, team, ask.identifier, meaning, identify)
        collection = library_rules.WITH_LOCATION.get(ask.operation)
        location = f"/{collection}/{made['id']}" if collection and made else None
        return Expected(status, deepcopy(made), location=location)

    def send_bytes(self, session_id: str, file: SampleFile) -> Expected:
        try:
            library_rules.take_bytes(self.state, session_id, file)
        except Refusal as refusal:
            return _refused(refusal)
        return Expected(200)

    def _write_ingredient(
        self, ask: Ask, team: str, meaning: Json, identify: Identify
    ) -> Expected:
        state, kind = self.state, ask.kind
        target = None
        if ask.method != "POST":
            target = ask.identifier
            ingredient = state.get(kind, target, team)
            if ingredient["scope"] == "global":
                raise Refusal("permission_denied")  # D21
            creative_work.check_idle(state, target)
            if ask.method == "DELETE":
                state.check_before_commit(team)
                del state.things[kind][target]
                return Expected(204)
            if "asset_id" not in meaning and "asset_ids" not in meaning:
                state.check_before_commit(team)
                ingredient.update(meaning, updated_at=state.time())
                return Expected(200, deepcopy(ingredient))
        operation = creative_work.author(state, team, kind, target, meaning, identify)
        return Expected(
            202, deepcopy(operation), location=f"/operations/{operation['id']}"
        )


def _refused(refusal: Refusal) -> Expected:
    code = refusal.code
    return Expected(
        STATUSES[code],
        code=code,
        retry_after=refusal.retry_after,
        active=refusal.active,
        wait=refusal.wait,
    )
