"""What becomes of accepted work, as a scenario has it: decided at admission, seen in its slots, times and Credits."""

from typing import Any

import pytest

from tests.playing_scenarios.player import WORKFLOWS, generation_call, upscale_call
from tests.support.emulator_client import (
    INGREDIENT_PATHS,
    KINDS,
    OTHER,
    SOURCES,
    TERMINAL,
    EmulatorUnderTest,
    Json,
    ingredient_body,
    source_fields,
)

PHOTOGRAPHY: Json = {"work": "product_photography"}


def _finished_after(service: EmulatorUnderTest, work: Json) -> list[float]:
    """Return when the outputs of a Generation come to their ends, in seconds after its admission."""
    began = service.now()
    instants: list[float] = []
    while (state := service.get(f"/generations/{work['id']}").json)["status"] not in TERMINAL:
        done = sum(output["status"] in TERMINAL for output in state["outputs"])
        instants += [(service.now() - began) / 1000] * (done - len(instants))
        service.told("POST", "/clock/advance", {"next_event": True})
    return instants + [(service.now() - began) / 1000] * (len(state["outputs"]) - len(instants))


def _photograph(service: EmulatorUnderTest, count: int = 4, **fields: Any) -> Json:
    answer = service.photograph(image_count=count, **fields)
    assert answer.status == 202, answer.body
    return dict(answer.json)


def _slots(work: Json) -> list[str]:
    return [output["error"]["code"] if output["error"] else output["status"] for output in work["outputs"]]


# Slots --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "slots", "charged", "then"),
    [
        ("completed", ["timed_out", "completed", "completed"], 2, {"outputs": {"1": "timed_out"}}),
        ("completed", ["completed", "content_rejected", "processing_failed"], 1, {"outputs": {"2": "content_rejected", "3": "processing_failed"}}),
        ("failed", ["timed_out"] * 3, 0, {"outputs": {"1": "timed_out", "2": "timed_out", "3": "timed_out"}}),
        ("failed", ["content_rejected"] * 3, 0, {"fail": "content_rejected"}),
        ("completed", ["completed"] * 3, 3, {"outputs": {"4": "timed_out", "6": "timed_out"}}),
    ],
)  # fmt: skip
def test_slots_fail_as_they_are_told_and_only_the_others_are_charged(
    service: EmulatorUnderTest, status: str, slots: list[str], charged: int, then: Json
) -> None:
    service.rule(PHOTOGRAPHY, then)
    done = service.wait_for(_photograph(service, 3))
    assert (status, slots) == (done["status"], _slots(done))
    assert ({"reserved": 3, "charged": charged}, 100 - charged) == (done["credits"], service.credits())
    assert len([slot for slot in slots if slot == "completed"]) == service.count("/assets?source=generation")


@pytest.mark.parametrize(("charged", "failing"), [(2, 0), (2, 1), (1, 2), (1, 3), (0, 4)])
def test_a_photoshoot_is_charged_by_its_completed_slots(service: EmulatorUnderTest, charged: int, failing: int) -> None:
    if failing:
        service.rule(PHOTOGRAPHY, {"outputs": {str(slot): "timed_out" for slot in range(1, failing + 1)}})
    done = service.wait_for(service.photograph(output_mode="photoshoot").json)
    assert {"reserved": 2, "charged": charged} == done["credits"]  # D37


@pytest.mark.parametrize("code", ["processing_failed", "timed_out", "content_rejected"])
@pytest.mark.parametrize("workflow", WORKFLOWS)
def test_each_failure_says_whether_to_try_again(service: EmulatorUnderTest, workflow: str, code: str) -> None:
    service.rule({"work": workflow.replace("-", "_")}, {"fail": code})
    done = service.wait_for(service.send(generation_call(workflow, service.assets(1)[0], "k")).json)
    (output,) = done["outputs"]
    error = output["error"]
    assert ("failed", code, code != "content_rejected") == (output["status"], error["code"], error["retryable"])
    assert error["message"]


def test_slots_fail_at_the_times_at_which_they_would_have_completed(service: EmulatorUnderTest) -> None:
    service.rule(PHOTOGRAPHY, {"outputs": {"2": "timed_out"}})
    assert [6, 8, 10] == _finished_after(service, _photograph(service, 3))


# Durations and stalls -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("instants", "duration"),
    [([21.0], "20s"), ([1.0], "0s"), ([1.25], "250ms"), ([601.0], "10m")],
)
def test_a_duration_is_the_time_from_the_start_of_the_work_to_its_end(
    service: EmulatorUnderTest, instants: list[float], duration: str
) -> None:
    service.rule({"work": "upscale"}, {"duration": duration})
    assert instants == _finished_after(service, service.send(upscale_call(service.assets(1)[0], "k")).json)


def test_slots_share_a_duration_in_the_proportions_of_their_usual_times_and_may_fail(
    service: EmulatorUnderTest,
) -> None:
    service.rule(PHOTOGRAPHY, {"duration": "22s", "outputs": {"4": "timed_out"}})
    admitted = _photograph(service, 4)
    assert [11, 15, 19, 23] == _finished_after(service, admitted)  # 5, 7, 9 and 11, twice as long
    assert ["completed"] * 3 + ["timed_out"] == _slots(service.get(f"/generations/{admitted['id']}").json)


@pytest.mark.parametrize("kind", KINDS)
def test_operations_take_the_duration_they_are_told(service: EmulatorUnderTest, kind: str) -> None:
    service.rule({"work": f"{kind}.create"}, {"duration": "90s"})
    body = ingredient_body(kind, service.assets(SOURCES[kind]))
    admitted = service.post(INGREDIENT_PATHS[kind], body).json
    service.advance(90.999)
    assert "processing" == service.get(f"/operations/{admitted['id']}").json["status"]
    service.advance(0.001)
    assert "completed" == service.get(f"/operations/{admitted['id']}").json["status"]


@pytest.mark.emulator(clock="auto")
def test_an_auto_clock_takes_five_seconds_for_each_poll_of_stalled_work(service: EmulatorUnderTest) -> None:
    service.rule({"work": "*"}, {"stall": True})
    work = service.send(upscale_call(service.assets(1)[0], "k")).json
    instants = []
    for _ in range(4):
        poll = service.get(f"/generations/{work['id']}")
        assert ("processing", 0) == (poll.json["status"], poll.retry_after)
        instants.append(service.clock_now()[17:19])
    assert ["01", "06", "11", "16"] == instants


def test_stalled_work_keeps_its_credits_and_its_place_and_blocks_what_it_works_on(service: EmulatorUnderTest) -> None:
    pose, (asset_id,) = service.author("pose"), service.assets(1)
    service.rule({"work": ["pose.update", "product_photography"]}, {"stall": True})
    operation = service.patch(f"/poses/{pose['id']}", {"asset_id": asset_id}).json
    _photograph(service, 4, asset_ids=[asset_id])
    service.advance(365 * 24 * 3600)
    service.set_credential("iwe_demo_full", expires_at=service.now() + 1000)
    team = service.get("/team").json
    assert (94, 2) == (team["credits"], team["capabilities"]["api_concurrency"]["used"])
    refused = service.delete(f"/poses/{pose['id']}")
    assert operation["id"] == refused.json["active_operation_id"]
    assert (409, "resource_operation_in_progress") == service.delete(f"/assets/{asset_id}").outcome


def test_a_budget_that_stalled_work_fills_asks_for_a_minute(service: EmulatorUnderTest, asset_id: str) -> None:
    service.set_team(concurrency_limit=1)
    service.rule({"work": "*"}, {"stall": True})
    service.send(upscale_call(asset_id, "k1"))
    refused = service.send(upscale_call(asset_id, "k2"))
    assert ((429, "concurrency_limit_reached"), 60) == (refused.outcome, refused.retry_after)  # D47


# Scenes -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("charged", "scene"), [(0, "clean"), (1, "foreground")])
def test_a_scene_decides_the_price_of_a_background(service: EmulatorUnderTest, charged: int, scene: str) -> None:
    service.rule({"work": ["background.create", "background.update"]}, {"scene": scene})
    created = service.wait_for(service.post("/backgrounds", ingredient_body("background", service.assets(1))).json)
    path = f"/backgrounds/{created['result']['id']}"
    replaced = service.wait_for(service.patch(path, source_fields("background", service.assets(1))).json)
    assert [{"reserved": 1, "charged": charged}] * 2 == [created["credits"], replaced["credits"]]
    assert 100 - 2 * charged == service.credits()


def test_a_failure_goes_before_the_price_of_a_scene(service: EmulatorUnderTest) -> None:
    service.rule({"work": "background.create"}, {"scene": "foreground", "fail": "timed_out"})
    failed = service.wait_for(service.post("/backgrounds", ingredient_body("background", service.assets(1))).json)
    assert ("failed", 0, 100) == (failed["status"], failed["credits"]["charged"], service.credits())


# Which work, and when -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("code", ["processing_failed", "timed_out", "content_rejected"])
@pytest.mark.parametrize("kind", KINDS)
def test_failed_authoring_leaves_no_ingredient_and_failed_replacement_the_old_one(
    service: EmulatorUnderTest, kind: str, code: str
) -> None:
    """Section 3, rule 3; D25: metadata that is sent along with new sources is not applied either."""
    path = INGREDIENT_PATHS[kind]
    old = service.author(kind)
    spent = 100 - service.credits()
    service.rule({"work": [f"{kind}.create", f"{kind}.update"]}, {"fail": code})
    sources = service.assets(SOURCES[kind])
    created = service.wait_for(service.post(path, ingredient_body(kind, sources)).json)
    change = {"name": "Not applied", **source_fields(kind, sources)}
    replaced = service.wait_for(service.patch(f"{path}/{old['id']}", change).json)
    for failed in (created, replaced):
        assert ("failed", None, 0) == (failed["status"], failed["result"], failed["credits"]["charged"])
        assert (code, code != "content_rejected") == (failed["error"]["code"], failed["error"]["retryable"])
    assert ([old], 100 - spent) == (service.items(f"{path}?scope=team"), service.credits())
    renamed = service.patch(f"{path}/{old['id']}", {"name": "Metadata alone is no work"})
    assert 200 == renamed.status


def test_a_rule_for_work_counts_what_was_admitted_and_nothing_else(service: EmulatorUnderTest, asset_id: str) -> None:
    service.rule({"work": "upscale"}, {"fail": "timed_out"}, {"nth": 2})
    service.send(upscale_call("none", "k1"))  # 422
    service.send(generation_call("edit-images", asset_id, "k1"))
    first = service.send(upscale_call(asset_id, "k2"))
    service.send(upscale_call(asset_id, "k2"))  # a replay
    service.set_team(concurrency_limit=2)
    assert 429 == service.send(upscale_call(asset_id, "k3")).status
    service.set_team(concurrency_limit=20)
    assert {"the rule": (1, 0)} == service.rules()
    second = service.send(upscale_call(asset_id, "k3"))
    assert {"the rule": (2, 1)} == service.rules()
    assert ["completed", "failed"] == [service.wait_for(answer.json)["status"] for answer in (first, second)]


def test_a_rule_for_work_can_mean_one_team_and_a_window(service: EmulatorUnderTest) -> None:
    (asset_id,), (others,) = service.assets(1), service.assets(1, OTHER)
    service.rule({"work": "*", "team": "Other"}, {"fail": "timed_out"}, {"from": "10s", "until": "20s"})
    ends = []
    for number in range(3):
        mine = service.send(upscale_call(asset_id, f"k{number}"))
        theirs = service.send(upscale_call(others, f"k{number}", OTHER))
        service.advance(10)
        ends.append(service.get(f"/generations/{mine.id}").json["status"])
        ends.append(service.get(f"/generations/{theirs.id}", OTHER).json["status"])
    assert [*["completed"] * 3, "failed", *["completed"] * 2] == ends


def test_what_was_decided_at_admission_stands_whatever_scenario_comes_later(service: EmulatorUnderTest) -> None:
    (asset_id,) = service.assets(1)
    service.rule({"work": "*"}, {"fail": "timed_out", "duration": "1m"})
    failing = service.send(upscale_call(asset_id, "k1"))
    service.rule({"work": "*"}, {"stall": True})
    service.without_scenario()
    passing = service.send(upscale_call(asset_id, "k2"))
    service.advance(61)
    ends = [service.get(f"/generations/{answer.id}").json["status"] for answer in (failing, passing)]
    assert ["failed", "completed"] == ends
