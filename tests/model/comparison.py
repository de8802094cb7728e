"""An emulator and the model side by side: each request goes to both, and so does each change from outside.

After it the two must agree: on the answer (status, code, resource, the headers that promise something) at once, and
on all that a Team can see when `look` is called. Owns what is remembered for that; knows nothing of what will be
asked.
"""

from collections.abc import Callable
from typing import Any, Final

from tests.model import observation
from tests.model.arithmetic import Json, timestamp
from tests.model.materials import SampleFile
from tests.model.meanings import COLLECTIONS, INGREDIENTS
from tests.model.observation import opaque, shown
from tests.model.service_model import Ask, Expected, ServiceModel
from tests.support.emulator_client import HOST, Answer, Call, EmulatorUnderTest

WORLD: Final = """
teams:
  Ash:
    credits: 20
    concurrency_limit: 4
    credentials:
      - {key: ash_full, name: Full, profile: full}
      - {key: ash_second, name: Second, profile: full}
      - {key: ash_read, name: Reader, profile: read_only}
      - {key: ash_expiring, name: Expiring, profile: full, expires_at: 2026-01-01T00:10:00.000Z}
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
"""Every so many looks, both Teams are looked at, whatever happened."""


class Comparison:
    def __init__(self, client: EmulatorUnderTest, say: Callable[[str], None]) -> None:
        self.say = say
        self.client = client
        self._at_start = self._saved()
        self._begin()

    def _begin(self) -> None:
        teams = self.client.told("GET", "/teams")["data"]
        self.model = ServiceModel(
            self.client.now(), teams, self._premade(), self._result_of
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
        return str(self.model.state.credentials.get(key, {"team": "Ash"})["team"])

    def _premade(self) -> dict[str, list[Json]]:
        key = OBSERVERS["Ash"]
        lists = {
            kind: self.client.items(f"/{COLLECTIONS[kind]}?scope=global", key)
            for kind in INGREDIENTS
        }
        assert all(len(premade) >= 4 for premade in lists.values())
        assert {item["scope"] for premade in lists.values() for item in premade} == {
            "global"
        }
        return {
            kind: [shown(item) for item in premade] for kind, premade in lists.items()
        }

    # Requests ---------------------------------------------------------------------------------------------------------

    def ask(self, ask: Ask, **options: Any) -> Answer:
        """Send a request to both, and hold the answers against each other. `options` are those of `Call`."""
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
            ask, answer, lambda kind: self._new_id(ask, answer, kind)
        )
        if self.model.state.now > asked_at:
            self._touched.update(OBSERVERS)
        if expected.told is not None:
            told: Answer = expected.told
            assert (told.status, told.raw_headers, told.body) == (
                answer.status,
                answer.raw_headers,
                answer.body,
            )
            return
        request_id = answer.headers["request-id"]
        assert expected.is_repeat == (request_id in self._request_ids)
        self._request_ids.add(request_id)
        check_answer(answer, expected)
        if ask.operation == "createUpload" and answer.status == 201:
            self.sessions[answer.id] = answer.json

    def _new_id(self, ask: Ask, answer: Answer, kind: str) -> str:
        if answer.status < 300:
            return answer.id
        observer = OBSERVERS[self.team_of(ask.key)]
        found = (
            self.client.items(f"/{COLLECTIONS[kind]}", observer)
            if kind != "upload"
            else []
        )
        new = [item["id"] for item in found if item["id"] not in self.model.state.owner]
        assert len(new) == 1, (
            f"should have been admitted, and was answered {answer.status} {answer.body!r}"
        )
        return str(new[0])

    def send_bytes(self, session_id: str, file: SampleFile) -> str | None:
        answer = self.client.send_bytes(self.sessions[session_id], file.data)
        self.say(f"bytes of {file.name} to {session_id} -> {answer.status}")
        self._touched.update(OBSERVERS)
        expected = self.model.send_bytes(session_id, file)
        assert (expected.status, expected.code) == (
            answer.status,
            answer.code if answer.status >= 400 else None,
        )
        if answer.status != 200:
            return None
        session, token = (
            self.model.state.things["upload"][session_id],
            str(answer.json["upload_token"]),
        )
        assert token == session.setdefault("token", token)
        return token

    # Changes from outside ---------------------------------------------------------------------------------------------

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

    def _result_of(self, kind: str, work_id: str, slot: int) -> str:
        """Find out what work has made, in the list: reading that is no poll, for which an auto clock would move."""
        team = self.model.state.owner[work_id]
        assert team is not None
        listed = {
            one["id"]: one for one in self.client.items(f"/{kind}s", OBSERVERS[team])
        }
        assert work_id in listed
        work = listed[work_id]
        made = work["result"] if kind == "operation" else work["outputs"][slot]["asset"]
        assert made is not None, f"{work_id} should have made something: {work}"
        return str(made["id"])

    def change_team(self, name: str, change: Json) -> None:
        self.say(f"{name} gets {change}")
        self._touched.add(name)
        self.client.told(
            "PATCH", f"/teams/{self.model.state.teams[name]['id']}", change
        )
        self.model.change_team(name, change)

    def run_scenario(self, scenario: Json, whose: str | None) -> None:
        """Let a scenario begin, for a Team or for everyone; one for a Team that names another must be refused."""
        self.say(f"scenario of {whose or 'everyone'}: {scenario}")
        path, sent = (
            f"/scenario{f'?team={whose}' if whose else ''}",
            {"scenario": "random clients", **scenario},
        )
        if whose and self._named_teams(scenario) - {whose}:
            status, code, _ = self.client.refusal("PUT", path, sent)
            assert (422, "invalid_scenario") == (status, code)
            return
        self.scenarios[whose] = scenario
        self.client.told("PUT", path, sent)
        self.model.run_scenario(scenario, whose)
        self._time_has_passed(self.client.now())

    def _named_teams(self, scenario: Json) -> set[str]:
        named = [rule["match"] for rule in scenario.get("rules", ())]
        named += [timed["set"] for timed in scenario.get("timeline", ())]
        by_key = {
            self.team_of(part["credential"]) for part in named if "credential" in part
        }
        return by_key | {part["team"] for part in named if "team" in part}

    def end_scenario(self, whose: str | None) -> None:
        self.say(f"no scenario of {whose or 'everyone'}")
        self.scenarios.pop(whose, None)
        self.client.told("DELETE", f"/scenario{f'?team={whose}' if whose else ''}")
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
        assert scenarios or self._saved() == self._at_start, (
            "it began otherwise than before"
        )
        self._begin()
        for whose, scenario in sorted(
            scenarios.items(), key=lambda row: row[0] is not None
        ):
            self.scenarios[whose] = scenario
            self.model.run_scenario(scenario, whose)
        self.model.advance(self.client.now())

    # What can be seen -------------------------------------------------------------------------------------------------

    def look(self) -> None:
        """Hold what can be seen against the model: of whom it may have changed, and now and then of all.

        What must always be true, whatever the model says, is asserted of the same.
        """
        assert self.model.state.now == self.client.now(), (
            "the clock moved otherwise than it should"
        )
        self._looks += 1
        accounts = {
            team["name"]: team for team in self.client.told("GET", "/teams")["data"]
        }
        for name, account in accounts.items():
            self._compare_account(name, account)
        for whose in (None, *OBSERVERS):
            self._compare_scenario(whose)
        looked_at = (
            list(OBSERVERS) if self._looks % LOOK_AT_ALL == 0 else sorted(self._touched)
        )
        self._touched.clear()
        if not looked_at:
            return
        observed = observation.observe(
            self.client, [OBSERVERS[name] for name in looked_at]
        )
        for name, seen in zip(looked_at, observed, strict=True):
            self._compare_team(name, seen)
            observation.check_invariants(
                seen,
                self.model.state.teams[name]["granted"],
                accounts[name]["reserved"],
            )
        alive = {
            identifier
            for kind in ("asset", *INGREDIENTS)
            for identifier in self.model.state.things[kind]
        }
        observation.check_memory(self.client.sandbox, alive)

    def _compare_account(self, name: str, account: Json) -> None:
        team, work = self.model.state.teams[name], self.model.state.work_of(name)
        subscription = "active" if team["subscription"] else "inactive"
        shown = (
            account["credits"],
            account["subscription"],
            account["concurrency_limit"],
        )
        assert (team["credits"], subscription, team["limit"]) == shown
        assert sum(one["price"] for one in work.values()) == account["reserved"]

    def _compare_scenario(self, whose: str | None) -> None:
        if whose in self.scenarios or self._looks % LOOK_AT_ALL == 0:
            found = self.client.told(
                "GET", f"/scenario{f'?team={whose}' if whose else ''}"
            )
            assert (found["scenario"] is not None) == (whose in self.scenarios)
            matched = [rule["matched"] for rule in found["rules"]]
            assert matched == [
                rule["matched"] for rule in self.model.state.rules.get(whose, [])
            ]

    def _compare_team(self, name: str, seen: dict[str, list[Json]]) -> None:
        assert [self.model.team(OBSERVERS[name])] == [
            shown(team) for team in seen["team"]
        ]
        for kind in observation.LISTED:
            filters = {"scope": "team"} if kind in INGREDIENTS else {}
            assert self.model.listed(kind, name, filters) == [
                shown(item) for item in seen[kind]
            ]
            for item in seen[kind]:
                version = self.model.state.versions.get(item["id"], 0)
                assert opaque(item) == self.opaque.setdefault(
                    (item["id"], version), opaque(item)
                )


def _call(ask: Ask, **options: Any) -> Call:
    query = "&".join(f"{name}={value}" for name, value in ask.query.items())
    target = f"{ask.path}?{query}" if query else ask.path
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


def check_answer(answer: Answer, expected: Expected) -> None:
    code = answer.code if answer.status >= 400 else None
    assert (expected.status, expected.code) == (answer.status, code), answer.body
    location = answer.headers.get("location")
    assert (
        None if expected.location is None else f"http://{HOST}/v1{expected.location}"
    ) == location
    assert expected.retry_after == answer.retry_after
    if expected.active:
        assert answer.json["active_operation_id"] in expected.active
    if answer.status >= 400 or expected.body is None:
        return
    found = answer.json
    if "data" in found:
        page = {
            "data": [shown(item) for item in found["data"]],
            "has_more": found["page"]["has_more"],
        }
        assert expected.body == page
        assert bool(found["page"]["next_cursor"]) == expected.body["has_more"]
    else:
        assert expected.body == shown(found)
