"""D01: of two neighbouring checks that a request both fails, the earlier one answers."""

from typing import Any

import pytest

from tests.support.emulator_client import (
    FULL,
    LAPSED,
    OTHER,
    READ_ONLY,
    REVOKED,
    Call,
    EmulatorUnderTest,
    ingredient_body,
)
from tests.support.pictures import picture

UPLOAD = {"content_type": "image/png", "size_bytes": 10}
GHOST = "ast_00000000000000000000000000"
MALFORMED: dict[str, Any] = {"content": b"{", "headers": {"Content-Type": "application/json"}}


def exhaust_rate(emulator: EmulatorUnderTest, key: str = FULL) -> None:
    for _ in range(120):
        assert emulator.get("/team", key).status == 200


def fill_budget(emulator: EmulatorUnderTest) -> None:
    emulator.set_team(concurrency_limit=1)
    assert emulator.photograph().status == 202


def test_unknown_path_before_credential(emulator: EmulatorUnderTest) -> None:
    assert emulator.post("/nothing", UPLOAD, key=None).outcome == (404, "not_found")


def test_wrong_method_before_credential(emulator: EmulatorUnderTest) -> None:
    assert emulator.delete("/team", key=None).outcome == (405, "invalid_request")


def test_credential_before_rate(emulator: EmulatorUnderTest) -> None:
    exhaust_rate(emulator)
    emulator.set_credential(FULL, state="revoked")
    assert emulator.get("/team").outcome == (401, "credential_revoked")


def test_credential_before_profile(emulator: EmulatorUnderTest) -> None:
    emulator.set_credential(READ_ONLY, state="revoked")
    assert emulator.post("/uploads", UPLOAD, READ_ONLY).outcome == (401, "credential_revoked")


def test_revocation_before_expiry(emulator: EmulatorUnderTest) -> None:
    emulator.set_credential(REVOKED, expires_at=0)
    assert emulator.get("/team", REVOKED).outcome == (401, "credential_revoked")


def test_rate_before_profile(emulator: EmulatorUnderTest) -> None:
    exhaust_rate(emulator, READ_ONLY)
    assert emulator.post("/uploads", UPLOAD, READ_ONLY).outcome == (429, "rate_limited")


def test_profile_before_shape(emulator: EmulatorUnderTest) -> None:
    answer = emulator.post("/uploads?x=1", key=READ_ONLY, idempotency_key=None, **MALFORMED)
    assert answer.outcome == (403, "permission_denied")


def test_missing_idempotency_key_before_body(emulator: EmulatorUnderTest) -> None:
    assert emulator.post("/uploads", {}, idempotency_key=None).outcome == (400, "invalid_request")


def test_query_before_body(emulator: EmulatorUnderTest) -> None:
    assert emulator.post("/uploads?x=1", {}).outcome == (400, "invalid_request")


def test_body_before_idempotency(emulator: EmulatorUnderTest) -> None:
    emulator.post("/uploads", UPLOAD, idempotency_key="k")
    answer = emulator.post("/uploads", UPLOAD | {"size_bytes": 0}, idempotency_key="k")
    assert answer.outcome == (422, "invalid_input")


def test_rules_within_the_body_before_idempotency(emulator: EmulatorUnderTest) -> None:
    body = {"output_mode": "photoshoot", "asset_ids": emulator.assets(1)}
    emulator.post("/generations/product-photography", body, idempotency_key="k")
    answer = emulator.post("/generations/product-photography", body | {"image_count": 3}, idempotency_key="k")
    assert answer.outcome == (422, "invalid_input")


def test_a_replay_before_pause(emulator: EmulatorUnderTest) -> None:
    first = emulator.post("/uploads", UPLOAD, idempotency_key="k")
    emulator.pause()
    assert emulator.post("/uploads", UPLOAD, idempotency_key="k") == first


def test_a_reused_key_before_pause(emulator: EmulatorUnderTest) -> None:
    emulator.post("/uploads", UPLOAD, idempotency_key="k")
    emulator.pause()
    answer = emulator.post("/uploads", UPLOAD | {"size_bytes": 11}, idempotency_key="k")
    assert answer.outcome == (422, "idempotency_key_reused")


def test_a_key_in_progress_before_pause(emulator: EmulatorUnderTest) -> None:
    session = emulator.open_upload(len(picture()))
    token = emulator.send_bytes(session, picture()).json["upload_token"]
    path, body = f"/uploads/{session['id']}/complete", {"upload_token": token}
    emulator.pause()
    answers = emulator.together(*[Call("POST", path, body, idempotency_key="k") for _ in range(2)])
    assert [answer.outcome for answer in answers] == [(503, "service_unavailable"), (409, "idempotency_in_progress")]


def test_a_replay_before_subscription(emulator: EmulatorUnderTest) -> None:
    first = emulator.post("/uploads", UPLOAD, idempotency_key="k")
    emulator.set_team(subscription_active=False)
    assert emulator.post("/uploads", UPLOAD, idempotency_key="k") == first


def test_pause_before_subscription(emulator: EmulatorUnderTest) -> None:
    emulator.pause()
    assert emulator.post("/uploads", UPLOAD, LAPSED).outcome == (503, "service_unavailable")


def test_pause_before_the_paths_resource(emulator: EmulatorUnderTest) -> None:
    emulator.pause()
    assert emulator.delete(f"/assets/{GHOST}").outcome == (503, "service_unavailable")


def test_subscription_before_the_paths_resource(emulator: EmulatorUnderTest) -> None:
    assert emulator.patch("/products/prd_1", {"name": "x"}, LAPSED).outcome == (403, "subscription_required")


def test_subscription_before_read_only(emulator: EmulatorUnderTest) -> None:
    pose = emulator.premade("pose")["id"]
    assert emulator.patch(f"/poses/{pose}", {"name": "x"}, LAPSED).outcome == (403, "subscription_required")


def test_the_paths_resource_before_references(emulator: EmulatorUnderTest) -> None:
    answer = emulator.patch("/products/prd_1", {"asset_ids": [GHOST]})
    assert answer.outcome == (404, "product_not_found")


def test_the_paths_resource_before_its_state(emulator: EmulatorUnderTest) -> None:
    pose = emulator.author("pose")
    emulator.patch(f"/poses/{pose['id']}", {"asset_id": emulator.assets(1)[0]})
    assert emulator.patch(f"/poses/{pose['id']}", {"name": "x"}, OTHER).outcome == (404, "not_found")


def test_read_only_before_references(emulator: EmulatorUnderTest) -> None:
    pose = emulator.premade("pose")["id"]
    assert emulator.patch(f"/poses/{pose}", {"asset_id": GHOST}).outcome == (403, "permission_denied")


def test_state_before_references(emulator: EmulatorUnderTest) -> None:
    pose = emulator.author("pose")["id"]
    emulator.patch(f"/poses/{pose}", {"asset_id": emulator.assets(1)[0]})
    answer = emulator.patch(f"/poses/{pose}", {"asset_id": GHOST})
    assert answer.outcome == (409, "resource_operation_in_progress")


def test_references_before_rules(emulator: EmulatorUnderTest) -> None:
    """The Pose `Walking` is seen from afar only."""
    pose = emulator.premade("pose", "Walking")["id"]
    answer = emulator.photograph(pose_id=pose, camera_distance="close", photography_style_id="sty_1")
    assert answer.outcome == (422, "invalid_reference")


def test_references_before_concurrency(emulator: EmulatorUnderTest) -> None:
    fill_budget(emulator)
    assert emulator.photograph(asset_ids=[GHOST]).outcome == (422, "invalid_reference")


def test_authoring_references_before_concurrency(emulator: EmulatorUnderTest) -> None:
    fill_budget(emulator)
    assert emulator.post("/poses", ingredient_body("pose", [GHOST])).outcome == (422, "invalid_reference")


def test_rules_before_concurrency(emulator: EmulatorUnderTest) -> None:
    asset = emulator.upload(picture(size=(2048, 8)))["id"]
    fill_budget(emulator)
    answer = emulator.post(
        "/generations/upscale", {"asset_id": asset, "target_resolution": "2k", "output_format": "png"}
    )
    assert answer.outcome == (422, "already_at_target_resolution")


def test_concurrency_before_credits(emulator: EmulatorUnderTest) -> None:
    fill_budget(emulator)
    emulator.set_team(credits_available=0)
    assert emulator.photograph().outcome == (429, "concurrency_limit_reached")


def test_authoring_concurrency_before_credits(emulator: EmulatorUnderTest) -> None:
    fill_budget(emulator)
    emulator.set_team(credits_available=0)
    answer = emulator.post("/poses", ingredient_body("pose", emulator.assets(1)))
    assert answer.outcome == (429, "concurrency_limit_reached")


def test_window_before_token(emulator: EmulatorUnderTest) -> None:
    """D17."""
    session = emulator.open_upload(10)
    emulator.advance(15 * 60)
    assert emulator.complete(session, "wrong").outcome == (410, "upload_expired")


@pytest.mark.parametrize("gone", ["used", "failed"])
def test_gone_before_window(emulator: EmulatorUnderTest, gone: str) -> None:
    """D17."""
    data = picture() if gone == "used" else b"no picture"
    session = emulator.open_upload(len(data))
    token = emulator.send_bytes(session, data).json["upload_token"]
    emulator.complete(session, token)
    emulator.advance(15 * 60)
    assert emulator.complete(session, token).outcome == (404, "upload_not_found")
