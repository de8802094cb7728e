"""Plays of the library: Credits, budgets, pauses and credentials that change while a client is at work."""

import pytest

from emulator.kernel.timestamps import parse_timestamp
from tests.playing_scenarios.player import WORKFLOWS, generation_call, upscale_call
from tests.support.emulator_client import LISTS, READ_ONLY, UPLOAD, Call, EmulatorUnderTest
from tests.support.pictures import picture

# Credits ------------------------------------------------------------------------------------------------------------


@pytest.mark.plays("credits-run-dry")
def test_the_rest_of_a_batch_is_sent_with_new_keys_once_credits_were_added(service: EmulatorUnderTest) -> None:
    (asset_id,) = service.assets(1)
    batch = [upscale_call(asset_id, f"k{number}") for number in range(8)]
    answers = [service.send(call) for call in batch]
    assert [202] * 5 + [402] * 3 == [answer.status for answer in answers]
    assert {(402, "insufficient_credits")} == {answer.outcome for answer in answers[5:]}
    assert (0, 5) == (service.credits(), service.count("/generations"))

    service.told("PATCH", "/teams/Demo", {"credits": 10})
    assert answers[5].body == service.send(batch[5]).body  # its key is bound to the refusal
    rest = [service.send(upscale_call(asset_id, f"new k{number}")) for number in range(5, 8)]
    assert [202] * 3 == [answer.status for answer in rest]
    for answer in answers[:5] + rest:
        assert "completed" == service.wait_for(answer.json)["status"]
    assert (7, 8) == (service.credits(), service.count("/generations"))


@pytest.mark.plays("batch-runs-dry", clock="auto")
def test_an_hour_that_has_everything_ends_with_a_true_account(service: EmulatorUnderTest, asset_id: str) -> None:
    photoshoot = {"output_mode": "photoshoot", "asset_ids": [asset_id]}
    path = "/generations/product-photography"
    kept = []
    for number in range(4):
        answer = service.post(path, photoshoot, idempotency_key=f"k{number}")
        if answer.status == 402:
            assert (2, answer.body) == (number, service.post(path, photoshoot, idempotency_key="k2").body)
            answer = service.post(path, photoshoot, idempotency_key="k2 again")
        assert 202 == answer.status
        done = service.wait_for(answer.json)
        slots = [(output["status"], (output["error"] or {}).get("code")) for output in done["outputs"]]
        assert [
            ("completed", None),
            ("failed", "content_rejected"),
            ("completed", None),
            ("failed", "timed_out"),
        ] == slots
        assert {"reserved": 2, "charged": 1} == done["credits"]
        kept += [output["asset"]["id"] for output in done["outputs"] if output["asset"]]
    assert (16, 8) == (service.credits(), len(kept))

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
    assert {"limit": 1, "used": 0} == service.get("/team").json["capabilities"]["api_concurrency"]
    first = service.send(upscale_call(asset_id, "k1"))
    assert {"limit": 1, "used": 1} == service.get("/team").json["capabilities"]["api_concurrency"]
    assert (429, "concurrency_limit_reached") == service.send(upscale_call(asset_id, "k2")).outcome
    second, waits = service.insist(upscale_call(asset_id, "k2"))
    assert (202, [31]) == (second.status, waits)  # a second in the queue and 30 of work, and the same key
    assert "completed" == service.get(f"/generations/{first.id}").json["status"]
    assert "completed" == service.wait_for(second.json)["status"]


@pytest.mark.plays("rate-limited")
def test_a_limited_rate_is_kept_to_by_waiting_exactly_as_long_as_told(service: EmulatorUnderTest) -> None:
    for _ in range(5):
        assert 200 == service.get("/team").status
        service.advance(2)
    refused = service.get("/team")
    assert ((429, "rate_limited"), 50) == (refused.outcome, refused.retry_after)
    service.advance(50 - 0.001)
    assert (429, 1) == (service.get("/team").status, service.get("/team").retry_after)
    service.advance(0.001)
    assert [200, 429] == [service.get("/team").status for _ in range(2)]
    assert 200 == service.get("/team", READ_ONLY).status  # the limit is each credential's


# Pauses and lapses --------------------------------------------------------------------------------------------------


@pytest.mark.plays("admission-paused")
def test_a_pause_is_waited_for_while_reads_and_accepted_work_go_on(service: EmulatorUnderTest, asset_id: str) -> None:
    service.advance(29)
    accepted = service.send(upscale_call(asset_id, "k1"))
    assert 202 == accepted.status
    service.advance(1)
    writes = [generation_call(workflow, asset_id, "k2") for workflow in WORKFLOWS]
    for write in [*writes, Call("POST", "/uploads", UPLOAD), Call("DELETE", f"/assets/{asset_id}")]:
        refused = service.send(write)
        assert ((503, "service_unavailable"), 10) == (refused.outcome, refused.retry_after)
    for path in ("/team", f"/assets/{asset_id}", *LISTS):
        assert 200 == service.get(path).status
    assert "completed" == service.wait_for(accepted.json)["status"]
    assert accepted.body == service.send(upscale_call(asset_id, "k1")).body  # a replay is no new write

    assert service.now() < service.sandbox.began_at + 90_000
    answer, waits = service.insist(writes[0])
    assert (202, [10] * len(waits)) == (answer.status, waits)
    assert service.now() >= service.sandbox.began_at + 90_000
    assert [202, 202] == [service.send(write).status for write in writes[1:]]  # with the keys of their first attempts


@pytest.mark.plays("subscription-lapses-mid-run")
def test_new_work_is_held_back_until_the_subscription_is_restored(service: EmulatorUnderTest, asset_id: str) -> None:
    accepted = service.send(upscale_call(asset_id, "k1"))
    service.advance(30)
    for write in (upscale_call(asset_id, "k2"), Call("POST", "/uploads", UPLOAD)):
        assert (403, "subscription_required") == service.send(write).outcome
    assert not service.get("/team").json["capabilities"]["creative_writes_allowed"]
    assert "completed" == service.wait_for(accepted.json)["status"]
    assert 1 == service.count("/generations")

    service.advance_to("2026-01-01T00:01:59.999Z")
    assert 403 == service.send(upscale_call(asset_id, "k2")).status
    service.advance(0.001)
    assert service.get("/team").json["capabilities"]["creative_writes_allowed"]
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
    service.advance(seconds - 2)
    work = service.send(upscale_call(asset_id, "k"))
    service.advance(1.999)
    assert 200 == service.get(f"/generations/{work.id}").status
    service.advance(0.001)
    for call in (Call("GET", f"/generations/{work.id}"), upscale_call(asset_id, "k"), Call("GET", "/team")):
        assert (401, code) == service.send(call).outcome
    service.advance(60)
    assert (401, code) == service.get("/team").outcome  # and never again

    replacement = service.new_key()
    assert [work.id] == [item["id"] for item in service.items("/generations", replacement)]
    done = service.wait_for(work.json, replacement)
    took_ms = parse_timestamp(done["finished_at"]) - parse_timestamp(done["started_at"])
    assert ("completed", 5_000) == (done["status"], took_ms)
    assert 202 == service.send(upscale_call(asset_id, "k", replacement)).status


# Admission in progress ----------------------------------------------------------------------------------------------


@pytest.mark.plays("same-key-in-flight")
def test_a_key_in_progress_is_waited_for_and_leads_to_the_one_generation(service: EmulatorUnderTest) -> None:
    (asset_id,) = service.assets(1)
    for number, workflow in enumerate(WORKFLOWS, start=1):
        call = generation_call(workflow, asset_id, "k")
        first, second = service.asked_twice(call, 10)
        assert (409, "idempotency_in_progress") == second.outcome
        assert 202 == first.status
        replay = service.send(call)
        assert (first.status, first.raw_headers, first.body) == (replay.status, replay.raw_headers, replay.body)
        assert (100 - number, number) == (service.credits(), service.count("/generations"))


@pytest.mark.plays("upload-window-missed")
def test_a_missed_window_asks_for_a_new_session(service: EmulatorUnderTest) -> None:
    session, token = service.ready_upload()
    complete = Call("POST", f"/uploads/{session['id']}/complete", {"upload_token": token}, idempotency_key="k")
    first, second = service.asked_twice(complete, 16 * 60)
    assert [(410, "upload_expired"), (409, "idempotency_in_progress")] == [first.outcome, second.outcome]
    assert "2026-01-01T00:16:00.000Z" == service.clock_now()
    assert (410, "upload_expired") == service.send(complete).outcome  # to repeat it is of no use
    assert [] == service.items("/assets")
    assert "asset" == service.upload(picture())["object"]
