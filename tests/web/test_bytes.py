"""The surfaces of bytes: signed addresses that take uploads (D15 to D17, D45, D49), and files of pictures (D19)."""

import asyncio
import gc
import re
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
    EmulatorUnderTest,
    Json,
    control_call,
    settings_of,
)
from tests.support.pictures import decode, encode, picture

DATA = picture()
WINDOW = 15 * 60


@pytest.fixture
def session(emulator: EmulatorUnderTest) -> Json:
    return emulator.open_upload(len(DATA))


def call_of(session: Json, *pieces: bytes) -> Call:
    """Return a request that sends bytes in pieces, by default the right ones, with the session's headers."""
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


@pytest.mark.parametrize(
    ("outcome", "method", "path", "headers", "is_late"),
    [
        ((404, "upload_not_found"), "GET", "/", {"Authorization": "Basic x"}, True),
        ((404, "upload_not_found"), "POST", "x", {}, False),
        ((404, "upload_not_found"), "POST", "%00", {}, False),
        ((404, "upload_not_found"), "POST", "?a=b", {}, False),
        ((405, "invalid_request"), "PUT", "", {"Authorization": "Basic x"}, True),
        ((405, "invalid_request"), "DELETE", "", {}, False),
        (REFUSED, "POST", "", {"Authorization": "Bearer iwe_demo_full"}, True),
        ((410, "upload_expired"), "POST", "", {"Content-Type": "image/jpeg"}, True),
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
    emulator.advance(WINDOW if is_late else 0)
    call = call_of(session)
    call.method, call.target, call.headers = (
        method,
        call.target + path,
        {**session["upload"]["headers"], **headers},
    )
    before = held_bytes(emulator)
    assert (emulator.send(call).outcome, held_bytes(emulator)) == (outcome, before)


def test_headers_that_no_upload_asks_for_change_nothing(
    emulator: EmulatorUnderTest, session: Json
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
    assert emulator.send_bytes(session, DATA, headers=headers).status == 200


def test_no_more_is_read_than_the_session_declared(emulator: EmulatorUnderTest) -> None:
    answer = emulator.send_bytes(
        emulator.open_upload(10), b"", pieces=[bytes(100_000)] * 100
    )
    assert (answer.outcome, answer.pieces_taken, held_bytes(emulator)) == (
        REFUSED,
        1,
        0,
    )


def test_a_wrong_number_of_bytes_is_told_with_the_right_one(
    emulator: EmulatorUnderTest,
) -> None:
    session = emulator.open_upload(1)
    for found, body in (
        ("2 bytes", b"ab"),
        ("0 bytes", [b""]),
        ("more than 1 byte", [b"ab"]),
    ):
        sent: Json = {"pieces": body} if isinstance(body, list) else {}
        answer = emulator.send_bytes(session, b"ab", **sent)
        assert (
            answer.json["detail"] == f"the body: found {found}; expected size_bytes, 1"
        )
    emulator.send_bytes(session, b"a")
    again = emulator.send_bytes(session, b"", pieces=[b"ab"]).json["detail"]
    assert again.endswith(
        f"expected those that {session['id']} accepted already, or a new session"
    )


def test_two_uploads_at_the_same_time_agree_or_conflict(
    emulator: EmulatorUnderTest, session: Json
) -> None:
    first, second = emulator.together(call_of(session), call_of(session))
    assert (first.status, first.json) == (200, second.json)
    session = emulator.open_upload(len(DATA))
    answers = emulator.together(
        call_of(session), call_of(session, DATA[:9], b"z" * len(DATA[9:]))
    )
    assert sorted(answer.status for answer in answers) == [200, 409]


@pytest.mark.parametrize("name", ["Content-Type", "X-Upload-Binding"])
def test_each_header_must_be_there_once_in_whatever_case(
    emulator: EmulatorUnderTest, session: Json, name: str
) -> None:
    headers = {
        key.upper(): value for key, value in session["upload"]["headers"].items()
    }
    missing = {key: value for key, value in headers.items() if key != name.upper()}
    padded = {**headers, name.upper(): headers[name.upper()] + "\u00a0"}
    for wrong in (missing, {name: "another", **headers}, padded):
        answer = emulator.send_bytes(session, DATA, headers=wrong)
        assert (answer.outcome, name.lower() in answer.json["detail"]) == (
            REFUSED,
            True,
        )
    assert emulator.send_bytes(session, DATA, headers=headers).status == 200


@pytest.mark.parametrize(
    ("data", "status"), [(DATA, 201), (b"no picture", 422)], ids=["exchanged", "failed"]
)
def test_a_finished_session_is_gone_after_its_window(
    emulator: EmulatorUnderTest, data: bytes, status: int
) -> None:
    """D45."""
    session, token = emulator.ready_upload(data)
    assert emulator.complete(session, token).status == status
    unannounced = emulator.send_bytes(session, b"", pieces=[b"x" * 9, b"y" * 9_000])
    assert unannounced.outcome == (409, "upload_bytes_conflict")
    emulator.advance(WINDOW)
    assert [emulator.send_bytes(session, sent).outcome for sent in (data, b"x")] == [
        (404, "upload_not_found")
    ] * 2


def test_bytes_still_coming_when_the_window_closes_are_late(
    emulator: EmulatorUnderTest, session: Json
) -> None:
    before = held_bytes(emulator)
    answer, _ = emulator.together(
        call_of(session), control_call("POST", "/clock/advance", {"seconds": WINDOW})
    )
    assert (answer.outcome, held_bytes(emulator)) == ((410, "upload_expired"), before)


def test_a_process_that_is_full_takes_no_new_uploads(
    emulator: EmulatorUnderTest,
) -> None:
    asset = emulator.upload(DATA)
    emulator.sandbox.memory.limit_bytes = held_bytes(emulator)
    refused = emulator.post("/uploads", UPLOAD)
    assert (refused.outcome, refused.retry_after) == ((503, "service_unavailable"), 60)
    assert emulator.photograph(asset_ids=[asset["id"]]).outcome == (
        503,
        "service_unavailable",
    )
    emulator.delete(f"/assets/{asset['id']}")
    assert emulator.post("/uploads", UPLOAD).status == 201


@pytest.mark.emulator(max_memory=len(DATA))
def test_bytes_that_find_no_room_while_they_come_are_refused_and_may_come_again(
    emulator: EmulatorUnderTest,
) -> None:
    answers = emulator.together(
        *(call_of(emulator.open_upload(len(DATA))) for _ in range(2))
    )
    accepted, refused = sorted(answers, key=lambda answer: answer.status)
    assert (accepted.status, refused.outcome, refused.retry_after) == (
        200,
        (503, "service_unavailable"),
        60,
    )
    emulator.advance(WINDOW)
    assert (
        held_bytes(emulator),
        emulator.send_bytes(emulator.open_upload(len(DATA)), DATA).status,
    ) == (0, 200)


GROWING = encode(Image.effect_noise((90, 90), 99), "image/avif", quality=10)


@pytest.mark.emulator(max_memory=len(GROWING) + 100)
def test_an_upload_whose_asset_finds_no_room_stays_as_it_was(
    emulator: EmulatorUnderTest,
) -> None:
    ready = emulator.ready_upload(GROWING, "image/avif")
    assert emulator.complete(*ready).outcome == (503, "service_unavailable")
    assert held_bytes(emulator) == len(GROWING)
    emulator.sandbox.memory.limit_bytes = 100_000
    assert emulator.complete(*ready).status == 201


@pytest.mark.parametrize("meanwhile", ["reset", "deleted"])
def test_bytes_whose_sandbox_ends_meanwhile_are_not_found(
    emulator: EmulatorUnderTest, meanwhile: str
) -> None:
    emulator.told("POST", "/sandboxes", {"id": "mine"})
    session = emulator.open_upload(len(DATA), key=f"{FULL}_mine")
    method, path = ("POST", "/reset") if meanwhile == "reset" else ("DELETE", "")
    end = control_call(method, path, sandbox="mine")
    before = held_bytes(emulator)
    answer, _ = emulator.together(call_of(session), end)
    assert (answer.outcome, held_bytes(emulator)) == ((404, "upload_not_found"), before)


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
    emulator: EmulatorUnderTest, token: str
) -> None:
    """D17, D49."""
    (session, right), (_, another) = emulator.ready_upload(), emulator.ready_upload()
    wrong = another if token == "another session's" else token
    found = [emulator.complete(session, said).outcome for said in (wrong, right, right)]
    assert found == [INVALID_INPUT, (201, "asset"), (404, "upload_not_found")]


def test_bytes_that_cost_their_helper_are_refused(
    emulator: EmulatorUnderTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def lose(*_: object) -> None:
        raise LostHelperError

    ready = emulator.ready_upload()
    monkeypatch.setattr(Helpers, "run", lose)
    refused = emulator.complete(*ready)
    assert (refused.outcome, "time or memory" in refused.json["detail"]) == (
        INVALID_INPUT,
        True,
    )
    assert emulator.complete(*ready).outcome == (404, "upload_not_found")


@pytest.fixture
def stopped(emulator: EmulatorUnderTest) -> EmulatorUnderTest:
    """An emulator that has an Upload Session with bytes, and has ended its helpers."""
    emulator.application = Application(settings_of())
    emulator.application.close()
    return emulator


def test_a_picture_that_is_asked_for_while_the_emulator_stops_is_unavailable(
    stopped: EmulatorUnderTest, caplog: pytest.LogCaptureFixture
) -> None:
    pose = stopped.items("/poses")[0]

    answer = stopped.fetch(pose["card_image_url"])

    assert answer.outcome == (503, "service_unavailable")
    assert "the emulator is stopping" in answer.json["detail"]
    assert answer.retry_after == 1
    assert caplog.records == []


def test_an_upload_that_is_decoded_while_the_emulator_stops_stays_as_it_was(
    stopped: EmulatorUnderTest,
) -> None:
    session, token = stopped.ready_upload(DATA)

    answer = stopped.complete(session, token)

    assert answer.outcome == (503, "service_unavailable")
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


# The files of pictures ------------------------------------------------------------------------------------------------


@pytest.fixture
def asset(emulator: EmulatorUnderTest) -> Json:
    return emulator.upload(picture(size=(40, 40)))


def test_the_file_is_what_the_asset_says_and_can_only_be_read(
    emulator: EmulatorUnderTest, asset: Json
) -> None:
    answer = emulator.fetch(asset["url"])
    assert (
        answer.headers["content-length"]
        == str(asset["size_bytes"])
        == str(len(answer.body))
    )
    assert (answer.headers["content-type"], answer.headers["accept-ranges"]) == (
        "image/png",
        "bytes",
    )
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
def test_a_range_is_sent_or_refused(
    emulator: EmulatorUnderTest, asset: Json, asked: str, part: slice | None
) -> None:
    whole, answer = (
        emulator.fetch(asset["url"]).body,
        emulator.fetch(asset["url"], headers={"Range": asked}),
    )
    if part is None:
        assert (416, f"bytes */{len(whole)}") == (
            answer.status,
            answer.headers["content-range"],
        )
        return
    start, stop, _ = part.indices(len(whole))
    assert (206, whole[part]) == (answer.status, answer.body)
    assert f"bytes {start}-{stop - 1}/{len(whole)}" == answer.headers["content-range"]
    head = emulator.fetch(asset["url"], "HEAD", {"Range": asked})
    assert (206, b"", str(len(answer.body))) == (
        head.status,
        head.body,
        head.headers["content-length"],
    )


@pytest.mark.parametrize(
    "asked",
    [
        *(
            "",
            "bytes=",
            "bytes=-",
            "bytes=9-1",
            "bytes=x-",
            "bytes=٣-",
            "bytes 0-1",
            "lines=0-1",
            "bytes=0-1,3-4",
        ),
        *(
            "bytes==0-1",
            "bytes=+1-2",
            "bytes=0x1-2",
            f"bytes=0-{'9' * 400}",
            "bytes=" + "0-1," * 200,
        ),
    ],
)
def test_what_is_no_single_range_is_ignored(
    emulator: EmulatorUnderTest, asset: Json, asked: str
) -> None:
    answer = emulator.fetch(asset["url"], headers={"Range": asked})
    assert (200, asset["size_bytes"], None) == (
        answer.status,
        len(answer.body),
        answer.headers.get("content-range"),
    )


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
    answer = emulator.fetch(
        asset["url"], headers={"Range": "bytes=0-1", name: value.format(etag=etag)}
    )
    assert (status, etag) == (answer.status, answer.headers["etag"])
    assert status != 304 or not answer.body


def test_an_address_that_was_not_handed_out_leads_to_no_file(
    emulator: EmulatorUnderTest, asset: Json
) -> None:
    root, path = asset["url"].partition("/files/")[::2]
    others = {
        path[:place] + other + path[place + 1 :]
        for place in range(len(path))
        for other in ("", "~", "%00", "/")
    }
    others |= {f"../{path}", f"{path}/", path.upper(), path.replace("default", "other")}
    for other in sorted(others - {path}):
        assert (404, "not_found") == emulator.fetch(f"{root}/files/{other}").outcome, (
            other
        )


@pytest.mark.emulator(readings="D19=redirects", clock="manual")
def test_a_file_is_redirected_to_a_signed_address_for_a_minute(
    emulator: EmulatorUnderTest, asset: Json
) -> None:
    redirect = emulator.fetch(asset["url"])
    target = redirect.headers["location"]
    assert (302, 200) == (redirect.status, emulator.fetch(target).status)
    for changed in (
        target[:-1] + ("0" if target[-1] != "0" else "1"),
        re.sub(r"until=\d+", "until=9", target),
    ):
        assert (404, "not_found") == emulator.fetch(changed).outcome
    emulator.advance(TARGET_LIFETIME_MS // 1000 - 1)
    assert 200 == emulator.fetch(target).status
    emulator.advance(1)
    assert (404, "not_found") == emulator.fetch(target).outcome


@pytest.mark.parametrize("kind", KINDS)
def test_each_picture_of_an_ingredient_shows_something_else(
    emulator: EmulatorUnderTest, kind: str
) -> None:
    premade = emulator.items(INGREDIENT_PATHS[kind] + "?scope=global")
    *shown, own = [
        [
            emulator.fetch(url).body
            for url in ingredient.get("preview_image_urls")
            or [ingredient["card_image_url"]]
        ]
        for ingredient in [*premade, emulator.author(kind)]
    ]
    assert {(512, 640)} == {decode(file).size for file in own}
    files = [file for pictures in shown for file in pictures]
    assert len(files) == len(set(files))
    for image in map(decode, files):
        assert image.size > (100, 100)
        assert len(image.getcolors(image.width * image.height) or ()) > 1


def test_pictures_that_find_no_room_are_drawn_again_byte_for_byte(
    emulator: EmulatorUnderTest,
) -> None:
    generations = [
        emulator.wait_for(emulator.photograph(image_count=2).json) for _ in range(2)
    ]
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


def test_a_generation_is_drawn_at_once_and_only_once(
    emulator: EmulatorUnderTest, asset: Json
) -> None:
    works = [
        emulator.photograph(asset_ids=[asset["id"]], image_count=3).json
        for _ in range(2)
    ]
    outputs = [
        output for work in works for output in emulator.wait_for(work)["outputs"]
    ]
    with patch.object(Helpers, "run", autospec=True, side_effect=Helpers.run) as run:
        for output in outputs:
            emulator.get(f"/assets/{output['asset']['id']}")
            assert [call.args[1]["recipe"]["slot"] for call in run.call_args_list] == [
                1,
                2,
                3,
            ]
