"""What becomes of accepted work, as a scenario has it, beside what the model says of it."""

from typing import Any

import pytest

from image_workflow_emulator.domain import orders
from tests.playing_scenarios.player import WORKFLOWS, generation_call, upscale_call
from tests.support.emulator_client import (
    INGREDIENT_PATHS,
    SOURCES,
    TERMINAL,
    EmulatorUnderTest,
    Json,
    MakeEmulator,
    ingredient_body,
)

PHOTOGRAPHY: Json = {"work": "product_photography"}


def _finished_after(emulator: EmulatorUnderTest, work: Json) -> list[float]:
    """Return when the outputs of a Generation come to their ends, in seconds after its admission."""
    began = emulator.now()
    instants: list[float] = []
    while (state := emulator.get(f"/generations/{work['id']}").json)["status"] not in TERMINAL:
        done = sum(output["status"] in TERMINAL for output in state["outputs"])
        instants += [(emulator.now() - began) / 1000] * (done - len(instants))
        emulator.told("POST", "/clock/advance", {"next_event": True})
    return instants + [(emulator.now() - began) / 1000] * (len(state["outputs"]) - len(instants))


@pytest.mark.parametrize(
    ("instants", "duration"), [([21.0], "20s"), ([1.0], "0s"), ([1.25], "250ms"), ([601.0], "10m")]
)
def test_a_duration_is_the_time_from_the_start_of_the_work_to_its_end(
    emulator: EmulatorUnderTest, instants: list[float], duration: str
) -> None:
    emulator.rule({"work": "upscale"}, {"duration": duration})
    assert instants == _finished_after(emulator, emulator.send(upscale_call(emulator.assets(1)[0], "k")).json)


def test_slots_share_a_duration_in_the_proportions_of_their_usual_times_and_may_fail(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.rule(PHOTOGRAPHY, {"duration": "22s", "outputs": {"4": "timed_out"}})
    admitted = emulator.photograph(image_count=4).json
    assert [11, 15, 19, 23] == _finished_after(emulator, admitted)  # 5, 7, 9 and 11, twice as long
    *completed, last = emulator.get(f"/generations/{admitted['id']}").json["outputs"]
    assert ({None}, "timed_out") == ({output["error"] for output in completed}, last["error"]["code"])


def test_a_rule_about_outputs_fails_those_that_there_are_and_leaves_other_work_to_the_next_rule(
    emulator: EmulatorUnderTest,
) -> None:
    rules = [
        {"name": "slots", "match": PHOTOGRAPHY, "then": {"outputs": {"2": "timed_out", "4": "timed_out"}}},
        {"name": "rest", "match": PHOTOGRAPHY, "when": {"nth": 2}, "then": {"fail": "content_rejected"}},
    ]
    emulator.use({"scenario": "s", "rules": rules})
    ends = [emulator.wait_for(emulator.photograph(image_count=count).json) for count in (1, 1, 2)]
    failures = [[(output["error"] or {}).get("code") for output in work["outputs"]] for work in ends]
    assert [[None], ["content_rejected"], [None, "timed_out"]] == failures
    assert {"slots": (3, 1), "rest": (3, 1)} == emulator.rules()
    entries = emulator.told("GET", "/requests?operation=createProductPhotographyGeneration")["data"]
    explained = [emulator.told("GET", f"/requests/{entry['request_id']}")["explanation"]["rules"] for entry in entries]
    assert ["slots", "rest"] == [rule["name"] for rules in explained for rule in rules]


def test_accepted_work_is_what_it_was_whatever_scenario_timings_and_prices_come_later(
    make_emulator: MakeEmulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    stalling: Json = {"match": {"work": "*"}, "then": {"stall": True}}
    slower: Json = {"timings": dict.fromkeys(("queue", "first_output", "pose"), "1h")}
    courses: list[list[Any]] = []
    for changes in (False, True):
        emulator = make_emulator(rate_limits=False)
        assets = emulator.assets(5)
        emulator.rule({"work": ["pose.create", "upscale"]}, {"fail": "timed_out", "duration": "20s"})
        admitted = [emulator.send(generation_call(workflow, assets[0], workflow)).json for workflow in WORKFLOWS]
        for kind, path in INGREDIENT_PATHS.items():
            admitted.append(emulator.post(path, ingredient_body(kind, assets[: SOURCES[kind]])).json)
        if changes:
            monkeypatch.setattr(orders, "_PER_OUTPUT", {"1k": 5, "2k": 5, "4k": 5})
            monkeypatch.setitem(orders.AUTHORING_PRICES, "background", 5)
            emulator.use({"scenario": "later", "rules": [stalling], "world": slower})
        courses.append([])
        for _ in range(30):
            emulator.advance(1)
            looks = [emulator.get(f"/{work['object']}s/{work['id']}") for work in admitted]
            courses[-1] += [(look.json, look.retry_after) for look in looks]
        courses[-1].append(emulator.credits())
    assert courses[0] == courses[1]
