"""The words that every message uses for a place in a document, a value that was found,
and a count; and text that somebody else wrote, made printable for a terminal and a line
of a log.

A path, a header or a name may hold characters that move the cursor, end the line or
reverse the writing direction.
"""

import json
from collections.abc import Iterable
from typing import Final

MAX_EXCERPT_CHARACTERS: Final = 80
"""Limit of the characters of a value in a message."""


def pointer(*steps: object) -> str:
    """Write the JSON Pointer of the place that these steps lead to (RFC 6901), on one
    line.
    """
    path = ""
    for step in steps:
        escaped = str(step).replace("~", "~0").replace("/", "~1")
        path += f"/{escaped}"
    return printable(path)


def count_of(number: int, noun: str) -> str:
    """Say how many of something there are: `1 Credit`, `2 Credits`."""
    if number == 1:
        return f"{number} {noun}"
    return f"{number} {noun}s"


def first_of(
    names: Iterable[object],
    most: int = 5,
    separator: str = ", ",
) -> str:
    """Name the first of several things, and say how many more there are: `a, b and 3
    more`.
    """
    texts = list(map(str, names))
    listed = separator.join(texts[:most])
    if len(texts) <= most:
        return listed
    unlisted_count = len(texts) - most
    return f"{listed} and {unlisted_count} more"


def excerpt(value: object) -> str:
    """Show a value that a client sent, short and on one line."""
    if isinstance(value, str):
        return _shortened(_quoted(value), ending='…"')
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list | tuple):
        return f"an array of {len(value)}"
    return _shortened(json.dumps(value, default=str), ending="…")


def _quoted(text: str) -> str:
    """Quote the beginning of a text, which is longer than an excerpt if the text is."""
    beginning = text[: MAX_EXCERPT_CHARACTERS + 1]
    escaped = beginning.replace("\\", "\\\\")
    return f'"{printable(escaped)}"'


def _shortened(text: str, ending: str) -> str:
    """Cut a text that is too long, and say so by its ending."""
    if len(text) <= MAX_EXCERPT_CHARACTERS:
        return text
    kept = MAX_EXCERPT_CHARACTERS + 1 - len(ending)
    return text[:kept] + ending


def printable(text: str) -> str:
    r"""Return a text on one line, with characters that cannot be printed as JSON
    escapes them, such as `\u001b`.
    """
    if text.isprintable():
        return text
    return "".join(map(_escaped, text))


def _escaped(character: str) -> str:
    if character.isprintable():
        return character
    return json.dumps(character)[1:-1]


def printable_lines(text: str) -> str:
    """Return a text of several lines, each made printable."""
    return "\n".join(map(printable, text.split("\n")))
