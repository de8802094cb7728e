"""What an order means once its defaults are applied, and which fields contradict each
other (D14, D32 to D34, D39).
"""

from typing import Any

import pytest

from image_workflow_emulator.domain.intents import colour, fingerprint, intent_of
from image_workflow_emulator.domain.problems import Check, Problem
from image_workflow_emulator.domain.readings import NO_READINGS, Readings

Body = dict[str, Any]

LEAST_ORDER: Body = {
    "output_mode": "single_shots",
    "asset_ids": ["ast_1"],
}
PHOTOSHOOT: Body = {
    "output_mode": "photoshoot",
    "asset_ids": ["ast_1"],
}
EXPLICIT_ORDER: Body = {
    "output_mode": "photoshoot",
    "background": {"type": "automatic"},
    "fashion_model": {"type": "automatic"},
    "aspect_ratio": "1:1",
    "resolution": "1k",
    "output_format": "png",
    "image_count": 4,
    "asset_ids": ["ast_1"],
}
"""An order that says what the defaults say."""


def photography(readings: Readings = NO_READINGS, /, **fields: Any) -> Body:
    """Return the intent of a least order with further fields."""
    order = LEAST_ORDER | fields
    return intent_of("ProductPhotography", order, readings)


def refusal_of(
    name: str,
    body: Body,
    readings: Readings = NO_READINGS,
) -> tuple[str, str]:
    """Return the code and the detail of a refused body."""
    with pytest.raises(Problem) as refused:
        intent_of(name, body, readings)
    assert refused.value.check == Check.BODY
    return refused.value.code, refused.value.detail


def test_an_order_has_the_defaults_of_the_contract() -> None:
    assert photography() == {
        "output_mode": "single_shots",
        "product_ids": [],
        "asset_ids": ["ast_1"],
        "image_count": 1,
        "background": {"type": "automatic"},
        "fashion_model": {"type": "automatic"},
        "aspect_ratio": "1:1",
        "resolution": "1k",
        "output_format": "png",
    }


def test_one_reading_has_other_defaults() -> None:
    intent = photography(Readings(defaults="other-defaults"))

    assert intent["aspect_ratio"] == "4:5"
    assert intent["resolution"] == "2k"
    assert intent["output_format"] == "jpeg"
    assert intent["background"] == {"type": "automatic"}
    assert intent["image_count"] == 1


def test_an_order_may_be_of_products_alone() -> None:
    order = {"output_mode": "single_shots", "product_ids": ["prd_1"]}

    intent = intent_of("ProductPhotography", order)

    assert intent["product_ids"] == ["prd_1"]
    assert intent["asset_ids"] == []


def test_an_order_of_nothing_is_refused() -> None:
    order = LEAST_ORDER | {"asset_ids": []}

    code, detail = refusal_of("ProductPhotography", order)

    assert code == "invalid_input"
    assert detail == (
        "/product_ids: found an array of 0; expected at least one Product or Asset in "
        "product_ids or asset_ids"
    )


def test_a_photoshoot_has_four_outputs() -> None:
    intent = intent_of("ProductPhotography", PHOTOSHOOT)

    assert intent["image_count"] == 4


def test_a_photoshoot_of_another_count_is_refused() -> None:
    order = PHOTOSHOOT | {"image_count": 3}

    code, detail = refusal_of("ProductPhotography", order)

    assert code == "invalid_input"
    assert detail == "/image_count: found 3; expected 4, or nothing, for a photoshoot"


def test_one_reading_ignores_the_count_of_a_photoshoot() -> None:
    readings = Readings(defaults="count-ignored")
    order = PHOTOSHOOT | {"image_count": 3}

    photoshoot = intent_of("ProductPhotography", order, readings)
    single_shots = photography(readings, image_count=3)

    assert photoshoot["image_count"] == 4
    assert single_shots["image_count"] == 3


@pytest.mark.parametrize(
    "field",
    [
        "background",
        "fashion_model",
        "aspect_ratio",
        "resolution",
        "output_format",
        "image_count",
    ],
)
def test_one_reading_has_no_defaults(field: str) -> None:
    order = dict(EXPLICIT_ORDER)
    del order[field]
    readings = Readings(defaults="required")

    code, detail = refusal_of("ProductPhotography", order, readings)

    assert code == "invalid_input"
    assert detail == f"/{field}: found null; expected a value; there is no default"


def test_without_defaults_an_order_that_says_everything_is_accepted() -> None:
    readings = Readings(defaults="required")

    intent = intent_of("ProductPhotography", EXPLICIT_ORDER, readings)

    assert intent == EXPLICIT_ORDER | {"product_ids": []}


def test_a_count_with_a_fraction_of_nothing_is_a_whole_number() -> None:
    fractional = photography(image_count=2.0)
    whole = photography(image_count=2)
    upload = intent_of("CreateUpload", {"size_bytes": 7.0, "filename": "a.png"})

    assert fingerprint(fractional) == fingerprint(whole)
    assert fingerprint(upload) == b'{"filename":"a.png","size_bytes":7}'


@pytest.mark.parametrize("text", ["#FF8800", "FF8800", "ff8800", "#ff8800"])
def test_a_colour_has_one_form(text: str) -> None:
    background = {"type": "color", "color": text}
    colorway = {"hex": text, "name": "Rust"}

    intent = photography(background=background, colorway=colorway)

    assert colour(text) == "#ff8800"
    assert intent["background"] == {"type": "color", "color": "#ff8800"}
    assert intent["colorway"] == {"hex": "#ff8800", "name": "Rust"}


def test_a_colorway_may_have_a_name_alone() -> None:
    intent = photography(colorway={"name": "Rust"})

    assert intent["colorway"] == {"name": "Rust"}


@pytest.mark.parametrize(
    ("background", "sent", "expected"),
    [
        ("transparent", "jpeg", "png"),
        ("transparent", "webp", "webp"),
        ("automatic", "jpeg", "jpeg"),
    ],
)
def test_what_is_transparent_is_never_a_jpeg(
    background: str,
    sent: str,
    expected: str,
) -> None:
    intent = photography(background={"type": background}, output_format=sent)

    assert intent["output_format"] == expected


@pytest.mark.parametrize("name", ["ProductWrite", "ProductPatch"])
def test_the_primary_is_one_of_the_photos_that_come_with_it(name: str) -> None:
    body = {"asset_ids": ["ast_1"], "primary_asset_id": "ast_2"}

    code, detail = refusal_of(name, body)

    assert code == "invalid_input"
    assert detail == '/primary_asset_id: found "ast_2"; expected one of asset_ids'


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(
            {"asset_ids": ["ast_1"], "primary_asset_id": "ast_1"},
            id="a member",
        ),
        pytest.param(
            {"asset_ids": ["ast_1"]},
            id="no Primary",
        ),
        pytest.param(
            {"asset_ids": ["ast_1"], "primary_asset_id": None},
            id="an empty Primary",
        ),
        pytest.param(
            {"primary_asset_id": "ast_1"},
            id="no photos",
        ),
        pytest.param({"name": "Chair"}, id="neither"),
    ],
)
def test_other_bodies_of_a_product_are_as_sent(body: Body) -> None:
    assert intent_of("ProductPatch", body) == body


def test_a_style_without_a_description_has_an_empty_one() -> None:
    without = intent_of("StyleWrite", {"name": "Soft"})
    described = intent_of("StyleWrite", {"description": "Warm"})

    assert without == {"name": "Soft", "description": ""}
    assert described == {"description": "Warm"}


def test_a_pose_without_distances_has_all_three() -> None:
    closeup = {"supported_camera_distances": ["close"]}

    without = intent_of("PoseWrite", {"name": "Sitting"})
    with_one = intent_of("PoseWrite", closeup)

    assert without == {
        "name": "Sitting",
        "supported_camera_distances": ["close", "medium", "far"],
    }
    assert with_one == closeup


def test_any_other_body_is_its_own_intent() -> None:
    body = {"name": "Chair"}

    assert intent_of("EditImages", body) is body


@pytest.mark.parametrize(
    ("field", "most"),
    [("name", 100), ("instructions", 2_000)],
    ids=["name", "other"],
)
def test_one_reading_bounds_the_length_of_texts(field: str, most: int) -> None:
    longest = {field: "x" * most}
    longer = {field: "x" * (most + 1)}
    readings = Readings(text_length="short")

    code, detail = refusal_of("EditImages", longer, readings)

    assert code == "invalid_input"
    assert detail.startswith(f'/{field}: found "xxx')
    assert detail.endswith(f"expected at most {most} characters, not {most + 1}")
    assert intent_of("EditImages", longest, readings) == longest
    assert intent_of("EditImages", longer) == longer


def test_the_bound_of_a_text_holds_within_other_fields() -> None:
    body = {"colorway": {"name": "x" * 101}}
    readings = Readings(text_length="short")

    _, detail = refusal_of("EditImages", body, readings)

    assert detail.startswith('/colorway/name: found "xxx')


def test_intents_are_the_same_whatever_the_order_of_their_fields() -> None:
    first = {"name": "Chair", "tags": {"b": 1, "a": 2}}
    reordered = {"tags": {"a": 2, "b": 1}, "name": "Chair"}
    other = {"name": "Chair"}

    assert fingerprint(first) == fingerprint(reordered)
    assert fingerprint(first) != fingerprint(other)
