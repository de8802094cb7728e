"""Generations: what is admitted, what becomes of it when, and what is charged (sections 1 to 4, D32 to D40)."""

from typing import Any

import pytest

from tests.support.emulator_client import (
    GHOST,
    INVALID_INPUT,
    INVALID_REFERENCE,
    OTHER,
    TERMINAL,
    Answer,
    EmulatorUnderTest,
    Json,
    MakeEmulator,
)
from tests.support.pictures import decode, picture

EDIT: Json = {"instructions": "On a table.", "aspect_ratio": "4:5", "resolution": "1k", "output_format": "png"}


def edit(emulator: EmulatorUnderTest, asset_ids: list[str], **fields: Any) -> Answer:
    return emulator.post("/generations/edit-images", EDIT | {"asset_ids": asset_ids} | fields)


def asset_of(emulator: EmulatorUnderTest, generation: Json, slot: int = 0) -> Json:
    return dict(emulator.get(f"/assets/{generation['outputs'][slot]['asset']['id']}").json)


# Admission ----------------------------------------------------------------------------------------------------------


def test_product_photography_is_admitted_with_its_defaults(emulator: EmulatorUnderTest, asset_id: str) -> None:
    """D28, D33, D36, D38."""
    answer = emulator.photograph(asset_ids=[asset_id])
    generation = answer.json
    credential = emulator.get("/team").json["credential"]
    assert (answer.status, "location" in answer.headers) == (202, False)
    assert emulator.get(f"/generations/{generation['id']}").json == generation
    del generation["id"]
    assert generation == {
        "object": "generation",
        "workflow": "product_photography",
        "status": "queued",
        "initiated_by": {"object": "api_credential", "id": credential["id"], "name": "Full"},
        "resolved_asset_ids": [asset_id],
        "output_summary": {"total": 1, "pending": 1, "processing": 0, "completed": 0, "failed": 0},
        "outputs": [{"status": "pending", "asset": None, "error": None}],
        "credits": {"reserved": 1, "charged": None},
        "request": {
            "product_ids": [],
            "asset_ids": [asset_id],
            "background": {"type": "automatic"},
            "fashion_model": {"type": "automatic"},
            "output_mode": "single_shots",
            "image_count": 1,
            "aspect_ratio": "1:1",
            "resolution": "1k",
            "output_format": "png",
        },
        "created_at": "2026-01-01T00:00:00.000Z",
        "updated_at": "2026-01-01T00:00:00.000Z",
        "started_at": None,
        "finished_at": None,
    }


def test_all_that_can_be_asked_for_is_echoed_in_one_form(emulator: EmulatorUnderTest) -> None:
    """D28, D39."""
    product = emulator.product(*emulator.assets(2))
    models = [item["id"] for item in emulator.items("/fashion-models")[:3]]
    given = {
        "product_ids": [product["id"]],
        "asset_ids": emulator.assets(1),
        "photography_style_id": emulator.premade("photography_style")["id"],
        "background": {"type": "color", "color": "FFEE00"},
        "fashion_model": {"type": "group", "fashion_model_ids": models},
        "colorway": {"name": "Teal", "hex": "#00AAaa"},
        "pose_id": emulator.premade("pose", "Standing front")["id"],
        "camera_distance": "medium", "custom_directions": "Smile.", "output_mode": "single_shots", "image_count": 6,
        "aspect_ratio": "21:9", "resolution": "4k", "output_format": "webp",
    }  # fmt: skip
    answer = emulator.photograph(**given)
    expected = given | {
        "background": {"type": "color", "color": "#ffee00"},
        "colorway": {"name": "Teal", "hex": "#00aaaa"},
    }
    assert (answer.status, answer.json["request"]) == (202, expected)


@pytest.mark.parametrize(
    ("background", "fashion_model"),
    [
        ({"type": "automatic"}, {"type": "automatic"}),
        ({"type": "transparent"}, {"type": "none"}),
        ({"type": "background", "background_id": "B"}, {"type": "selected", "fashion_model_id": "M"}),
        ({"type": "color", "color": "#010203"}, {"type": "group", "fashion_model_ids": ["M", "N"]}),
    ],
)
def test_every_type_of_background_and_fashion_model_is_admitted(
    emulator: EmulatorUnderTest, background: Json, fashion_model: Json
) -> None:
    """`B` and `M` are the Team's own, `N` is premade."""
    named = {"N": emulator.premade("fashion_model")["id"]}
    named |= {"B": emulator.author("background")["id"], "M": emulator.author("fashion_model")["id"]}

    def resolve(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: resolve(item) for name, item in value.items()}
        return [resolve(item) for item in value] if isinstance(value, list) else named.get(value, value)

    answer = emulator.photograph(background=resolve(background), fashion_model=resolve(fashion_model))
    assert answer.status == 202
    assert emulator.wait_for(answer.json)["status"] == "completed"


@pytest.mark.parametrize(
    "fields",
    [
        {"output_mode": "photoshoot", "image_count": 1}, {"output_mode": "photoshoot", "image_count": 6},
        {"output_mode": "pictures"}, {"image_count": 0}, {"image_count": 7}, {"image_count": "2"}, {"aspect_ratio": "1:2"},
        {"resolution": "8k"}, {"resolution": "1K"}, {"output_format": "gif"}, {"camera_distance": "near"},
        {"asset_ids": []}, {"product_ids": [], "asset_ids": []}, {"asset_ids": ["a", "a"]}, {"product_ids": ["p", "p"]},
        {"colorway": {"hex": "#ffffff"}}, {"colorway": {"name": " "}}, {"colorway": {"name": "x", "hex": "#fff"}},
        {"colorway": {"name": "x", "hex": "#gggggg"}}, {"background": {}}, {"background": {"type": "color"}},
        {"background": {"type": "color", "color": "red"}}, {"background": {"type": "color", "color": "#abc"}},
        {"background": {"type": "color", "color": "##ffffff"}}, {"background": {"type": "color", "color": "ffffff\n"}},
        {"background": {"type": "color", "color": "#ffffff", "background_id": "b"}},
        {"background": {"type": "background"}}, {"background": {"type": "transparent", "color": "#ffffff"}},
        {"fashion_model": {"type": "selected"}}, {"fashion_model": {"type": "none", "fashion_model_id": "m"}},
        {"fashion_model": {"type": "selected", "fashion_model_ids": ["m", "n"]}},
        {"fashion_model": {"type": "group", "fashion_model_ids": ["m"]}},
        {"fashion_model": {"type": "group", "fashion_model_ids": ["m", "n", "o", "p"]}},
        {"fashion_model": {"type": "group", "fashion_model_ids": ["m", "m"]}},
    ],
)  # fmt: skip
def test_product_photography_outside_the_contract_is_refused(emulator: EmulatorUnderTest, fields: Json) -> None:
    """D32 to D34, D39."""
    body: Json = {"asset_ids": ["a"]} | fields
    assert emulator.photograph(**body).outcome == INVALID_INPUT


@pytest.mark.parametrize(
    "fields",
    [
        {"asset_ids": [GHOST]}, {"product_ids": ["prd_1"]}, {"photography_style_id": "sty_1"},
        {"background": {"type": "background", "background_id": "bkg_1"}},
        {"fashion_model": {"type": "selected", "fashion_model_id": "fmd_1"}},
        {"fashion_model": {"type": "group", "fashion_model_ids": ["fmd_1", "fmd_2"]}}, {"pose_id": "pos_1"},
        {"pose_id": ""},
    ],
)  # fmt: skip
def test_a_reference_to_nothing_is_refused(emulator: EmulatorUnderTest, fields: Json) -> None:
    body: Json = {"asset_ids": emulator.assets(1)} | fields
    assert emulator.photograph(**body).outcome == INVALID_REFERENCE
    assert emulator.items("/generations") == []


def test_a_reference_to_another_teams_things_or_to_deleted_ones_is_refused(emulator: EmulatorUnderTest) -> None:
    (asset,) = emulator.assets(1)
    deleted, foreign = emulator.author("pose"), emulator.author("pose", key=OTHER)
    emulator.delete(f"/poses/{deleted['id']}")
    product = emulator.product(*emulator.assets(1, OTHER), key=OTHER)
    for pose_id in (deleted["id"], foreign["id"], emulator.premade("background")["id"]):
        assert emulator.photograph(asset_ids=[asset], pose_id=pose_id).outcome == INVALID_REFERENCE
    for product_id in (product["id"], asset):
        assert emulator.photograph(asset_ids=[asset], product_ids=[product_id]).outcome == INVALID_REFERENCE


@pytest.mark.parametrize(("name", "supported"), [("Standing front", "close medium far"), ("Walking", "far")])
def test_the_camera_distance_must_be_one_of_the_poses(emulator: EmulatorUnderTest, name: str, supported: str) -> None:
    """D34; without a Pose any of them is free."""
    pose, asset_ids = emulator.premade("pose", name), emulator.assets(1)
    assert emulator.photograph(asset_ids=asset_ids, camera_distance="close").status == 202
    for distance in ("close", "medium", "far"):
        answer = emulator.photograph(asset_ids=asset_ids, pose_id=pose["id"], camera_distance=distance)
        expected = (202, "generation") if distance in supported.split() else INVALID_INPUT
        assert answer.outcome == expected


@pytest.mark.parametrize(
    "fields",
    [
        {"asset_ids": []}, {"asset_ids": ["a"] * 2}, {"asset_ids": list("abcdefghi")}, {"instructions": ""},
        {"instructions": " \n"}, {"output_mode": "single_shots"}, {"aspect_ratio": None}, {"resolution": "3k"},
    ],
)  # fmt: skip
def test_an_edit_outside_the_contract_is_refused(emulator: EmulatorUnderTest, fields: Json) -> None:
    assert edit(emulator, **({"asset_ids": ["a"]} | fields)).outcome == INVALID_INPUT


@pytest.mark.parametrize("count", [1, 8])
def test_an_edit_makes_one_picture_of_one_to_eight_assets(emulator: EmulatorUnderTest, count: int) -> None:
    assets = emulator.assets(count)
    generation = edit(emulator, assets).json
    assert (generation["workflow"], len(generation["outputs"])) == ("edit_images", 1)
    assert generation["resolved_asset_ids"] == assets
    assert generation["request"] == EDIT | {"asset_ids": assets}
    assert emulator.wait_for(generation)["status"] == "completed"


def test_an_edit_or_upscale_of_what_is_not_there_is_refused(emulator: EmulatorUnderTest) -> None:
    for asset in (GHOST, emulator.assets(1, OTHER)[0]):
        assert edit(emulator, [*emulator.assets(1), asset]).outcome == INVALID_REFERENCE
        assert emulator.upscale(asset).outcome == INVALID_REFERENCE


@pytest.mark.parametrize("fields", [{"target_resolution": "1k"}, {"target_resolution": 2}, {"output_format": "gif"}])
def test_an_upscale_outside_the_contract_is_refused(emulator: EmulatorUnderTest, fields: Json) -> None:
    assert emulator.upscale("a", **fields).outcome == INVALID_INPUT


@pytest.mark.parametrize(
    ("expected", "size", "target"),
    [
        (202, (2047, 8), "2k"), (422, (2048, 8), "2k"), (422, (8, 2048), "2k"), (202, (8, 2048), "4k"),
        (422, (4096, 8), "4k"), (422, (5000, 8), "2k"),
    ],
)  # fmt: skip
def test_an_upscale_to_what_the_asset_already_has_is_refused_and_costs_nothing(
    emulator: EmulatorUnderTest, expected: int, size: tuple[int, int], target: str
) -> None:
    """D35."""
    asset = emulator.upload(picture(size=size))
    answer = emulator.upscale(asset["id"], target_resolution=target)
    assert answer.status == expected
    if expected == 422:
        assert answer.code == "already_at_target_resolution"
        assert (emulator.credits(), emulator.items("/generations")) == (100, [])


# Packing ------------------------------------------------------------------------------------------------------------


def test_main_photos_come_first_then_explicit_assets_then_the_others_in_turn(emulator: EmulatorUnderTest) -> None:
    """Section 4, D32."""
    a1, a2, a3, b1, b2, loose = emulator.assets(6)
    one = emulator.product(a1, a2, a3, primary_asset_id=a2)
    two = emulator.product(b1, b2)
    cases: list[tuple[list[str], Json]] = [
        ([a2, b1, a1, b2, a3], {"product_ids": [one["id"], two["id"]]}),
        ([b1, a2, b2, a1, a3], {"product_ids": [two["id"], one["id"]]}),
        ([a2, b1, loose, a1, b2], {"product_ids": [one["id"], two["id"]], "asset_ids": [loose]}),
        ([a2, a3, loose, a1], {"product_ids": [one["id"]], "asset_ids": [a3, loose]}),
        ([b2, a1, loose], {"asset_ids": [b2, a1, loose]}),
        ([b1, a1, a2, a3, b2], {"product_ids": [two["id"]], "asset_ids": [a1, a2, a3, b2, loose]}),
    ]
    for expected, fields in cases:
        answer = emulator.photograph(**fields)
        assert answer.json["resolved_asset_ids"] == expected
        assert answer.json["request"]["product_ids"] == fields.get("product_ids", [])


# Slots and their times ----------------------------------------------------------------------------------------------


def outline(emulator: EmulatorUnderTest, generation: Json) -> tuple[str, str, int | None]:
    answer = emulator.get(f"/generations/{generation['id']}")
    slots = "".join(output["status"][:2] + " " for output in answer.json["outputs"]).strip()
    return answer.json["status"], slots, answer.retry_after


def test_slots_start_together_and_finish_one_after_another(emulator: EmulatorUnderTest) -> None:
    generation = emulator.photograph(image_count=3).json
    seen = []
    for step in (0, 0.5, 0.5, 4.999, 0.001, 2, 1.999, 0.001, 100):
        emulator.advance(step)
        seen.append(outline(emulator, generation))
    assert seen == [
        *[("queued", "pe pe pe", 1)] * 2, ("processing", "pr pr pr", 5), ("processing", "pr pr pr", 1),
        ("processing", "co pr pr", 2), ("processing", "co co pr", 2), ("processing", "co co pr", 1),
        *[("completed", "co co co", None)] * 2,
    ]  # fmt: skip
    done = emulator.get(f"/generations/{generation['id']}").json
    instants = [done[name][17:23] for name in ("created_at", "started_at", "finished_at", "updated_at")]
    assert instants == ["00.000", "01.000", "10.000", "10.000"]


def test_outputs_at_4k_take_twice_as_long_but_not_the_queue(emulator: EmulatorUnderTest) -> None:
    generation = emulator.photograph(image_count=2, resolution="4k").json
    emulator.advance(1)
    seen = [outline(emulator, generation)]
    for step in (10, 4):
        emulator.advance(step)
        seen.append(outline(emulator, generation))
    assert seen == [("processing", "pr pr", 10), ("processing", "co pr", 4), ("completed", "co co", None)]


@pytest.mark.parametrize(("target", "seconds", "size"), [("2k", 6, (2048, 1366)), ("4k", 11, (4096, 2730))])
def test_an_upscale_takes_its_time_by_its_target_and_keeps_the_proportions_of_its_asset(
    emulator: EmulatorUnderTest, target: str, seconds: int, size: tuple[int, int]
) -> None:
    done = emulator.wait_for(emulator.upscale(target_resolution=target, output_format="jpeg").json)
    asset = asset_of(emulator, done)
    assert done["finished_at"] == f"2026-01-01T00:00:{seconds:02}.000Z"
    assert ((asset["width"], asset["height"]), asset["format"]) == (size, "jpeg")
    assert done["resolved_asset_ids"] == [done["request"]["asset_id"]]


def test_a_photoshoot_has_four_slots_of_different_pictures(emulator: EmulatorUnderTest) -> None:
    done = emulator.wait_for(emulator.photograph(output_mode="photoshoot").json)
    files = {emulator.fetch(asset_of(emulator, done, slot)["url"]).body for slot in range(4)}
    assert (len(done["outputs"]), done["finished_at"][17:23], len(files)) == (4, "12.000", 4)


def test_an_output_is_counted_and_there_as_soon_as_its_slot_is_completed(emulator: EmulatorUnderTest) -> None:
    generation = emulator.photograph(image_count=3).json
    emulator.advance(6)
    seen = emulator.get(f"/generations/{generation['id']}").json
    assert seen["output_summary"] == {"total": 3, "pending": 0, "processing": 2, "completed": 1, "failed": 0}
    assert asset_of(emulator, seen)["created_at"] == "2026-01-01T00:00:06.000Z"
    assert seen["outputs"][1]["asset"] is None


@pytest.mark.emulator(clock="x1000", rate_limits=False)
def test_under_a_running_clock_work_goes_on_by_itself(emulator: EmulatorUnderTest) -> None:
    generation = emulator.photograph(image_count=2).json
    while generation["status"] not in TERMINAL:
        generation = emulator.get(f"/generations/{generation['id']}").json
    assert generation["output_summary"]["completed"] == 2


# Outputs ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "size", "name"),
    [
        ({}, (1024, 1024), "png"),
        ({"aspect_ratio": "4:5", "output_format": "jpeg"}, (820, 1024), "jpeg"),
        ({"aspect_ratio": "21:9", "resolution": "2k", "output_format": "webp"}, (2048, 878), "webp"),
        ({"background": {"type": "transparent"}, "output_format": "jpeg"}, (1024, 1024), "png"),
    ],
)
def test_an_output_is_an_asset_of_the_size_and_format_asked_for(
    emulator: EmulatorUnderTest, fields: Json, size: tuple[int, int], name: str
) -> None:
    """D35."""
    done = emulator.wait_for(emulator.photograph(**fields).json)
    asset = asset_of(emulator, done)
    file = emulator.fetch(asset["url"])
    image = decode(file.body)
    assert (asset["source"], asset["source_generation_id"]) == ("generation", done["id"])
    assert asset["created_at"] == done["finished_at"]
    assert (asset["format"], asset["width"], asset["height"], asset["size_bytes"]) == (name, *size, len(file.body))
    assert ((image.format or "").lower(), image.size) == (name, size)
    assert done["request"]["output_format"] == name


@pytest.mark.parametrize("output_format", ["png", "webp"])
def test_a_transparent_background_is_really_transparent(emulator: EmulatorUnderTest, output_format: str) -> None:
    generation = emulator.photograph(background={"type": "transparent"}, output_format=output_format).json
    asset = asset_of(emulator, emulator.wait_for(generation))
    alpha = decode(emulator.fetch(asset["url"]).body).convert("RGBA").getchannel("A")
    assert alpha.getextrema() == (0, 255)


def test_outputs_can_be_worked_on_further(emulator: EmulatorUnderTest) -> None:
    first = asset_of(emulator, emulator.wait_for(emulator.photograph(aspect_ratio="3:2").json))
    second = asset_of(emulator, emulator.wait_for(emulator.upscale(first["id"]).json))
    third = emulator.wait_for(edit(emulator, [first["id"], second["id"]]).json)
    assert (second["width"], asset_of(emulator, third)["width"]) == (2048, 820)


def test_an_output_deleted_since_is_still_named(emulator: EmulatorUnderTest) -> None:
    """Section 3, rule 5."""
    done = emulator.wait_for(emulator.photograph().json)
    asset = asset_of(emulator, done)
    emulator.delete(f"/assets/{asset['id']}")
    assert emulator.get(f"/generations/{done['id']}").json == done
    assert emulator.get(f"/assets/{asset['id']}").outcome == (404, "asset_not_found")


def test_inputs_are_captured_at_admission(emulator: EmulatorUnderTest) -> None:
    """D23: everything that was referred to is deleted before the work begins, and the work completes."""
    assets = emulator.assets(2)
    product = emulator.product(assets[0])
    background, model = emulator.author("background"), emulator.author("fashion_model")
    generation = emulator.photograph(
        product_ids=[product["id"]],
        asset_ids=[assets[1]],
        background={"type": "background", "background_id": background["id"]},
        fashion_model={"type": "selected", "fashion_model_id": model["id"]},
    ).json
    paths = [f"/products/{product['id']}", f"/backgrounds/{background['id']}", f"/fashion-models/{model['id']}"]
    for path in (*paths, *(f"/assets/{asset}" for asset in assets)):
        assert emulator.delete(path).status in (200, 204)
    done = emulator.wait_for(generation)
    assert (done["status"], done["resolved_asset_ids"]) == ("completed", assets)
    assert done["request"] == generation["request"]
    assert emulator.fetch(asset_of(emulator, done)["url"]).status == 200


def test_a_picture_is_what_its_inputs_were_at_admission_whatever_becomes_of_them(make_emulator: MakeEmulator) -> None:
    files = []
    for changes in (False, True):
        emulator = make_emulator()
        background, asset = emulator.author("background"), emulator.upload(picture(size=(64, 48)))["id"]
        other = emulator.upload(picture(colour="#00ff00"))["id"]
        selection = {"type": "background", "background_id": background["id"]}
        works = [emulator.photograph(asset_ids=[asset], background=selection).json, edit(emulator, [asset]).json]
        if changes:
            emulator.patch(f"/backgrounds/{background['id']}", {"asset_id": other})
            assert emulator.delete(f"/assets/{asset}").status == 200
        done = [emulator.wait_for(work) for work in works]
        files.append([emulator.fetch(asset_of(emulator, work)["url"]).body for work in done])
    assert files[0] == files[1]
