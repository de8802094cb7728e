"""Bodies as `/v1` reads them: media types, depth, and numbers (D03, D52, D56).

What the standard library reads is compared by tests/fuzzing/test_fuzz_json.py.
"""

import json

import pytest

from tests.support.emulator_client import UPLOAD_CONTENT, Answer
from tests.support.emulator_under_test import EmulatorUnderTest

DEEPEST = 254


def post(
    emulator: EmulatorUnderTest,
    body: bytes,
    media_type: str = "application/json",
) -> Answer:
    """Send a body to an operation that opens an Upload Session."""
    return emulator.post("/uploads", content=body, headers={"Content-Type": media_type})


@pytest.mark.parametrize(
    "media_type",
    [
        "application/json",
        "application/json; charset=utf-8",
        "application/json; charset=utf8",
        'application/json;charset="UTF-8"',
        "application/merge-patch+json",
    ],
)
def test_json_in_utf_8_is_read_however_it_is_announced(
    emulator: EmulatorUnderTest,
    media_type: str,
) -> None:
    assert post(emulator, UPLOAD_CONTENT, media_type).status == 201


@pytest.mark.parametrize(
    "media_type",
    ["application/json; charset=latin-1", "text/json", "application/jsonp"],
)
def test_any_other_media_type_is_refused(
    emulator: EmulatorUnderTest,
    media_type: str,
) -> None:
    refused = post(emulator, UPLOAD_CONTENT, media_type)

    assert refused.status == 400
    assert refused.code == "invalid_request"


# Depth --------------------------------------------------------------------------------


def nested(levels: int) -> bytes:
    """Return arrays in an object, of some levels in all."""
    arrays = levels - 1
    return b'{"name": ' + b"[" * arrays + b"]" * arrays + b"}"


def test_a_body_with_the_most_levels_is_read(emulator: EmulatorUnderTest) -> None:
    answer = post(emulator, nested(DEEPEST))

    assert answer.status == 422
    assert answer.code == "invalid_input"


def test_a_body_with_a_level_more_is_refused(emulator: EmulatorUnderTest) -> None:
    refused = post(emulator, nested(DEEPEST + 1))

    assert refused.status == 400
    assert refused.code == "invalid_request"


@pytest.mark.parametrize(
    "text",
    ["[" * 300, '"' + "[" * 300, "\\" + "{" * 300, '\\"' + "[{" * 300],
    ids=["brackets", "after a quote", "after a backslash", "after both"],
)
def test_brackets_in_a_text_are_no_levels(
    emulator: EmulatorUnderTest,
    text: str,
) -> None:
    body = json.dumps({"name": text}).encode()

    answer = post(emulator, body)

    assert answer.status == 422
    assert answer.code == "invalid_input"


# Numbers ------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [2**53 + 1, 10**17 + 1])
def test_an_integer_that_no_double_has_is_read_exactly(
    emulator: EmulatorUnderTest,
    size: int,
) -> None:
    body = {"content_type": "image/png", "size_bytes": size}

    refused = emulator.post("/uploads", body)

    assert f"found {size}" in refused.json["detail"]
