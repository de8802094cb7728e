"""A document under reading: its data with the places in its text, and all complaints about it.

What no schema can express is checked by the caller, and complained of here, so that all mistakes in a file are reported
at once. Must not know what a document is about, nor its notation.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from emulator.documents.complaints import NOWHERE, Complaint, DocumentError, Position
from emulator.documents.schemas import MORE, Schemas, Steps, Violation
from emulator.kernel.wording import excerpt

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
        self._unsound: list[Steps] = []
        self._has_more = False

    def check(self, schemas: Schemas) -> None:
        """Complain of all that breaks a schema."""
        found = schemas.violations("#", self.data, at_most=MAX_COMPLAINTS)
        self._has_more = MORE in found
        for violation in found:
            if violation is not MORE:
                self._add(violation)

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

    def is_sound(self, *steps: str | int) -> bool:
        """Tell whether it is certain that nothing is wrong at a place or within."""
        return not self._has_more and not any(found[: len(steps)] == steps for found in self._unsound)

    def items(self, name: str) -> Iterator[tuple[int, Any]]:
        """Return the sound items of a list at the top, as texts with their indexes."""
        listed = self.texts.get(name, ()) if isinstance(self.texts, dict) else ()
        for index, item in enumerate(listed if isinstance(listed, list) else ()):
            if self.is_sound(name, index):
                yield index, item

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
        if not self._complaints:
            return
        found = sorted(self._complaints, key=lambda complaint: (complaint.line, complaint.column))
        if self._has_more or len(found) > MAX_COMPLAINTS:
            found = [*found[:MAX_COMPLAINTS], Complaint(self.file, 0, 0, "", MORE.found, MORE.expected)]
        raise DocumentError(found)

    def _add(self, violation: Violation) -> None:
        place = self.position(*violation.steps, at_key=violation.kind == "unknown")
        path, suggestions = self._where + violation.where, violation.suggestions
        complaint = Complaint(
            self.file, place.line, place.column, path, violation.found, violation.expected, suggestions
        )
        self._complaints[complaint] = None
        self._unsound.append(violation.steps)
