"""Plays of the library: accepted work that fails, stalls or costs more, and endpoints that are on their way out."""

import pytest

from tests.playing_scenarios.player import WORKFLOWS, generation_call, upscale_call
from tests.support.emulator_client import Call, EmulatorUnderTest, Json, ingredient_body


def _errors(generation: Json) -> list[str | None]:
    return [output["error"] and output["error"]["code"] for output in generation["outputs"]]


@pytest.mark.plays("some-outputs-fail")
def test_completed_outputs_are_kept_and_only_what_is_retryable_is_asked_for_again(service: EmulatorUnderTest) -> None:
    (asset_id,) = service.assets(1)
    admitted = service.photograph(asset_ids=[asset_id], image_count=4)
    assert 96 == service.credits()
    done = service.wait_for(admitted.json)
    assert ("completed", [None, "content_rejected", None, "timed_out"]) == (done["status"], _errors(done))
    assert ({"reserved": 4, "charged": 2}, 98) == (done["credits"], service.credits())
    for output in done["outputs"]:
        assert (output["asset"] is None) == (output["error"] is not None)
        if output["asset"]:
            asset = service.get(f"/assets/{output['asset']['id']}").json
            assert 200 == service.fetch(asset["url"]).status

    retryable = [output for output in done["outputs"] if output["error"] and output["error"]["retryable"]]
    again = service.wait_for(service.photograph(asset_ids=[asset_id], image_count=len(retryable)).json)
    assert ("completed", [None], 97) == (again["status"], _errors(again), service.credits())


@pytest.mark.plays("all-outputs-fail")
def test_a_generation_of_which_nothing_came_costs_nothing_and_is_not_repeated_without_end(
    service: EmulatorUnderTest, asset_id: str
) -> None:
    for attempt in range(2):
        for workflow in WORKFLOWS:
            admitted = service.send(generation_call(workflow, asset_id, f"k{attempt}"))
            assert 99 == service.credits()
            done = service.wait_for(admitted.json)
            assert ("failed", ["processing_failed"]) == (done["status"], _errors(done))
            assert {"reserved": 1, "charged": 0} == done["credits"]
            assert {"total": 1, "pending": 0, "processing": 0, "completed": 0, "failed": 1} == done["output_summary"]
            assert 100 == service.credits()
    assert [] == service.items("/assets?source=generation")
    service.without_scenario()
    assert "completed" == service.wait_for(service.send(upscale_call(asset_id, "k")).json)["status"]


@pytest.mark.plays("outputs-stall")
def test_stalled_work_is_given_up_by_its_client_who_goes_on_with_the_rest(service: EmulatorUnderTest) -> None:
    (asset_id,) = service.assets(1)
    stalled = service.send(upscale_call(asset_id, "k1"))
    for wait in (1, *[5] * 11):  # the client's own limit: a minute (D47)
        poll = service.get(f"/generations/{stalled.id}")
        assert ("queued" if wait == 1 else "processing", wait) == (poll.json["status"], poll.retry_after)
        service.advance(wait)
    other = service.send(upscale_call(asset_id, "k2"))
    assert "completed" == service.wait_for(other.json)["status"]
    service.told("POST", "/clock/advance", {"until_idle": True})
    service.advance(24 * 3600)
    assert "processing" == service.get(f"/generations/{stalled.id}").json["status"]
    assert (98, 1) == (service.credits(), service.team()["concurrency_used"])  # still reserved, still in its place


@pytest.mark.plays("authoring-fails")
def test_failed_authoring_leaves_everything_as_it_was_and_is_retried_with_a_new_key(service: EmulatorUnderTest) -> None:
    asset_ids = service.assets(2)
    admitted = service.post("/poses", ingredient_body("pose", asset_ids), idempotency_key="k1")
    failed = service.wait_for(admitted.json)
    error = failed["error"]
    assert ("failed", "processing_failed", True) == (failed["status"], error["code"], error["retryable"])
    assert (None, {"reserved": 1, "charged": 0}) == (failed["result"], failed["credits"])
    assert ([], 100) == (service.items("/poses?scope=team"), service.credits())
    created = service.wait_for(service.post("/poses", ingredient_body("pose", asset_ids), idempotency_key="k2").json)
    path = f"/poses/{created['result']['id']}"
    before = service.get(path)

    replacing = service.patch(path, {"asset_id": asset_ids[1], "name": "Other"}, idempotency_key="k1")
    began = service.now()
    failed = service.wait_for(replacing.json)
    assert ("failed", "timed_out", True) == (failed["status"], failed["error"]["code"], failed["error"]["retryable"])
    assert (61, before.body) == ((service.now() - began) / 1000, service.get(path).body)
    assert 99 == service.credits()
    service.wait_for(service.patch(path, {"asset_id": asset_ids[1], "name": "Other"}, idempotency_key="k2").json)
    after = service.get(path).json
    assert ("Other", [asset_ids[1]], 98) == (after["name"], after["source_asset_ids"], service.credits())


@pytest.mark.plays("foreground-removed")
def test_the_price_of_a_background_is_read_from_its_operation(service: EmulatorUnderTest) -> None:
    asset_ids = service.assets(2)
    created = service.wait_for(service.post("/backgrounds", ingredient_body("background", asset_ids)).json)
    assert ({"reserved": 1, "charged": 1}, 99) == (created["credits"], service.credits())
    path = f"/backgrounds/{created['result']['id']}"
    replaced = service.wait_for(service.patch(path, {"asset_id": asset_ids[1]}).json)
    assert ({"reserved": 1, "charged": 0}, 99) == (replaced["credits"], service.credits())


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
    failures = 0
    for number, workflow in enumerate(WORKFLOWS, start=1):
        call = generation_call(workflow, asset_id, "k")
        failed = service.send(call)
        assert (500, "internal_error") == failed.outcome
        answer, waits = service.insist(call, (500,))
        assert (202, workflow.replace("-", "_")) == (answer.status, answer.json["workflow"])
        failures += 1 + len(waits)
        team, waits = service.insist(Call("GET", "/team"), (500,))
        assert 100 - number == team.json["credits"]
        failures += len(waits)
    listed, waits = service.insist(Call("GET", "/generations"), (500,))
    assert 3 == len(listed.json["data"])
    assert failures + len(waits) == sum(fired for _, fired in service.rules().values())
