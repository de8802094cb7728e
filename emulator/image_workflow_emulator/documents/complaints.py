"""What is wrong with a file or a body: where, what was found, what was expected, and which word may have been meant.

Owns the form of a complaint, places in files, and the search for the nearest word. Knows no notation.
"""

from collections.abc import Collection, Sequence
from typing import Final

from msgspec import Struct

_MAX_LISTED_WORDS: Final = 14
_COMPARED_CHARACTERS: Final = 200


class Position(Struct, frozen=True):
    """A place in a file, counted from 1; line 0 means that there is none (the data came without its text)."""

    line: int = 0
    column: int = 0


class Complaint(Struct, frozen=True):
    """One thing that is wrong, in words; `file` is empty, and line and column are 0, where there are none.

    Without the name of a file, the line is not shown: who sent a body did not write its lines.
    """

    file: str
    line: int
    column: int
    words: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}" if self.file and self.line else self.file
        return ": ".join(filter(None, (place, self.words)))


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
    words = " or ".join(f'"{word}"' for word in suggestions)
    return f"; did you mean {words}?" if words else ""


def sentence(complaint: str) -> str:
    """End a complaint as a sentence; one that asks which word was meant has its mark."""
    return complaint if complaint.endswith("?") else f"{complaint}."


def nearest(word: object, words: Collection[str]) -> tuple[str, ...]:
    """Return the word that was most likely meant, if one is near; none for what is no text."""
    if not isinstance(word, str):
        return ()
    import difflib  # not needed until something is misspelled

    by_folded = {known.casefold(): known for known in sorted(words)}
    found = difflib.get_close_matches(word[:_COMPARED_CHARACTERS].casefold(), list(by_folded), n=1, cutoff=0.6)
    return (by_folded[found[0]],) if found else ()


def choice_of(words: Collection[str], kind: str = "") -> str:
    """Say which words are expected: all of them, or their kind if they are too many for one line."""
    if not words:
        return kind or "nothing"
    if kind and len(words) > _MAX_LISTED_WORDS:
        return kind
    shown = sorted(words) if isinstance(words, frozenset | set) else list(words)
    return f'"{shown[0]}"' if len(shown) == 1 else f"one of {', '.join(shown)}"
