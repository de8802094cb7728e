"""An emulator and the model side by side.

Each request goes to both, and so does each change from outside. After it the two must
agree: at once on the answer (status, code, resource, the headers that promise
something), and on all that a Team can see when `look` is called. Owns what is
remembered for that; knows nothing of what will be asked.
"""

from collections.abc import Callable
from typing import Any, Final

from tests.model import observation
from tests.model.arithmetic import Json, timestamp
from tests.model.materials import SampleFile
from tests.model.meanings import COLLECTIONS, INGREDIENTS
from tests.model.model_state import State
from tests.model.observation import Resources, modelled, opaque
from tests.model.service_model import Ask, Expected, ServiceModel
from tests.support.emulator_client import HOST, Answer, Call
from tests.support.emulator_under_test import EmulatorUnderTest

WORLD: Final = """
teams:
  Ash:
    credits: 20
    concurrency_limit: 4
    credentials:
      - {key: ash_full, name: Full, profile: full}
      - {key: ash_second, name: Second, profile: full}
      - {key: ash_read, name: Reader, profile: read_only}
      - key: ash_expiring
        name: Expiring
        profile: full
        expires_at: 2026-01-01T00:10:00.000Z
      - {key: ash_revoked, name: Revoked, profile: full, state: revoked}
      - {key: ash_observer, name: Observer, profile: read_only}
  Birch:
    credits: 3
    credentials:
      - {key: birch_full, name: Full, profile: full}
      - {key: birch_observer, name: Observer, profile: read_only}
"""
OBSERVERS: Final = {
    "Ash": "ash_observer",
    "Birch": "birch_observer",
}
"""A key of each Team that only reads."""
LOOK_AT_ALL: Final = 5
"""Every how many looks both Teams are looked at, whatever happened."""


Say = Callable[[str], None]
"""Adds a line to the transcript of a play."""


class Comparison:
    def __init__(self, client: EmulatorUnderTest, say: Say) -> None:
        self.say = say
        self.client = client
        self._saved_at_start = self._saved()
        self._begin()

    def _begin(self) -> None:
        teams = self._accounts()
        self.model = ServiceModel(
            self.client.now(),
            teams,
            self._premade(),
            self._result_of,
        )
        self.sessions: dict[str, Json] = {}
        """The Upload Sessions, as they were answered."""
        self.opaque: dict[tuple[str, int], Json] = {}
        """Fields that only the service can know, by id and version."""
        self.scenarios: dict[str | None, Json] = {}
        """Running scenarios by Team, and for everyone under None."""
        self._request_ids: set[str] = set()
        self._looks = 0
        self._touched: set[str] = set(OBSERVERS)
        """The Teams whose resources may have changed since they were looked at."""

    @property
    def _state(self) -> State:
        return self.model.state

    def _saved(self) -> bytes:
        answer = self.client.ask("GET", "/state")
        return answer.body

    def _accounts(self) -> list[Json]:
        """Return the Teams as the control plane lists them."""
        listed = self.client.told("GET", "/teams")
        return list(listed["data"])

    def team_of(self, key: str) -> str:
        """Return the Team of a key; Ash for a key that nobody has."""
        credential = self._state.credentials.get(key)
        if credential is None:
            return "Ash"
        return str(credential["team"])

    def _premade(self) -> Resources:
        key = OBSERVERS["Ash"]
        premade: Resources = {}
        for kind in INGREDIENTS:
            path = f"/{COLLECTIONS[kind]}?scope=global"
            items = self.client.items(path, key)
            scopes = {item["scope"] for item in items}
            assert len(items) >= 4
            assert scopes == {"global"}
            premade[kind] = [modelled(item) for item in items]
        return premade

    # Requests -------------------------------------------------------------------------

    def ask(self, ask: Ask, **options: Any) -> Answer:
        """Send a request to both, and compare their answers.

        `options` are those of `Call`.
        """
        call = _call(ask, **options)
        answer = self.client.send(call)
        self._say_answer(ask, answer)
        expected = self._answer_of_model(ask, answer)
        if expected.first_answer is None:
            self._compare(answer, expected)
        else:
            check_replay(answer, expected.first_answer)
        is_new_session = ask.operation == "createUpload" and answer.status == 201
        if is_new_session:
            self.sessions[answer.id] = answer.json
        return answer

    def _say_answer(self, ask: Ask, answer: Answer) -> None:
        now = timestamp(self.client.now())
        body = answer.body[:200].decode(errors="replace")
        self.say(f"{now} {ask} -> {answer.status} {body}")

    def _answer_of_model(self, ask: Ask, answer: Answer) -> Expected:
        """Have the model answer, and note whose resources may have changed."""
        if ask.method != "GET":
            team = self.team_of(ask.key)
            self._touched.add(team)

        def identify(kind: str) -> str:
            return self._new_id(ask, answer, kind)

        asked_at = self._state.now
        expected = self.model.handle(ask, answer, identify)
        if self._state.now > asked_at:
            self._touched.update(OBSERVERS)
        return expected

    def _compare(self, answer: Answer, expected: Expected) -> None:
        request_id = answer.headers["request-id"]
        is_repeat = request_id in self._request_ids
        self._request_ids.add(request_id)
        assert is_repeat == expected.is_repeat
        check_answer(answer, expected)

    def _new_id(
        self,
        ask: Ask,
        answer: Answer,
        kind: str,
    ) -> str:
        """Return the id of what a request has made, though its answer was lost."""
        if answer.status < 300:
            return answer.id
        new_ids: list[str] = []
        if kind != "upload":
            new_ids = self._unknown_ids(ask, kind)
        got = f"{answer.status} {answer.body!r}"
        assert len(new_ids) == 1, f"should have been admitted, but got {got}"
        return new_ids[0]

    def _unknown_ids(self, ask: Ask, kind: str) -> list[str]:
        """Return the ids of listed resources that the model does not know."""
        team = self.team_of(ask.key)
        path = f"/{COLLECTIONS[kind]}"
        listed = self.client.items(path, OBSERVERS[team])
        ids = [item["id"] for item in listed]
        return [identifier for identifier in ids if identifier not in self._state.owner]

    def send_bytes(self, session_id: str, file: SampleFile) -> str | None:
        opened = self.sessions[session_id]
        answer = self.client.send_bytes(opened, file.data)
        self.say(f"bytes of {file.name} to {session_id} -> {answer.status}")
        self._touched.update(OBSERVERS)
        expected = self.model.send_bytes(session_id, file)
        assert answer.status == expected.status
        assert code_of(answer) == expected.code
        if answer.status != 200:
            return None
        session = self._state.resources["upload"][session_id]
        token = str(answer.json["upload_token"])
        first_token = session.setdefault("token", token)
        assert token == first_token
        return token

    # Changes from outside -------------------------------------------------------------

    def advance(self, move: Json) -> None:
        self.say(f"time passes: {move}")
        self.client.told("POST", "/clock/advance", move)
        self._time_has_passed(self.client.now())

    def _time_has_passed(self, until: int) -> None:
        self._touched.update(OBSERVERS)
        self.model.advance(until)

    def set_clock(self, mode: str) -> None:
        self.say(f"the clock is now {mode}")
        self.client.told("PUT", "/clock", {"mode": mode})
        self._state.skips_waits = mode == "auto"

    def _result_of(
        self,
        kind: str,
        work_id: str,
        slot: int,
    ) -> str:
        """Return the id of what work has made, by the list.

        A poll of the work itself would move an auto clock.
        """
        team = self._state.owner[work_id]
        assert team is not None
        listed = self.client.items(f"/{kind}s", OBSERVERS[team])
        (work,) = [work for work in listed if work["id"] == work_id]
        if kind == "operation":
            result = work["result"]
        else:
            result = work["outputs"][slot]["asset"]
        assert result is not None, f"{work_id} should have made something: {work}"
        return str(result["id"])

    def change_team(self, name: str, change: Json) -> None:
        self.say(f"{name} gets {change}")
        self._touched.add(name)
        team = self._state.teams[name]
        self.client.told("PATCH", f"/teams/{team['id']}", change)
        self.model.change_team(name, change)

    def run_scenario(self, scenario: Json, whose: str | None) -> None:
        """Begin a scenario, for a Team or for everyone.

        One for a Team that names another must be refused.
        """
        self.say(f"scenario of {whose or 'everyone'}: {scenario}")
        path = scenario_path(whose)
        sent = {"scenario": "random clients", **scenario}
        foreign_teams = self._named_teams(scenario) - {whose}
        if whose and foreign_teams:
            refusal = self.client.ask("PUT", path, sent)
            assert refusal.status == 422
            assert refusal.code == "invalid_scenario"
            return
        self.scenarios[whose] = scenario
        self.client.told("PUT", path, sent)
        self.model.run_scenario(scenario, whose)
        self._time_has_passed(self.client.now())

    def _named_teams(self, scenario: Json) -> set[str]:
        rules = scenario.get("rules", ())
        timeline = scenario.get("timeline", ())
        parts = [rule["match"] for rule in rules]
        parts += [timed["set"] for timed in timeline]
        teams: set[str] = set()
        for part in parts:
            if "team" in part:
                teams.add(part["team"])
            if "credential" in part:
                team = self.team_of(part["credential"])
                teams.add(team)
        return teams

    def end_scenario(self, whose: str | None) -> None:
        self.say(f"no scenario of {whose or 'everyone'}")
        self.scenarios.pop(whose, None)
        path = scenario_path(whose)
        self.client.told("DELETE", path)
        self.model.run_scenario({}, whose)

    def save_and_load(self) -> None:
        self.say("saved and loaded")
        saved = self._saved()
        self.client.told("PUT", "/state", content=saved)
        self._touched.update(OBSERVERS)

    def reset(self) -> None:
        """Reset the emulator, and begin again with the scenarios that run."""
        self.say("reset")
        self.client.told("POST", "/reset")
        scenarios = self.scenarios
        if not scenarios:
            assert self._saved() == self._saved_at_start
        self._begin()
        everyones_first = sorted(scenarios, key=lambda whose: whose is not None)
        for whose in everyones_first:
            scenario = scenarios[whose]
            self.scenarios[whose] = scenario
            self.model.run_scenario(scenario, whose)
        now = self.client.now()
        self.model.advance(now)

    # What can be seen -----------------------------------------------------------------

    def look(self) -> None:
        """Compare what can be seen with the model: where it may have changed.

        Now and then all is compared. Invariants are asserted of the same, whatever the
        model says.
        """
        now = self.client.now()
        assert now == self._state.now
        self._looks += 1
        accounts = {account["name"]: account for account in self._accounts()}
        for name, account in accounts.items():
            self._compare_account(name, account)
        for whose in (None, *OBSERVERS):
            self._compare_scenario(whose)
        teams = sorted(self._touched)
        if self._looks_at_all:
            teams = list(OBSERVERS)
        self._touched.clear()
        if teams:
            self._compare_teams(teams, accounts)
            self._check_memory()

    @property
    def _looks_at_all(self) -> bool:
        return self._looks % LOOK_AT_ALL == 0

    def _compare_teams(self, names: list[str], accounts: dict[str, Json]) -> None:
        observers = [OBSERVERS[name] for name in names]
        observed = observation.observe(self.client, observers)
        for name, seen in zip(names, observed, strict=True):
            team = self._state.teams[name]
            account = accounts[name]
            self._compare_team(name, seen)
            observation.check_invariants(seen, team["granted"], account["reserved"])

    def _check_memory(self) -> None:
        resources = self._state.resources
        alive: set[str] = set()
        for kind in ("asset", *INGREDIENTS):
            alive |= resources[kind].keys()
        sessions = set(resources["upload"])
        observation.check_memory(self.client.sandbox, alive, sessions)

    def _compare_account(self, name: str, account: Json) -> None:
        team = self._state.teams[name]
        has_subscription = account["subscription"] == "active"
        unfinished = self._state.work_of(name)
        prices = [work["price"] for work in unfinished.values()]
        assert account["credits"] == team["credits"]
        assert account["reserved"] == sum(prices)
        assert account["concurrency_limit"] == team["limit"]
        assert has_subscription == team["subscription"]

    def _compare_scenario(self, whose: str | None) -> None:
        should_run = whose in self.scenarios
        if not should_run and not self._looks_at_all:
            return
        path = scenario_path(whose)
        status = self.client.told("GET", path)
        expected_rules = self._state.rules.get(whose, [])
        is_running = status["scenario"] is not None
        assert is_running == should_run
        assert matches_of(status["rules"]) == matches_of(expected_rules)

    def _compare_team(self, name: str, seen: Resources) -> None:
        (team,) = seen["team"]
        expected_team = self.model.team(OBSERVERS[name])
        assert modelled(team) == expected_team
        for kind in observation.LISTED:
            filters: dict[str, str] = {}
            if kind in INGREDIENTS:
                filters = {"scope": "team"}
            listed = [modelled(item) for item in seen[kind]]
            expected = self.model.listed(kind, name, filters)
            assert listed == expected
            for item in seen[kind]:
                self._compare_opaque(item)

    def _compare_opaque(self, item: Json) -> None:
        """Fields that only the service knows stay as they were first seen."""
        identifier = item["id"]
        version = self._state.versions.get(identifier, 0)
        fields = opaque(item)
        first_fields = self.opaque.setdefault((identifier, version), fields)
        assert fields == first_fields


def matches_of(rules: list[Json]) -> list[int]:
    return [rule["matched"] for rule in rules]


def scenario_path(whose: str | None) -> str:
    """Return the path of a Team's scenario, or of everyone's."""
    if whose is None:
        return "/scenario"
    return f"/scenario?team={whose}"


def _call(ask: Ask, **options: Any) -> Call:
    target = ask.path
    if ask.query:
        parameters = [f"{name}={value}" for name, value in ask.query.items()]
        query = "&".join(parameters)
        target = f"{ask.path}?{query}"
    call = Call(
        ask.method,
        target,
        ask.body,
        key=ask.key,
        idempotency_key=ask.idempotency_key,
        **options,
    )
    if ask.fault is not None:
        headers = dict(call.headers)
        headers["emulator-fault"] = ask.fault
        call.headers = headers
    return call


def code_of(answer: Answer) -> str | None:
    """Return the code of a problem; None for any other answer."""
    if answer.status < 400:
        return None
    return answer.code


def check_replay(answer: Answer, first: Answer) -> None:
    assert answer.status == first.status
    assert answer.raw_headers == first.raw_headers
    assert answer.body == first.body


def check_answer(answer: Answer, expected: Expected) -> None:
    assert answer.status == expected.status, answer.body
    assert code_of(answer) == expected.code, answer.body
    location = None
    if expected.location is not None:
        location = f"http://{HOST}/v1{expected.location}"
    assert answer.headers.get("location") == location
    assert answer.retry_after == expected.retry_after
    if expected.active:
        assert answer.json["active_operation_id"] in expected.active
    if answer.status < 400:
        _check_body(answer, expected)


def _check_body(answer: Answer, expected: Expected) -> None:
    if expected.body is None:
        assert answer.body == b""
        return
    body = answer.json
    if "data" not in body:
        assert modelled(body) == expected.body
        return
    page = body["page"]
    items = [modelled(item) for item in body["data"]]
    has_cursor = bool(page["next_cursor"])
    assert items == expected.body["data"]
    assert page["has_more"] == expected.body["has_more"]
    assert has_cursor == expected.body["has_more"]
