"""A tour of the service from outside: a real process, real files, and everything a person would look at on the way.

The server keeps an `auto` clock, so nothing sleeps. Each test tells one part of the tour and brings what it needs;
what several of them use is made once.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from PIL import Image

from tests.histories import sample_pictures
from tests.histories.emulator_process import EmulatorProcess, run_emulator
from tests.histories.tour_client import Json, TourClient

STARTING_CREDITS = 100
CARD_SIZE = (512, 640)


@pytest.fixture(scope="module")
def emulator() -> Iterator[EmulatorProcess]:
    with run_emulator("--clock", "auto") as running:
        yield running


@pytest.fixture(scope="module")
def client(emulator: EmulatorProcess) -> Iterator[TourClient]:
    client = TourClient(emulator)
    yield client
    client.close()


@dataclass(frozen=True, slots=True)
class Studio:
    """What a photoshoot is made from."""

    product: Json
    style_id: str
    background_id: str
    pose_id: str
    fashion_model_id: str


@pytest.fixture(scope="module")
def studio(client: TourClient) -> Studio:
    def asset_id(subject: sample_pictures.Colour | None, content_type: str = "image/jpeg") -> str:
        return str(client.upload(sample_pictures.photo(content_type, subject=subject), content_type)["id"])

    def made(path: str, body: Json) -> str:
        operation = client.author(path, body)
        assert operation["status"] == "completed", operation
        return str(operation["result"]["id"])

    front, back = asset_id((200, 40, 60)), asset_id((40, 60, 200), "image/png")
    person, scene, posture = asset_id((180, 140, 110)), asset_id(None, "image/webp"), asset_id((30, 30, 30))
    looks = [asset_id((shade, shade, 90)) for shade in (60, 120, 180)]
    return Studio(
        client.write(
            "POST", "/products", {"name": "Coat", "asset_ids": [front, back], "primary_asset_id": back}, status=201
        ),
        made("/photography-styles", {"name": "Evening light", "asset_ids": looks}),
        made("/backgrounds", {"name": "Grey wall", "kind": "backdrop", "asset_id": scene}),
        made("/poses", {"name": "Leaning", "asset_id": posture, "supported_camera_distances": ["medium", "far"]}),
        made(
            "/fashion-models",
            {"name": "Robin", "age_range": "25-35", "gender": "neutral", "asset_ids": [person]},
        ),
    )


# Files in ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content_type", "stored_as"),
    [
        ("image/jpeg", "jpeg"),
        ("image/png", "png"),
        ("image/gif", "png"),
        ("image/webp", "webp"),
        ("image/avif", "jpeg"),
    ],
)
def test_a_file_of_each_format_becomes_an_asset_that_shows_the_same_picture(
    client: TourClient, content_type: str, stored_as: str
) -> None:
    asset = client.upload(sample_pictures.photo(content_type, (640, 480)), content_type)
    assert (asset["object"], asset["media_type"], asset["source"]) == ("asset", "image", "upload")
    assert (asset["format"], asset["width"], asset["height"]) == (stored_as, 640, 480)
    assert asset["source_generation_id"] is None
    image = sample_pictures.decode(client.download(asset))
    assert (image.format, image.size) == (stored_as.upper(), (640, 480))
    assert_similar(image, (320, 240), sample_pictures.SUBJECT)
    assert_similar(image, (5, 5), sample_pictures.GROUND)


# The Library ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "attribute", "kind"),
    [
        ("/photography-styles", "style_id", "photography_style"),
        ("/backgrounds", "background_id", "background"),
        ("/poses", "pose_id", "pose"),
        ("/fashion-models", "fashion_model_id", "fashion_model"),
    ],
)
def test_an_authored_ingredient_is_the_team_s_and_has_real_pictures(
    client: TourClient, studio: Studio, path: str, attribute: str, kind: str
) -> None:
    ingredient = client.read(f"{path}/{getattr(studio, attribute)}")
    assert (ingredient["object"], ingredient["scope"]) == (kind, "team")
    assert ingredient in client.read(path, scope="team")["data"]
    assert ingredient not in client.read(path, scope="global")["data"]
    for url in ingredient.get("preview_image_urls") or [ingredient["card_image_url"]]:
        assert_card(client, url)


@pytest.mark.parametrize("path", ["/photography-styles", "/backgrounds", "/poses", "/fashion-models"])
def test_premade_ingredients_have_real_pictures_and_are_read_only(client: TourClient, path: str) -> None:
    premade = client.read(path, scope="global")["data"]
    assert len(premade) >= 4
    pictures = set()
    for ingredient in premade:
        for url in ingredient.get("preview_image_urls") or [ingredient["card_image_url"]]:
            picture = client.follow(url)
            assert picture.status_code == 200
            assert not sample_pictures.is_uniform(sample_pictures.decode(picture.content))
            pictures.add(picture.content)
    assert len(pictures) >= len(premade)
    item = f"{path}/{premade[0]['id']}"
    assert client.refusal("PATCH", item, {"name": "Mine"}) == (403, "permission_denied")
    assert client.refusal("DELETE", item) == (403, "permission_denied")


# Generations ---------------------------------------------------------------------------------------------------------


def test_a_photoshoot_makes_four_pictures_for_two_credits(client: TourClient, studio: Studio) -> None:
    before = client.credits
    admitted = client.write(
        "POST",
        "/generations/product-photography",
        {
            "product_ids": [studio.product["id"]],
            "photography_style_id": studio.style_id,
            "background": {"type": "background", "background_id": studio.background_id},
            "fashion_model": {"type": "selected", "fashion_model_id": studio.fashion_model_id},
            "pose_id": studio.pose_id,
            "camera_distance": "medium",
            "output_mode": "photoshoot",
            "aspect_ratio": "4:5",
            "output_format": "jpeg",
        },
        status=202,
    )
    assert (admitted["status"], [output["status"] for output in admitted["outputs"]]) == ("queued", ["pending"] * 4)
    assert admitted["credits"] == {"reserved": 2, "charged": None}
    assert admitted["resolved_asset_ids"] == [studio.product["primary_asset_id"], studio.product["asset_ids"][0]]
    assert client.credits == before - 2

    generation = client.finish(f"/generations/{admitted['id']}")
    assert (generation["status"], generation["credits"]) == ("completed", {"reserved": 2, "charged": 2})
    assert generation["output_summary"] == {"total": 4, "pending": 0, "processing": 0, "completed": 4, "failed": 0}
    assert client.credits == before - 2
    pictures = set()
    for asset in client.outputs(generation):
        assert (asset["source"], asset["source_generation_id"]) == ("generation", generation["id"])
        pictures.add(assert_picture(client, asset, "jpeg", (820, 1024)))
    assert len(pictures) == 4


def test_edited_images_have_the_size_and_format_asked_for(client: TourClient, studio: Studio) -> None:
    before = client.credits
    body = {"asset_ids": studio.product["asset_ids"], "instructions": "Put them side by side"}
    wanted = {"aspect_ratio": "16:9", "resolution": "2k", "output_format": "webp"}
    generation = client.generate("edit-images", {**body, **wanted})
    assert generation["resolved_asset_ids"] == studio.product["asset_ids"]
    [asset] = client.outputs(generation)
    assert_picture(client, asset, "webp", (2048, 1152))
    assert client.credits == before - 1


def test_an_upscale_enlarges_its_asset_once_and_not_again(client: TourClient, studio: Studio) -> None:
    before = client.credits
    source = client.read(f"/assets/{studio.product['asset_ids'][0]}")
    body = {"asset_id": source["id"], "target_resolution": "2k", "output_format": "png"}
    [asset] = client.outputs(client.generate("upscale", body))
    image = sample_pictures.decode(assert_picture(client, asset, "png", (2048, 1536)))
    assert_similar(image, (1024, 768), (200, 40, 60))
    again = {**body, "asset_id": asset["id"]}
    assert client.refusal("POST", "/generations/upscale", again) == (422, "already_at_target_resolution")
    assert client.credits == before - 1
    [largest] = client.outputs(
        client.generate("upscale", {**again, "target_resolution": "4k", "output_format": "jpeg"})
    )
    assert_picture(client, largest, "jpeg", (4096, 3072))
    assert client.credits == before - 3


def test_the_books_balance(client: TourClient, studio: Studio) -> None:
    work = [*client.pages("/operations", limit=7), *client.pages("/generations", limit=7)]
    assert {item["status"] for item in work} == {"completed"}
    assert client.credits == STARTING_CREDITS - sum(item["credits"]["charged"] for item in work)
    assert client.read("/team")["capabilities"]["api_concurrency"] == {"limit": 20, "used": 0}


# What the steps share ------------------------------------------------------------------------------------------------


def assert_picture(client: TourClient, asset: Json, picture_format: str, size: tuple[int, int]) -> bytes:
    """Download a picture that must be of this format and size and show something; return its file."""
    data = client.download(asset)
    image = sample_pictures.decode(data)
    assert (asset["format"], (asset["width"], asset["height"])) == (picture_format, size)
    assert (image.format, image.size) == (picture_format.upper(), size)
    assert not sample_pictures.is_uniform(image)
    return data


def assert_card(client: TourClient, url: str) -> None:
    picture = client.follow(url)
    assert picture.status_code == 200, picture.text
    image = sample_pictures.decode(picture.content)
    assert image.size == CARD_SIZE
    assert not sample_pictures.is_uniform(image)


def assert_similar(image: Image.Image, place: tuple[int, int], colour: sample_pictures.Colour) -> None:
    """A pixel must have about this colour; formats with loss and palettes change it a little."""
    found = image.convert("RGB").getpixel(place)
    assert isinstance(found, tuple)
    assert all(abs(have - want) <= 16 for have, want in zip(found, colour, strict=True)), (found, colour)
