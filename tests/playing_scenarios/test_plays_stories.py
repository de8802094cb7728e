"""Plays of the library: Credits, budgets, pauses and credentials that change while a client is at work."""

import pytest

from tests.playing_scenarios.player import WORKFLOWS, errors_of, generation_call, upscale_call
from tests.support.emulator_client import READ_ONLY, UPLOAD, Call, EmulatorUnderTest, completion_call
from tests.support.pictures import picture

# Credits ------------------------------------------------------------------------------------------------------------


@pytest.mark.plays("credits-run-dry")
def test_the_rest_of_a_batch_is_sent_with_new_keys_once_credits_were_added(service: EmulatorUnderTest) -> None:
    (asset_id,) = service.assets(1)
    batch = [upscale_call(asset_id, f"k{number}") for number in range(6)]
    answers = [service.send(call) for call in batch]
    assert [202] * 5 + [402] == [answer.status for answer in answers]
    service.told("PATCH", "/teams/Demo", {"credits": 10})
    assert answers[5] == service.send(batch[5])  # its key is bound to the refusal
    assert 202 == service.send(upscale_call(asset_id, "a new one")).status


@pytest.mark.plays("batch-runs-dry", clock="auto")
def test_an_hour_that_has_everything_ends_with_a_true_account(service: EmulatorUnderTest, asset_id: str) -> None:
    before, charged, kept = service.credits(), 0, list[str]()
    body = {"output_mode": "photoshoot", "asset_ids": [asset_id]}
    keys = ["one", "two", "three", "three again", "four"]
    answers = [service.post("/generations/product-photography", body, idempotency_key=key) for key in keys]
    assert [202, 202, 402, 202, 202] == [answer.status for answer in answers]
    for answer in answers[:2] + answers[3:]:
        done = service.wait_for(answer.json)
        assert [None, "content_rejected", None, "timed_out"] == errors_of(done)
        charged += done["credits"]["charged"]
        kept += [output["asset"]["id"] for output in done["outputs"] if output["asset"]]
    assert (charged, 8) == (before - service.credits(), len(kept))

    service.told("POST", "/clock/advance", {"to": "2026-01-01T00:10:00.000Z"})
    upload, waits = service.insist(Call("POST", "/uploads", UPLOAD, idempotency_key="k"))
    assert (201, [0]) == (upload.status, waits)  # the auto clock waits until writes are let in again
    assert "2026-01-01T00:10:30.000Z" == service.clock_now()

    service.told("POST", "/clock/advance", {"to": "2026-01-01T01:00:00.000Z"})
    assert (401, "credential_revoked") == service.get("/team").outcome
    assert set(kept) == {item["id"] for item in service.items("/assets?source=generation", service.new_key())}


# Budgets and rates --------------------------------------------------------------------------------------------------


@pytest.mark.plays("concurrency-budget-exhausted")
def test_a_full_budget_is_waited_for(service: EmulatorUnderTest, asset_id: str) -> None:
    service.send(upscale_call(asset_id, "k1"))
    assert {"limit": 1, "used": 1} == service.get("/team").json["capabilities"]["api_concurrency"]
    assert (429, "concurrency_limit_reached") == service.send(upscale_call(asset_id, "k2")).outcome
    second, waits = service.insist(upscale_call(asset_id, "k2"))
    assert (202, [31]) == (second.status, waits)  # a second in the queue and 30 of work, and the same key


@pytest.mark.plays("rate-limited")
def test_a_limited_rate_is_kept_to_by_waiting_exactly_as_long_as_told(service: EmulatorUnderTest) -> None:
    for _ in range(5):
        assert 200 == service.get("/team").status
        service.advance(2)
    refused = service.get("/team")
    assert ((429, "rate_limited"), 50) == (refused.outcome, refused.retry_after)
    service.advance(50)
    assert [200, 429] == [service.get("/team").status for _ in range(2)]
    assert 200 == service.get("/team", READ_ONLY).status  # the limit is each credential's


# Pauses and lapses --------------------------------------------------------------------------------------------------


@pytest.mark.plays("admission-paused")
def test_a_pause_is_waited_for_while_reads_and_accepted_work_go_on(service: EmulatorUnderTest, asset_id: str) -> None:
    service.advance(29)
    accepted = service.send(upscale_call(asset_id, "k1"))
    service.advance(1)
    write = upscale_call(asset_id, "k2")
    for paused in (write, Call("POST", "/uploads", UPLOAD), Call("DELETE", f"/assets/{asset_id}")):
        refused = service.send(paused)
        assert ((503, "service_unavailable"), 10) == (refused.outcome, refused.retry_after)
    assert "completed" == service.wait_for(accepted.json)["status"]
    assert accepted == service.send(upscale_call(asset_id, "k1"))  # a replay is no new write
    answer, waits = service.insist(write)
    assert (202, {10}) == (answer.status, set(waits))
    assert service.now() >= service.sandbox.began_at + 90_000


@pytest.mark.plays("subscription-lapses-mid-run")
def test_new_work_is_held_back_until_the_subscription_is_restored(service: EmulatorUnderTest, asset_id: str) -> None:
    accepted = service.send(upscale_call(asset_id, "k1"))
    service.advance(30)
    assert (403, "subscription_required") == service.send(upscale_call(asset_id, "k2")).outcome
    assert "completed" == service.wait_for(accepted.json)["status"]
    service.advance_to("2026-01-01T00:01:59.999Z")
    assert 403 == service.send(upscale_call(asset_id, "k2")).status
    service.advance(0.001)
    assert 202 == service.send(upscale_call(asset_id, "k2")).status


# Credentials --------------------------------------------------------------------------------------------------------


@pytest.mark.plays("credential-revoked-mid-run")
def test_another_credential_finds_the_work_of_a_revoked_one(service: EmulatorUnderTest) -> None:
    _play_a_lost_credential(service, 30, "credential_revoked")


@pytest.mark.plays("credential-expired-mid-run")
def test_a_replacement_finds_the_work_of_an_expired_credential(service: EmulatorUnderTest) -> None:
    _play_a_lost_credential(service, 60, "credential_expired")


def _play_a_lost_credential(service: EmulatorUnderTest, seconds: int, code: str) -> None:
    (asset_id,) = service.assets(1)
    service.advance(seconds - 0.001)
    work = service.send(upscale_call(asset_id, "k"))
    service.advance(0.001)
    for call in (Call("GET", f"/generations/{work.id}"), upscale_call(asset_id, "k"), Call("GET", "/team")):
        assert (401, code) == service.send(call).outcome
    replacement = service.new_key()
    assert [work.id] == [item["id"] for item in service.items("/generations", replacement)]
    assert "completed" == service.wait_for(work.json, replacement)["status"]


# Admission in progress ----------------------------------------------------------------------------------------------


@pytest.mark.plays("same-key-in-flight")
def test_a_key_in_progress_is_waited_for_and_leads_to_the_one_generation(service: EmulatorUnderTest) -> None:
    (asset_id,) = service.assets(1)
    before = service.credits()
    for number, workflow in enumerate(WORKFLOWS, start=1):
        call = generation_call(workflow, asset_id, "k")
        first, second = service.asked_twice(call, 10)
        assert [202, (409, "idempotency_in_progress")] == [first.status, second.outcome]
        assert first == service.send(call)
        assert (number, number) == (before - service.credits(), service.count("/generations"))


@pytest.mark.plays("upload-window-missed")
def test_a_missed_window_asks_for_a_new_session(service: EmulatorUnderTest) -> None:
    complete = completion_call(*service.ready_upload(), idempotency_key="k")
    first, second = service.asked_twice(complete, 16 * 60)
    assert [(410, "upload_expired"), (409, "idempotency_in_progress")] == [first.outcome, second.outcome]
    assert "2026-01-01T00:16:00.000Z" == service.clock_now()
    assert "asset" == service.upload(picture())["object"]
