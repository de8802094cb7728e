"""Violations: the ways in which a value breaks a schema, in words."""

from collections.abc import Sequence
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from image_workflow_emulator.documents.complaints import Misspelling, clause, sentence
from image_workflow_emulator.documents.values import MAX_NAME_CHARACTERS
from image_workflow_emulator.kernel.wording import pointer

Steps: TypeAlias = tuple[str | int, ...]
"""The way to a place in a value: names of fields and indexes of items."""
MAX_LISTED_VIOLATIONS: Final = 10
"""Limit of the reported violations of one body."""
REQUIRED: Final = "this required field"
"""What is expected where a required field is missing."""


class Violation(Struct, frozen=True):
    """One way in which a value breaks a schema: where, what is there, what should be."""

    steps: Steps
    found: str
    expected: str
    misspelling: Misspelling | None = None
    """The word that is there, where another may be meant."""
    kind: Literal["missing", "unknown", "invalid"] = "invalid"
    """`missing`: a required field. `unknown`: a field that cannot be there. `invalid`:
    a value that does not fit."""

    def suggestions(self) -> tuple[str, ...]:
        """Return the word that was most likely meant, if one is near."""
        if self.misspelling is None:
            return ()
        return self.misspelling.suggestions()

    @property
    def where(self) -> str:
        """The JSON Pointer of the place."""
        return place_of(self.steps)

    def __str__(self) -> str:
        place = self.where or "(body)"
        words = clause(self.found, self.expected, self.suggestions())
        return f"{place}: {words}"

    @property
    def remedy(self) -> str:
        """What to change, as an instruction."""
        if self.kind == "unknown":
            return f"remove {self.where}"
        place = self.where or "the body"
        verb = "correct"
        if self.kind == "missing":
            verb = "add"
        if self.expected == REQUIRED:
            return f"{verb} {place}"
        return f"{verb} {place}: expected {self.expected}"


def place_of(steps: Steps) -> str:
    """Write the JSON Pointer of a place; long names in it are cut."""
    return pointer(*map(_short, steps))


def _short(step: str | int) -> str | int:
    if isinstance(step, str):
        return step[:MAX_NAME_CHARACTERS]
    return step


def listed(violations: Sequence[Violation]) -> str:
    """List violations, as many as a message of reasonable length holds."""
    texts = [str(violation) for violation in violations[:MAX_LISTED_VIOLATIONS]]
    more = len(violations) - MAX_LISTED_VIOLATIONS
    if more > 0:
        texts.append(f"And {more} more")
    sentences = [sentence(text) for text in texts[:-1]]
    without_full_stop = texts[-1:]
    return " ".join(sentences + without_full_stop)
