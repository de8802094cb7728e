"""Seeding: `given` of a sandbox, as a Python program uses it."""

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from image_workflow_emulator.testing import EmulatorError, Sandbox, create_app
from tests.support.state_files import parts_of

UNKNOWN_PRODUCT = "prd_00000000000000000000000000"


@pytest.fixture(
    params=[
        {"clock": "manual"},
        {"clock": "auto"},
        {"clock": "real"},
        {"readings": "stingy"},
    ],
    ids=str,
)
def sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    with closing(create_app(**request.param)) as app:
        yield app.sandbox


@pytest.fixture
def manual() -> Iterator[Sandbox]:
    with closing(create_app(clock="manual")) as app:
        yield app.sandbox


def make_library(sandbox: Sandbox) -> list[Any]:
    """Make a Product and an ingredient of each kind."""
    given = sandbox.given
    return [
        given.product("Linen shirt", photos=2, description="White"),
        given.fashion_model("Ava"),
        given.background("Wall"),
        given.pose("Sitting"),
        given.photography_style("Dim"),
    ]


# What is made ------------------------------------------------------------------------


def test_what_is_given_is_returned_when_it_is_finished(sandbox: Sandbox) -> None:
    library = make_library(sandbox)

    product = library[0]
    kinds = [resource["object"] for resource in library]
    assert kinds == [
        "product",
        "fashion_model",
        "background",
        "pose",
        "photography_style",
    ]
    assert len(product["asset_ids"]) == 2


def test_a_photoshoot_is_returned_when_it_is_finished(sandbox: Sandbox) -> None:
    shirt = sandbox.given.product("Linen shirt")

    shoot = sandbox.given.photoshoot(products=[shirt], resolution="2k")

    assert shoot["object"] == "generation"
    assert shoot["status"] == "completed"
    assert len(shoot["outputs"]) == 4
    assert sandbox.team("Demo").reserved == 0


def test_the_products_of_a_photoshoot_may_be_named_by_their_ids(
    sandbox: Sandbox,
) -> None:
    shirt = sandbox.given.product("Linen shirt")

    shoot = sandbox.given.photoshoot(products=[shirt["id"]], resolution="2k")

    assert shoot["object"] == "generation"
    assert shoot["status"] == "completed"
    assert len(shoot["outputs"]) == 4
    assert sandbox.team("Demo").reserved == 0


def test_what_is_given_is_no_request_of_the_journal(sandbox: Sandbox) -> None:
    shirt = sandbox.given.product("Linen shirt")
    sandbox.given.pose("Sitting")
    sandbox.given.photoshoot(products=[shirt])

    assert sandbox.requests() == []
    assert sandbox.conduct().findings == []
    assert sandbox.coverage()["percent"] == 0


def test_a_photoshoot_that_is_not_to_be_finished_stays_queued(manual: Sandbox) -> None:
    shirt = manual.given.product("Shirt")
    before = manual.clock.now

    shoot = manual.given.photoshoot(products=[shirt], finished=False)

    assert shoot["status"] == "queued"
    assert manual.clock.now == before


def test_what_takes_time_moves_a_manual_clock(manual: Sandbox) -> None:
    before = manual.clock.now

    manual.given.fashion_model("Ava")

    assert manual.clock.now > before


def test_the_same_is_given_again_after_a_reset_byte_for_byte(manual: Sandbox) -> None:
    first = json.dumps(make_library(manual))
    manual.reset()

    second = json.dumps(make_library(manual))

    assert second == first


# Scenarios and limits ----------------------------------------------------------------


def test_no_rule_for_requests_holds_for_what_is_given(manual: Sandbox) -> None:
    rule = {"name": "all", "then": {"problem": "internal_error"}}
    manual.use({"scenario": "s", "rules": [rule]})

    manual.given.product("Shirt")

    (counted,) = manual.rules
    assert counted.matched == 0


def test_a_rule_for_work_holds_for_what_is_given(manual: Sandbox) -> None:
    rule = {"match": {"work": "pose.create"}, "then": {"fail": "timed_out"}}
    manual.use({"scenario": "s", "rules": [rule]})

    with pytest.raises(EmulatorError, match="timed_out"):
        manual.given.pose("Sitting")

    (counted,) = manual.rules
    assert counted.matched == 1
    assert counted.fired == 1


def test_no_limit_of_requests_holds_for_what_is_given(manual: Sandbox) -> None:
    manual.team("Demo").set(requests_per_minute=3)

    products = [manual.given.product(f"Shirt {number}") for number in range(8)]

    ids = {product["id"] for product in products}
    assert len(ids) == 8


# Refusals ----------------------------------------------------------------------------


def test_a_refusal_has_the_code_of_the_service(sandbox: Sandbox) -> None:
    sandbox.team("Demo").set(credits=0)
    shirt = sandbox.given.product("Shirt")

    with pytest.raises(EmulatorError, match="insufficient_credits") as refused:
        sandbox.given.photoshoot(products=[shirt])

    assert refused.value.code == "insufficient_credits"
    assert refused.value.status == 402


def test_a_reference_to_nothing_is_refused(sandbox: Sandbox) -> None:
    with pytest.raises(EmulatorError, match="invalid_reference"):
        sandbox.given.photoshoot(products=["prd_unknown"])


@pytest.mark.parametrize(
    "entry",
    [
        {"product": {"name": "a", "asset_ids": 5}},
        {"product": {"name": "a", "asset_ids": [[1]], "description": 2**70}},
        {"product": {"name": "a", "dimensions": {"a": [{"b_id": ["a"]}]}}},
        {"pose": {"name": "\ud800", "asset_id": [1]}},
        {"photoshoot": {"products": ["prd_1"], "image_count": 1e400, "photos": 3}},
        {"product": {"name": 7}},
        {"photoshoot": {"products": []}},
        {},
    ],
)
def test_whatever_an_entry_holds_it_is_refused_with_a_reason(
    manual: Sandbox,
    entry: Any,
) -> None:
    body = json.dumps({"given": [entry]}).encode()

    with pytest.raises(EmulatorError) as refused:
        manual._plane.exchange("POST", "given", body)

    assert refused.value.status in {400, 422}


def test_a_field_that_there_is_not_is_told_with_what_was_meant(manual: Sandbox) -> None:
    with pytest.raises(EmulatorError) as refused:
        manual.given.product("x", photo=2)

    complaint = "/given/0/product/photo: found an unknown field"
    assert str(refused.value).startswith(complaint)
    assert 'did you mean "photos"' in str(refused.value)


def test_what_is_refused_leaves_no_key_behind_where_refusals_bind_keys(
    tmp_path: Path,
) -> None:
    file = tmp_path / "state"
    with closing(create_app(clock="manual", readings={"D10": "binds-refusals"})) as app:
        with pytest.raises(EmulatorError):
            app.sandbox.given.photoshoot(products=[UNKNOWN_PRODUCT])
        app.sandbox.save(file)

    assert "records" not in parts_of(file.read_bytes())


# Files -------------------------------------------------------------------------------

UNKNOWN_FIELD = (
    "3:24: /given/1/product/photo: found an unknown field; expected only name, photos, "
    "description, dimensions, asset_ids, primary_asset_id; did you mean "
    '"photos"?'
)
UNKNOWN_NAME = (
    '3:29: /given/1/photoshoot/products/0: found "c"; '
    "expected the name of a Product above, or an id"
)
UNKNOWN_RESOLUTION = (
    '3:45: /given/1/photoshoot/resolution: found "8k"; expected one of 1k, 2k, 4k'
)
UNKNOWN_KIND = (
    '3:33: /given/1/background/kind: found "sea"; expected one of backdrop, location'
)


@pytest.mark.parametrize(
    ("second", "complaint"),
    [
        ("product: {name: b, photo: 2}", UNKNOWN_FIELD),
        ("photoshoot: {products: [c]}", UNKNOWN_NAME),
        ("photoshoot: {products: [a], resolution: 8k}", UNKNOWN_RESOLUTION),
        ("background: {name: b, kind: sea}", UNKNOWN_KIND),
    ],
    ids=["a field", "a name", "a value", "a kind"],
)
def test_nothing_is_made_of_a_file_with_a_mistake(
    manual: Sandbox,
    tmp_path: Path,
    second: str,
    complaint: str,
) -> None:
    file = tmp_path / "g.yaml"
    file.write_text(f"given:\n  - product: {{name: a}}\n  - {second}\n")

    with pytest.raises(EmulatorError) as refused:
        manual.given.file(file)

    state = tmp_path / "state"
    manual.save(state)
    tables = parts_of(state.read_bytes())
    assert str(refused.value).startswith(f"{file}:{complaint}")
    assert "products" not in tables
    assert "assets" not in tables
