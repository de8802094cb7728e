"""A document under reading: its data with the places in its text, and all complaints about it.

First all that breaks its schema is reported, and then, by whoever knows what it is about, all that no schema can express.
Must not know what a document is about, nor its notation.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from msgspec.structs import replace

from emulator.documents.complaints import NOWHERE, Complaint, DocumentError, Position
from emulator.documents.schemas import MORE, Schemas, Steps, Violation
from emulator.kernel.wording import excerpt

Suggest: TypeAlias = Callable[[Steps, str], tuple[str, ...]]
MAX_COMPLAINTS: Final = 100
"""Limit of the complaints about one document; after correction the rest are reported."""


class Document:
    """A document under reading. `where` is the place in a body that it was found at.

    `data` is the JSON that it looks like; `texts` the same with every scalar as the text that stands in the file, from
    which values are made once the schema has let them pass.
    """

    def __init__(
        self,
        file: str,
        data: Any,
        texts: Any,
        places: Mapping[tuple[str, ...], tuple[Position, Position]],
        where: str = "",
    ) -> None:
        """`places` has by path where a value stands, and where its key does; it is empty for data without a text."""
        self.file = file
        self.data = data
        self.texts = texts
        self._places = places
        self._where = where
        self._complaints: dict[Complaint, None] = {}

    def check(self, schemas: Schemas, suggest: Suggest = lambda _, __: ()) -> None:
        """Raise DocumentError with all that breaks a schema, in the order of the file; return if nothing does.

        `suggest` names what was probably meant by a text at a place for which the schema suggests nothing.
        """
        for violation in schemas.violations("#", self.data, at_most=MAX_COMPLAINTS):
            if violation.kind == "unfit" and violation is not MORE and not violation.suggestions:
                meant = suggest(violation.steps, violation.found.strip('"'))
                violation = replace(violation, suggestions=meant)  # noqa: PLW2901 (the same, improved)
            self._add(violation)
        self.raise_complaints()

    def complain(
        self,
        steps: Steps,
        expected: str,
        found: str | None = None,
        suggestions: Sequence[str] = (),
        at_key: bool = False,
    ) -> None:
        """Complain of the value at a place, or of its key; `found` says what it is where its text does not."""
        shown = excerpt(self.at(*steps)) if found is None else found
        self._add(Violation(steps, shown, expected, tuple(suggestions), "unknown" if at_key else "unfit"))

    def at(self, *steps: str | int) -> Any:
        """Return the data at a place."""
        data = self.data
        for step in steps:
            data = data[step]
        return data

    def position(self, *steps: str | int, at_key: bool = False) -> Position:
        """Return the place in the file of a value, or of its key; else of the last on the way to it that is there."""
        path = tuple(map(str, steps))  # the validator names a field that looks like a number by that number
        for length in range(len(path), -1, -1):
            if path[:length] in self._places:
                value, key = self._places[path[:length]]
                return key if at_key and length == len(path) else value
        return NOWHERE

    def raise_complaints(self) -> None:
        """Raise all complaints, in the order of the file, as one DocumentError; return if there are none."""
        if self._complaints:
            raise DocumentError(sorted(self._complaints, key=_place_of))

    def _add(self, violation: Violation) -> None:
        if violation is MORE or len(self._complaints) == MAX_COMPLAINTS:
            self._complaints[Complaint(self.file, 0, 0, "", MORE.found, MORE.expected)] = None
        elif len(self._complaints) < MAX_COMPLAINTS:
            place = self.position(*violation.steps, at_key=violation.kind == "unknown")
            path, suggestions = self._where + violation.where, violation.suggestions
            complaint = Complaint(
                self.file, place.line, place.column, path, violation.found, violation.expected, suggestions
            )
            self._complaints[complaint] = None


def _place_of(complaint: Complaint) -> tuple[bool, int, int]:
    """Return by what a complaint is sorted: that there are more comes last."""
    return complaint.found == MORE.found, complaint.line, complaint.column
