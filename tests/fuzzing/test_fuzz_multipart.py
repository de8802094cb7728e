"""Forms in many parts, whole and broken, sent to everything that takes a body: nothing here takes one, nothing is done."""

from random import Random

import pytest

from tests.fuzzing import witness
from tests.fuzzing.cases import amounts, cases, changed_bytes, in_pieces
from tests.support.emulator_client import Call, EmulatorUnderTest, control_call
from tests.support.every_operation import CALLS, KEYED, Things, prepare
from tests.support.pictures import picture

BOUNDARIES = (
    b"x", b"----WebKitFormBoundary7MA4YWxkTrZu0gW", b"", b"a b", b"'()+_,-./:=?", b"x" * 200, b"\xff", b"--", b"\r\n",
)  # fmt: skip
DISPOSITIONS = (
    b'form-data; name="file"; filename="a.png"', b'form-data; name="size_bytes"', b"form-data", b"attachment", b"",
    b"form-data; name=\"a\"; filename*=UTF-8''%ff", b'form-data; name="' + b"a" * 5_000 + b'"',
    b'form-data; name="\xff\0"',
)  # fmt: skip
PART_HEADERS = (
    b"Content-Type: image/png", b"Content-Transfer-Encoding: base64", b"Content-Length: -1", b": x", b"x", b"\0: \0",
)  # fmt: skip
SEPARATORS = (b"\r\n", b"\n", b"\r\n\r\n", b"--", b"\0", b"\xff", b"Content-Disposition: ", b"; ")
MEDIA_TYPES = (
    "multipart/form-data", "multipart/mixed", "multipart/related", "multipart/", "MULTIPART/FORM-DATA", "multipart/x",
)  # fmt: skip
CONTROL_PATHS = (
    *(("POST", "/sandboxes"), ("POST", "/reset"), ("PUT", "/clock"), ("POST", "/clock/advance"), ("POST", "/teams")),
    *(("PUT", "/scenario"), ("PUT", "/state"), ("PATCH", "/teams/Demo")),
)


def form(chance: Random, boundary: bytes) -> bytes:
    """Return a form: parts between boundaries, one within another now and then, mostly with something wrong."""
    parts = b""
    for _ in range(chance.choice((0, 1, 1, 2, 3, 40))):
        lines = [b"--" + boundary, b"Content-Disposition: " + chance.choice(DISPOSITIONS)]
        lines += chance.sample(PART_HEADERS, chance.choice((0, 0, 1, 2)))
        content = chance.choice(
            (picture(), b'{"content_type": "image/png", "size_bytes": 10}', b"", b"--" + boundary, b"10")
        )
        parts += b"\r\n".join([*lines, b"", content, b""])
    data = parts + b"--" + boundary + chance.choice((b"--\r\n", b"--", b"", b"\r\n"))
    for _ in range(chance.choice((0, 0, 1, 3))):
        data = changed_bytes(data, chance, SEPARATORS)
    return data or b"--"


@pytest.mark.parametrize("amount", amounts(120, 6_000))
def test_a_form_is_refused_by_everything(control: EmulatorUnderTest, amount: int) -> None:
    things = prepare(control)
    address = control.open_upload(100)["upload"]
    before = witness.everything(control)
    for case in cases("forms", amount):
        boundary = case.chance.choice(BOUNDARIES)
        call = some_call(case.chance, things, address)
        content = form(case.chance, boundary)
        call.json = None
        if case.chance.random() < 0.3:
            call.pieces = in_pieces(content, case.chance)
        else:
            call.content = content
        media_type = f"{case.chance.choice(MEDIA_TYPES)}; boundary={boundary.decode('latin-1')}"
        call.headers = [*dict(call.headers).items(), ("Content-Type", media_type)]
        with case.told(call=call):
            answer = control.send(call)
            assert (answer.status, answer.code) in ((400, "invalid_request"), (422, "invalid_scenario"))
            assert witness.differences(before, witness.everything(control)) == []


def some_call(chance: Random, things: Things, address: dict[str, object]) -> Call:
    """Return a request to something that takes a body."""
    kind = chance.randrange(3)
    if kind == 0:
        return CALLS[chance.choice(KEYED)](things)
    if kind == 1:
        return control_call(*chance.choice(CONTROL_PATHS))
    headers = {name: value for name, value in dict(address["headers"]).items() if name != "Content-Type"}  # type: ignore[call-overload]
    return Call("POST", str(address["url"]), headers=headers, key=None, idempotency_key=None)
