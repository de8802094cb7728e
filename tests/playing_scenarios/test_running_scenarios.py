"""Scenarios as they run: swapped, begun anew, with the changes of timelines, and what becomes of accepted work."""

import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from image_workflow_emulator.domain import orders
from tests.cli.command import run_command
from tests.support.emulator_client import (
    FULL,
    INGREDIENT_PATHS,
    OTHER,
    READ_ONLY,
    REVOKED,
    SOURCES,
    TERMINAL,
    UPLOAD,
    Call,
    EmulatorUnderTest,
    Json,
    MakeEmulator,
    control_call,
    ingredient_body,
)
from tests.support.every_operation import WORKFLOWS, generation_call, upscale_call
from tests.support.served import serving
from tests.support.served_client import ServedClient


def test_what_is_held_stays_held_when_the_scenario_is_swapped(
    emulator: EmulatorUnderTest, asset_id: str
) -> None:
    emulator.rule({"operation": "createUpscaleGeneration"}, {"hold": "10s"})
    call = upscale_call(asset_id, "k")
    first, _, second, _ = emulator.together(
        call,
        control_call("PUT", "/scenario", {"scenario": "calm"}),
        call,
        control_call("POST", "/clock/advance", {"seconds": 10}),
    )
    assert [(202, "generation"), (409, "idempotency_in_progress")] == [
        first.outcome,
        second.outcome,
    ]


@pytest.mark.emulator(seed=3)
def test_a_reset_begins_the_scenario_anew_with_fresh_counters_and_the_same_chance(
    emulator: EmulatorUnderTest,
) -> None:
    fails: Json = {"problem": "internal_error"}
    rules = [
        {
            "match": {"operation": "getTeam"},
            "when": {"probability": 0.5},
            "then": fails,
        },
        {
            "match": {"operation": "listPoses"},
            "when": {"nth": "every 3"},
            "then": fails,
        },
    ]
    emulator.use(
        {
            "scenario": "eventful",
            "rules": rules,
            "timeline": [{"at": "9s", "set": {"admission": "paused"}}],
        }
    )
    untouched, played = emulator.told("GET", "/scenario"), []
    for _ in range(2):
        emulator.advance(10)
        calls = [Call("GET", path) for path in ("/team", "/poses") * 12] + [
            Call("POST", "/uploads", UPLOAD)
        ]
        played.append([emulator.send(call).status for call in calls])
        assert untouched != emulator.told("GET", "/scenario")
        emulator.told("POST", "/reset")
        assert untouched == emulator.told("GET", "/scenario")
    assert played[0] == played[1]
    assert {200, 500, 503} == set(played[0])


def test_a_changed_file_is_noticed_and_read_again_when_it_is_used(
    tmp_path: Path,
) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("scenario: before\n")
    with serving("--scenario", str(file), stderr=subprocess.PIPE) as server:
        file.write_text("scenario: after\n")
        complaints = server.process.stderr
        assert complaints is not None
        assert (
            f"{file} changed; use it: image-workflow-emulator scenario use {file}"
            in complaints.readline()
        )
        client = ServedClient(server.base_url)
        assert client.told("GET", "/scenario")["scenario"] == "before"
        assert (
            run_command("scenario", "use", str(file), EMULATOR_URL=server.url).status
            == 0
        )
        client.told("POST", "/reset")
        assert client.told("GET", "/scenario")["scenario"] == "after"


def _timeline(*changes: tuple[str, Json]) -> Json:
    return {
        "scenario": "timeline",
        "timeline": [{"at": at, "set": change} for at, change in changes],
    }


def _around(
    emulator: EmulatorUnderTest, call: Call, at_seconds: float
) -> list[tuple[int, str]]:
    """Send a request a millisecond before an instant, and at the instant."""
    emulator.advance(at_seconds - 0.001)
    before = emulator.send(call).outcome
    emulator.advance(0.001)
    return [before, emulator.send(call).outcome]


CHANGES: list[tuple[Json, Call, tuple[int, str], tuple[int, str]]] = [
    (
        {"admission": "paused"},
        Call("POST", "/uploads", UPLOAD),
        (201, "upload"),
        (503, "service_unavailable"),
    ),
    ({"admission": "paused"}, Call("GET", "/team"), (200, "team"), (200, "team")),
    (
        {"admission": "open"},
        Call("POST", "/uploads", UPLOAD),
        (201, "upload"),
        (201, "upload"),
    ),
    (
        {"team": "Demo", "subscription": "inactive"},
        Call("POST", "/uploads", UPLOAD),
        (201, "upload"),
        (403, "subscription_required"),
    ),
    (
        {"team": "Other", "subscription": "inactive"},
        Call("POST", "/uploads", UPLOAD),
        (201, "upload"),
        (201, "upload"),
    ),
    (
        {"team": "Lapsed", "subscription": "active"},
        Call("POST", "/uploads", UPLOAD, key="iwe_lapsed_full"),
        (403, "subscription_required"),
        (201, "upload"),
    ),
    (
        {"credential": FULL, "state": "revoked"},
        Call("GET", "/team"),
        (200, "team"),
        (401, "credential_revoked"),
    ),
    (
        {"credential": FULL, "state": "revoked"},
        Call("GET", "/team", key=READ_ONLY),
        (200, "team"),
        (200, "team"),
    ),
    (
        {"credential": REVOKED, "state": "active"},
        Call("GET", "/team", key=REVOKED),
        (401, "credential_revoked"),
        (200, "team"),
    ),
    (
        {"credential": FULL, "expires_at": "2026-01-01T00:00:00.000Z"},
        Call("GET", "/team"),
        (200, "team"),
        (401, "credential_expired"),
    ),
    (
        {"credential": FULL, "profile": "read_only"},
        Call("POST", "/uploads", UPLOAD),
        (201, "upload"),
        (403, "permission_denied"),
    ),
    (
        {"credential": READ_ONLY, "profile": "full"},
        Call("POST", "/uploads", UPLOAD, key=READ_ONLY),
        (403, "permission_denied"),
        (201, "upload"),
    ),
    (
        {"team": "Demo", "requests_per_minute": 1},
        Call("GET", "/team"),
        (200, "team"),
        (429, "rate_limited"),
    ),
]


@pytest.mark.parametrize(
    ("change", "call", "before", "after"),
    CHANGES,
    ids=[f"{row[0]} {row[1].method} {row[1].key}" for row in CHANGES],
)
def test_a_change_takes_effect_at_its_instant(
    emulator: EmulatorUnderTest,
    change: Json,
    call: Call,
    before: tuple[int, str],
    after: tuple[int, str],
) -> None:
    emulator.advance(100)
    emulator.use(_timeline(("30s", change)))
    assert [before, after] == _around(emulator, call, 30)


def test_a_long_timeline_of_pauses_costs_no_more_for_each_of_them(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.use(
        _timeline(
            *(
                (f"{index}s", {"admission": ("paused", "open")[index % 2]})
                for index in range(2200)
            )
        )
    )
    began_at = time.process_time()
    emulator.advance(2199)
    assert time.process_time() - began_at < 1
    assert [3] == [
        entry["done_at"].count(":") + 1
        for entry in emulator.told("GET", "/scenario")["timeline"][-1:]
    ]


def test_a_world_that_is_put_changes_what_it_names_at_once_and_keeps_the_rest(
    emulator: EmulatorUnderTest,
) -> None:
    (asset_id,) = emulator.assets(1)
    world: Json = {
        "teams": {
            "Demo": {
                "credits": 3,
                "credentials": [
                    {"key": READ_ONLY, "name": "Renamed"},
                    {"key": "iwe_demo_second"},
                ],
            },
            "Other": {"subscription": "inactive"},
            "Fresh": {"credits": 9, "credentials": [{"key": "iwe_fresh"}]},
        },
        "timings": {"queue": "2s", "first_output": "8s"},
    }
    emulator.use({"scenario": "w", "world": world})
    mine, fresh = (
        emulator.get("/team", READ_ONLY).json,
        emulator.get("/team", "iwe_fresh").json,
    )
    assert (3, "Renamed", "read_only") == (
        mine["credits"],
        mine["credential"]["name"],
        mine["credential"]["profile"],
    )
    assert (9, "Fresh", "inactive") == (
        fresh["credits"],
        fresh["name"],
        emulator.team("Other")["subscription"],
    )
    assert mine["id"] == emulator.get("/team", "iwe_demo_second").json["id"]
    admitted = emulator.send(upscale_call(asset_id, "k"))
    emulator.advance(9.999)
    assert "processing" == emulator.get(f"/generations/{admitted.id}").json["status"]
    emulator.advance(0.001)
    assert "completed" == emulator.get(f"/generations/{admitted.id}").json["status"]


def _after(match: Json, nth: int, change: Json) -> Json:
    return {
        "scenario": "after",
        "timeline": [{"after": {"match": match, "nth": nth}, "set": change}],
    }


def test_a_change_is_made_right_after_the_answer_to_a_request_and_once(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.use(
        _after(
            {"operation": "getTeam", "team": "Demo"}, 2, {"team": "Demo", "credits": 7}
        )
    )
    found = [
        emulator.get("/team", key).json["credits"] for key in (FULL, OTHER, FULL, FULL)
    ]
    assert found == [100, 100, 100, 7]
    emulator.set_team(credits_available=50)
    assert [emulator.credits() for _ in range(3)] == [50, 50, 50]


def test_a_change_after_bytes_closes_the_window_of_a_client(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.use(
        _after({"bytes": "upload"}, 1, {"credential": FULL, "state": "revoked"})
    )
    session, token = emulator.ready_upload()
    assert emulator.complete(session, token).code == "credential_revoked"


def test_a_link_to_no_sandbox_is_not_found_while_a_change_waits_for_bytes(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.use(_after({"bytes": "*"}, 1, {"team": "Demo", "credits": 7}))
    links = ("/files/nowhere/picture.png", "/direct-uploads/nowhere/session/signature")
    assert [404, 404] == [emulator.fetch(link, "POST").status for link in links]
    assert emulator.credits() != 7


PHOTOGRAPHY: Json = {"work": "product_photography"}


def _finished_after(emulator: EmulatorUnderTest, work: Json) -> list[float]:
    """Return when the outputs of a Generation come to their ends, in seconds after its admission."""
    began = emulator.now()
    instants: list[float] = []
    while (state := emulator.get(f"/generations/{work['id']}").json)[
        "status"
    ] not in TERMINAL:
        done = sum(output["status"] in TERMINAL for output in state["outputs"])
        instants += [(emulator.now() - began) / 1000] * (done - len(instants))
        emulator.told("POST", "/clock/advance", {"next_event": True})
    return instants + [(emulator.now() - began) / 1000] * (
        len(state["outputs"]) - len(instants)
    )


@pytest.mark.parametrize(
    ("instants", "duration"),
    [([21.0], "20s"), ([1.0], "0s"), ([1.25], "250ms"), ([61.0], "1m")],
)
def test_a_duration_begins_with_the_work(
    emulator: EmulatorUnderTest, instants: list[float], duration: str
) -> None:
    emulator.rule({"work": "upscale"}, {"duration": duration})
    assert instants == _finished_after(
        emulator, emulator.send(upscale_call(emulator.assets(1)[0], "k")).json
    )


def test_slots_share_a_duration_in_proportion_to_their_usual_times(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.rule(PHOTOGRAPHY, {"duration": "22s", "outputs": {"4": "timed_out"}})
    admitted = emulator.photograph(image_count=4).json
    assert [11, 15, 19, 23] == _finished_after(
        emulator, admitted
    )  # 5, 7, 9 and 11, twice as long
    *completed, last = emulator.get(f"/generations/{admitted['id']}").json["outputs"]
    assert ({None}, "timed_out") == (
        {output["error"] for output in completed},
        last["error"]["code"],
    )


def test_a_rule_fails_the_outputs_there_are_and_leaves_other_work_alone(
    emulator: EmulatorUnderTest,
) -> None:
    rules = [
        {
            "name": "slots",
            "match": PHOTOGRAPHY,
            "then": {"outputs": {"2": "timed_out", "4": "timed_out"}},
        },
        {
            "name": "rest",
            "match": PHOTOGRAPHY,
            "when": {"nth": 2},
            "then": {"fail": "content_rejected"},
        },
    ]
    emulator.use({"scenario": "s", "rules": rules})
    ends = [
        emulator.wait_for(emulator.photograph(image_count=count).json)
        for count in (1, 1, 2)
    ]
    failures = [
        [(output["error"] or {}).get("code") for output in work["outputs"]]
        for work in ends
    ]
    assert [[None], ["content_rejected"], [None, "timed_out"]] == failures
    assert {"slots": (3, 1), "rest": (3, 1)} == emulator.rules()
    entries = emulator.told(
        "GET", "/requests?operation=createProductPhotographyGeneration"
    )["data"]
    explained = [
        emulator.told("GET", f"/requests/{entry['request_id']}")["explanation"]["rules"]
        for entry in entries
    ]
    assert ["slots", "rest"] == [rule["name"] for rules in explained for rule in rules]


def test_nothing_later_changes_accepted_work(
    make_emulator: MakeEmulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    stalling: Json = {"match": {"work": "*"}, "then": {"stall": True}}
    slower: Json = {"timings": dict.fromkeys(("queue", "first_output", "pose"), "1h")}
    courses: list[list[Any]] = []
    for changes in (False, True):
        emulator = make_emulator(rate_limits=False)
        assets = emulator.assets(5)
        emulator.rule(
            {"work": ["pose.create", "upscale"]},
            {"fail": "timed_out", "duration": "20s"},
        )
        admitted = [
            emulator.send(generation_call(workflow, assets[0], workflow)).json
            for workflow in WORKFLOWS
        ]
        for kind, path in INGREDIENT_PATHS.items():
            admitted.append(
                emulator.post(path, ingredient_body(kind, assets[: SOURCES[kind]])).json
            )
        if changes:
            monkeypatch.setattr(orders, "_PER_OUTPUT", {"1k": 5, "2k": 5, "4k": 5})
            monkeypatch.setitem(orders.AUTHORING_PRICES, "background", 5)
            emulator.use({"scenario": "later", "rules": [stalling], "world": slower})
        courses.append([])
        for _ in range(30):
            emulator.advance(1)
            looks = [
                emulator.get(f"/{work['object']}s/{work['id']}") for work in admitted
            ]
            courses[-1] += [(look.json, look.retry_after) for look in looks]
        courses[-1].append(emulator.credits())
    assert courses[0] == courses[1]
