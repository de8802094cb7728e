"""What is wrong with a file or a body: where, what was found, what was expected, and which word may have been meant.

Owns the form of a complaint, places in files, and the search for the nearest word. Knows no notation.
"""

import difflib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

_LISTED_WORDS: Final = 14
_COMPARED_CHARACTERS: Final = 200


@dataclass(frozen=True, slots=True)
class Position:
    """A place in a file, counted from 1; line 0 means that there is none (the data came without its text)."""

    line: int = 0
    column: int = 0


NOWHERE: Final = Position()


@dataclass(frozen=True, slots=True)
class Complaint:
    """One thing that is wrong. `path` is a JSON Pointer; `file` is empty, and line and column are 0, where there are none."""

    file: str
    line: int
    column: int
    path: str
    found: str
    expected: str
    suggestion: str | None = None

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}" if self.line else self.file
        where = ": ".join(filter(None, (place, self.path))) or "(body)"
        return f"{where}: {clause(self.found, self.expected, self.suggestion)}"


class DocumentError(Exception):
    """A document that cannot be used, with every complaint about it."""

    def __init__(self, complaints: Sequence[Complaint]) -> None:
        super().__init__("\n".join(map(str, complaints)))
        self.complaints = tuple(complaints)


def clause(found: str, expected: str, suggestion: str | None = None) -> str:
    """Word a complaint, its place aside."""
    hint = f'; did you mean "{suggestion}"?' if suggestion is not None else ""
    return f"found {found}; expected {expected}{hint}"


def nearest(word: str, words: Collection[str]) -> str | None:
    """Return the one of the words that a typing error most likely meant, if any comes near."""
    by_folded = {known.casefold(): known for known in sorted(words)}
    found = difflib.get_close_matches(word[:_COMPARED_CHARACTERS].casefold(), list(by_folded), n=1, cutoff=0.6)
    return by_folded[found[0]] if found else None


def one_of(words: Collection[str], kind: str = "") -> str:
    """Say which words are expected: all of them, or their kind if they are too many for one line."""
    if not words:
        return kind or "nothing"
    if kind and len(words) > _LISTED_WORDS:
        return kind
    shown = sorted(words) if isinstance(words, frozenset | set) else list(words)
    return f'"{shown[0]}"' if len(shown) == 1 else f"one of {', '.join(shown)}"
