"""The words that every message uses for a place in a document, a value that was found, and a count; and text that
somebody else wrote, made printable for a terminal and a line of a log.

A path, a header or a name may hold characters that move the cursor, end the line or reverse the writing direction.
"""

import json
from collections.abc import Iterable
from typing import Final

MAX_EXCERPT_CHARACTERS: Final = 80
"""Limit of the characters of a value in a message."""


def pointer(*steps: object) -> str:
    """Write the JSON Pointer of the place that these steps lead to (RFC 6901), on one line."""
    return printable(
        "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in steps)
    )


def count_of(number: int, noun: str) -> str:
    """Say how many of something there are: `1 Credit`, `2 Credits`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def first_of(names: Iterable[object], most: int = 5, separator: str = ", ") -> str:
    """Name the first of several things, and say how many more there are: `a, b and 3 more`."""
    shown = list(map(str, names))
    more = f" and {len(shown) - most} more" if len(shown) > most else ""
    return separator.join(shown[:most]) + more


def excerpt(value: object) -> str:
    """Show a value that a client sent, short and on one line."""
    if isinstance(value, str):
        text = value[: MAX_EXCERPT_CHARACTERS + 1].replace("\\", "\\\\")
        text = f'"{printable(text)}"'
    elif isinstance(value, dict):
        text = "an object"
    elif isinstance(value, list | tuple):
        text = f"an array of {len(value)}"
    else:
        text = json.dumps(value, default=str)
    if len(text) <= MAX_EXCERPT_CHARACTERS:
        return text
    ending = '…"' if isinstance(value, str) else "…"
    return text[: MAX_EXCERPT_CHARACTERS + 1 - len(ending)] + ending


def printable(text: str) -> str:
    r"""Return a text on one line, with characters that cannot be printed as JSON escapes them, such as `\u001b`."""
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else json.dumps(character)[1:-1]
        for character in text
    )


def printable_lines(text: str) -> str:
    """Return a text of several lines, each made printable."""
    return "\n".join(map(printable, text.split("\n")))
