"""Text that somebody else wrote, made fit for a terminal and for a line of a log. Owns what is escaped, and how.

A path, a header or a name may hold what moves the cursor, ends the line or turns the direction of writing.
"""

import json


def printable(text: str) -> str:
    r"""Return a text on one line, with each character that has no sign of its own as JSON escapes it, such as
    `\u001b`.
    """
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() else json.dumps(character)[1:-1] for character in text)


def printable_lines(text: str) -> str:
    """Return a text of several lines, each made fit."""
    return "\n".join(map(printable, text.split("\n")))
