"""The public files of pictures (D19): ranges, conditions, methods, addresses, redirects, and how pictures are made."""

import re
from unittest.mock import patch

import pytest

from image_workflow_emulator.imaging.helpers import Helpers
from image_workflow_emulator.web.files import TARGET_LIFETIME_MS
from tests.support.emulator_client import INGREDIENT_PATHS, KINDS, EmulatorUnderTest, Json
from tests.support.pictures import decode, picture


@pytest.fixture
def asset(emulator: EmulatorUnderTest) -> Json:
    return emulator.upload(picture(size=(40, 40)))


def test_the_file_is_what_the_asset_says_and_can_only_be_read(emulator: EmulatorUnderTest, asset: Json) -> None:
    answer = emulator.fetch(asset["url"])
    assert answer.headers["content-length"] == str(asset["size_bytes"]) == str(len(answer.body))
    assert (answer.headers["content-type"], answer.headers["accept-ranges"]) == ("image/png", "bytes")
    assert decode(answer.body).size == (asset["width"], asset["height"])
    assert {"etag", "request-id"} <= answer.headers.keys()
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH", "BREW"):
        refused = emulator.fetch(asset["url"], method)
        assert (405, "GET, HEAD") == (refused.status, refused.headers["allow"])


@pytest.mark.parametrize(
    ("asked", "part"),
    [
        ("bytes=0-0", slice(0, 1)),
        ("BYTES = 1-9", slice(1, 10)),
        ("bytes=5-", slice(5, None)),
        (f"bytes=5-{'9' * 18}", slice(5, None)),
        ("bytes=-3", slice(-3, None)),
        (f"bytes=-{'9' * 18}", slice(0, None)),
        ("bytes=-0", None),
        (f"bytes={'9' * 18}-", None),
    ],
)
def test_a_range_is_sent_or_refused(emulator: EmulatorUnderTest, asset: Json, asked: str, part: slice | None) -> None:
    whole, answer = emulator.fetch(asset["url"]).body, emulator.fetch(asset["url"], headers={"Range": asked})
    if part is None:
        assert (416, f"bytes */{len(whole)}") == (answer.status, answer.headers["content-range"])
        return
    start, stop, _ = part.indices(len(whole))
    assert (206, whole[part]) == (answer.status, answer.body)
    assert f"bytes {start}-{stop - 1}/{len(whole)}" == answer.headers["content-range"]
    head = emulator.fetch(asset["url"], "HEAD", {"Range": asked})
    assert (206, b"", str(len(answer.body))) == (head.status, head.body, head.headers["content-length"])


@pytest.mark.parametrize(
    "asked",
    [
        *("", "bytes=", "bytes=-", "bytes=9-1", "bytes=x-", "bytes=٣-", "bytes 0-1", "lines=0-1", "bytes=0-1,3-4"),
        *("bytes==0-1", "bytes=+1-2", "bytes=0x1-2", f"bytes=0-{'9' * 400}", "bytes=" + "0-1," * 200),
    ],
)
def test_what_is_no_single_range_is_ignored(emulator: EmulatorUnderTest, asset: Json, asked: str) -> None:
    answer = emulator.fetch(asset["url"], headers={"Range": asked})
    assert (200, asset["size_bytes"], None) == (answer.status, len(answer.body), answer.headers.get("content-range"))


@pytest.mark.parametrize(
    ("name", "value", "status"),
    [
        ("If-None-Match", "{etag}", 304),
        ("If-None-Match", '"x", W/{etag}', 304),
        ("If-None-Match", "*", 304),
        ("If-None-Match", '"other"', 206),
        ("If-None-Match", '"', 206),
        ("If-Range", "{etag}", 206),
        ("If-Range", "W/{etag}", 200),
        ("If-Range", '"other"', 200),
        ("If-Match", '"other"', 206),
    ],
)
def test_the_etag_decides_conditions(
    emulator: EmulatorUnderTest, asset: Json, name: str, value: str, status: int
) -> None:
    etag = emulator.fetch(asset["url"]).headers["etag"]
    answer = emulator.fetch(asset["url"], headers={"Range": "bytes=0-1", name: value.format(etag=etag)})
    assert (status, etag) == (answer.status, answer.headers["etag"])
    assert status != 304 or not answer.body


def test_an_address_that_was_not_handed_out_leads_to_no_file(emulator: EmulatorUnderTest, asset: Json) -> None:
    root, path = asset["url"].partition("/files/")[::2]
    others = {path[:place] + other + path[place + 1 :] for place in range(len(path)) for other in ("", "~", "%00", "/")}
    others |= {f"../{path}", f"{path}/", path.upper(), path.replace("default", "other")}
    for other in sorted(others - {path}):
        assert (404, "not_found") == emulator.fetch(f"{root}/files/{other}").outcome, other


@pytest.mark.emulator(readings="D19=redirects", clock="manual")
def test_a_file_is_redirected_to_a_signed_address_for_a_minute(emulator: EmulatorUnderTest, asset: Json) -> None:
    redirect = emulator.fetch(asset["url"])
    target = redirect.headers["location"]
    assert (302, 200) == (redirect.status, emulator.fetch(target).status)
    for changed in (target[:-1] + ("0" if target[-1] != "0" else "1"), re.sub(r"until=\d+", "until=9", target)):
        assert (404, "not_found") == emulator.fetch(changed).outcome
    emulator.advance(TARGET_LIFETIME_MS // 1000 - 1)
    assert 200 == emulator.fetch(target).status
    emulator.advance(1)
    assert (404, "not_found") == emulator.fetch(target).outcome


@pytest.mark.parametrize("kind", KINDS)
def test_each_picture_of_an_ingredient_shows_something_else(emulator: EmulatorUnderTest, kind: str) -> None:
    premade = emulator.items(INGREDIENT_PATHS[kind] + "?scope=global")
    *shown, own = [
        [emulator.fetch(url).body for url in ingredient.get("preview_image_urls") or [ingredient["card_image_url"]]]
        for ingredient in [*premade, emulator.author(kind)]
    ]
    assert {(512, 640)} == {decode(file).size for file in own}
    files = [file for pictures in shown for file in pictures]
    assert len(files) == len(set(files))
    for image in map(decode, files):
        assert image.size > (100, 100)
        assert len(image.getcolors(image.width * image.height) or ()) > 1


def test_pictures_that_find_no_room_are_drawn_again_byte_for_byte(emulator: EmulatorUnderTest) -> None:
    generations = [emulator.wait_for(emulator.photograph(image_count=2).json) for _ in range(2)]
    asset_ids = [output["asset"]["id"] for output in generations[0]["outputs"]]
    form = {"resolution": "1k", "aspect_ratio": "1:1", "output_format": "png"}
    body = {"asset_ids": asset_ids, "instructions": "join"} | form
    emulator.wait_for(emulator.post("/generations/edit-images", body).json)
    listed = emulator.get("/assets?limit=6").json["data"]
    files = [emulator.fetch(asset["url"]).body for asset in listed]
    held, memory = emulator.sandbox.images.held_bytes, emulator.sandbox.memory
    memory.limit_bytes = held // 4
    assert memory.make_room(0)
    assert [asset["size_bytes"] for asset in listed] == [len(file) for file in files]
    assert emulator.get("/assets?limit=6").json["data"] == listed
    for _ in range(2):
        assert [emulator.fetch(asset["url"]).body for asset in listed] == files
        assert memory.held_bytes <= memory.limit_bytes


def test_a_generation_is_drawn_at_once_and_only_once(emulator: EmulatorUnderTest, asset: Json) -> None:
    works = [emulator.photograph(asset_ids=[asset["id"]], image_count=3).json for _ in range(2)]
    outputs = [output for work in works for output in emulator.wait_for(work)["outputs"]]
    with patch.object(Helpers, "run", autospec=True, side_effect=Helpers.run) as run:
        for output in outputs:
            emulator.get(f"/assets/{output['asset']['id']}")
            assert [call.args[1]["recipe"]["slot"] for call in run.call_args_list] == [1, 2, 3]
