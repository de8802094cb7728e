"""The catalogue of errors against the table of the specification, and the texts of problems."""

import pytest

from image_workflow_emulator.domain.problems import invalid_input
from image_workflow_emulator.kernel.wording import excerpt


def test_a_refused_field_or_body_is_told_with_place_finding_and_expectation() -> None:
    assert invalid_input("/name", 7, "a string").detail == "/name: found 7; expected a string"
    assert invalid_input("", [], "an object").detail == "(body): found an array of 0; expected an object"


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


@pytest.mark.parametrize("value", ["x" * 10_000, 10**4_000, "\U0001f600" * 500, "\ud800"])
def test_an_excerpt_is_never_long_nor_unprintable(value: object) -> None:
    shown = excerpt(value)
    assert len(shown) <= 81
    assert shown.encode()
