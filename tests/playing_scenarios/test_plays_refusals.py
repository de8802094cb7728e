"""Plays of the library: requests that are refused for what they are or name, and what a client does about it."""

import pytest

from tests.playing_scenarios.player import upscale_call
from tests.support.emulator_client import FULL, OTHER, UPLOAD, Call, EmulatorUnderTest
from tests.support.pictures import picture


@pytest.mark.plays("invalid-cursor")
def test_a_refused_cursor_starts_the_pagination_anew(service: EmulatorUnderTest) -> None:
    asset_ids = service.assets(2)
    for number in range(2):
        service.product(*asset_ids)
        service.send(upscale_call(asset_ids[0], f"key {number}"))
    for path in ("/assets", "/products", "/generations"):
        cursor = service.get(f"{path}?limit=1").json["page"]["next_cursor"]
        assert (400, "invalid_cursor") == service.get(f"{path}?limit=1&after={cursor}").outcome
        assert 2 == len(service.items(path, limit=1))


@pytest.mark.plays("authentication-required")
def test_a_key_that_is_not_known_any_more_is_replaced_by_a_valid_one(service: EmulatorUnderTest, asset_id: str) -> None:
    admitted = service.send(upscale_call(asset_id, "k"))
    for key in (FULL, "iwe_demo_read"):
        assert (401, "authentication_required") == service.get("/team", key).outcome
    assert 200 == service.get("/team", OTHER).status
    service.without_scenario()  # the configuration is put right
    assert admitted == service.send(upscale_call(asset_id, "k"))


@pytest.mark.plays("permission-denied")
def test_writes_need_a_full_credential_while_reads_and_admitted_work_go_on(service: EmulatorUnderTest) -> None:
    (asset_id,) = service.assets(1)
    admitted = service.send(upscale_call(asset_id, "k1"))
    service.advance(30)
    assert "read_only" == service.get("/team").json["credential"]["profile"]
    for write in (
        upscale_call(asset_id, "k2"),
        Call("POST", "/uploads", UPLOAD),
        Call("DELETE", f"/assets/{asset_id}"),
    ):
        assert (403, "permission_denied") == service.send(write).outcome
    assert "completed" == service.wait_for(admitted.json)["status"]
    assert 202 == service.send(upscale_call(asset_id, "k2", service.new_key())).status


@pytest.mark.plays("upload-bytes-conflict")
def test_a_new_session_takes_other_bytes(service: EmulatorUnderTest) -> None:
    assert (409, "upload_bytes_conflict") == service.complete(*service.ready_upload()).outcome
    assert [] == service.items("/assets")
    assert "asset" == service.upload(picture(colour="#102030"))["object"]


@pytest.mark.plays("upload-expired")
def test_a_client_opens_a_few_new_sessions_at_most_and_then_gives_up(service: EmulatorUnderTest) -> None:
    for _ in range(3):
        assert (410, "upload_expired") == service.complete(*service.ready_upload()).outcome
    assert [] == service.items("/assets")


@pytest.mark.plays("already-at-target-resolution")
def test_a_higher_target_is_asked_for_or_the_asset_is_used_as_it_is(service: EmulatorUnderTest, asset_id: str) -> None:
    before = service.credits()
    assert (422, "already_at_target_resolution") == service.upscale(asset_id).outcome
    assert before == service.credits()
    assert 202 == service.upscale(asset_id, target_resolution="4k").status


@pytest.mark.plays("resource-operation-in-progress")
def test_the_operation_in_progress_is_polled_and_then_tried_again(service: EmulatorUnderTest) -> None:
    pose, (asset_id,) = service.author("pose"), service.assets(1)
    path = f"/poses/{pose['id']}"
    replacing = service.patch(path, {"asset_id": asset_id})
    began = service.now()
    for blocked in (Call("PATCH", path, {"name": "Later"}, idempotency_key="k"), Call("DELETE", path)):
        refused = service.send(blocked)
        assert (409, "resource_operation_in_progress") == refused.outcome
        assert replacing.id == refused.json["active_operation_id"]
    done = service.wait_for(replacing.json)
    assert ("completed", 601) == (done["status"], (service.now() - began) / 1000)
    assert "Later" == service.patch(path, {"name": "Later"}, idempotency_key="k").json["name"]
