"""The links to files against a small model of D19: ranges, conditions, methods, and addresses that were never handed out."""

import re
from dataclasses import dataclass
from random import Random
from urllib.parse import unquote

import pytest

from tests.fuzzing import witness
from tests.fuzzing.cases import amounts, cases
from tests.support.emulator_client import Answer, Call, EmulatorUnderTest
from tests.support.pictures import picture

DIGITS = ("0", "1", "2", "00", "7", "9" * 18, "9" * 19, "9" * 400, "", "-1", "+1", "x", "٣", "1.5", "0x1")
UNITS = ("bytes", "Bytes", "byte", "lines", "", "bytes bytes")
TAGS = ('"other"', "*", 'W/"other"', '"', "", "x" * 3_000, '"a", "b"', "\u00ff", ",,,")
METHODS = ("GET", "GET", "GET", "HEAD", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "BREW")

Header = tuple[str, str]


@dataclass(frozen=True, slots=True)
class File:
    """A file as it is: where it lies, its bytes, its ETag."""

    url: str
    data: bytes
    etag: str


def some_range(chance: Random, size: int) -> str:
    """Return a Range header: often a good one, often almost one."""

    def number() -> str:
        near = (0, 1, size // 2, size - 1, size, size + 1)
        return str(chance.choice(near)) if chance.random() < 0.7 else chance.choice(DIGITS)

    def one() -> str:
        return chance.choice(
            (f"{number()}-{number()}", f"{number()}-", f"-{number()}", f" {number()} - {number()} ", "")
        )

    unit = "bytes" if chance.random() < 0.9 else chance.choice(UNITS)
    ranges = [one() for _ in range(chance.choice((1, 1, 1, 1, 2, 200)))]
    return f"{unit}{chance.choice(('=', '=', '=', '=', ' ', '=='))}{','.join(ranges)}"


def expected_part(asked: str | None, size: int) -> slice | type[IndexError] | None:
    """Return the part of a file that a Range header asks for; None for all of it, IndexError for what it has not.

    A server may ignore any range (RFC 9110); the emulator ignores what is not a single range of at most 18 digits.
    """
    match = re.fullmatch(r"(?i:bytes)=([0-9]{0,18})-([0-9]{0,18})", (asked or "").replace(" ", ""))
    if match is None or match.groups() == ("", ""):
        return None
    first, last = match.groups()
    if not first:
        return slice(max(size - int(last), 0), size) if int(last) else IndexError
    if last and int(last) < int(first):
        return None
    return slice(int(first), min(int(last) + 1, size) if last else size) if int(first) < size else IndexError


@pytest.mark.parametrize("amount", amounts(500, 40_000))
def test_a_file_is_answered_as_the_model_says(control: EmulatorUnderTest, amount: int) -> None:
    files = [stored(control, size) for size in ((1, 1), (40, 30))]
    before = witness.everything(control)
    seen = set()
    for case in cases("ranges", amount):
        file, method = case.chance.choice(files), case.chance.choice(METHODS)
        headers = some_headers(case.chance, file)
        with case.told(method=method, headers=headers):
            answer = control.send(Call(method, file.url, key=None, idempotency_key=None, headers=headers))
            check(answer, file, method, dict(headers))
            seen.add(answer.status)
    assert {200, 206, 304, 405, 416} == seen
    assert witness.differences(before, witness.everything(control)) == []


def stored(control: EmulatorUnderTest, size: tuple[int, int]) -> File:
    url = control.upload(picture(size=size))["url"]
    answer = control.fetch(url)
    return File(url, answer.body, answer.headers["etag"])


def some_headers(chance: Random, file: File) -> list[Header]:
    """Return headers that ask for a part of a file, on some conditions."""
    tags = (file.etag, f"W/{file.etag}", f'"x", {file.etag}', *TAGS)
    headers = [("Range", some_range(chance, len(file.data)))] if chance.random() < 0.8 else []
    if chance.random() < 0.3:
        headers.append(("If-Range", chance.choice((file.etag, file.etag, *tags))))
    if chance.random() < 0.2:
        headers.append(("If-None-Match", chance.choice(tags)))
    if chance.random() < 0.2:
        headers.append(
            chance.choice((("Authorization", "x"), ("Accept", "image/bmp"), ("If-Match", '"x"'), ("Range", "")))
        )
    return headers


def check(answer: Answer, file: File, method: str, headers: dict[str, str]) -> None:
    if method not in ("GET", "HEAD"):
        assert (405, "GET, HEAD") == (answer.status, answer.headers["allow"])
        return
    matching = [tag.strip().removeprefix("W/") for tag in headers.get("If-None-Match", "").split(",")]
    if file.etag in matching or headers.get("If-None-Match", "").strip() == "*":
        assert (304, b"", file.etag) == (answer.status, answer.body, answer.headers["etag"])
        return
    size = len(file.data)
    part = expected_part(headers.get("Range"), size)
    if headers.get("If-Range", file.etag).strip() != file.etag:
        part = None
    if part is IndexError:
        assert (416, f"bytes */{size}") == (answer.status, answer.headers["content-range"])
        return
    body = file.data[part] if isinstance(part, slice) else file.data
    assert (206 if isinstance(part, slice) else 200) == answer.status
    shown = f"bytes {part.start}-{part.stop - 1}/{size}" if isinstance(part, slice) else None
    assert shown == answer.headers.get("content-range")
    assert str(len(body)) == answer.headers["content-length"]
    assert (body if method == "GET" else b"") == answer.body


@pytest.mark.parametrize("amount", amounts(300, 20_000))
def test_an_address_that_was_not_handed_out_leads_to_no_file(control: EmulatorUnderTest, amount: int) -> None:
    url = control.upload(picture())["url"]
    root = url.partition("/files/")[0]
    alphabet = "0123456789abcdefghijklmnopqrstuvwxyz-_./%~+ \u00e9\u0663\x7f"
    for case in cases("links", amount):
        chance, other = case.chance, list(url.removeprefix(root))
        for _ in range(chance.choice((1, 1, 2, 5))):
            place = chance.randrange(1, len(other))
            other[place : place + chance.choice((0, 1, 1, 20))] = chance.choice(
                ("", *alphabet, "..", "%00", "%2f", "%zz")
            )
        changed = "".join(other)
        if unquote(changed) == url.removeprefix(root) or not changed.startswith("/files"):
            continue  # the same address, or one of another surface
        with case.told(changed=changed):
            answer = control.fetch(root + changed.replace(" ", "%20").encode("ascii", "xmlcharrefreplace").decode())
            assert (404, "not_found") == answer.outcome
