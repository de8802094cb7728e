"""What is wrong with a file or a body: where, what was found, what was expected, and which word may have been meant.

Owns the form of a complaint, places in files, and the search for the nearest word. Knows no notation.
"""

import re
from collections.abc import Collection, Sequence
from typing import Final

from msgspec import Struct

_LISTED_WORDS: Final = 14
_COMPARED_CHARACTERS: Final = 200
_MOST_SUGGESTIONS: Final = 4
_PART: Final = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+")
"""A part of a name: of `createEditImages` three, as of `create_edit_images`."""


class Position(Struct, frozen=True):
    """A place in a file, counted from 1; line 0 means that there is none (the data came without its text)."""

    line: int = 0
    column: int = 0


NOWHERE: Final = Position()


class Complaint(Struct, frozen=True):
    """One thing that is wrong. `path` is a JSON Pointer; `file` is empty, and line and column are 0, where there are none."""

    file: str
    line: int
    column: int
    path: str
    found: str
    expected: str
    suggestions: tuple[str, ...] = ()

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}" if self.line else self.file
        where = ": ".join(filter(None, (place, self.path))) or "(body)"
        return f"{where}: {clause(self.found, self.expected, self.suggestions)}"


class DocumentError(Exception):
    """A document that cannot be used, with every complaint about it."""

    def __init__(self, complaints: Sequence[Complaint]) -> None:
        super().__init__("\n".join(map(str, complaints)))
        self.complaints = tuple(complaints)


def clause(found: str, expected: str, suggestions: Sequence[str] = ()) -> str:
    """Word a complaint, its place aside."""
    return f"found {found}; expected {expected}{did_you_mean(suggestions)}"


def did_you_mean(suggestions: Sequence[str]) -> str:
    """End a complaint by the words that were probably meant; empty if there are none."""
    quoted = [f'"{word}"' for word in suggestions]
    words = " or ".join(filter(None, (", ".join(quoted[:-1]), *quoted[-1:])))
    return f"; did you mean {words}?" if words else ""


def sentence(complaint: str) -> str:
    """End a complaint as a sentence; one that asks which word was meant has its mark."""
    return complaint if complaint.endswith("?") else f"{complaint}."


def nearest(word: str, words: Collection[str]) -> tuple[str, ...]:
    """Return the words that were most likely meant: one that is misspelled, or several that are abbreviated.

    `createGeneration` is short for `createEditImagesGeneration`, and for two more.
    """
    parts = _PART.findall(word[:_COMPARED_CHARACTERS])
    longer = [known for known in words if len(parts) > 1 and _is_short_for(parts, _PART.findall(known))]
    if 0 < len(longer) <= _MOST_SUGGESTIONS:
        return tuple(longer)
    import difflib  # not needed until something is misspelled

    by_folded = {known.casefold(): known for known in sorted(words)}
    found = difflib.get_close_matches(word[:_COMPARED_CHARACTERS].casefold(), list(by_folded), n=1, cutoff=0.6)
    return (by_folded[found[0]],) if found else ()


def _is_short_for(parts: Sequence[str], of: Sequence[str]) -> bool:
    """Tell whether all parts of a name come, in their order, in a longer name."""
    rest = iter(part.casefold() for part in of)
    return len(parts) < len(of) and all(part.casefold() in rest for part in parts)


def one_of(words: Collection[str], kind: str = "") -> str:
    """Say which words are expected: all of them, or their kind if they are too many for one line."""
    if not words:
        return kind or "nothing"
    if kind and len(words) > _LISTED_WORDS:
        return kind
    shown = sorted(words) if isinstance(words, frozenset | set) else list(words)
    return f'"{shown[0]}"' if len(shown) == 1 else f"one of {', '.join(shown)}"
