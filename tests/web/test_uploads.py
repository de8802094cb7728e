"""From a signed address that takes raw bytes to an Asset (D15 to D17, D45, D49)."""

import pytest
from PIL import Image

from image_workflow_emulator.imaging.helpers import Helpers, LostHelperError
from tests.support.emulator_client import FULL, INVALID_INPUT, UPLOAD, Call, EmulatorUnderTest, Json, control_call
from tests.support.pictures import encode, picture

DATA = picture()
WINDOW = 15 * 60


@pytest.fixture
def session(emulator: EmulatorUnderTest) -> Json:
    return emulator.open_upload(len(DATA))


def call_of(session: Json, *pieces: bytes) -> Call:
    """Return a request that sends bytes in pieces, by default the right ones, with the session's headers."""
    upload = session["upload"]
    return Call("POST", upload["url"], pieces=pieces or (DATA[:9], DATA[9:]), key=None, headers=upload["headers"])


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
    call.method, call.target, call.headers = method, call.target + path, {**session["upload"]["headers"], **headers}
    before = held_bytes(emulator)
    assert (emulator.send(call).outcome, held_bytes(emulator)) == (outcome, before)


def test_headers_that_no_upload_asks_for_change_nothing(emulator: EmulatorUnderTest, session: Json) -> None:
    foreign = {"Range": "bytes=0-1", "Cookie": "a=b", "Idempotency-Key": "k", "Emulator-Fault": "internal_error"}
    headers = {**session["upload"]["headers"], **foreign, "Content-Encoding": "identity"}
    assert emulator.send_bytes(session, DATA, headers=headers).status == 200


def test_no_more_is_read_than_the_session_declared(emulator: EmulatorUnderTest) -> None:
    answer = emulator.send_bytes(emulator.open_upload(10), b"", pieces=[bytes(100_000)] * 100)
    assert (answer.outcome, answer.pieces_taken, held_bytes(emulator)) == (REFUSED, 1, 0)


def test_a_wrong_number_of_bytes_is_told_with_the_right_one(emulator: EmulatorUnderTest) -> None:
    session = emulator.open_upload(1)
    for found, body in (("2 bytes", b"ab"), ("0 bytes", [b""]), ("more than 1 byte", [b"ab"])):
        sent: Json = {"pieces": body} if isinstance(body, list) else {}
        answer = emulator.send_bytes(session, b"ab", **sent)
        assert answer.json["detail"] == f"the body: found {found}; expected size_bytes, 1"
    emulator.send_bytes(session, b"a")
    again = emulator.send_bytes(session, b"", pieces=[b"ab"]).json["detail"]
    assert again.endswith(f"expected those that {session['id']} accepted already, or a new session")


def test_two_uploads_at_the_same_time_agree_or_conflict(emulator: EmulatorUnderTest, session: Json) -> None:
    first, second = emulator.together(call_of(session), call_of(session))
    assert (first.status, first.json) == (200, second.json)
    session = emulator.open_upload(len(DATA))
    answers = emulator.together(call_of(session), call_of(session, DATA[:9], b"z" * len(DATA[9:])))
    assert sorted(answer.status for answer in answers) == [200, 409]


@pytest.mark.parametrize("name", ["Content-Type", "X-Upload-Binding"])
def test_each_header_must_be_there_once_in_whatever_case(emulator: EmulatorUnderTest, session: Json, name: str) -> None:
    headers = {key.upper(): value for key, value in session["upload"]["headers"].items()}
    missing = {key: value for key, value in headers.items() if key != name.upper()}
    padded = {**headers, name.upper(): headers[name.upper()] + "\u00a0"}
    for wrong in (missing, {name: "another", **headers}, padded):
        answer = emulator.send_bytes(session, DATA, headers=wrong)
        assert (answer.outcome, name.lower() in answer.json["detail"]) == (REFUSED, True)
    assert emulator.send_bytes(session, DATA, headers=headers).status == 200


@pytest.mark.parametrize(("data", "status"), [(DATA, 201), (b"no picture", 422)], ids=["exchanged", "failed"])
def test_a_finished_session_is_gone_after_its_window(emulator: EmulatorUnderTest, data: bytes, status: int) -> None:
    """D45."""
    session, token = emulator.ready_upload(data)
    assert emulator.complete(session, token).status == status
    unannounced = emulator.send_bytes(session, b"", pieces=[b"x" * 9, b"y" * 9_000])
    assert unannounced.outcome == (409, "upload_bytes_conflict")
    emulator.advance(WINDOW)
    assert [emulator.send_bytes(session, sent).outcome for sent in (data, b"x")] == [(404, "upload_not_found")] * 2


def test_bytes_still_coming_when_the_window_closes_are_late(emulator: EmulatorUnderTest, session: Json) -> None:
    before = held_bytes(emulator)
    answer, _ = emulator.together(call_of(session), control_call("POST", "/clock/advance", {"seconds": WINDOW}))
    assert (answer.outcome, held_bytes(emulator)) == ((410, "upload_expired"), before)


def test_a_process_that_is_full_takes_no_new_uploads(emulator: EmulatorUnderTest) -> None:
    asset = emulator.upload(DATA)
    emulator.sandbox.memory.limit_bytes = held_bytes(emulator)
    refused = emulator.post("/uploads", UPLOAD)
    assert (refused.outcome, refused.retry_after) == ((503, "service_unavailable"), 60)
    assert emulator.photograph(asset_ids=[asset["id"]]).outcome == (503, "service_unavailable")
    emulator.delete(f"/assets/{asset['id']}")
    assert emulator.post("/uploads", UPLOAD).status == 201


@pytest.mark.emulator(max_memory=len(DATA))
def test_bytes_that_find_no_room_while_they_come_are_refused_and_may_come_again(emulator: EmulatorUnderTest) -> None:
    answers = emulator.together(*(call_of(emulator.open_upload(len(DATA))) for _ in range(2)))
    accepted, refused = sorted(answers, key=lambda answer: answer.status)
    assert (accepted.status, refused.outcome, refused.retry_after) == (200, (503, "service_unavailable"), 60)
    emulator.advance(WINDOW)
    assert (held_bytes(emulator), emulator.send_bytes(emulator.open_upload(len(DATA)), DATA).status) == (0, 200)


GROWING = encode(Image.effect_noise((90, 90), 99), "image/avif", quality=10)


@pytest.mark.emulator(max_memory=len(GROWING) + 100)
def test_an_upload_whose_asset_finds_no_room_stays_as_it_was(emulator: EmulatorUnderTest) -> None:
    ready = emulator.ready_upload(GROWING, "image/avif")
    assert emulator.complete(*ready).outcome == (503, "service_unavailable")
    assert held_bytes(emulator) == len(GROWING)
    emulator.sandbox.memory.limit_bytes = 100_000
    assert emulator.complete(*ready).status == 201


@pytest.mark.parametrize("meanwhile", ["reset", "deleted"])
def test_bytes_whose_sandbox_ends_meanwhile_are_not_found(emulator: EmulatorUnderTest, meanwhile: str) -> None:
    emulator.told("POST", "/sandboxes", {"id": "mine"})
    session = emulator.open_upload(len(DATA), key=f"{FULL}_mine")
    method, path = ("POST", "/reset") if meanwhile == "reset" else ("DELETE", "")
    end = control_call(method, path, sandbox="mine")
    before = held_bytes(emulator)
    answer, _ = emulator.together(call_of(session), end)
    assert (answer.outcome, held_bytes(emulator)) == ((404, "upload_not_found"), before)


@pytest.mark.parametrize("token", ["", "x", "upt_" + "0" * 32, "string", "\ud7ff", "a" * 100_000, "another session's"])
def test_a_wrong_token_is_refused_and_the_right_one_serves_once(emulator: EmulatorUnderTest, token: str) -> None:
    """D17, D49."""
    (session, right), (_, another) = emulator.ready_upload(), emulator.ready_upload()
    wrong = another if token == "another session's" else token
    found = [emulator.complete(session, said).outcome for said in (wrong, right, right)]
    assert found == [INVALID_INPUT, (201, "asset"), (404, "upload_not_found")]


def test_bytes_that_cost_their_helper_are_refused(emulator: EmulatorUnderTest, monkeypatch: pytest.MonkeyPatch) -> None:
    async def lose(*_: object) -> None:
        raise LostHelperError

    ready = emulator.ready_upload()
    monkeypatch.setattr(Helpers, "run", lose)
    refused = emulator.complete(*ready)
    assert (refused.outcome, "time or memory" in refused.json["detail"]) == (INVALID_INPUT, True)
    assert emulator.complete(*ready).outcome == (404, "upload_not_found")
