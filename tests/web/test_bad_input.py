"""Malformed and hostile bodies: the documented 4xx, nothing left behind, and never a
500 (D03 to D05).
"""

import pytest

from tests.support.emulator_client import INVALID_INPUT, JSON, UPLOAD_CONTENT, Json
from tests.support.emulator_under_test import EmulatorUnderTest

MEBIBYTE = 1024 * 1024
CREATED = (201, "upload")
MALFORMED = (400, "invalid_request")
TOO_LARGE = (413, "invalid_request")


@pytest.mark.parametrize("encoding", ["gzip", "br", "identity, gzip"])
def test_a_compressed_body_is_malformed(
    emulator: EmulatorUnderTest,
    encoding: str,
) -> None:
    headers = JSON | {"Content-Encoding": encoding}

    answer = emulator.post("/uploads", content=UPLOAD_CONTENT, headers=headers)

    assert answer.outcome == MALFORMED


@pytest.mark.parametrize(
    "content_type",
    [
        "text/plain",
        "",
        "application/x-www-form-urlencoded",
        "application/json; charset=utf-16",
        "text/json",
        "json",
        "multipart/form-data",
        "application/jsonp",
        "application/octet-stream",
        "application/problem",
    ],
)
def test_a_body_that_is_not_declared_as_json_is_malformed(
    emulator: EmulatorUnderTest,
    content_type: str,
) -> None:
    headers = {"Content-Type": content_type}

    answer = emulator.post("/uploads", content=UPLOAD_CONTENT, headers=headers)

    assert answer.outcome == MALFORMED


@pytest.mark.parametrize(
    "content_type",
    [
        "application/json",
        "APPLICATION/JSON",
        "application/json; charset=utf-8",
        'application/json;charset="UTF-8"',
        "application/vnd.shop+json",
    ],
)
def test_a_body_is_declared_as_json(
    emulator: EmulatorUnderTest,
    content_type: str,
) -> None:
    headers = {"Content-Type": content_type}

    answer = emulator.post("/uploads", content=UPLOAD_CONTENT, headers=headers)

    assert answer.outcome == CREATED


@pytest.mark.parametrize(
    "values",
    [
        ("application/json", "text/plain"),
        ("text/plain", "application/json"),
        ("application/json",) * 2,
    ],
)
def test_a_content_type_that_comes_twice_is_malformed(
    emulator: EmulatorUnderTest,
    values: tuple[str, str],
) -> None:
    """D59."""
    headers = [("Content-Type", value) for value in values]

    answer = emulator.post("/uploads", content=UPLOAD_CONTENT, headers=headers)

    assert answer.outcome == MALFORMED
    assert "more than one such header" in answer.json["detail"]


def upload_of(size_bytes: str) -> bytes:
    return f'{{"content_type": "image/png", "size_bytes": {size_bytes}}}'.encode()


@pytest.mark.parametrize(
    "number",
    ["5", "5.0", "5e0", "50e-1", "5.0000000000000001", "50000000000000000000001e-22"],
)
def test_a_number_is_whole_if_its_double_is(
    emulator: EmulatorUnderTest,
    number: str,
) -> None:
    """D52."""
    answer = emulator.post("/uploads", content=upload_of(number), headers=JSON)

    assert answer.outcome == CREATED


@pytest.mark.parametrize(
    "number",
    ["5.01", "1e-400", "1e300", "-1e300", "9" * 300, "123456789012345678901234567890"],
)
def test_a_number_that_the_contract_forbids_is_named(
    emulator: EmulatorUnderTest,
    number: str,
) -> None:
    """D52."""
    answer = emulator.post("/uploads", content=upload_of(number), headers=JSON)

    assert answer.outcome == INVALID_INPUT
    assert answer.json["detail"].startswith("/size_bytes: found ")


@pytest.mark.parametrize("number", ["1e999", "-1e999", "9" * 5_000, "-" + "9" * 5_000])
def test_a_number_larger_than_any_double_is_malformed(
    emulator: EmulatorUnderTest,
    number: str,
) -> None:
    """D52."""
    answer = emulator.post("/uploads", content=upload_of(number), headers=JSON)

    assert answer.outcome == MALFORMED
    assert "larger than any double" in answer.json["detail"]


@pytest.mark.parametrize("escape", [r"\ud800", r"\udc00\ud800", r"\uD83D\u0041"])
def test_half_of_a_surrogate_pair_is_malformed(
    emulator: EmulatorUnderTest,
    escape: str,
) -> None:
    """D03."""
    answer = emulator.post(
        "/products",
        content=f'{{"name": "{escape}"}}'.encode(),
        headers=JSON,
    )

    assert answer.outcome == MALFORMED
    assert "half of a surrogate pair" in answer.json["detail"]


@pytest.mark.parametrize("levels", [255, 5_000, 500_000])
def test_deep_nesting_is_malformed(emulator: EmulatorUnderTest, levels: int) -> None:
    """D56."""
    answer = emulator.post(
        "/products",
        content=b"[" * levels + b"]" * levels,
        headers=JSON,
    )

    assert answer.outcome == MALFORMED
    assert answer.json["detail"] == (
        "(body): found arrays and objects nested too deeply; expected at most 254 "
        "levels"
    )


@pytest.mark.parametrize(
    "content",
    [b"[" * 253 + b"]" * 253, b"[" + b"[]," * 100_000 + b"[]]"],
    ids=["deep", "wide"],
)
def test_arrays_within_the_levels_are_checked_against_the_contract(
    emulator: EmulatorUnderTest,
    content: bytes,
) -> None:
    """D56: whatever their number."""
    answer = emulator.post(
        "/products",
        content=b'{"name": ' + content + b"}",
        headers=JSON,
    )

    assert answer.outcome == INVALID_INPUT


@pytest.mark.parametrize(
    ("path", "content", "detail"),
    [
        (
            "/uploads",
            b'{"a":"\xff"}',
            "(body): found 0xff, which is not UTF-8, at byte 7; expected JSON in UTF-8",
        ),
        (
            "/uploads",
            b'{"content_type": "image/png", "size_bytes": 1, "a/b~c": 1}',
            "/a~1b~0c: found an unknown field; ",
        ),
        (
            "/generations/product-photography",
            b'{"background": {"type": "automatic", "~/": {}}}',
            "/background/~0~1: found ",
        ),
    ],
)
def test_a_detail_has_the_byte_or_the_escaped_pointer(
    emulator: EmulatorUnderTest,
    path: str,
    content: bytes,
    detail: str,
) -> None:
    answer = emulator.post(path, content=content, headers=JSON)

    assert detail in answer.json["detail"]


@pytest.mark.parametrize(
    ("size", "outcome"),
    [(MEBIBYTE, CREATED), (MEBIBYTE + 1, TOO_LARGE)],
)
def test_a_body_of_one_mebibyte_is_read_and_a_larger_one_is_not(
    emulator: EmulatorUnderTest,
    size: int,
    outcome: tuple[int, str],
) -> None:
    content = UPLOAD_CONTENT.ljust(size)

    answer = emulator.post("/uploads", content=content, headers=JSON)

    assert answer.outcome == outcome


def test_a_body_that_grows_beyond_one_mebibyte_is_not_read_on(
    emulator: EmulatorUnderTest,
) -> None:
    pieces = [b" " * (MEBIBYTE // 2)] * 3

    answer = emulator.post("/uploads", pieces=pieces, headers=JSON)

    assert answer.outcome == TOO_LARGE


@pytest.mark.parametrize(
    "name",
    [
        "",
        " ",
        "\t\n",
        "\u00a0",
        "\u2003\u3000",
        "\u200b",
        "\ufeff \u2060",
        "\u00ad\u200d",
        "\0",
        "a\0b",
    ],
)
def test_a_name_that_cannot_be_seen_is_refused(
    emulator: EmulatorUnderTest,
    asset_id: str,
    name: str,
) -> None:
    """D04."""
    body = {"name": name, "asset_ids": [asset_id], "primary_asset_id": asset_id}

    answer = emulator.post("/products", body)

    assert answer.outcome == INVALID_INPUT


@pytest.mark.parametrize(
    "name",
    [
        "x",
        " x ",
        "\u200bx",
        "Ünïcödé ✓",
        "\U0001f457",
        "a\u0001b",
        "\u202eabc",
        "x" * 500_000,
        "e\u0301",
        "'\";--",
    ],
)
def test_any_other_name_is_kept_as_it_is(
    emulator: EmulatorUnderTest,
    asset_id: str,
    name: str,
) -> None:
    """D04."""
    product = emulator.product(asset_id, name=name)

    assert emulator.get(f"/products/{product['id']}").json["name"] == name


def test_a_problem_names_every_violation_and_the_field_that_may_be_meant(
    emulator: EmulatorUnderTest,
) -> None:
    body = {"size_byte": 1, "content_type": "text/plain", "size_bytes": 0}

    answer = emulator.post("/uploads", body)

    assert answer.json["detail"] == (
        '/content_type: found "text/plain"; expected one of image/jpeg, image/png, '
        "image/gif, image/webp, image/avif. "
        "/size_byte: found an unknown field; expected only content_type, size_bytes; "
        'did you mean "size_bytes"? '
        "/size_bytes: found 0; expected a whole number from 1 to 73400320"
    )


def test_a_value_that_looks_like_the_end_of_a_sentence_is_quoted_whole(
    emulator: EmulatorUnderTest,
) -> None:
    body = {"content_type": "is it?. no", "size_bytes": 0}

    answer = emulator.post("/uploads", body)

    detail = answer.json["detail"]
    assert detail.startswith('/content_type: found "is it?. no"; expected')


@pytest.mark.parametrize(
    ("count", "told", "rest"),
    [(13, 10, "4 more"), (500, 10, "91 more"), (5_000, 1, "")],
)
def test_a_problem_names_ten_violations_at_most_and_not_all_of_a_large_body_are_looked_for(
    emulator: EmulatorUnderTest,
    count: int,
    told: int,
    rest: str,
) -> None:
    answer = emulator.photograph(asset_ids=[0] * count)

    _, _, left_out = answer.json["detail"].partition(". And ")
    assert answer.json["detail"].count("found") == told
    assert left_out == rest


@pytest.mark.parametrize(
    ("where", "fields"),
    [
        ("/background/background_id", {"background": {"type": "background"}}),
        (
            "/background/color",
            {"background": {"type": "automatic", "color": "#ffffff"}},
        ),
        ("/background/type", {"background": {"type": "beach"}}),
        ("/background", {"background": "transparent"}),
    ],
)
def test_a_refusal_points_at_the_field_of_a_choice(
    emulator: EmulatorUnderTest,
    where: str,
    fields: Json,
) -> None:
    """D08."""
    body: Json = {"asset_ids": ["a"]} | fields

    answer = emulator.photograph(**body)

    assert answer.outcome == INVALID_INPUT
    assert answer.json["detail"].startswith(f"{where}: ")
