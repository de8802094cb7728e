"""Scenarios as they run: swapped, begun anew by a reset, and with the changes of their timelines."""

import subprocess
import time
from pathlib import Path

import pytest

from tests.cli.command import run_command
from tests.playing_scenarios.player import upscale_call
from tests.support.emulator_client import (
    FULL,
    OTHER,
    READ_ONLY,
    REVOKED,
    UPLOAD,
    Call,
    EmulatorUnderTest,
    Json,
    control_call,
)
from tests.support.served import serving
from tests.support.served_client import ServedClient


def test_what_is_held_stays_held_when_the_scenario_is_swapped(emulator: EmulatorUnderTest, asset_id: str) -> None:
    emulator.rule({"operation": "createUpscaleGeneration"}, {"hold": "10s"})
    call = upscale_call(asset_id, "k")
    first, _, second, _ = emulator.together(
        call,
        control_call("PUT", "/scenario", {"scenario": "calm"}),
        call,
        control_call("POST", "/clock/advance", {"seconds": 10}),
    )
    assert [(202, "generation"), (409, "idempotency_in_progress")] == [first.outcome, second.outcome]


@pytest.mark.emulator(seed=3)
def test_a_reset_begins_the_scenario_anew_with_fresh_counters_and_the_same_chance(emulator: EmulatorUnderTest) -> None:
    fails: Json = {"problem": "internal_error"}
    rules = [
        {"match": {"operation": "getTeam"}, "when": {"probability": 0.5}, "then": fails},
        {"match": {"operation": "listPoses"}, "when": {"nth": "every 3"}, "then": fails},
    ]
    emulator.use({"scenario": "eventful", "rules": rules, "timeline": [{"at": "9s", "set": {"admission": "paused"}}]})
    untouched, played = emulator.told("GET", "/scenario"), []
    for _ in range(2):
        emulator.advance(10)
        calls = [Call("GET", path) for path in ("/team", "/poses") * 12] + [Call("POST", "/uploads", UPLOAD)]
        played.append([emulator.send(call).status for call in calls])
        assert untouched != emulator.told("GET", "/scenario")
        emulator.told("POST", "/reset")
        assert untouched == emulator.told("GET", "/scenario")
    assert played[0] == played[1]
    assert {200, 500, 503} == set(played[0])


def test_a_changed_file_is_noticed_and_read_again_when_it_is_used(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("scenario: before\n")
    with serving("--scenario", str(file), stderr=subprocess.PIPE) as server:
        file.write_text("scenario: after\n")
        assert server.process.stderr is not None
        assert (
            f"{file} changed; use it: image-workflow-emulator scenario use {file}" in server.process.stderr.readline()
        )
        client = ServedClient(server.base_url)
        assert client.told("GET", "/scenario")["scenario"] == "before"
        assert run_command("scenario", "use", str(file), EMULATOR_URL=server.url).status == 0
        client.told("POST", "/reset")
        assert client.told("GET", "/scenario")["scenario"] == "after"


def _timeline(*changes: tuple[str, Json]) -> Json:
    return {"scenario": "timeline", "timeline": [{"at": at, "set": change} for at, change in changes]}


def _around(emulator: EmulatorUnderTest, call: Call, at_seconds: float) -> list[tuple[int, str]]:
    """Send a request a millisecond before an instant, and at the instant."""
    emulator.advance(at_seconds - 0.001)
    before = emulator.send(call).outcome
    emulator.advance(0.001)
    return [before, emulator.send(call).outcome]


CHANGES: list[tuple[Json, Call, tuple[int, str], tuple[int, str]]] = [
    ({"admission": "paused"}, Call("POST", "/uploads", UPLOAD), (201, "upload"), (503, "service_unavailable")),
    ({"admission": "paused"}, Call("GET", "/team"), (200, "team"), (200, "team")),
    ({"admission": "open"}, Call("POST", "/uploads", UPLOAD), (201, "upload"), (201, "upload")),
    ({"team": "Demo", "subscription": "inactive"}, Call("POST", "/uploads", UPLOAD), (201, "upload"), (403, "subscription_required")),
    ({"team": "Other", "subscription": "inactive"}, Call("POST", "/uploads", UPLOAD), (201, "upload"), (201, "upload")),
    ({"team": "Lapsed", "subscription": "active"}, Call("POST", "/uploads", UPLOAD, key="iwe_lapsed_full"), (403, "subscription_required"), (201, "upload")),
    ({"credential": FULL, "state": "revoked"}, Call("GET", "/team"), (200, "team"), (401, "credential_revoked")),
    ({"credential": FULL, "state": "revoked"}, Call("GET", "/team", key=READ_ONLY), (200, "team"), (200, "team")),
    ({"credential": REVOKED, "state": "active"}, Call("GET", "/team", key=REVOKED), (401, "credential_revoked"), (200, "team")),
    ({"credential": FULL, "expires_at": "2026-01-01T00:00:00.000Z"}, Call("GET", "/team"), (200, "team"), (401, "credential_expired")),
    ({"credential": FULL, "profile": "read_only"}, Call("POST", "/uploads", UPLOAD), (201, "upload"), (403, "permission_denied")),
    ({"credential": READ_ONLY, "profile": "full"}, Call("POST", "/uploads", UPLOAD, key=READ_ONLY), (403, "permission_denied"), (201, "upload")),
    ({"team": "Demo", "requests_per_minute": 1}, Call("GET", "/team"), (200, "team"), (429, "rate_limited")),
]  # fmt: skip


@pytest.mark.parametrize(
    ("change", "call", "before", "after"), CHANGES, ids=[f"{row[0]} {row[1].method} {row[1].key}" for row in CHANGES]
)
def test_a_change_takes_effect_at_its_instant(
    emulator: EmulatorUnderTest, change: Json, call: Call, before: tuple[int, str], after: tuple[int, str]
) -> None:
    emulator.advance(100)
    emulator.use(_timeline(("30s", change)))
    assert [before, after] == _around(emulator, call, 30)


def test_a_long_timeline_of_pauses_costs_no_more_for_each_of_them(emulator: EmulatorUnderTest) -> None:
    emulator.use(_timeline(*((f"{index}s", {"admission": ("paused", "open")[index % 2]}) for index in range(2200))))
    began_at = time.process_time()
    emulator.advance(2199)
    assert time.process_time() - began_at < 1
    assert [3] == [entry["done_at"].count(":") + 1 for entry in emulator.told("GET", "/scenario")["timeline"][-1:]]


def test_a_world_that_is_put_changes_what_it_names_at_once_and_keeps_the_rest(emulator: EmulatorUnderTest) -> None:
    (asset_id,) = emulator.assets(1)
    world: Json = {
        "teams": {
            "Demo": {
                "credits": 3,
                "credentials": [{"key": READ_ONLY, "name": "Renamed"}, {"key": "iwe_demo_second"}],
            },
            "Other": {"subscription": "inactive"},
            "Fresh": {"credits": 9, "credentials": [{"key": "iwe_fresh"}]},
        },
        "timings": {"queue": "2s", "first_output": "8s"},
    }
    emulator.use({"scenario": "w", "world": world})
    mine, fresh = emulator.get("/team", READ_ONLY).json, emulator.get("/team", "iwe_fresh").json
    assert (3, "Renamed", "read_only") == (mine["credits"], mine["credential"]["name"], mine["credential"]["profile"])
    assert (9, "Fresh", "inactive") == (fresh["credits"], fresh["name"], emulator.team("Other")["subscription"])
    assert mine["id"] == emulator.get("/team", "iwe_demo_second").json["id"]
    admitted = emulator.send(upscale_call(asset_id, "k"))
    emulator.advance(9.999)
    assert "processing" == emulator.get(f"/generations/{admitted.id}").json["status"]
    emulator.advance(0.001)
    assert "completed" == emulator.get(f"/generations/{admitted.id}").json["status"]


def _after(match: Json, nth: int, change: Json) -> Json:
    return {"scenario": "after", "timeline": [{"after": {"match": match, "nth": nth}, "set": change}]}


def test_a_change_is_made_right_after_the_answer_to_a_request_and_once(emulator: EmulatorUnderTest) -> None:
    emulator.use(_after({"operation": "getTeam", "team": "Demo"}, 2, {"team": "Demo", "credits": 7}))
    found = [emulator.get("/team", key).json["credits"] for key in (FULL, OTHER, FULL, FULL)]
    assert found == [100, 100, 100, 7]
    emulator.set_team(credits_available=50)
    assert [emulator.credits() for _ in range(3)] == [50, 50, 50]


def test_a_change_after_bytes_closes_the_window_of_a_client(emulator: EmulatorUnderTest) -> None:
    emulator.use(_after({"bytes": "upload"}, 1, {"credential": FULL, "state": "revoked"}))
    session, token = emulator.ready_upload()
    assert emulator.complete(session, token).code == "credential_revoked"


def test_a_link_to_no_sandbox_is_not_found_while_a_change_waits_for_bytes(emulator: EmulatorUnderTest) -> None:
    emulator.use(_after({"bytes": "*"}, 1, {"team": "Demo", "credits": 7}))
    links = ("/files/nowhere/picture.png", "/direct-uploads/nowhere/session/signature")
    assert [404, 404] == [emulator.fetch(link, "POST").status for link in links]
    assert emulator.credits() != 7
