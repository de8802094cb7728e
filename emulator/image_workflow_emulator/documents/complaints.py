"""What is wrong with a file or a body: where, what was found, what was expected, and
which word may have been meant.

Owns the form of a complaint, places in files, and the search for the nearest word.
Knows no notation.
"""

import heapq
from collections.abc import Collection, Sequence
from typing import Final

from msgspec import Struct

_MAX_LISTED_WORDS: Final = 14
MAX_COMPARED_CHARACTERS: Final = 64
"""Limit of the length of a word for which another is suggested, and of that other."""
MAX_COMPARED_WORDS: Final = 200
"""Limit of the words that can be suggested for one word."""
_MAX_CLOSELY_COMPARED: Final = 4
_LEAST_SIMILARITY: Final = 0.6


class Position(Struct, frozen=True):
    """A place in a file, counted from 1; line 0 means that there is none (the data came
    without its text).
    """

    line: int = 0
    column: int = 0


class Complaint(Struct, frozen=True):
    """One thing that is wrong, in words; `file` is empty, and line and column are 0,
    where there are none.

    Without the name of a file, the line is not shown: who sent a body did not write its
    lines.
    """

    file: str
    line: int
    column: int
    words: str

    def __str__(self) -> str:
        if not self.file:
            return self.words
        place = self.file
        if self.line:
            place = f"{self.file}:{self.line}:{self.column}"
        return f"{place}: {self.words}"


class DocumentError(Exception):
    """A document that cannot be used, with every complaint about it."""

    def __init__(self, complaints: Sequence[Complaint]) -> None:
        lines = [str(complaint) for complaint in complaints]
        super().__init__("\n".join(lines))
        self.complaints = tuple(complaints)


def clause(
    found: str,
    expected: str,
    suggestions: Sequence[str] = (),
) -> str:
    """Word a complaint, its place aside."""
    return f"found {found}; expected {expected}{did_you_mean(suggestions)}"


def error_at(
    file: str,
    position: Position,
    found: str,
    expected: str,
) -> DocumentError:
    """Make the one complaint about a place in a file an error."""
    complaint = Complaint(
        file=file,
        line=position.line,
        column=position.column,
        words=clause(found, expected),
    )
    return DocumentError([complaint])


def did_you_mean(suggestions: Sequence[str]) -> str:
    """End a complaint by the words that were probably meant; empty if there are none."""
    if not suggestions:
        return ""
    words = " or ".join(f'"{word}"' for word in suggestions)
    return f"; did you mean {words}?"


def sentence(complaint: str) -> str:
    """End a complaint as a sentence; one that asks which word was meant has its mark."""
    if complaint.endswith("?"):
        return complaint
    return f"{complaint}."


def nearest(word: object, words: Collection[str]) -> tuple[str, ...]:
    """Return the word that was most likely meant, if one is near.

    The time is bounded: long words are not compared, nor words of which there are many,
    and only the most promising are compared closely.
    """
    if not isinstance(word, str) or len(word) > MAX_COMPARED_CHARACTERS:
        return ()
    if len(words) > MAX_COMPARED_WORDS:
        return ()
    import difflib  # not needed until something is misspelled

    by_folded = {
        candidate.casefold(): candidate
        for candidate in sorted(words)
        if len(candidate) <= MAX_COMPARED_CHARACTERS
    }
    matcher = difflib.SequenceMatcher()
    matcher.set_seq2(word.casefold())

    def greatest_similarity(candidate: str) -> float:
        """Return an upper bound of the similarity, which costs linear time."""
        matcher.set_seq1(candidate)
        return matcher.quick_ratio()

    promising = heapq.nlargest(_MAX_CLOSELY_COMPARED, by_folded, greatest_similarity)
    closest = difflib.get_close_matches(
        word.casefold(),
        promising,
        n=1,
        cutoff=_LEAST_SIMILARITY,
    )
    return tuple(by_folded[folded] for folded in closest)


class Misspelling(Struct, frozen=True):
    """A word that is none of those that were possible; compared only when asked."""

    word: str
    candidates: tuple[str, ...]
    second_choice: tuple[str, ...] = ()
    """Candidates that are tried only if none of the first is near."""

    def suggestions(self) -> tuple[str, ...]:
        """Return the word that was most likely meant, if one is near."""
        first_choice = nearest(self.word, self.candidates)
        return first_choice or nearest(self.word, self.second_choice)


def choice_of(words: Collection[str], kind: str = "") -> str:
    """Say which words are expected: all of them, or their kind if they are too many for
    one line.
    """
    if not words:
        return kind or "nothing"
    if kind and len(words) > _MAX_LISTED_WORDS:
        return kind
    if isinstance(words, frozenset | set):
        words = sorted(words)
    if len(words) == 1:
        (only_word,) = words
        return f'"{only_word}"'
    return f"one of {', '.join(words)}"
