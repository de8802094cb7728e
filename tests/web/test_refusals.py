"""What a refusal says: where, what was found and what was expected, in the words that a
client's log shows. The model knows only its code.
"""

import pytest

from image_workflow_emulator.domain.limits import TEAM_REQUESTS_PER_MINUTE
from tests.support.emulator_client import (
    INVALID_INPUT,
    INVALID_REFERENCE,
    READ_ONLY,
    REVOKED,
    UPLOAD,
    Json,
)
from tests.support.emulator_under_test import EmulatorUnderTest

DENIED = (403, "permission_denied")
TOO_FEW_CREDITS = (402, "insufficient_credits")
TOO_MANY_REQUESTS = (429, "rate_limited")
TOO_MUCH_WORK = (429, "concurrency_limit_reached")
UNKNOWN = "no_such_id"
FOUND = f'found "{UNKNOWN}"; expected'
MODEL = "a fashion model that the Team can use"


@pytest.mark.parametrize(
    ("path", "detail"),
    [
        ("/assets", f"asset_id: {FOUND} a live Asset of this Team"),
        ("/products", f"product_id: {FOUND} a Product of this Team"),
        ("/operations", f"operation_id: {FOUND} an Operation of this Team"),
        ("/generations", f"generation_id: {FOUND} one of this Team's"),
        (
            "/photography-styles",
            f"photography_style_id: {FOUND} a photography style that the Team can use",
        ),
        ("/backgrounds", f"background_id: {FOUND} a background that the Team can use"),
        ("/poses", f"pose_id: {FOUND} a pose that the Team can use"),
        (
            "/fashion-models",
            f"fashion_model_id: {FOUND} {MODEL}",
        ),
    ],
)
def test_a_path_with_an_unknown_id_says_what_it_names(
    emulator: EmulatorUnderTest,
    path: str,
    detail: str,
) -> None:
    answer = emulator.get(f"{path}/{UNKNOWN}")

    assert answer.status == 404
    assert answer.json["detail"] == detail


@pytest.mark.parametrize(
    ("field", "value", "detail"),
    [
        (
            "product_ids",
            [UNKNOWN],
            f"/product_ids/0: {FOUND} a Product of this Team",
        ),
        ("asset_ids", [UNKNOWN], f"/asset_ids/0: {FOUND} a live Asset of this Team"),
        (
            "photography_style_id",
            UNKNOWN,
            f"/photography_style_id: {FOUND} a photography style that the Team can use",
        ),
        (
            "background",
            {"type": "background", "background_id": UNKNOWN},
            f"/background/background_id: {FOUND} a background that the Team can use",
        ),
        ("pose_id", UNKNOWN, f"/pose_id: {FOUND} a pose that the Team can use"),
        (
            "fashion_model",
            {"type": "selected", "fashion_model_id": UNKNOWN},
            f"/fashion_model/fashion_model_id: {FOUND} {MODEL}",
        ),
        (
            "fashion_model",
            {"type": "group", "fashion_model_ids": [UNKNOWN, "another"]},
            f"/fashion_model/fashion_model_ids/0: {FOUND} {MODEL}",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) and "_" in value else "",
)
def test_an_order_with_an_unknown_id_says_where_it_is(
    emulator: EmulatorUnderTest,
    field: str,
    value: object,
    detail: str,
) -> None:
    fields: Json = {field: value}

    answer = emulator.photograph(**fields)

    assert answer.outcome == INVALID_REFERENCE
    assert answer.json["detail"] == detail


def test_an_unknown_photo_of_a_product_is_told_by_its_place(
    emulator: EmulatorUnderTest,
) -> None:
    (asset_id,) = emulator.assets(1)
    body: Json = {
        "name": "Shirt",
        "asset_ids": [asset_id, UNKNOWN],
        "primary_asset_id": asset_id,
    }

    answer = emulator.post("/products", body)

    assert answer.outcome == INVALID_REFERENCE
    expected = f"/asset_ids/1: {FOUND} a live Asset of this Team"
    assert answer.json["detail"] == expected


def test_a_primary_photo_must_be_one_of_the_products_own(
    emulator: EmulatorUnderTest,
) -> None:
    own, other = emulator.assets(2)
    product = emulator.product(own)

    refused = emulator.patch(f"/products/{product['id']}", {"primary_asset_id": other})
    with_photo = emulator.patch(
        f"/products/{product['id']}",
        {"asset_ids": [own, other], "primary_asset_id": other},
    )

    assert refused.outcome == INVALID_INPUT
    expected = (
        f'/primary_asset_id: found "{other}"; expected one of the Product\'s asset_ids'
    )
    assert refused.json["detail"] == expected
    assert with_photo.json["primary_asset_id"] == other


@pytest.mark.parametrize(
    ("key", "detail"),
    [
        (REVOKED, "the credential 'Revoked' was revoked"),
        (
            "iwe_demo_expired",
            "the credential 'Expired' expired at 2020-01-01T00:00:00.000Z",
        ),
    ],
)
def test_a_credential_that_has_ended_is_named(
    emulator: EmulatorUnderTest,
    key: str,
    detail: str,
) -> None:
    answer = emulator.get("/team", key)

    assert answer.status == 401
    assert answer.json["detail"] == detail


def test_a_write_with_a_credential_that_only_reads_says_so(
    emulator: EmulatorUnderTest,
) -> None:
    answer = emulator.post("/uploads", UPLOAD, READ_ONLY)

    assert answer.outcome == DENIED
    detail = "the credential 'Read only' is read_only; a write needs a full one"
    assert answer.json["detail"] == detail


@pytest.mark.emulator(clock="manual")
def test_a_credential_beyond_its_rate_is_told_the_limit_and_the_wait(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.set_team(requests_per_minute=2)
    emulator.get("/team")
    emulator.advance(20.5)
    emulator.get("/team")

    answer = emulator.get("/team")

    assert answer.outcome == TOO_MANY_REQUESTS
    detail = (
        "rate limit of the credential reached: 2 requests in 60 s; retry in 39500 ms"
    )
    assert answer.json["detail"] == detail
    assert answer.retry_after == 40


@pytest.mark.emulator(clock="manual")
def test_a_team_beyond_its_rate_is_told_the_limit_of_all_its_credentials(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.set_team(requests_per_minute=TEAM_REQUESTS_PER_MINUTE + 1)
    for _ in range(TEAM_REQUESTS_PER_MINUTE):
        emulator.get("/team")

    answer = emulator.get("/team", READ_ONLY)

    assert answer.outcome == TOO_MANY_REQUESTS
    detail = "rate limit of the Team reached: 600 requests in 60 s; retry in 60000 ms"
    assert answer.json["detail"] == detail
    assert answer.retry_after == 60


def test_an_order_beyond_the_budget_is_told_what_is_in_progress(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.set_team(concurrency_limit=1)
    emulator.admitted_upscale()

    answer = emulator.upscale()

    assert answer.outcome == TOO_MUCH_WORK
    detail = "the Team 'Demo' has 1 piece of creative work in progress; its limit is 1"
    assert answer.json["detail"] == detail


@pytest.mark.parametrize(
    ("available", "words"),
    [(1, "1 Credit"), (3, "3 Credits")],
)
def test_an_order_beyond_the_credits_is_told_what_there_is_and_what_it_costs(
    emulator: EmulatorUnderTest,
    available: int,
    words: str,
) -> None:
    emulator.set_team(credits_available=available)

    answer = emulator.photograph(image_count=4)

    assert answer.outcome == TOO_FEW_CREDITS
    detail = f"the Team 'Demo' has {words} available; this request costs 4"
    assert answer.json["detail"] == detail


def test_an_order_may_cost_all_the_credits_that_there_are(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.set_team(credits_available=4)

    answer = emulator.photograph(image_count=4)

    assert answer.status == 202


def test_a_completion_before_the_bytes_says_what_is_missing(
    emulator: EmulatorUnderTest,
) -> None:
    session = emulator.open_upload(10)

    answer = emulator.complete(session, "a token")

    assert answer.outcome == INVALID_INPUT
    detail = (
        '/upload_token: found "a token"; expected bytes to be sent to upload.url first'
    )
    assert answer.json["detail"] == detail
