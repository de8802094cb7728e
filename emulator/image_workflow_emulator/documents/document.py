"""A document under reading: its data, the place of each value in its text, and all
complaints about it.

First all that breaks the schema is reported, and then, by the room whose document it
is, all that no schema can express. Must not know what a document is about.
"""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from msgspec import Struct

from image_workflow_emulator.documents.complaints import (
    Complaint,
    DocumentError,
    Position,
    choice_of,
    clause,
    nearest,
)
from image_workflow_emulator.documents.limits import (
    DocumentSize,
    JsonValue,
    has_more_values,
)
from image_workflow_emulator.documents.schemas import (
    MANY_VALUES,
    MAX_COMPLAINTS,
    Schemas,
)
from image_workflow_emulator.documents.violations import Steps, Violation, place_of
from image_workflow_emulator.kernel.wording import excerpt

if TYPE_CHECKING:
    from image_workflow_emulator.documents.yaml_reader import Path, Span

_MAX_MISTAKES: Final = 1_000
"""Limit of the mistakes that are noted before the first of them are shown."""

Fields: TypeAlias = Mapping[str, Any]
"""The fields of an object in a document, by their names."""
Suggest: TypeAlias = Callable[[Steps, Any], Sequence[str]]


class _Mistake(Struct, frozen=True):
    """A complaint that may be shown; `suggestions` are looked for only if it is."""

    position: Position
    where: str
    found: str
    expected: str
    suggestions: Callable[[], Sequence[str]]

    def complaint(self, file: str) -> Complaint:
        """Return the complaint in words."""
        words = clause(self.found, self.expected, self.suggestions())
        if self.where:
            words = f"{self.where}: {words}"
        return Complaint(
            file=file,
            line=self.position.line,
            column=self.position.column,
            words=words,
        )


@dataclass(slots=True, eq=False)
class Document:
    """A document under reading: its data with the places in its text, and all
    complaints about it.
    """

    file: str
    data: Any
    """Its content as JSON."""
    spans: "Mapping[Path, Span]"
    """Where each value and its key begin. Empty for data without a text."""
    source: str
    """The text that it was read from."""
    where: str = ""
    """The place in a body that it was found at."""
    value: Any = None
    """What the data means, once it has passed `check`."""
    _mistakes: list[_Mistake] = field(default_factory=list)

    def check(
        self,
        schemas: Schemas,
        reference: str = "#",
        suggest: Suggest | None = None,
    ) -> None:
        """Set `value` to what the data means.

        `suggest` names what was probably meant by a value for which the schema
        suggests nothing.

        Raises:
            DocumentError: with all that breaks the schema of the reference; of a large
                document, with the first mistake.
        """
        is_large = has_more_values(self.data, MANY_VALUES)
        for violation in schemas.violations(reference, self.data, is_large):
            self.complain(
                violation.steps,
                violation.expected,
                violation.found,
                at_key=violation.kind == "unknown",
                suggestions=partial(self._suggestions, violation, suggest),
            )
        self.raise_complaints()
        self.value = schemas.value(reference, self.data)

    def _suggestions(
        self,
        violation: Violation,
        suggest: Suggest | None,
    ) -> Sequence[str]:
        if suggest is None:
            return violation.suggestions()
        value = None
        if violation.kind != "missing":
            value = self.at(*violation.steps)
        return suggest(violation.steps, value) or violation.suggestions()

    def complain(
        self,
        steps: Steps,
        expected: str,
        found: str | None = None,
        *,
        at_key: bool = False,
        suggestions: Callable[[], Sequence[str]] = tuple,
    ) -> None:
        """Complain of the value at a place, or of its key.

        `found` describes the value where its text does not. `suggestions` returns what
        may have been meant; it is called only for a complaint that is shown.

        Raises:
            DocumentError: there are more mistakes than anybody reads.
        """
        where = self.where + place_of(steps)
        if not where and not self.file:
            where = "(body)"
        if found is None:
            found = excerpt(self.at(*steps))
        mistake = _Mistake(
            position=self.position(*steps, at_key=at_key),
            where=where,
            found=found,
            expected=expected,
            suggestions=suggestions,
        )
        self._mistakes.append(mistake)
        if len(self._mistakes) >= _MAX_MISTAKES:
            self.raise_complaints()

    def check_word(
        self,
        steps: Steps,
        word: str,
        words: Collection[str],
        kind: str = "",
        *,
        at_key: bool = False,
    ) -> None:
        """Complain of a word at a place that is none of those that can stand there.

        `kind` names these in words.
        """
        if word not in words:
            self.complain(
                steps,
                choice_of(words, kind),
                excerpt(word),
                at_key=at_key,
                suggestions=partial(nearest, word, words),
            )

    def at(self, *steps: str | int) -> Any:
        """Return the data at a place."""
        data = self.data
        for step in steps:
            key = step
            if not isinstance(data, list):
                key = str(step)  # the validator names a field `7` by the number
            data = data[key]
        return data

    def position(self, *steps: str | int, at_key: bool = False) -> Position:
        """Return the place in the file of a value, or of its key; else of the last on
        the way to it that is there.
        """
        path = tuple(map(str, steps))  # the validator names a field `7` by the number
        for length in range(len(path), -1, -1):
            span = self.spans.get(path[:length])
            if span is None:
                continue
            if at_key and length == len(path):
                return span.key
            return span.value
        return Position()

    def raise_complaints(self) -> None:
        """Raise the first complaints, in the order of the file, as one DocumentError;
        return if there are none.
        """
        if not self._mistakes:
            return
        in_order = sorted(
            self._mistakes,
            key=lambda mistake: (mistake.position.line, mistake.position.column),
        )
        first_mistakes = in_order[:MAX_COMPLAINTS]
        complaints = [mistake.complaint(self.file) for mistake in first_mistakes]
        raise DocumentError(complaints)


def read_document(text: str | bytes, file: str) -> Document:
    """Read the one document of a YAML or JSON text.

    Raises:
        DocumentError: the text is too large, no UTF-8, no YAML, empty, or more than
            one document.
    """
    from image_workflow_emulator.documents.yaml_reader import read_text

    content = read_text(text, file)
    return Document(file, content.data, content.spans, content.text)


def document_of(
    data: JsonValue,
    file: str,
    where: str = "",
) -> Document:
    """Make a document without places of data that was parsed elsewhere.

    `where` is its place in a body.

    Raises:
        DocumentError: it is nested too deeply, or has too many values.
    """
    DocumentSize(file or where).add_all(data)
    return Document(
        file=file,
        data=data,
        spans={},
        source=json.dumps(data, ensure_ascii=False),
        where=where,
    )
