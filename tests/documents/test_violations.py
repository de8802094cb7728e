"""Violations of a schema in words: where, what was found, what was expected, what to do."""

import pytest

from image_workflow_emulator.documents.schemas import Schemas
from image_workflow_emulator.documents.violations import (
    MAX_LISTED_VIOLATIONS,
    Violation,
    listed,
)

SCHEMAS = Schemas(
    {
        "type": "object",
        "additionalProperties": False,
        "required": ["name"],
        "properties": {
            "name": {"type": "string", "minLength": 1},
            "kind": {"enum": ["small", "large"]},
            "count": {"type": "integer", "minimum": 1, "maximum": 9},
            "sizes": {"type": "array", "maxItems": 2, "items": {"type": "number"}},
        },
    }
)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({}, "/name: found nothing; expected this required field"),
        ({"name": 7}, "/name: found 7; expected a string"),
        ({"name": ""}, '/name: found ""; expected at least 1 character'),
        (
            {"name": "a", "count": 10},
            "/count: found 10; expected a whole number from 1 to 9",
        ),
        (
            {"name": "a", "kind": "smal"},
            '/kind: found "smal"; expected one of small, large; did you mean "small"?',
        ),
        (
            {"name": "a", "sizes": [1, 2, 3]},
            "/sizes: found an array of 3; expected at most 2 items",
        ),
        ({"name": "a", "sizes": [1, "b"]}, '/sizes/1: found "b"; expected a number'),
        (
            {"name": "a", "kidn": 1},
            '/kidn: found an unknown field; expected only name, kind, count, sizes; did you mean "kind"?',
        ),
        ([], "(body): found an array of 0; expected an object"),
    ],
    ids=str,
)
def test_a_violation_names_place_finding_and_expectation(
    value: object,
    words: str,
) -> None:
    (violation,) = SCHEMAS.violations("#", value)

    assert str(violation) == words


@pytest.mark.parametrize(
    ("value", "remedy"),
    [
        ({}, "add /name"),
        ({"name": "a", "cuont": 1}, "remove /cuont"),
        ({"name": 7}, "correct /name: expected a string"),
        ([], "correct the body: expected an object"),
    ],
    ids=str,
)
def test_a_remedy_says_what_to_change(value: object, remedy: str) -> None:
    (violation,) = SCHEMAS.violations("#", value)

    assert violation.remedy == remedy


def test_violations_are_in_the_order_of_their_places() -> None:
    value = {"sizes": ["b", 1, "c"], "count": 0}

    places = [violation.where for violation in SCHEMAS.violations("#", value)]

    assert places == ["/count", "/name", "/sizes", "/sizes/0", "/sizes/2"]


def violations(count: int) -> list[Violation]:
    return [Violation((index,), "a", "b") for index in range(count)]


def test_as_many_violations_as_a_message_holds_are_all_listed() -> None:
    text = listed(violations(MAX_LISTED_VIOLATIONS))

    assert text.count("expected b") == MAX_LISTED_VIOLATIONS
    assert "more" not in text


def test_further_violations_are_counted() -> None:
    text = listed(violations(MAX_LISTED_VIOLATIONS + 2))

    assert text.count("expected b") == MAX_LISTED_VIOLATIONS
    assert text.endswith("And 2 more")
