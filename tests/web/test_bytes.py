"""The surfaces of bytes: signed addresses that take uploads (D15 to D17, D45, D49), and
files of pictures (D19).
"""

import asyncio
import gc
import re
from collections.abc import Iterator
from unittest.mock import patch

import pytest
from PIL import Image

from image_workflow_emulator.app import Application
from image_workflow_emulator.imaging.helpers import Helpers, LostHelperError
from image_workflow_emulator.web.files import TARGET_LIFETIME_MS
from image_workflow_emulator.web.pictures import PictureWorker
from tests.support.emulator_client import (
    FULL,
    INGREDIENT_PATHS,
    INVALID_INPUT,
    KINDS,
    UPLOAD,
    Call,
    Json,
    advance_call,
    control_call,
)
from tests.support.emulator_under_test import EmulatorUnderTest, settings_of
from tests.support.pictures import decode, encode, picture

DATA = picture()
WINDOW = 15 * 60


@pytest.fixture
def session(emulator: EmulatorUnderTest) -> Json:
    return emulator.open_upload(len(DATA))


def call_of(session: Json, *pieces: bytes) -> Call:
    """Return a request that sends bytes in pieces, by default the right ones, with the
    session's headers.
    """
    upload = session["upload"]
    return Call(
        "POST",
        upload["url"],
        pieces=pieces or (DATA[:9], DATA[9:]),
        key=None,
        headers=upload["headers"],
    )


def held_bytes(emulator: EmulatorUnderTest) -> int:
    return emulator.sandbox.images.held_bytes


REFUSED = (400, "invalid_request")
NOT_FOUND = (404, "not_found")
UPLOAD_NOT_FOUND = (404, "upload_not_found")
NOT_ALLOWED = (405, "invalid_request")
CONFLICT = (409, "upload_bytes_conflict")
EXPIRED = (410, "upload_expired")
UNAVAILABLE = (503, "service_unavailable")
INTERNAL_ERROR = (500, "internal_error")


@pytest.mark.parametrize(
    ("outcome", "method", "path", "headers", "is_late"),
    [
        (UPLOAD_NOT_FOUND, "GET", "/", {"Authorization": "Basic x"}, True),
        (UPLOAD_NOT_FOUND, "POST", "x", {}, False),
        (UPLOAD_NOT_FOUND, "POST", "%00", {}, False),
        (UPLOAD_NOT_FOUND, "POST", "?a=b", {}, False),
        (NOT_ALLOWED, "PUT", "", {"Authorization": "Basic x"}, True),
        (NOT_ALLOWED, "DELETE", "", {}, False),
        (REFUSED, "POST", "", {"Authorization": "Bearer iwe_demo_full"}, True),
        (EXPIRED, "POST", "", {"Content-Type": "image/jpeg"}, True),
        (REFUSED, "POST", "", {"Content-Type": "image/png; q=1"}, False),
        (REFUSED, "POST", "", {"X-Upload-Binding": "x" * 3_000}, False),
        (REFUSED, "POST", "", {"Content-Encoding": "gzip"}, False),
    ],
)
def test_the_first_thing_that_is_wrong_decides_and_nothing_is_kept(
    emulator: EmulatorUnderTest,
    session: Json,
    outcome: tuple[int, str],
    method: str,
    path: str,
    headers: dict[str, str],
    is_late: bool,
) -> None:
    if is_late:
        emulator.advance(WINDOW)
    call = call_of(session)
    call.method = method
    call.target += path
    call.headers = {**session["upload"]["headers"], **headers}
    before = held_bytes(emulator)

    answer = emulator.send(call)

    assert answer.outcome == outcome
    assert held_bytes(emulator) == before


def test_headers_that_no_upload_asks_for_change_nothing(
    emulator: EmulatorUnderTest,
    session: Json,
) -> None:
    foreign = {
        "Range": "bytes=0-1",
        "Cookie": "a=b",
        "Idempotency-Key": "k",
        "Emulator-Fault": "internal_error",
    }
    headers = {
        **session["upload"]["headers"],
        **foreign,
        "Content-Encoding": "identity",
    }

    answer = emulator.send_bytes(session, DATA, headers=headers)

    assert answer.status == 200


def test_no_more_is_read_than_the_session_declared(emulator: EmulatorUnderTest) -> None:
    session = emulator.open_upload(10)

    answer = emulator.send_bytes(session, b"", pieces=[bytes(100_000)] * 100)

    assert answer.outcome == REFUSED
    assert answer.pieces_taken == 1
    assert held_bytes(emulator) == 0


@pytest.mark.parametrize(
    ("found", "sent"),
    [
        ("2 bytes", {}),
        ("0 bytes", {"pieces": [b""]}),
        ("more than 1 byte", {"pieces": [b"ab"]}),
    ],
    ids=["announced", "none", "unannounced"],
)
def test_a_wrong_number_of_bytes_is_told_with_the_right_one(
    emulator: EmulatorUnderTest,
    found: str,
    sent: Json,
) -> None:
    session = emulator.open_upload(1)

    answer = emulator.send_bytes(session, b"ab", **sent)

    detail = f"the body: found {found}; expected size_bytes, 1"
    assert answer.json["detail"] == detail


def test_a_wrong_number_of_bytes_after_the_right_ones_is_told_what_was_accepted(
    emulator: EmulatorUnderTest,
) -> None:
    session = emulator.open_upload(1)
    emulator.send_bytes(session, b"a")

    answer = emulator.send_bytes(session, b"", pieces=[b"ab"])

    expected = f"those that {session['id']} accepted already, or a new session"
    assert answer.json["detail"].endswith(f"expected {expected}")


def test_two_uploads_of_equal_bytes_at_the_same_time_agree(
    emulator: EmulatorUnderTest,
    session: Json,
) -> None:
    first, second = emulator.together(call_of(session), call_of(session))

    assert first.status == 200
    assert second.status == 200
    assert first.json == second.json


def test_of_two_uploads_of_other_bytes_at_the_same_time_one_conflicts(
    emulator: EmulatorUnderTest,
    session: Json,
) -> None:
    other = call_of(session, DATA[:9], b"z" * len(DATA[9:]))

    answers = emulator.together(call_of(session), other)

    assert sorted(answer.status for answer in answers) == [200, 409]


def in_upper_case(session: Json) -> dict[str, str]:
    """Return the headers of an upload, their names in upper case."""
    headers = session["upload"]["headers"]
    return {name.upper(): value for name, value in headers.items()}


def test_headers_may_be_in_whatever_case(
    emulator: EmulatorUnderTest,
    session: Json,
) -> None:
    answer = emulator.send_bytes(session, DATA, headers=in_upper_case(session))

    assert answer.status == 200


@pytest.mark.parametrize("name", ["Content-Type", "X-Upload-Binding"])
@pytest.mark.parametrize("mistake", ["missing", "twice", "padded"])
def test_each_header_must_be_there_once_and_as_it_was_given(
    emulator: EmulatorUnderTest,
    session: Json,
    name: str,
    mistake: str,
) -> None:
    headers = in_upper_case(session)
    if mistake == "missing":
        del headers[name.upper()]
    elif mistake == "twice":
        headers = {name: "another", **headers}
    else:
        headers[name.upper()] += "\u00a0"

    answer = emulator.send_bytes(session, DATA, headers=headers)

    assert answer.outcome == REFUSED
    assert name.lower() in answer.json["detail"]


@pytest.mark.parametrize(
    ("data", "status"),
    [(DATA, 201), (b"no picture", 422)],
    ids=["exchanged", "failed"],
)
def test_a_finished_session_is_gone_after_its_window(
    emulator: EmulatorUnderTest,
    data: bytes,
    status: int,
) -> None:
    """D45."""
    session, token = emulator.ready_upload(data)
    completed = emulator.complete(session, token)
    unannounced = emulator.send_bytes(session, b"", pieces=[b"x" * 9, b"y" * 9_000])

    emulator.advance(WINDOW)
    same_bytes = emulator.send_bytes(session, data)
    other_bytes = emulator.send_bytes(session, b"x")

    assert completed.status == status
    assert unannounced.outcome == CONFLICT
    assert same_bytes.outcome == UPLOAD_NOT_FOUND
    assert other_bytes.outcome == UPLOAD_NOT_FOUND


def test_bytes_still_coming_when_the_window_closes_are_late(
    emulator: EmulatorUnderTest,
    session: Json,
) -> None:
    before = held_bytes(emulator)

    answer, _ = emulator.together(call_of(session), advance_call(WINDOW))

    assert answer.outcome == EXPIRED
    assert held_bytes(emulator) == before


def test_a_process_that_is_full_takes_no_new_uploads(
    emulator: EmulatorUnderTest,
) -> None:
    asset = emulator.upload(DATA)
    emulator.sandbox.memory.limit_bytes = held_bytes(emulator)

    upload = emulator.post("/uploads", UPLOAD)
    photograph = emulator.photograph(asset_ids=[asset["id"]])

    assert upload.outcome == UNAVAILABLE
    assert upload.retry_after == 60
    assert photograph.outcome == UNAVAILABLE


def test_a_process_that_was_full_takes_uploads_once_an_asset_is_deleted(
    emulator: EmulatorUnderTest,
) -> None:
    asset = emulator.upload(DATA)
    emulator.sandbox.memory.limit_bytes = held_bytes(emulator)

    emulator.delete(f"/assets/{asset['id']}")

    assert emulator.post("/uploads", UPLOAD).status == 201


@pytest.mark.emulator(max_memory=len(DATA))
def test_bytes_that_find_no_room_while_they_come_are_refused_and_may_come_again(
    emulator: EmulatorUnderTest,
) -> None:
    calls = [call_of(emulator.open_upload(len(DATA))) for _ in range(2)]

    answers = emulator.together(*calls)
    accepted, refused = sorted(answers, key=lambda answer: answer.status)
    emulator.advance(WINDOW)
    held_after_window = held_bytes(emulator)
    again = emulator.send_bytes(emulator.open_upload(len(DATA)), DATA)

    assert accepted.status == 200
    assert refused.outcome == UNAVAILABLE
    assert refused.retry_after == 60
    assert held_after_window == 0
    assert again.status == 200


GROWING = encode(Image.effect_noise((90, 90), 99), "image/avif", quality=10)


@pytest.mark.emulator(max_memory=len(GROWING) + 100)
def test_an_upload_whose_asset_finds_no_room_stays_as_it_was(
    emulator: EmulatorUnderTest,
) -> None:
    ready = emulator.ready_upload(GROWING, "image/avif")

    refused = emulator.complete(*ready)
    held_after_refusal = held_bytes(emulator)
    emulator.sandbox.memory.limit_bytes = 100_000
    again = emulator.complete(*ready)

    assert refused.outcome == UNAVAILABLE
    assert held_after_refusal == len(GROWING)
    assert again.status == 201


@pytest.mark.parametrize("meanwhile", ["reset", "deleted"])
def test_bytes_whose_sandbox_ends_meanwhile_are_not_found(
    emulator: EmulatorUnderTest,
    meanwhile: str,
) -> None:
    emulator.told("POST", "/sandboxes", {"id": "mine"})
    session = emulator.open_upload(len(DATA), key=f"{FULL}_mine")
    end = control_call("DELETE", "", sandbox="mine")
    if meanwhile == "reset":
        end = control_call("POST", "/reset", sandbox="mine")
    before = held_bytes(emulator)

    answer, _ = emulator.together(call_of(session), end)

    assert answer.outcome == UPLOAD_NOT_FOUND
    assert held_bytes(emulator) == before


@pytest.mark.parametrize(
    "token",
    [
        "",
        "x",
        "upt_" + "0" * 32,
        "string",
        "\ud7ff",
        "a" * 100_000,
        "another session's",
    ],
)
def test_a_wrong_token_is_refused_and_the_right_one_serves_once(
    emulator: EmulatorUnderTest,
    token: str,
) -> None:
    """D17, D49."""
    session, right_token = emulator.ready_upload()
    if token == "another session's":
        _, token = emulator.ready_upload()

    refused = emulator.complete(session, token)
    completed = emulator.complete(session, right_token)
    again = emulator.complete(session, right_token)

    assert refused.outcome == INVALID_INPUT
    assert completed.status == 201
    assert again.outcome == UPLOAD_NOT_FOUND


def test_bytes_that_cost_their_helper_are_refused(
    emulator: EmulatorUnderTest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def lose(*_: object) -> None:
        raise LostHelperError

    ready = emulator.ready_upload()
    monkeypatch.setattr(Helpers, "run", lose)

    refused = emulator.complete(*ready)
    again = emulator.complete(*ready)

    assert refused.outcome == INVALID_INPUT
    assert "time or memory" in refused.json["detail"]
    assert again.outcome == UPLOAD_NOT_FOUND


@pytest.fixture
def stopped(emulator: EmulatorUnderTest) -> EmulatorUnderTest:
    """An emulator that has an Upload Session with bytes, and has ended its helpers."""
    emulator.application = Application(settings_of())
    emulator.application.close()
    return emulator


def test_a_picture_that_is_asked_for_while_the_emulator_stops_is_unavailable(
    stopped: EmulatorUnderTest,
    caplog: pytest.LogCaptureFixture,
) -> None:
    pose = stopped.items("/poses")[0]

    answer = stopped.fetch(pose["card_image_url"])

    assert answer.outcome == UNAVAILABLE
    assert "the emulator is stopping" in answer.json["detail"]
    assert answer.retry_after == 1
    assert caplog.records == []


def test_reads_of_a_size_while_the_emulator_stops_are_answered_by_the_contract(
    emulator: EmulatorUnderTest,
    caplog: pytest.LogCaptureFixture,
) -> None:
    emulator.application = Application(settings_of())
    photograph = emulator.photograph().json
    emulator.advance(60)
    done = emulator.get(f"/generations/{photograph['id']}").json
    asset_id = done["outputs"][0]["asset"]["id"]
    emulator.application.close()

    listed = emulator.get("/assets")
    read = emulator.get(f"/assets/{asset_id}")

    assert listed.outcome == INTERNAL_ERROR
    assert "the emulator is stopping" in listed.json["detail"]
    assert read.outcome == INTERNAL_ERROR
    assert caplog.records == []


def test_an_upload_that_is_decoded_while_the_emulator_stops_stays_as_it_was(
    stopped: EmulatorUnderTest,
) -> None:
    session, token = stopped.ready_upload(DATA)

    answer = stopped.complete(session, token)

    assert answer.outcome == UNAVAILABLE
    assert stopped.sandbox.store.uploads.items[session["id"]].status == "received"


def test_a_drawing_that_is_lost_after_its_client_has_left_is_not_logged(
    emulator: EmulatorUnderTest,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def lose(*_: object) -> None:
        await asyncio.sleep(0)
        raise LostHelperError

    monkeypatch.setattr(Helpers, "run", lose)
    pictures = PictureWorker(Helpers(), emulator.sandbox.memory)
    images = emulator.sandbox.images
    key = next(key for key, picture in images.pictures.items() if picture.recipe)

    async def ask_and_leave() -> None:
        asking = asyncio.ensure_future(pictures.data(images, key))
        await asyncio.sleep(0)
        asking.cancel()
        await asyncio.wait([asking])
        await asyncio.sleep(0)

    emulator.run(ask_and_leave())
    gc.collect()

    assert caplog.records == []


# The files of pictures ----------------------------------------------------------------


@pytest.fixture
def asset(emulator: EmulatorUnderTest) -> Json:
    return emulator.upload(picture(size=(40, 40)))


def test_the_file_is_what_the_asset_says(
    emulator: EmulatorUnderTest,
    asset: Json,
) -> None:
    answer = emulator.fetch(asset["url"])

    assert len(answer.body) == asset["size_bytes"]
    assert answer.headers["content-length"] == str(asset["size_bytes"])
    assert answer.headers["content-type"] == "image/png"
    assert answer.headers["accept-ranges"] == "bytes"
    assert {"etag", "request-id"} <= answer.headers.keys()
    width, height = decode(answer.body).size
    assert width == asset["width"]
    assert height == asset["height"]


@pytest.mark.parametrize(
    "method",
    ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "BREW"],
)
def test_a_file_can_only_be_read(
    emulator: EmulatorUnderTest,
    asset: Json,
    method: str,
) -> None:
    answer = emulator.fetch(asset["url"], method)

    assert answer.status == 405
    assert answer.headers["allow"] == "GET, HEAD"


@pytest.mark.parametrize(
    ("asked", "part"),
    [
        ("bytes=0-0", slice(0, 1)),
        ("BYTES = 1-9", slice(1, 10)),
        ("bytes=5-", slice(5, None)),
        (f"bytes=5-{'9' * 18}", slice(5, None)),
        ("bytes=-3", slice(-3, None)),
        (f"bytes=-{'9' * 18}", slice(0, None)),
    ],
)
def test_a_range_is_sent(
    emulator: EmulatorUnderTest,
    asset: Json,
    asked: str,
    part: slice,
) -> None:
    whole = emulator.fetch(asset["url"]).body

    answer = emulator.fetch(asset["url"], headers={"Range": asked})

    start, stop, _ = part.indices(len(whole))
    place = f"bytes {start}-{stop - 1}/{len(whole)}"
    assert answer.status == 206
    assert answer.body == whole[part]
    assert answer.headers["content-range"] == place


def test_the_head_of_a_range_has_its_length(
    emulator: EmulatorUnderTest,
    asset: Json,
) -> None:
    answer = emulator.fetch(asset["url"], "HEAD", {"Range": "bytes=1-9"})

    assert answer.status == 206
    assert answer.body == b""
    assert answer.headers["content-length"] == "9"


@pytest.mark.parametrize("asked", ["bytes=-0", f"bytes={'9' * 18}-"])
def test_a_range_outside_of_the_file_is_refused(
    emulator: EmulatorUnderTest,
    asset: Json,
    asked: str,
) -> None:
    answer = emulator.fetch(asset["url"], headers={"Range": asked})

    assert answer.status == 416
    assert answer.headers["content-range"] == f"bytes */{asset['size_bytes']}"


@pytest.mark.parametrize(
    "asked",
    [
        "",
        "bytes=",
        "bytes=-",
        "bytes=9-1",
        "bytes=x-",
        "bytes=٣-",
        "bytes 0-1",
        "lines=0-1",
        "bytes=0-1,3-4",
        "bytes==0-1",
        "bytes=+1-2",
        "bytes=0x1-2",
        f"bytes=0-{'9' * 400}",
        "bytes=" + "0-1," * 200,
    ],
)
def test_what_is_no_single_range_is_ignored(
    emulator: EmulatorUnderTest,
    asset: Json,
    asked: str,
) -> None:
    answer = emulator.fetch(asset["url"], headers={"Range": asked})

    assert answer.status == 200
    assert len(answer.body) == asset["size_bytes"]
    assert "content-range" not in answer.headers


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
    emulator: EmulatorUnderTest,
    asset: Json,
    name: str,
    value: str,
    status: int,
) -> None:
    etag = emulator.fetch(asset["url"]).headers["etag"]
    headers = {"Range": "bytes=0-1", name: value.format(etag=etag)}

    answer = emulator.fetch(asset["url"], headers=headers)

    assert answer.status == status
    assert answer.headers["etag"] == etag


def test_a_client_that_has_the_file_gets_no_bytes(
    emulator: EmulatorUnderTest,
    asset: Json,
) -> None:
    etag = emulator.fetch(asset["url"]).headers["etag"]

    answer = emulator.fetch(asset["url"], headers={"If-None-Match": etag})

    assert answer.status == 304
    assert answer.body == b""


def with_each_character_replaced(path: str, text: str) -> Iterator[str]:
    for place in range(len(path)):
        yield path[:place] + text + path[place + 1 :]


def test_an_address_that_was_not_handed_out_leads_to_no_file(
    emulator: EmulatorUnderTest,
    asset: Json,
) -> None:
    root, _, path = asset["url"].partition("/files/")
    wrong_paths = {f"../{path}", f"{path}/", path.upper()}
    wrong_paths.add(path.replace("default", "other"))
    for text in ("", "~", "%00", "/"):
        wrong_paths.update(with_each_character_replaced(path, text))
    wrong_paths.discard(path)

    for wrong_path in sorted(wrong_paths):
        answer = emulator.fetch(f"{root}/files/{wrong_path}")

        assert answer.outcome == NOT_FOUND, wrong_path


@pytest.mark.emulator(readings="D19=redirects", clock="manual")
def test_a_file_is_redirected_to_a_signed_address_for_a_minute(
    emulator: EmulatorUnderTest,
    asset: Json,
) -> None:
    redirect = emulator.fetch(asset["url"])
    target = redirect.headers["location"]

    emulator.advance(TARGET_LIFETIME_MS // 1000 - 1)
    within_the_minute = emulator.fetch(target)
    emulator.advance(1)
    after_the_minute = emulator.fetch(target)

    assert redirect.status == 302
    assert within_the_minute.status == 200
    assert after_the_minute.outcome == NOT_FOUND


@pytest.mark.emulator(readings="D19=redirects", clock="manual")
@pytest.mark.parametrize(
    ("pattern", "replacement"),
    [(r"signature=\w", "signature=~"), (r"until=\d+", "until=9")],
)
def test_a_signed_address_that_was_changed_leads_to_no_file(
    emulator: EmulatorUnderTest,
    asset: Json,
    pattern: str,
    replacement: str,
) -> None:
    target = emulator.fetch(asset["url"]).headers["location"]

    answer = emulator.fetch(re.sub(pattern, replacement, target))

    assert answer.outcome == NOT_FOUND


def files_of(emulator: EmulatorUnderTest, ingredient: Json) -> list[bytes]:
    """Return the card of an ingredient, or its previews."""
    urls = ingredient.get("preview_image_urls") or [ingredient["card_image_url"]]
    return [emulator.fetch(url).body for url in urls]


@pytest.mark.parametrize("kind", KINDS)
def test_each_picture_of_an_ingredient_shows_something_else(
    emulator: EmulatorUnderTest,
    kind: str,
) -> None:
    files = []

    for ingredient in emulator.items(INGREDIENT_PATHS[kind] + "?scope=global"):
        files += files_of(emulator, ingredient)

    assert len(files) == len(set(files))
    for image in map(decode, files):
        assert min(image.size) > 100
        assert len(image.getcolors(image.width * image.height) or ()) > 1


@pytest.mark.parametrize("kind", KINDS)
def test_the_pictures_of_a_teams_own_ingredient_have_the_size_of_a_card(
    emulator: EmulatorUnderTest,
    kind: str,
) -> None:
    ingredient = emulator.author(kind)

    files = files_of(emulator, ingredient)

    assert {decode(file).size for file in files} == {(512, 640)}


@pytest.fixture
def drawn_assets(emulator: EmulatorUnderTest) -> list[Json]:
    """Six Assets whose pictures are drawn; one is made from two of the others."""
    first = emulator.wait_for(emulator.photograph(image_count=2).json)
    emulator.wait_for(emulator.photograph(image_count=2).json)
    body = {
        "asset_ids": [output["asset"]["id"] for output in first["outputs"]],
        "instructions": "join",
        "resolution": "1k",
        "aspect_ratio": "1:1",
        "output_format": "png",
    }
    emulator.wait_for(emulator.post("/generations/edit-images", body).json)
    return list(emulator.get("/assets?limit=6").json["data"])


def files_of_assets(emulator: EmulatorUnderTest, assets: list[Json]) -> list[bytes]:
    return [emulator.fetch(asset["url"]).body for asset in assets]


def make_memory_short(emulator: EmulatorUnderTest) -> None:
    memory = emulator.sandbox.memory
    memory.limit_bytes = held_bytes(emulator) // 4
    assert memory.make_room(0)


def test_a_list_knows_the_sizes_of_pictures_that_found_no_room(
    emulator: EmulatorUnderTest,
    drawn_assets: list[Json],
) -> None:
    files = files_of_assets(emulator, drawn_assets)

    make_memory_short(emulator)
    listed = emulator.get("/assets?limit=6").json["data"]

    assert listed == drawn_assets
    assert [asset["size_bytes"] for asset in listed] == [len(file) for file in files]


def test_pictures_that_found_no_room_are_drawn_again_byte_for_byte(
    emulator: EmulatorUnderTest,
    drawn_assets: list[Json],
) -> None:
    files = files_of_assets(emulator, drawn_assets)
    memory = emulator.sandbox.memory

    make_memory_short(emulator)

    for _ in range(2):
        assert files_of_assets(emulator, drawn_assets) == files
        assert memory.held_bytes <= memory.limit_bytes


def test_a_generation_is_drawn_at_once_and_only_once(
    emulator: EmulatorUnderTest,
    asset: Json,
) -> None:
    outputs: list[Json] = []
    for _ in range(2):
        work = emulator.photograph(asset_ids=[asset["id"]], image_count=3)
        outputs += emulator.wait_for(work.json)["outputs"]

    with patch.object(Helpers, "run", autospec=True, side_effect=Helpers.run) as run:
        for output in outputs:
            emulator.get(f"/assets/{output['asset']['id']}")

            drawn_slots = [call.args[1]["recipe"]["slot"] for call in run.mock_calls]
            assert drawn_slots == [1, 2, 3]
