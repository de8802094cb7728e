"""Instants, spans, values, identifiers (D09) and signatures as text."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from image_workflow_emulator.domain.problems import invalid_input
from image_workflow_emulator.kernel.seed import Identifiers, Signer
from image_workflow_emulator.kernel.timestamps import (
    LATEST_INSTANT,
    format_timestamp,
    parse_duration_ms,
    parse_timestamp,
    seconds_up,
)
from image_workflow_emulator.kernel.wording import excerpt
from tests.model.arithmetic import instant_of, timestamp


@given(st.integers(0, LATEST_INSTANT))
@example(instant_of("9999-12-31T23:59:59.999Z"))
def test_an_instant_is_written_in_utc_with_milliseconds_and_read_as_it_was(
    instant: int,
) -> None:
    text = timestamp(instant)
    assert (text, instant) == (format_timestamp(instant), parse_timestamp(text))


@pytest.mark.parametrize(
    ("expected", "text"),
    [
        (0, "1970-01-01T00:00:00Z"),
        (0, "1970-01-01T01:00:00+01:00"),
        (1_500, "1970-01-01T00:00:01.5Z"),
        (1_234, "1970-01-01T00:00:01.234999Z"),
    ],
)
def test_a_timestamp_is_read_with_any_offset_and_fraction(
    expected: int, text: str
) -> None:
    assert expected == parse_timestamp(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "now",
        "2026-01-01",
        "2026-01-01T00:00:00",
        "2026-13-01T00:00:00Z",
        "2026-02-30T00:00:00Z",
        "1969-12-31T23:59:59.999Z",
        "0001-01-01T00:00:00+23:00",
        "٢٠٢٦-01-01T00:00:00Z",
        "2026-01-01T00:00:00Z ",
    ],
)
def test_what_is_no_timestamp_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="expected a timestamp"):
        parse_timestamp(text)


@pytest.mark.parametrize(
    ("expected", "text"),
    [
        (250, "250ms"),
        (90_000, "90s"),
        (120_000, "2m"),
        (5_400_000, "1.5h"),
        (86_400_000, "1d"),
        (5_000, 5),
        (500, 0.5),
        (30_000, "30"),
        (30_000, " 30 s "),
        (0, "0"),
    ],
)
def test_a_duration_is_read_in_its_unit_and_a_bare_number_in_seconds(
    expected: int, text: str | float
) -> None:
    assert expected == parse_duration_ms(text)


@pytest.mark.parametrize(
    "text", ["", "s", "-1s", "1w", "1 2s", "1e3", "nan", "inf", "9999999999999s", "١s"]
)
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="expected a duration"):
        parse_duration_ms(text)


@pytest.mark.parametrize(
    ("expected", "span_ms"),
    [(0, 0), (1, 1), (1, 999), (1, 1_000), (2, 1_001), (60, 60_000)],
)
def test_a_span_in_seconds_is_rounded_up(expected: int, span_ms: int) -> None:
    assert expected == seconds_up(span_ms)


def test_a_refused_field_or_body_is_told_with_place_finding_and_expectation() -> None:
    assert (
        invalid_input("/name", 7, "a string").detail
        == "/name: found 7; expected a string"
    )
    assert (
        invalid_input("", [], "an object").detail
        == "(body): found an array of 0; expected an object"
    )


@pytest.mark.parametrize(
    ("expected", "value"),
    [
        ("null", None),
        ("true", True),
        ("false", False),
        ("0", 0),
        ("1.5", 1.5),
        ('"text"', "text"),
        ('"line\\nbreak"', "line\nbreak"),
        ("an object", {"a": 1}),
        ("an array of 2", [1, 2]),
    ],
)
def test_a_value_is_shown_short_and_on_one_line(expected: str, value: object) -> None:
    assert expected == excerpt(value)


@pytest.mark.parametrize(
    "value", ["x" * 10_000, 10**4_000, "\U0001f600" * 500, "\ud800"]
)
def test_an_excerpt_is_never_long_nor_unprintable(value: object) -> None:
    shown = excerpt(value)
    assert len(shown) <= 81
    assert shown.encode()


KINDS = ("ast", "prd", "op", "gen", "req", "team")


def test_an_identifier_is_its_kinds_prefix_and_26_hexadecimal_digits() -> None:
    prefix, _, rest = Identifiers(0).next("prd").partition("_")
    assert (prefix, len(rest), set(rest) - set("0123456789abcdef")) == (
        "prd",
        26,
        set(),
    )


def test_identifiers_of_a_kind_increase_with_creation_across_the_carries_of_their_counter() -> (
    None
):
    counts = (*range(2_000), 32**4 - 1, 32**4, 32**7)
    made = [Identifiers(0, {"ast": count}).next("ast") for count in counts]
    assert made == sorted(set(made))


def test_one_more_of_one_kind_changes_no_identifier_of_another() -> None:
    alone, beside = Identifiers(7), Identifiers(7)
    for kind in KINDS[1:]:
        beside.next(kind)
    assert [alone.next("ast") for _ in range(3)] == [
        beside.next("ast") for _ in range(3)
    ]


def test_two_kinds_share_nothing_behind_their_prefixes() -> None:
    identifiers = Identifiers(0)
    assert len({identifiers.next(kind).partition("_")[2] for kind in KINDS}) == len(
        KINDS
    )


SIGNER = Signer(b"key")


@pytest.mark.parametrize(
    "parts",
    [
        ("upload", "upl_2", 7),
        ("upload", "upl_1", 8),
        ("file", "upl_1", 7),
        ("upload", "upl_1"),
        ("uploadupl_1", 7),
    ],
)
def test_a_signature_is_refused_for_anything_else(parts: tuple[str | int, ...]) -> None:
    assert not SIGNER.verify(SIGNER.sign("upload", "upl_1", 7), *parts)
