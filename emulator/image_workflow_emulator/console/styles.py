"""Colours of statuses and severities, which a terminal alone shows.

`click.echo` leaves them out where its output is no terminal, and where `NO_COLOR` is
set: `cli/main.py` reads that variable and tells click.
"""

from typing import Final, TextIO

import click

_COLOURS: Final = {
    "error": "red",
    "warning": "yellow",
    "note": "cyan",
    # How a cell of a sweep ended.
    "damaged": "red",
    "hung": "red",
    "failed": "yellow",
    "unnoticed": "yellow",
    "not-struck": "cyan",
    "survived": "green",
    "noticed": "green",
}
_COLOURS_OF_STATUSES: Final = {"2": "green", "4": "yellow", "5": "red"}
"""By the first digit."""


def coloured(word: str) -> str:
    """Return a status, a severity or an outcome in its colour; any other word as it is.

    Spaces around the word stay.
    """
    name = word.strip()
    colour = _COLOURS.get(name)
    if len(name) == 3 and name.isdigit():
        colour = _COLOURS_OF_STATUSES.get(name[0])
    if colour is None:
        return word
    return click.style(word, fg=colour)


def shows_colours(stream: TextIO) -> bool:
    """Return whether colours are shown on a stream, which `click.echo` does not write."""
    context = click.get_current_context(silent=True)
    if context is not None and context.color is False:
        return False
    return stream.isatty()
