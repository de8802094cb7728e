"""Plays of the library: requests that are refused for what they are or name, and what a client does about it."""

import pytest

from tests.playing_scenarios.player import generation_body, upscale_call
from tests.support.emulator_client import FULL, OTHER, UPLOAD, Call, EmulatorUnderTest
from tests.support.pictures import picture

# 400 ----------------------------------------------------------------------------------------------------------------


@pytest.mark.plays("invalid-cursor")
def test_a_refused_cursor_starts_the_pagination_anew_and_nothing_is_counted_twice(service: EmulatorUnderTest) -> None:
    asset_ids = service.assets(2)
    for number in range(2):
        service.product(*asset_ids)
        service.send(upscale_call(asset_ids[0], f"key {number}"))
    for path in ("/assets", "/products", "/generations"):
        first = service.get(f"{path}?limit=1")
        seen = [first.json["data"][0]["id"]]
        refused = service.get(f"{path}?limit=1&after={first.json['page']['next_cursor']}")
        assert (400, "invalid_cursor") == refused.outcome

        anew = service.get(f"{path}?limit=1").json
        rest = service.get(f"{path}?limit=1&after={anew['page']['next_cursor']}").json
        seen += [item["id"] for item in anew["data"] + rest["data"] if item["id"] not in seen]
        assert (2, False) == (len(seen), rest["page"]["has_more"])
        assert [item["id"] for item in service.items(path)] == seen


# 401, 403 -----------------------------------------------------------------------------------------------------------


@pytest.mark.plays("authentication-required")
def test_a_key_that_is_not_known_any_more_is_replaced_by_a_valid_one(service: EmulatorUnderTest, asset_id: str) -> None:
    admitted = service.send(upscale_call(asset_id, "k"))
    assert 202 == admitted.status
    for key in (FULL, "iwe_demo_read"):
        assert (401, "authentication_required") == service.get("/team", key).outcome
    assert (401, "authentication_required") == service.send(upscale_call(asset_id, "k")).outcome
    assert "Other" == service.get("/team", OTHER).json["name"]

    service.without_scenario()  # the configuration is put right
    assert admitted.body == service.send(upscale_call(asset_id, "k")).body
    assert "completed" == service.wait_for(admitted.json)["status"]


@pytest.mark.plays("permission-denied")
def test_writes_need_a_full_credential_while_reads_and_admitted_work_go_on(service: EmulatorUnderTest) -> None:
    (asset_id,) = service.assets(1)
    admitted = service.send(upscale_call(asset_id, "k1"))
    service.advance(30)
    team = service.get("/team").json
    assert "read_only" == team["credential"]["profile"]
    assert not team["capabilities"]["creative_writes_allowed"]
    writes = (upscale_call(asset_id, "k2"), Call("POST", "/uploads", UPLOAD), Call("DELETE", f"/assets/{asset_id}"))
    for write in writes:
        assert (403, "permission_denied") == service.send(write).outcome
    assert "completed" == service.wait_for(admitted.json)["status"]

    full = service.new_key()
    assert 202 == service.send(upscale_call(asset_id, "k2", full)).status
    assert 200 == service.delete(f"/assets/{asset_id}", full).status


# 409, 410: uploads --------------------------------------------------------------------------------------------------


@pytest.mark.plays("upload-bytes-conflict")
def test_a_new_session_takes_other_bytes(service: EmulatorUnderTest) -> None:
    other = picture(colour="#102030")
    session, token = service.ready_upload()
    assert (409, "upload_bytes_conflict") == service.complete(session, token).outcome  # as the rule says
    assert (409, "upload_bytes_conflict") == service.send_bytes(session, other).outcome  # and as caused by the client
    assert [] == service.items("/assets")
    assert service.upload(other) in service.items("/assets")


@pytest.mark.plays("upload-expired")
def test_a_client_opens_a_few_new_sessions_at_most_and_then_gives_up(service: EmulatorUnderTest) -> None:
    for _ in range(3):
        session, token = service.ready_upload()
        assert (410, "upload_expired") == service.complete(session, token).outcome
    assert [] == service.items("/assets")
    service.without_scenario()
    assert "asset" == service.upload(picture())["object"]


# 422 ----------------------------------------------------------------------------------------------------------------


@pytest.mark.plays("already-at-target-resolution")
def test_a_higher_target_is_asked_for_or_the_asset_is_used_as_it_is(service: EmulatorUnderTest, asset_id: str) -> None:
    assert (422, "already_at_target_resolution") == service.send(upscale_call(asset_id, "k")).outcome
    assert (100, 200) == (service.credits(), service.get(f"/assets/{asset_id}").status)
    higher = service.post("/generations/upscale", generation_body("upscale", asset_id) | {"target_resolution": "4k"})
    assert (98, "completed") == (service.credits(), service.wait_for(higher.json)["status"])


# 409: an ingredient -------------------------------------------------------------------------------------------------


@pytest.mark.plays("resource-operation-in-progress")
def test_the_operation_in_progress_is_polled_and_then_tried_again(service: EmulatorUnderTest) -> None:
    pose, (asset_id,) = service.author("pose"), service.assets(1)
    path = f"/poses/{pose['id']}"
    replacing = service.patch(path, {"asset_id": asset_id})
    assert (202, "operation") == replacing.outcome
    for blocked in (Call("PATCH", path, {"name": "Later"}, idempotency_key="k"), Call("DELETE", path)):
        refused = service.send(blocked)
        assert (409, "resource_operation_in_progress") == refused.outcome
        assert replacing.id == refused.json["active_operation_id"]
    assert pose == service.get(path).json

    began = service.now()
    done = service.wait_for({"object": "operation", "id": refused.json["active_operation_id"]})
    assert ("completed", 601) == (done["status"], (service.now() - began) / 1000)
    assert "Later" == service.patch(path, {"name": "Later"}, idempotency_key="k").json["name"]
    assert 204 == service.delete(path).status
