"""A document under reading: its data with the places in its text, and all complaints about it.

First all that breaks its schema is reported, and then, by the room whose document it is, all that no schema can
express. Must not know what a document is about, nor its notation.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from image_workflow_emulator.documents.complaints import (
    NOWHERE,
    Complaint,
    DocumentError,
    Position,
    choice_of,
    clause,
    nearest,
)
from image_workflow_emulator.documents.schemas import MAX_COMPLAINTS, Schemas, Steps, place_of
from image_workflow_emulator.kernel.wording import excerpt

Suggest: TypeAlias = Callable[[Steps, Any], Sequence[str]]


@dataclass(slots=True, eq=False)
class Document:
    """A document under reading."""

    file: str
    data: Any
    """The JSON that it looks like."""
    places: Mapping[tuple[str, ...], tuple[Position, Position]]
    """By path: where a value stands, and where its key does. Empty for data without a text."""
    source: str
    """The text that it was read from."""
    where: str = ""
    """The place in a body that it was found at."""
    nouns: Mapping[str, str] = field(default_factory=dict)
    """What a complaint calls the items of an array at the top, such as `rule`, by the name of the array."""
    value: Any = None
    """What the data means, once it has passed `check`."""
    _complaints: list[Complaint] = field(default_factory=list)

    def check(self, schemas: Schemas, reference: str = "#", suggest: Suggest = lambda _, __: ()) -> None:
        """Set `value` to what the data means; raise DocumentError with all that breaks the schema of a reference.

        `suggest` names what was probably meant by a value for which the schema suggests nothing.
        """
        for violation in schemas.violations(reference, self.data):
            given = None if violation.kind == "missing" else self.at(*violation.steps)
            meant = suggest(violation.steps, given) or violation.suggestions
            self.complain(violation.steps, violation.expected, violation.found, meant, violation.kind == "unknown")
        self.raise_complaints()
        self.value = schemas.value(reference, self.data)

    def complain(
        self, steps: Steps, expected: str, found: str | None = None, meant: Sequence[str] = (), at_key: bool = False
    ) -> None:
        """Complain of the value at a place, or of its key; `found` says what it is where its text does not,
        and `meant` lists what may have been meant.
        """
        place, path = self.position(*steps, at_key=at_key), self.place_of(steps)
        words = clause(excerpt(self.at(*steps)) if found is None else found, expected, meant)
        where = path or ("" if place.line or self.file else "(body)")
        self._complaints.append(Complaint(self.file, place.line, place.column, ": ".join(filter(None, (where, words)))))

    def place_of(self, steps: Steps) -> str:
        """Say where a place is: in a text as `rule 1 (its name): then/hold`, else as a JSON Pointer."""
        match steps:
            case (str(name), int(index), *inner) if self.places and name in self.nouns:
                item = self.data[name][index]
                own_name = f" ({item['name']})" if isinstance(item, dict) and isinstance(item.get("name"), str) else ""
                within = place_of(tuple(inner)).removeprefix("/")
                return f"{self.nouns[name]} {index + 1}{own_name}" + (f": {within}" if within else "")
        return self.where + place_of(steps)

    def check_word(self, steps: Steps, word: str, words: Collection[str], kind: str = "", at_key: bool = False) -> None:
        """Complain of a word at a place that is none of those that can stand there; `kind` names these in words."""
        if word not in words:
            self.complain(steps, choice_of(words, kind), excerpt(word), nearest(word, words), at_key)

    def at(self, *steps: str | int) -> Any:
        """Return the data at a place."""
        data = self.data
        for step in steps:
            data = data[step if isinstance(data, list) else str(step)]
        return data

    def position(self, *steps: str | int, at_key: bool = False) -> Position:
        """Return the place in the file of a value, or of its key; else of the last on the way to it that is there."""
        path = tuple(map(str, steps))  # the validator names a field that looks like a number by that number
        for length in range(len(path), -1, -1):
            if path[:length] in self.places:
                value, key = self.places[path[:length]]
                return key if at_key and length == len(path) else value
        return NOWHERE

    def raise_complaints(self) -> None:
        """Raise the first complaints, in the order of the file, as one DocumentError; return if there are none."""
        if self._complaints:
            in_order = sorted(self._complaints, key=lambda complaint: (complaint.line, complaint.column))
            raise DocumentError(in_order[:MAX_COMPLAINTS])
