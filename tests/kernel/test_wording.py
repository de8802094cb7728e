"""The words of messages: places, values, counts, and text that somebody else wrote."""

import pytest

from image_workflow_emulator.kernel.wording import (
    count_of,
    excerpt,
    first_of,
    pointer,
    printable_lines,
)


@pytest.mark.parametrize(
    ("expected", "steps"),
    [
        ("", ()),
        ("/items/0", ("items", 0)),
        ("/a~1b/c~0d", ("a/b", "c~d")),
        ("/~01", ("~1",)),
        ("/line\\nbreak", ("line\nbreak",)),
    ],
)
def test_a_place_is_written_as_a_json_pointer_on_one_line(
    expected: str,
    steps: tuple[object, ...],
) -> None:
    assert pointer(*steps) == expected


@pytest.mark.parametrize(
    ("expected", "number"),
    [("0 Credits", 0), ("1 Credit", 1), ("2 Credits", 2)],
)
def test_a_count_is_told_in_the_singular_or_the_plural(
    expected: str,
    number: int,
) -> None:
    assert count_of(number, "Credit") == expected


@pytest.mark.parametrize(
    ("expected", "names"),
    [
        ("", ""),
        ("a", "a"),
        ("a, b, c, d, e", "abcde"),
        ("a, b, c, d, e and 1 more", "abcdef"),
        ("a, b, c, d, e and 2 more", "abcdefg"),
    ],
)
def test_the_first_five_of_several_names_are_told(expected: str, names: str) -> None:
    assert first_of(names) == expected


def test_the_limit_and_the_separator_of_a_list_of_names_can_be_chosen() -> None:
    assert first_of([1, 2, 3], most=2, separator=" or ") == "1 or 2 and 1 more"


@pytest.mark.parametrize(
    ("expected", "value"),
    [
        ('"' + "x" * 78 + '"', "x" * 78),
        ('"' + "x" * 78 + '…"', "x" * 79),
        ("1" + "0" * 79, 10**79),
        ("1" + "0" * 79 + "…", 10**80),
        ('"\\\\"', "\\"),
        ('"' + "\\\\" * 39 + '…"', "\\" * 40),
    ],
)
def test_an_excerpt_has_80_characters_or_ends_in_an_ellipsis(
    expected: str,
    value: object,
) -> None:
    assert excerpt(value) == expected


def test_a_value_that_json_has_not_is_shown_by_its_text() -> None:
    assert excerpt({1}) == '"{1}"'


def test_lines_stay_lines_and_what_moves_the_cursor_is_escaped() -> None:
    text = "one two\n\nthree\x1b[2J"

    assert printable_lines(text) == "one two\n\nthree\\u001b[2J"
