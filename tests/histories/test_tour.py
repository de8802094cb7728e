"""A tour of the service from outside: a real process, real files, and everything a person would look at on the way.

The server keeps an `auto` clock, so nothing sleeps. Each test tells one part of the tour and brings what it needs;
what several of them use is made once.
"""

import io
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


@pytest.mark.parametrize(
    ("content_type", "stored_as"),
    [("image/png", "png"), ("image/gif", "png"), ("image/webp", "webp"), ("image/avif", "png")],
)
def test_transparency_survives_the_upload(client: TourClient, content_type: str, stored_as: str) -> None:
    asset = client.upload(sample_pictures.photo(content_type, ground=None), content_type)
    assert asset["format"] == stored_as
    image = sample_pictures.decode(client.download(asset)).convert("RGBA")
    assert image.getpixel((5, 5))[3] == 0  # type: ignore[index]  # a pixel of RGBA is a tuple
    assert image.getpixel((320, 240))[3] == 255  # type: ignore[index]


def test_a_camera_s_orientation_is_applied_and_an_animation_s_first_frame_taken(client: TourClient) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # the camera lay on its side
    lying = io.BytesIO()
    sample_pictures.draw(300, 200).save(lying, "JPEG", exif=exif)
    asset = client.upload(lying.getvalue(), "image/jpeg")
    assert (asset["width"], asset["height"]) == (200, 300)

    frames = io.BytesIO()
    first, second = (sample_pictures.draw(64, 64, subject) for subject in ((10, 200, 10), (200, 10, 10)))
    first.save(frames, "GIF", save_all=True, append_images=[second])
    image = sample_pictures.decode(client.download(client.upload(frames.getvalue(), "image/gif")))
    assert_similar(image, (32, 32), (10, 200, 10))


def test_bytes_that_are_no_picture_are_refused_and_leave_nothing(client: TourClient) -> None:
    before = [asset["id"] for asset in client.pages("/assets")]
    session = client.write("POST", "/uploads", {"content_type": "image/png", "size_bytes": 9}, 201)
    token = client.send_bytes(session, b"no a PNG!")
    complete = f"/uploads/{session['id']}/complete"
    assert client.refusal("POST", complete, token) == (422, "invalid_input")
    assert client.refusal("POST", complete, token) == (404, "upload_not_found")
    assert [asset["id"] for asset in client.pages("/assets")] == before


def test_a_file_can_be_revalidated_and_read_in_parts_by_anybody(client: TourClient) -> None:
    asset = client.upload(sample_pictures.photo(), "image/jpeg")
    data = client.download(asset)
    head = client.follow(asset["url"], "HEAD")
    assert (head.status_code, head.content, head.headers["content-length"]) == (200, b"", str(len(data)))
    assert client.follow(asset["url"], **{"If-None-Match": head.headers["etag"]}).status_code == 304
    part = client.follow(asset["url"], Range="bytes=10-19")
    assert (part.status_code, part.content) == (206, data[10:20])
    assert part.headers["content-range"] == f"bytes 10-19/{len(data)}"


# The Library ---------------------------------------------------------------------------------------------------------


def test_a_product_is_made_read_and_changed_at_once(client: TourClient) -> None:
    ids = [client.upload(sample_pictures.photo(size=(40, 40)), "image/jpeg")["id"] for _ in range(3)]
    body = {"name": "Scarf", "description": "Wool", "asset_ids": ids[:2], "primary_asset_id": ids[1]}
    response = client.request("POST", "/products", body)
    product = response.json()
    assert response.status_code == 201
    assert response.headers["location"].endswith(f"/v1/products/{product['id']}")
    assert {"name": "Scarf", "description": "Wool", "asset_ids": ids[:2], "primary_asset_id": ids[1]}.items() <= (
        product.items()
    )
    path = f"/products/{product['id']}"
    assert client.read(path) == product
    changed = client.write("PATCH", path, {"asset_ids": [ids[2], ids[0]]})
    assert (changed["asset_ids"], changed["primary_asset_id"]) == ([ids[2], ids[0]], ids[2])
    assert changed["name"] == "Scarf"


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


def test_authoring_costs_what_its_price_says(client: TourClient) -> None:
    source = client.upload(sample_pictures.photo(), "image/jpeg")["id"]
    empty = client.upload(sample_pictures.photo(subject=None), "image/jpeg")["id"]
    person = {"age_range": "55+", "gender": "female"}
    spent = {
        "style": cost(client, "/photography-styles", {"name": "Plain", "asset_ids": looks(client)}),
        "clean": cost(client, "/backgrounds", {"name": "Wall", "kind": "location", "asset_id": empty}),
        "foreground": cost(client, "/backgrounds", {"name": "Wall", "kind": "location", "asset_id": source}),
        "pose": cost(client, "/poses", {"name": "Sitting", "asset_id": source}),
        "model": cost(client, "/fashion-models", {"name": "Sam", **person, "asset_ids": [source]}),
    }
    assert spent == {"style": 0, "clean": 0, "foreground": 1, "pose": 1, "model": 1}


def test_metadata_changes_at_once_and_a_new_source_by_an_operation(client: TourClient) -> None:
    source = client.upload(sample_pictures.photo(), "image/jpeg")["id"]
    other = client.upload(sample_pictures.photo(subject=(20, 120, 40)), "image/jpeg")["id"]
    made = client.author("/poses", {"name": "Kneeling", "asset_id": source})["result"]["id"]
    path = f"/poses/{made}"
    assert client.write("PATCH", path, {"name": "Crouching"})["name"] == "Crouching"
    card = client.read(path)["card_image_url"]
    operation = client.write("PATCH", path, {"asset_id": other}, status=202)
    assert (operation["type"], operation["target"]) == ("pose.update", {"object": "pose", "id": made})
    assert client.refusal("PATCH", path, {"name": "Too soon"}) == (409, "resource_operation_in_progress")
    assert client.refusal("DELETE", path) == (409, "resource_operation_in_progress")
    finished = client.finish(f"/operations/{operation['id']}")
    assert finished["result"] == {"object": "pose", "id": made}
    replaced = client.read(path)
    assert (replaced["source_asset_ids"], replaced["name"]) == ([other], "Crouching")
    assert replaced["card_image_url"] != card
    assert client.follow(card).status_code == 404
    assert_card(client, replaced["card_image_url"])


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


def test_transparent_single_shots_in_webp_have_real_alpha(client: TourClient, studio: Studio) -> None:
    before = client.credits
    generation = client.generate(
        "product-photography",
        {
            "product_ids": [studio.product["id"]],
            "background": {"type": "transparent"},
            "fashion_model": {"type": "none"},
            "output_mode": "single_shots",
            "image_count": 3,
            "output_format": "webp",
        },
    )
    assert len(generation["outputs"]) == 3
    assert client.credits == before - 3
    for asset in client.outputs(generation):
        data = assert_picture(client, asset, "webp", (1024, 1024))
        assert sample_pictures.lowest_alpha(sample_pictures.decode(data)) == 0


def test_a_transparent_jpeg_becomes_a_png_and_a_coloured_ground_has_its_colour(
    client: TourClient, studio: Studio
) -> None:
    request = {"product_ids": [studio.product["id"]], "output_mode": "single_shots", "output_format": "jpeg"}
    transparent = client.generate("product-photography", {**request, "background": {"type": "transparent"}})
    assert transparent["request"]["output_format"] == "png"
    [asset] = client.outputs(transparent)
    assert sample_pictures.lowest_alpha(sample_pictures.decode(assert_picture(client, asset, "png", (1024, 1024)))) == 0

    green = client.generate("product-photography", {**request, "background": {"type": "color", "color": "0A8040"}})
    assert green["request"]["background"] == {"type": "color", "color": "#0a8040"}
    [asset] = client.outputs(green)
    image = sample_pictures.decode(assert_picture(client, asset, "jpeg", (1024, 1024)))
    assert_similar(image, (1000, 20), (0x0A, 0x80, 0x40))


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


def test_work_outlives_the_assets_it_was_made_from(client: TourClient) -> None:
    source = client.upload(sample_pictures.photo(), "image/jpeg")
    body = {"asset_ids": [source["id"]], "instructions": "Brighter", "aspect_ratio": "1:1", "resolution": "1k"}
    admitted = client.write("POST", "/generations/edit-images", {**body, "output_format": "png"}, status=202)
    client.write("DELETE", f"/assets/{source['id']}")
    generation = client.finish(f"/generations/{admitted['id']}")
    assert (generation["status"], generation["resolved_asset_ids"]) == ("completed", [source["id"]])
    [asset] = client.outputs(generation)
    assert_picture(client, asset, "png", (1024, 1024))


# Replays, deletion, the books ----------------------------------------------------------------------------------------


def test_a_replay_is_the_first_answer_again_and_costs_nothing(client: TourClient, studio: Studio) -> None:
    body = {"asset_ids": studio.product["asset_ids"], "output_mode": "single_shots"}
    path, key = "/generations/product-photography", "replayed in the tour"
    first = client.request("POST", path, body, idempotency_key=key)
    assert first.status_code == 202
    client.finish(f"/generations/{first.json()['id']}")
    before = client.credits
    written_otherwise = {"output_format": "png", "image_count": 1, "background": {"type": "automatic"}, **body}
    for same_intent in (body, written_otherwise):
        again = client.request("POST", path, same_intent, idempotency_key=key)
        assert (again.status_code, again.headers.raw, again.content) == (202, first.headers.raw, first.content)
    assert client.credits == before
    other = client.request("POST", path, {**body, "image_count": 2}, idempotency_key=key)
    assert (other.status_code, other.json()["code"]) == (422, "idempotency_key_reused")


def test_deleting_an_asset_reorders_or_removes_the_products_that_had_it(client: TourClient) -> None:
    first, second = (client.upload(sample_pictures.photo(size=(50, 50)), "image/jpeg") for _ in range(2))

    def product(primary: Json, *assets: Json) -> str:
        ids = [asset["id"] for asset in assets]
        body = {"name": "Hat", "asset_ids": ids, "primary_asset_id": primary["id"]}
        return str(client.write("POST", "/products", body, status=201)["id"])

    keeps_its_primary = product(second, first, second)
    gets_another = product(first, first, second)
    is_emptied = product(first, first)
    deletion = client.write("DELETE", f"/assets/{first['id']}")
    assert deletion == {
        "object": "asset_deletion",
        "id": first["id"],
        "removed_product_memberships": 3,
        "reassigned_primary_product_ids": [gets_another],
        "deleted_product_ids": [is_emptied],
    }
    assert client.refusal("GET", f"/assets/{first['id']}") == (404, "asset_not_found")
    assert client.follow(first["url"]).status_code == 404
    for remaining in (keeps_its_primary, gets_another):
        found = client.read(f"/products/{remaining}")
        assert (found["asset_ids"], found["primary_asset_id"]) == ([second["id"]], second["id"])
    assert client.refusal("GET", f"/products/{is_emptied}") == (404, "product_not_found")
    client.write("DELETE", f"/products/{gets_another}", status=204)
    assert client.read(f"/assets/{second['id']}") == second


def test_a_deleted_picture_stays_named_in_its_generation(client: TourClient, studio: Studio) -> None:
    body = {"asset_ids": studio.product["asset_ids"][:1], "output_mode": "single_shots"}
    generation = client.generate("product-photography", body)
    [asset] = client.outputs(generation)
    client.write("DELETE", f"/assets/{asset['id']}")
    assert client.read(f"/generations/{generation['id']}") == generation
    assert client.refusal("GET", f"/assets/{asset['id']}") == (404, "asset_not_found")


def test_a_deleted_ingredient_is_gone_with_its_card(client: TourClient) -> None:
    source = client.upload(sample_pictures.photo(subject=None), "image/jpeg")["id"]
    made = client.author("/backgrounds", {"name": "Shore", "kind": "location", "asset_id": source})["result"]["id"]
    card = client.read(f"/backgrounds/{made}")["card_image_url"]
    client.write("DELETE", f"/backgrounds/{made}", status=204)
    assert client.refusal("GET", f"/backgrounds/{made}") == (404, "not_found")
    assert client.follow(card).status_code == 404


def test_pages_hold_every_asset_once_newest_first(client: TourClient, studio: Studio) -> None:
    whole = client.read("/assets", limit=100)["data"]
    assert list(client.pages("/assets", limit=3)) == whole
    assert sorted(whole, key=lambda asset: (asset["created_at"], asset["id"]), reverse=True) == whole
    uploaded = list(client.pages("/assets", limit=4, source="upload"))
    assert uploaded == [asset for asset in whole if asset["source"] == "upload"]


def test_another_team_sees_none_of_it(emulator: EmulatorProcess, studio: Studio) -> None:
    other = TourClient(emulator, "iwe_other_full")
    assert other.read("/products")["data"] == []
    assert other.refusal("GET", f"/products/{studio.product['id']}") == (404, "product_not_found")
    assert other.refusal("DELETE", f"/poses/{studio.pose_id}") == (404, "not_found")
    body = {"product_ids": [studio.product["id"]], "output_mode": "photoshoot"}
    assert other.refusal("POST", "/generations/product-photography", body) == (422, "invalid_reference")
    other.close()


@pytest.mark.parametrize(
    ("key", "method", "path", "body", "refusal"),
    [
        ("iwe_unknown", "GET", "/team", None, (401, "authentication_required")),
        ("iwe_demo_expired", "GET", "/team", None, (401, "credential_expired")),
        ("iwe_demo_revoked", "GET", "/team", None, (401, "credential_revoked")),
        ("iwe_demo_read", "DELETE", "/assets/none", None, (403, "permission_denied")),
        (
            "iwe_lapsed_full",
            "POST",
            "/uploads",
            {"content_type": "image/png", "size_bytes": 1},
            (403, "subscription_required"),
        ),
    ],
)
def test_keys_of_every_sort_are_told_what_they_may_not(
    emulator: EmulatorProcess, key: str, method: str, path: str, body: Json | None, refusal: tuple[int, str]
) -> None:
    client = TourClient(emulator, key)
    assert client.refusal(method, path, body) == refusal
    client.close()


def test_a_team_without_credits_can_do_what_is_free(emulator: EmulatorProcess) -> None:
    broke = TourClient(emulator, "iwe_broke_full")
    source = broke.upload(sample_pictures.photo(), "image/jpeg")["id"]
    body = {"asset_ids": [source], "output_mode": "photoshoot"}
    assert broke.refusal("POST", "/generations/product-photography", body) == (402, "insufficient_credits")
    assert broke.author("/photography-styles", {"name": "Free", "asset_ids": looks(broke)})["credits"] == {
        "reserved": 0,
        "charged": 0,
    }
    assert broke.credits == 0
    broke.close()


def test_the_books_balance(client: TourClient, studio: Studio) -> None:
    work = [*client.pages("/operations", limit=7), *client.pages("/generations", limit=7)]
    assert {item["status"] for item in work} == {"completed"}
    assert client.credits == STARTING_CREDITS - sum(item["credits"]["charged"] for item in work)
    assert client.read("/team")["capabilities"]["api_concurrency"] == {"limit": 20, "used": 0}


# What the steps share ------------------------------------------------------------------------------------------------


def looks(client: TourClient) -> list[str]:
    """Upload the three sources of a Photography Style."""
    return [
        str(client.upload(sample_pictures.photo(size=(80, 60), subject=(shade, 90, shade)), "image/jpeg")["id"])
        for shade in (50, 100, 150)
    ]


def cost(client: TourClient, path: str, body: Json) -> int:
    """Have an ingredient made; return the Credits that are gone, which are those that the Operation says."""
    before = client.credits
    operation = client.author(path, body)
    assert operation["status"] == "completed", operation
    assert operation["target"] is None
    spent = before - client.credits
    assert operation["credits"]["charged"] == spent
    return spent


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
