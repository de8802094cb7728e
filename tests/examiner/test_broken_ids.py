"""The name of nothing in place of an id, and what looks like it."""

from typing import Any

import pytest

from tests.examiner.rule_examples import rules_found
from tests.support.emulator_under_test import EmulatorUnderTest

NAMES_OF_NOTHING = ("undefined", "null", "None", "NaN", "[object Object]")


@pytest.mark.parametrize("name", NAMES_OF_NOTHING)
def test_the_name_of_nothing_in_a_path_is_found(
    emulator: EmulatorUnderTest,
    name: str,
) -> None:
    emulator.get(f"/generations/{name.replace(' ', '%20')}")

    (finding,) = emulator.told("GET", "/conduct")["findings"]
    assert finding["rule"] == "broken-id"
    assert finding["severity"] == "error"
    assert f'getGeneration was sent with "{name}" as an id' in finding["message"]


@pytest.mark.parametrize("name", NAMES_OF_NOTHING)
def test_the_name_of_nothing_as_an_id_in_a_body_is_found(
    emulator: EmulatorUnderTest,
    name: str,
) -> None:
    body = {"asset_id": name, "target_resolution": "2k", "output_format": "png"}

    emulator.post("/generations/upscale", body)

    assert rules_found(emulator) == ["broken-id"]


def test_the_name_of_nothing_in_a_list_of_ids_is_found(
    emulator: EmulatorUnderTest,
) -> None:
    (asset,) = emulator.assets(1)

    emulator.post("/products", {"name": "Shirt", "asset_ids": [asset, "undefined"]})

    assert rules_found(emulator) == ["broken-id"]


def test_the_name_of_nothing_between_words_of_a_path_is_found(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.post("/uploads/undefined/complete", {"upload_token": "t"})

    assert rules_found(emulator) == ["broken-id"]


@pytest.mark.parametrize(
    "fields",
    [{"name": "None"}, {"name": "null"}, {"description": "undefined"}],
    ids=str,
)
def test_a_text_that_is_no_id_may_be_the_name_of_nothing(
    emulator: EmulatorUnderTest,
    fields: dict[str, Any],
) -> None:
    product = emulator.product(*emulator.assets(1))

    emulator.patch(f"/products/{product['id']}", fields)

    assert rules_found(emulator) == []


def test_an_id_that_is_null_in_json_is_no_name_of_nothing(
    emulator: EmulatorUnderTest,
) -> None:
    body = {"asset_id": None, "target_resolution": "2k", "output_format": "png"}

    emulator.post("/generations/upscale", body)

    assert rules_found(emulator) == []


def test_an_id_that_only_contains_the_name_of_nothing_is_whole(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.get("/assets/ast_undefined")

    assert rules_found(emulator) == []
    assert emulator.told("GET", "/conduct")["checked"]["broken-id"] == 1
