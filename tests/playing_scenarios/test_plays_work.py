"""Plays of the library: accepted work that fails, stalls or costs more, and endpoints that are on their way out."""

import pytest

from tests.playing_scenarios.player import WORKFLOWS, errors_of, generation_call, upscale_call
from tests.support.emulator_client import Call, EmulatorUnderTest, Json, ingredient_body


@pytest.mark.plays("some-outputs-fail")
def test_completed_outputs_are_kept_and_only_what_is_retryable_is_asked_for_again(service: EmulatorUnderTest) -> None:
    (asset_id,) = service.assets(1)
    before = service.credits()
    done = service.wait_for(service.photograph(asset_ids=[asset_id], image_count=4).json)
    assert ("completed", [None, "content_rejected", None, "timed_out"]) == (done["status"], errors_of(done))
    assert ({"reserved": 4, "charged": 2}, 2) == (done["credits"], before - service.credits())
    assert [False, True] == [output["error"]["retryable"] for output in done["outputs"] if output["error"]]
    again = service.wait_for(service.photograph(asset_ids=[asset_id]).json)
    assert ("completed", [None]) == (again["status"], errors_of(again))


@pytest.mark.plays("all-outputs-fail")
def test_a_generation_of_which_nothing_came_costs_nothing(service: EmulatorUnderTest, asset_id: str) -> None:
    before = service.credits()
    for workflow in WORKFLOWS:
        done = service.wait_for(service.send(generation_call(workflow, asset_id, "k")).json)
        assert ("failed", ["processing_failed"]) == (done["status"], errors_of(done))
        assert ({"reserved": 1, "charged": 0}, before) == (done["credits"], service.credits())


@pytest.mark.plays("outputs-stall")
def test_stalled_work_is_given_up_by_its_client_who_goes_on_with_the_rest(service: EmulatorUnderTest) -> None:
    (asset_id,) = service.assets(1)
    before = service.credits()
    stalled = service.send(upscale_call(asset_id, "k1"))
    for wait in (1, *[5] * 11):  # the client's own limit: a minute (D47)
        poll = service.get(f"/generations/{stalled.id}")
        assert ("queued" if wait == 1 else "processing", wait) == (poll.json["status"], poll.retry_after)
        service.advance(wait)
    other = service.send(upscale_call(asset_id, "k2"))
    assert "completed" == service.wait_for(other.json)["status"]
    assert (2, 1) == (before - service.credits(), service.team()["concurrency_used"])


@pytest.mark.plays("authoring-fails")
def test_failed_authoring_leaves_everything_as_it_was_and_is_retried_with_a_new_key(service: EmulatorUnderTest) -> None:
    asset_ids = service.assets(2)
    before, ended = service.credits(), list[Json]()
    for key in ("k1", "k2"):
        admitted = service.post("/poses", ingredient_body("pose", asset_ids), idempotency_key=key)
        ended.append(service.wait_for(admitted.json))
    failed, created = ended
    assert ("processing_failed", True) == (failed["error"]["code"], failed["error"]["retryable"])
    path = f"/poses/{created['result']['id']}"
    unchanged, began = service.get(path).json, service.now()
    failed = service.wait_for(service.patch(path, {"asset_id": asset_ids[1], "name": "Other"}).json)
    assert ("timed_out", 61) == (failed["error"]["code"], (service.now() - began) / 1000)
    assert (unchanged, 1) == (service.get(path).json, before - service.credits())


@pytest.mark.plays("foreground-removed")
def test_the_price_of_a_background_is_read_from_its_operation(service: EmulatorUnderTest) -> None:
    asset_ids = service.assets(2)
    created = service.wait_for(service.post("/backgrounds", ingredient_body("background", asset_ids)).json)
    path = f"/backgrounds/{created['result']['id']}"
    replaced = service.wait_for(service.patch(path, {"asset_id": asset_ids[1]}).json)
    assert [1, 0] == [operation["credits"]["charged"] for operation in (created, replaced)]


@pytest.mark.plays("deprecated-endpoint")
def test_the_notice_of_a_deprecated_endpoint_is_read_and_its_answer_is_as_ever(service: EmulatorUnderTest) -> None:
    noticed = service.get("/poses")
    assert "@1767225600" == noticed.headers["deprecation"]
    assert '<https://docs.example/migration>; rel="deprecation"' == noticed.headers["link"]
    assert "Wed, 30 Jun 2027 00:00:00 GMT" == noticed.headers["sunset"]
    assert "listing poses is deprecated" == noticed.headers["emulator-rule"]
    assert not {"deprecation", "link", "sunset"} & service.get("/backgrounds").headers.keys()
    service.without_scenario()
    as_ever = service.get("/poses")
    assert (as_ever.status, as_ever.body) == (noticed.status, noticed.body)
    assert not {"deprecation", "link", "sunset", "emulator-rule"} & as_ever.headers.keys()


@pytest.mark.plays("internal-error")
def test_transient_failures_are_retried_with_the_same_key_and_paid_for_once(service: EmulatorUnderTest) -> None:
    (asset_id,) = service.assets(1)
    before, failures = service.team()["credits"], 0
    for number, workflow in enumerate(WORKFLOWS, start=1):
        call = generation_call(workflow, asset_id, "k")
        failed = service.send(call)
        assert (500, "internal_error") == failed.outcome
        answer, waits = service.insist(call, (500,))
        assert (202, workflow.replace("-", "_")) == (answer.status, answer.json["workflow"])
        failures += 1 + len(waits)
        team, waits = service.insist(Call("GET", "/team"), (500,))
        assert number == before - team.json["credits"]
        failures += len(waits)
    listed, waits = service.insist(Call("GET", "/generations"), (500,))
    assert 3 == len(listed.json["data"])
    assert failures + len(waits) == sum(fired for _, fired in service.rules().values())
