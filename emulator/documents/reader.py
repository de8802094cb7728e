"""The strict reader of files: a text becomes data of the shape that a schema asks for, or complaints with their places.

Owns the way from a text to checked data. What no schema can express is checked by the caller, and complained of here,
so that all mistakes in a file are reported at once. Must not know what a document is about.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from emulator.documents.complaints import Complaint, DocumentError, Position
from emulator.documents.schemas import MORE, Schemas, Steps, Violation
from emulator.documents.yaml_nodes import ListNode, MappingNode, Node, TextNode, json_value
from emulator.kernel.wording import excerpt

MOST_COMPLAINTS: Final = 100
"""Limit of the complaints about one document; after correction the rest are reported."""


class Document:
    """A document under reading. `where` is the place in a body that it was found at.

    `data` is the JSON that it looks like; `texts` the same with every scalar as the text that stands in the file, from
    which values are made once the schema has let them pass.
    """

    def __init__(self, node: Node, file: str, where: str = "") -> None:
        self.file = file
        self.data: Any = json_value(node)
        self.texts: Any = _texts(node)
        self._node = node
        self._where = where
        self._complaints: dict[Complaint, None] = {}
        self._unsound: list[Steps] = []
        self._has_more = False

    def check(self, schemas: Schemas, amend: Callable[[Violation], Violation] = lambda violation: violation) -> None:
        """Complain of all that breaks a schema; `amend` improves complaints whose cause the caller knows better."""
        found = schemas.violations("#", self.data, at_most=MOST_COMPLAINTS)
        self._has_more = MORE in found
        for violation in found:
            if violation is not MORE:
                self._add(amend(violation))

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

    def position(self, *steps: str | int) -> Position:
        """Return the place in the file of a value, or of the last on the way to it that is there."""
        return _find(self._node, steps)

    def raise_as(self, error: type[DocumentError]) -> None:
        """Raise all complaints, in the order of the file, as one error of the given class; return if there are none."""
        if not self._complaints:
            return
        found = sorted(self._complaints, key=lambda complaint: (complaint.line, complaint.column))
        if self._has_more or len(found) > MOST_COMPLAINTS:
            found = [*found[:MOST_COMPLAINTS], Complaint(self.file, 0, 0, "", MORE.found, MORE.expected)]
        raise error(found)

    def _add(self, violation: Violation) -> None:
        position = _find(self._node, violation.steps, at_key=violation.kind == "unknown")
        path = self._where + violation.where
        complaint = Complaint(
            self.file,
            position.line,
            position.column,
            path,
            violation.found,
            violation.expected,
            violation.suggestions,
        )
        self._complaints[complaint] = None
        self._unsound.append(violation.steps)


def _texts(node: Node) -> Any:
    match node:
        case TextNode(text=text):
            return text
        case ListNode(items=items):
            return [_texts(item) for item in items]
        case MappingNode(entries=entries):  # pragma: no branch (there is no other kind of node)
            return {key.text: _texts(value) for key, value in entries}


def _find(node: Node, steps: Steps, at_key: bool = False) -> Position:
    position = node.position
    for depth, step in enumerate(steps, start=1):
        if isinstance(node, ListNode) and isinstance(step, int) and step < len(node.items):
            node = node.items[step]
            position = node.position
            continue
        entries = node.entries if isinstance(node, MappingNode) else ()
        name = str(step)  # the validator names a field that looks like a number by that number
        found = next(((key, value) for key, value in entries if key.text == name), None)
        if found is None:
            break
        key, node = found
        position = key.position if at_key and depth == len(steps) else node.position
    return position
