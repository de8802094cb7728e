"""Instants, spans and values as text."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from image_workflow_emulator.domain.problems import invalid_input
from image_workflow_emulator.kernel.timestamps import (
    LATEST_INSTANT,
    format_timestamp,
    parse_duration_ms,
    parse_timestamp,
    seconds_up,
    timestamp_or_none,
)
from image_workflow_emulator.kernel.wording import excerpt
from tests.model.arithmetic import instant_of, timestamp


@given(st.integers(0, LATEST_INSTANT))
@example(instant_of("9999-12-31T23:59:59.999Z"))
def test_an_instant_is_written_in_utc_with_milliseconds_and_read_as_it_was(
    instant: int,
) -> None:
    text = timestamp(instant)

    assert format_timestamp(instant) == text
    assert parse_timestamp(text) == instant


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
    expected: int,
    text: str,
) -> None:
    assert parse_timestamp(text) == expected


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
        ("found 'now'; expected a timestamp", "now"),
        (
            "found '2026-13-01T00:00:00Z' (month must be in 1..12); expected",
            "2026-13-01T00:00:00Z",
        ),
    ],
)
def test_a_refused_timestamp_is_told_with_the_reason_if_there_is_one(
    expected: str,
    text: str,
) -> None:
    with pytest.raises(ValueError, match="expected a timestamp") as refused:
        parse_timestamp(text)

    assert str(refused.value).startswith(expected)


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
        (LATEST_INSTANT, "253402300799.999s"),
    ],
)
def test_a_duration_is_read_in_its_unit_and_a_bare_number_in_seconds(
    expected: int,
    text: str | float,
) -> None:
    assert parse_duration_ms(text) == expected


@pytest.mark.parametrize(
    "text",
    ["", "s", "-1s", "1w", "1 2s", "1e3", "nan", "inf", "9999999999999s", "١s"],
)
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="expected a duration") as refused:
        parse_duration_ms(text)

    assert str(refused.value).startswith(f"found {text!r}; ")


def test_an_instant_that_is_not_there_is_written_as_nothing() -> None:
    assert timestamp_or_none(None) is None


def test_an_instant_that_is_there_is_written() -> None:
    assert timestamp_or_none(0) == "1970-01-01T00:00:00.000Z"


@pytest.mark.parametrize(
    ("expected", "span_ms"),
    [(0, 0), (1, 1), (1, 999), (1, 1_000), (2, 1_001), (60, 60_000)],
)
def test_a_span_in_seconds_is_rounded_up(expected: int, span_ms: int) -> None:
    assert seconds_up(span_ms) == expected


def test_a_refused_field_is_told_with_its_place() -> None:
    problem = invalid_input("/name", 7, "a string")

    assert problem.detail == "/name: found 7; expected a string"


def test_a_refused_body_is_told_as_a_whole() -> None:
    problem = invalid_input("", [], "an object")

    assert problem.detail == "(body): found an array of 0; expected an object"


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
    assert excerpt(value) == expected


@pytest.mark.parametrize(
    "value",
    ["x" * 10_000, 10**4_000, "\U0001f600" * 500, "\ud800"],
)
def test_an_excerpt_is_never_long_nor_unprintable(value: object) -> None:
    text = excerpt(value)

    assert len(text) <= 81
    assert text.encode()
