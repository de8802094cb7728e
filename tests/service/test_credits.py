"""Credits: reserved in full at admission, charged for what completed (section 4, D29, D30, D37)."""

from typing import Any

import pytest

from tests.support.emulator_client import BROKE, KINDS, SOURCES, EmulatorUnderTest, Json, ingredient_body
from tests.support.emulator_client import INGREDIENT_PATHS as PATHS

INSUFFICIENT = (402, "insufficient_credits")
SHOTS: Json = {"output_mode": "single_shots"}
EDIT = {"instructions": "x", "aspect_ratio": "1:1", "output_format": "png"}


def generate(emulator: EmulatorUnderTest, workflow: str, **fields: Any) -> Json:
    body: Json = {"asset_ids": emulator.assets(1), **fields}
    if workflow == "upscale":
        body = {"asset_id": body["asset_ids"][0], "output_format": "png", **fields}
    answer = emulator.post(f"/generations/{workflow}", body)
    assert answer.status == 202, answer.body
    return dict(answer.json)


@pytest.mark.parametrize(
    ("price", "workflow", "fields"),
    [
        *[
            (count * each, "product-photography", SHOTS | {"image_count": count, "resolution": size})
            for count in (1, 2, 6)
            for size, each in (("1k", 1), ("2k", 1), ("4k", 2))
        ],
        *[(2, "product-photography", {"output_mode": "photoshoot", "resolution": size}) for size in ("1k", "2k", "4k")],
        *[(each, "edit-images", {**EDIT, "resolution": size}) for size, each in (("1k", 1), ("2k", 1), ("4k", 2))],
        (1, "upscale", {"target_resolution": "2k"}),
        (2, "upscale", {"target_resolution": "4k"}),
    ],
)
def test_a_generation_is_reserved_in_full_and_then_charged(
    emulator: EmulatorUnderTest, price: int, workflow: str, fields: Json
) -> None:
    generation = generate(emulator, workflow, **fields)
    assert (generation["credits"], emulator.credits()) == ({"reserved": price, "charged": None}, 100 - price)
    done = emulator.wait_for(generation)
    assert (done["credits"], emulator.credits()) == ({"reserved": price, "charged": price}, 100 - price)


@pytest.mark.parametrize("kind", KINDS)
def test_a_team_without_credits_can_only_make_what_is_free(emulator: EmulatorUnderTest, kind: str) -> None:
    body = ingredient_body(kind, emulator.assets(SOURCES[kind], BROKE))
    answer = emulator.post(PATHS[kind], body, BROKE)
    assert answer.outcome == ((202, "operation") if kind == "photography_style" else INSUFFICIENT)


def test_the_last_credit_can_be_spent_and_no_more(emulator: EmulatorUnderTest) -> None:
    emulator.set_team(credits_available=3)
    (asset,) = emulator.assets(1)
    outcomes = [emulator.photograph(asset_ids=[asset], image_count=count).outcome for count in (4, 3, 1)]
    assert outcomes == [INSUFFICIENT, (202, "generation"), INSUFFICIENT]
    assert emulator.credits() == 0


def test_a_refusal_for_credits_says_what_is_there_and_needed_and_changes_nothing(emulator: EmulatorUnderTest) -> None:
    emulator.set_team(credits_available=1)
    detail = emulator.photograph(output_mode="photoshoot").json["detail"]
    assert ("1 Credit available" in detail, "at least 2" in detail) == (True, True)
    used = emulator.get("/team").json["capabilities"]["api_concurrency"]["used"]
    assert (emulator.credits(), used, emulator.items("/generations")) == (1, 0, [])


def test_credits_given_back_can_be_spent_again(emulator: EmulatorUnderTest) -> None:
    emulator.set_team(credits_available=1)
    body = ingredient_body("background", emulator.assets(1))
    first = emulator.post("/backgrounds", body).json
    refused = emulator.post("/backgrounds", body).outcome
    emulator.wait_for(first)
    assert (refused, emulator.post("/backgrounds", body).status) == (INSUFFICIENT, 202)


def test_the_ledger_tells_what_the_resources_tell(emulator: EmulatorUnderTest) -> None:
    """A day of mixed work: the entries add up to the balance, and each piece of work has its own."""
    works = [emulator.photograph(image_count=2).json, emulator.photograph(output_mode="photoshoot").json]
    for kind in KINDS:
        emulator.author(kind)
    done = [emulator.wait_for(work) for work in works] + emulator.items("/operations")
    ledger = emulator.account().ledger
    charged = {entry.work_id: entry.amount for entry in ledger.entries if entry.kind == "charge"}
    assert charged == {work["id"]: work["credits"]["charged"] for work in done if work["credits"]["charged"]}
    assert emulator.credits() == 100 - sum(charged.values())
    assert ledger.reserved == 0
