"""The signed upload address against a small model of D16: whatever is sent, however it is cut, whoever leaves half way."""

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random

import pytest

from tests.fuzzing import witness
from tests.fuzzing.cases import amounts, cases, in_pieces
from tests.support.emulator_client import Answer, Call, EmulatorUnderTest, Json

SIZES = (1, 2, 63, 1_000, 70_000)
WINDOW_SECONDS = 15 * 60
FOREIGN_HEADERS = (
    *(("Range", "bytes=0-1"), ("Expect", "100-continue"), ("Content-Encoding", "gzip"), ("Idempotency-Key", "k")),
    *(("Emulator-Fault", "internal_error"), ("X-Forwarded-Host", "other.test"), ("Cookie", "a=b"), ("Accept", "x")),
    *(("Origin", "http://other.test"), ("Content-MD5", "AAAA"), ("Digest", "x"), ("Date", "yesterday")),
)
BAD_VALUES = ("", " ", "image/jpeg", "image/png; q=1", "multipart/form-data; boundary=x", "x" * 3_000, "\u00ff", "0")


@dataclass(slots=True)
class Model:
    """An upload session as D16 has it."""

    session: Json
    size: int
    accepted: bytes | None = None
    is_expired: bool = False

    def outcome(self, attempt: Call) -> tuple[int, str]:
        """Return what an attempt must be answered with, and remember what it does."""
        headers, data = dict(attempt.headers), data_of(attempt)
        if attempt.target != self.session["upload"]["url"]:
            return 404, "upload_not_found"
        if attempt.method != "POST":
            return 405, "invalid_request"
        if "Authorization" in headers:
            return 400, "invalid_request"
        if self.is_expired:
            return 410, "upload_expired"
        if any(headers.get(name, "").strip() != value for name, value in self.needed.items()):
            return 400, "invalid_request"
        if headers.get("Content-Encoding", "identity") != "identity":
            return 400, "invalid_request"  # D52
        if self.accepted is None and len(data) == self.size:
            self.accepted = data
        if self.accepted is None:
            return 400, "invalid_request"
        return (200, "token") if data == self.accepted else (409, "upload_bytes_conflict")

    @property
    def needed(self) -> Mapping[str, str]:
        """The headers that the session asks for."""
        return dict(self.session["upload"]["headers"])


def data_of(attempt: Call) -> bytes:
    return attempt.content or b"".join(attempt.pieces or ())


def attempt_at(model: Model, chance: Random) -> Call:
    """Return the right request, or one in which something is wrong."""
    upload, headers, data = model.session["upload"], dict(model.needed), data_for(model, chance)
    attempt = Call(upload["method"], upload["url"], content=data, headers=headers, key=None, idempotency_key=None)
    for _ in range(chance.choice((0, 0, 1, 2))):
        match chance.randrange(6):
            case 0:
                attempt.method = chance.choice(("GET", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "BREW"))
            case 1:
                attempt.target = spoiled_address(upload["url"], chance)
            case 2:
                headers[chance.choice(list(model.needed))] = chance.choice(BAD_VALUES)
            case 3:
                headers.pop(chance.choice(list(model.needed)), None)
            case 4:
                headers["Authorization"] = chance.choice(("Bearer iwe_demo_full", "", "Basic x"))
            case 5:
                name, value = chance.choice(FOREIGN_HEADERS)
                headers[name] = value
    if chance.random() < 0.5:
        attempt.pieces, attempt.content = in_pieces(data, chance) or [b""], None
    return attempt


def data_for(model: Model, chance: Random) -> bytes:
    """Return bytes of the right length or another, known or not."""
    right = model.accepted or bytes([chance.randrange(3)]) * model.size
    others = (b"", right[:-1], right + b"\0", right * 2, right[::-1], b"\xff" * model.size)
    return right if chance.random() < 0.5 else chance.choice(others)


def spoiled_address(url: str, chance: Random) -> str:
    head, _, signature = url.rpartition("/")
    turned = signature[:-1] + ("0" if signature[-1] != "0" else "1")
    others = (
        *(head, f"{head}/", f"{head}/{turned}", f"{head}/{signature.upper()}x", f"{url}/", f"{url}?a=b", f"{url}%00"),
        *(url.replace("/default/", "/other/"), url.replace("upl_", "ast_"), url.replace("/upl_", "//upl_")),
        *(f"{head}/{'a' * 5_000}", f"{head}/%ff%fe", f"{head}/%C3%A9", url.replace("/upl_", "/../upl_")),
    )
    return chance.choice(others)


@pytest.mark.parametrize("amount", amounts(50, 3_000))
def test_an_upload_address_answers_as_the_model_says_and_keeps_what_it_accepted(
    control: EmulatorUnderTest, amount: int
) -> None:
    seen: set[tuple[int, str]] = set()
    for case in cases("upload address", amount):
        if case.begins_an_episode:
            control.ask("POST", "/reset")
        size = case.chance.choice(SIZES)
        model = Model(control.open_upload(size), size)
        token = ""
        for _ in range(case.chance.randint(1, 6)):
            if case.chance.random() < 0.03:
                control.advance(WINDOW_SECONDS)
                model.is_expired = True
            attempt = attempt_at(model, case.chance)
            with case.told(attempt=attempt, model=model):
                before, accepted = witness.everything(control), model.accepted
                expected = model.outcome(attempt)
                answer = control.send(attempt)
                if attempt.method == "HEAD":
                    assert (expected[0], b"") == (answer.status, answer.body)
                else:
                    assert expected == outcome_of(answer)
                if expected[0] == 200:
                    assert answer.json["upload_token"] == (token or answer.json["upload_token"])
                    token = answer.json["upload_token"]
                if accepted == model.accepted:
                    assert witness.differences(before, witness.everything(control)) == []
                seen.add(expected)
    assert {200, 400, 404, 405, 409, 410} == {status for status, _ in seen}


def outcome_of(answer: Answer) -> tuple[int, str]:
    """Return status and code; the kind of a success is the one member that it has."""
    if answer.status == 200:
        assert list(answer.json) == ["upload_token"]
        return 200, "token"
    return answer.outcome


@pytest.mark.parametrize("amount", amounts(30, 1_500))
def test_bytes_that_stop_half_way_leave_nothing(control: EmulatorUnderTest, amount: int) -> None:
    for case in cases("half an upload", amount):
        if case.begins_an_episode:
            control.ask("POST", "/reset")
        size = case.chance.choice(SIZES)
        model = Model(control.open_upload(size), size)
        if case.chance.random() < 0.3:
            control.send_bytes(model.session, b"\1" * size)
        attempt = attempt_at(model, case.chance)
        pieces = in_pieces(data_of(attempt)[: case.chance.randrange(size + 1)], case.chance)
        with case.told(attempt=attempt, pieces=pieces):
            before = witness.everything(control)
            attempt.pieces, attempt.content, attempt.disconnects = pieces or [b""], None, True
            control.run(control._send(attempt))  # refused at once, or not answered at all
            assert witness.differences(before, witness.everything(control)) == []


@pytest.mark.parametrize("size", [1_000_000, 20_000_000])
def test_no_more_is_kept_than_the_session_declared_and_no_more_is_read_than_needed(
    control: EmulatorUnderTest, size: int
) -> None:
    session = control.open_upload(10)
    before = control.application.sandboxes.memory.held_bytes
    answer = control.send_bytes(session, b"", pieces=[bytes(100_000)] * (size // 100_000))
    assert (400, "invalid_request") == answer.outcome
    assert 1 == answer.pieces_taken, "the answer waited for bytes that could not change it"
    assert before == control.application.sandboxes.memory.held_bytes
