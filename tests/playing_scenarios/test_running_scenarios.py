"""Scenarios as they run: swapped while requests come in, begun anew by a reset, and the same whenever they
are played.
"""

import subprocess
from pathlib import Path

import pytest

from tests.cli.command import run_command
from tests.playing_scenarios.player import upscale_call
from tests.support.emulator_client import UPLOAD, Call, EmulatorUnderTest, Json, control_call
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
