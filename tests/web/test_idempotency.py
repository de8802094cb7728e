"""Idempotency-Keys as a client sees them (section 4, D10 to D14)."""

from typing import Any

import pytest

from tests.support.emulator_client import JSON, UPLOAD, EmulatorUnderTest, completion_call

DAY = 24 * 60 * 60
PHOTOGRAPHY = "/generations/product-photography"
REUSED = (422, "idempotency_key_reused")


def test_a_key_is_in_progress_while_its_upload_is_decoded_whatever_the_intent(emulator: EmulatorUnderTest) -> None:
    """D13."""
    session, token = emulator.ready_upload()
    calls = [completion_call(session, said, idempotency_key="k") for said in (token, token, "another")]
    first, same, different = emulator.together(*calls)
    in_progress = (409, "idempotency_in_progress")
    assert (first.status, same.outcome, different.outcome) == (201, in_progress, in_progress)
    assert emulator.send(calls[0]) == first


def test_jpeg_on_a_transparent_background_is_png_and_the_same_request(emulator: EmulatorUnderTest) -> None:
    """D14."""
    body = {"output_mode": "single_shots", "asset_ids": emulator.assets(1), "background": {"type": "transparent"}}
    first = emulator.post(PHOTOGRAPHY, body | {"output_format": "jpeg"}, idempotency_key="k")
    assert first.json["request"]["output_format"] == "png"
    assert emulator.post(PHOTOGRAPHY, body | {"output_format": "png"}, idempotency_key="k") == first


@pytest.mark.parametrize(
    "change",
    [
        {"image_count": 2},
        {"custom_directions": ""},
        {"output_mode": "photoshoot"},
        {"background": {"type": "color", "color": "#fff000"}},
        {"colorway": {"name": "Red"}},
        {"fashion_model": {"type": "none"}},
        {"asset_ids": ["ast_1"]},
        {"asset_ids": [], "product_ids": ["prd_1"]},
        {"output_format": "webp"},
    ],
    ids=str,
)
def test_two_bodies_that_mean_something_else_are_not(emulator: EmulatorUnderTest, change: dict[str, Any]) -> None:
    """D14: a key that is used again is refused whatever the second body refers to."""
    body: dict[str, Any] = {"output_mode": "single_shots", "asset_ids": emulator.assets(1)}
    body |= {"background": {"type": "transparent"}}
    assert emulator.post(PHOTOGRAPHY, body, idempotency_key="k").status == 202
    assert emulator.post(PHOTOGRAPHY, body | change, idempotency_key="k").outcome == REUSED


def test_spelling_the_order_of_keys_and_white_space_do_not_matter(emulator: EmulatorUnderTest) -> None:
    first = emulator.post("/uploads", UPLOAD, idempotency_key="k")
    assert emulator.post("/uplo%61ds", UPLOAD, idempotency_key="k") == first
    content = b'{\n  "size_bytes" : 5e0,\t"content_type":"image\\/png" }'
    assert emulator.post("/uploads", content=content, headers=JSON, idempotency_key="k") == first


def test_the_order_of_the_assets_of_a_product_is_a_part_of_its_intent(emulator: EmulatorUnderTest) -> None:
    """D14: it decides which is the next Primary (D22), and how a Generation packs them (D32)."""
    one, two, three = emulator.assets(3)
    body = {"name": "Shirt", "primary_asset_id": one}
    product = emulator.post("/products", body | {"asset_ids": [one, two, three]}, idempotency_key="k")
    assert emulator.post("/products", body | {"asset_ids": [one, three, two]}, idempotency_key="k").outcome == REUSED
    path, change = f"/products/{product.id}", {"asset_ids": [one, two, three]}
    changed = emulator.patch(path, change, idempotency_key="p")
    assert emulator.patch(path, {"asset_ids": [one, three, two]}, idempotency_key="p").outcome == REUSED
    assert emulator.patch(path, change, idempotency_key="p") == changed


def test_no_key_is_forgotten_within_24_hours(emulator: EmulatorUnderTest, monkeypatch: pytest.MonkeyPatch) -> None:
    """D58: new keys are refused instead."""
    for module in ("image_workflow_emulator.domain.idempotency", "image_workflow_emulator.service.sandbox.admission"):
        monkeypatch.setattr(f"{module}.MAX_RECORDS", 2)
    first = emulator.post("/uploads", UPLOAD, idempotency_key="k1")
    emulator.advance(60)
    emulator.post("/uploads", UPLOAD, idempotency_key="k2")
    refused = emulator.post("/uploads", UPLOAD, idempotency_key="k3")
    assert ((503, "service_unavailable"), str(24 * 3600 - 60)) == (refused.outcome, refused.headers["retry-after"])
    assert emulator.post("/uploads", UPLOAD, idempotency_key="k1") == first
    emulator.advance(24 * 3600 - 60)
    assert emulator.post("/uploads", UPLOAD, idempotency_key="k3").status == 201
