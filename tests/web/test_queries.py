"""Query parameters, and pages of every list by cursors bound to their filters (D02, D26)."""

import pytest

from tests.support.emulator_client import LISTS, EmulatorUnderTest


@pytest.mark.parametrize("path", LISTS)
def test_a_limit_outside_1_to_100_is_refused(emulator: EmulatorUnderTest, path: str) -> None:
    for limit in ("0", "101", "-1", "1.0", "ten", "", "1e1", "+5", "%D9%A3", "9" * 400, " 5", "0x5", "null"):
        assert emulator.get(f"{path}?limit={limit}").outcome == (400, "invalid_request"), limit


@pytest.mark.parametrize(
    "target",
    [
        "/assets?source=both", "/assets?source=", "/assets?source=UPLOAD", "/poses?scope=mine",
        "/backgrounds?scope=", "/operations?status=pending", "/operations?type=pose.delete",
        "/generations?workflow=video", "/generations?status=done", "/generations?type=pose.create",
        "/assets?scope=team", "/products?source=upload", "/operations?workflow=upscale", "/assets?limit=5&limit=5",
        "/assets?limit=5&limit=6", "/assets?source=upload&source=upload", "/assets?Limit=5",
        "/assets?limit%5B%5D=5", "/assets?=5", "/assets?limit", "/assets?%ff=1", "/operations?target_id=%ff",
        "/operations?target_id=%ed%a0%80", "/team?x", "/assets?limit=5;source=upload",
    ],
)  # fmt: skip
def test_a_query_that_the_contract_does_not_have_is_refused(emulator: EmulatorUnderTest, target: str) -> None:
    assert emulator.get(target).outcome == (400, "invalid_request")


@pytest.mark.parametrize("target", ["/assets?", "/assets?&", "/assets?&limit=5&", "/team?", "/assets?lim%69t=5"])
def test_a_query_of_nothing_or_in_another_spelling_is_accepted(emulator: EmulatorUnderTest, target: str) -> None:
    assert emulator.get(target).status == 200


@pytest.mark.emulator(readings="D74=lag")
def test_where_lists_are_late_premade_ingredients_are_there_and_new_products_are_not(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.product(*emulator.assets(1))
    assert emulator.get("/backgrounds").json["data"] != []
    assert emulator.get("/products").json["data"] == []
    emulator.advance(2)
    assert emulator.get("/products").json["data"] != []
