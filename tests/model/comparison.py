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
from tests.model.observation import modelled, opaque
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
OBSERVERS: Final = {"Ash": "ash_observer", "Birch": "birch_observer"}
"""A key of each Team that only reads."""
LOOK_AT_ALL: Final = 5
"""Every how many looks both Teams are looked at, whatever happened."""


class Comparison:
    def __init__(self, client: EmulatorUnderTest, say: Callable[[str], None]) -> None:
        self.say = say
        self.client = client
        self._state_at_start = self._saved()
        self._begin()

    def _begin(self) -> None:
        teams = self.client.told("GET", "/teams")["data"]
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

    def _saved(self) -> bytes:
        return self.client.ask("GET", "/state").body

    def team_of(self, key: str) -> str:
        """Return the Team of a key; Ash for a key that nobody has."""
        credential = self.model.state.credentials.get(key)
        if credential is None:
            return "Ash"
        return str(credential["team"])

    def _premade(self) -> dict[str, list[Json]]:
        key = OBSERVERS["Ash"]
        premade: dict[str, list[Json]] = {}
        for kind in INGREDIENTS:
            items = self.client.items(f"/{COLLECTIONS[kind]}?scope=global", key)
            assert len(items) >= 4
            assert {item["scope"] for item in items} == {"global"}
            premade[kind] = [modelled(item) for item in items]
        return premade

    # Requests -------------------------------------------------------------------------

    def ask(self, ask: Ask, **options: Any) -> Answer:
        """Send a request to both, and compare their answers.

        `options` are those of `Call`.
        """
        answer = self.client.send(_call(ask, **options))
        self._compare(ask, answer)
        return answer

    def _compare(self, ask: Ask, answer: Answer) -> None:
        body = answer.body[:200].decode(errors="replace")
        self.say(f"{timestamp(self.client.now())} {ask} -> {answer.status} {body}")
        if ask.method != "GET":
            self._touched.add(self.team_of(ask.key))
        asked_at = self.model.state.now
        expected = self.model.handle(
            ask,
            answer,
            lambda kind: self._new_id(ask, answer, kind),
        )
        if self.model.state.now > asked_at:
            self._touched.update(OBSERVERS)
        if expected.first_answer is not None:
            first: Answer = expected.first_answer
            assert answer.status == first.status
            assert answer.raw_headers == first.raw_headers
            assert answer.body == first.body
            return
        request_id = answer.headers["request-id"]
        assert expected.is_repeat == (request_id in self._request_ids)
        self._request_ids.add(request_id)
        check_answer(answer, expected)
        if ask.operation == "createUpload" and answer.status == 201:
            self.sessions[answer.id] = answer.json

    def _new_id(
        self,
        ask: Ask,
        answer: Answer,
        kind: str,
    ) -> str:
        """Return the id of what a request has made, though its answer was lost."""
        if answer.status < 300:
            return answer.id
        ids: list[str] = []
        if kind != "upload":
            observer = OBSERVERS[self.team_of(ask.key)]
            items = self.client.items(f"/{COLLECTIONS[kind]}", observer)
            ids = [item["id"] for item in items]
        known_ids = self.model.state.owner
        new_ids = [identifier for identifier in ids if identifier not in known_ids]
        got = f"{answer.status} {answer.body!r}"
        assert len(new_ids) == 1, f"should have been admitted, but got {got}"
        return new_ids[0]

    def send_bytes(self, session_id: str, file: SampleFile) -> str | None:
        answer = self.client.send_bytes(self.sessions[session_id], file.data)
        self.say(f"bytes of {file.name} to {session_id} -> {answer.status}")
        self._touched.update(OBSERVERS)
        expected = self.model.send_bytes(session_id, file)
        assert answer.status == expected.status
        assert code_of(answer) == expected.code
        if answer.status != 200:
            return None
        session = self.model.state.resources["upload"][session_id]
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
        self.model.state.skips_waits = mode == "auto"

    def _result_of(
        self,
        kind: str,
        work_id: str,
        slot: int,
    ) -> str:
        """Return the id of what work has made, by the list.

        A poll of the work itself would move an auto clock.
        """
        team = self.model.state.owner[work_id]
        assert team is not None
        items = self.client.items(f"/{kind}s", OBSERVERS[team])
        work_by_id = {item["id"]: item for item in items}
        work = work_by_id[work_id]
        if kind == "operation":
            result = work["result"]
        else:
            result = work["outputs"][slot]["asset"]
        assert result is not None, f"{work_id} should have made something: {work}"
        return str(result["id"])

    def change_team(self, name: str, change: Json) -> None:
        self.say(f"{name} gets {change}")
        self._touched.add(name)
        team_id = self.model.state.teams[name]["id"]
        self.client.told("PATCH", f"/teams/{team_id}", change)
        self.model.change_team(name, change)

    def run_scenario(self, scenario: Json, whose: str | None) -> None:
        """Begin a scenario, for a Team or for everyone.

        One for a Team that names another must be refused.
        """
        self.say(f"scenario of {whose or 'everyone'}: {scenario}")
        path = scenario_path(whose)
        sent = {"scenario": "random clients", **scenario}
        if whose and self._named_teams(scenario) - {whose}:
            status, code, _ = self.client.refusal("PUT", path, sent)
            assert status == 422
            assert code == "invalid_scenario"
            return
        self.scenarios[whose] = scenario
        self.client.told("PUT", path, sent)
        self.model.run_scenario(scenario, whose)
        self._time_has_passed(self.client.now())

    def _named_teams(self, scenario: Json) -> set[str]:
        parts = [rule["match"] for rule in scenario.get("rules", ())]
        parts += [timed["set"] for timed in scenario.get("timeline", ())]
        teams: set[str] = set()
        for part in parts:
            if "team" in part:
                teams.add(part["team"])
            if "credential" in part:
                teams.add(self.team_of(part["credential"]))
        return teams

    def end_scenario(self, whose: str | None) -> None:
        self.say(f"no scenario of {whose or 'everyone'}")
        self.scenarios.pop(whose, None)
        self.client.told("DELETE", scenario_path(whose))
        self.model.run_scenario({}, whose)

    def save_and_load(self) -> None:
        self.say("saved and loaded")
        self.client.told("PUT", "/state", content=self._saved())
        self._touched.update(OBSERVERS)

    def reset(self) -> None:
        """Reset the emulator, and begin again with the scenarios that run."""
        self.say("reset")
        self.client.told("POST", "/reset")
        scenarios = self.scenarios
        if not scenarios:
            assert self._saved() == self._state_at_start
        self._begin()
        everyones_first = sorted(scenarios, key=lambda whose: whose is not None)
        for whose in everyones_first:
            self.scenarios[whose] = scenarios[whose]
            self.model.run_scenario(scenarios[whose], whose)
        self.model.advance(self.client.now())

    # What can be seen -----------------------------------------------------------------

    def look(self) -> None:
        """Compare what can be seen with the model: where it may have changed.

        Now and then all is compared. Invariants are asserted of the same, whatever the
        model says.
        """
        assert self.client.now() == self.model.state.now
        self._looks += 1
        listed_teams = self.client.told("GET", "/teams")["data"]
        accounts = {team["name"]: team for team in listed_teams}
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
            self._compare_team(name, seen)
            granted = self.model.state.teams[name]["granted"]
            reserved = accounts[name]["reserved"]
            observation.check_invariants(seen, granted, reserved)

    def _check_memory(self) -> None:
        resources = self.model.state.resources
        alive: set[str] = set()
        for kind in ("asset", *INGREDIENTS):
            alive |= resources[kind].keys()
        observation.check_memory(self.client.sandbox, alive, {*resources["upload"]})

    def _compare_account(self, name: str, account: Json) -> None:
        team = self.model.state.teams[name]
        has_subscription = account["subscription"] == "active"
        unfinished = self.model.state.work_of(name)
        reserved = sum(work["price"] for work in unfinished.values())
        assert account["credits"] == team["credits"]
        assert account["reserved"] == reserved
        assert account["concurrency_limit"] == team["limit"]
        assert has_subscription == team["subscription"]

    def _compare_scenario(self, whose: str | None) -> None:
        if whose not in self.scenarios and not self._looks_at_all:
            return
        status = self.client.told("GET", scenario_path(whose))
        is_running = status["scenario"] is not None
        matches = [rule["matched"] for rule in status["rules"]]
        expected_rules = self.model.state.rules.get(whose, [])
        expected_matches = [rule["matched"] for rule in expected_rules]
        assert is_running == (whose in self.scenarios)
        assert matches == expected_matches

    def _compare_team(self, name: str, seen: dict[str, list[Json]]) -> None:
        (team,) = seen["team"]
        assert modelled(team) == self.model.team(OBSERVERS[name])
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
        version = self.model.state.versions.get(item["id"], 0)
        fields = opaque(item)
        first_fields = self.opaque.setdefault((item["id"], version), fields)
        assert fields == first_fields


def scenario_path(whose: str | None) -> str:
    """Return the path of a Team's scenario, or of everyone's."""
    if whose is None:
        return "/scenario"
    return f"/scenario?team={whose}"


def _call(ask: Ask, **options: Any) -> Call:
    target = ask.path
    if ask.query:
        parameters = [f"{name}={value}" for name, value in ask.query.items()]
        target = f"{ask.path}?{'&'.join(parameters)}"
    call = Call(
        ask.method,
        target,
        ask.body,
        key=ask.key,
        idempotency_key=ask.idempotency_key,
        **options,
    )
    if ask.fault is not None:
        call.headers = {**dict(call.headers), "emulator-fault": ask.fault}
    return call


def code_of(answer: Answer) -> str | None:
    """Return the code of a problem; None for any other answer."""
    if answer.status < 400:
        return None
    return answer.code


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
