"""YAML and JSON text, read strictly to data with the line and column of each value.

A plain scalar that reads as JSON is that value, else text: what a text means (a
timestamp, a duration, a word) is said by the schema of its document, so `2026-01-01`,
`on` and `12:30:00` never turn into something else. What a node is, its syntax says; a
tag that says otherwise is refused, as is a key that comes twice.

Imports PyYAML, which takes 45 ms: `document` imports this module when it reads a text.
"""

import json
import math
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import yaml
from msgspec import Struct
from yaml import MappingNode, Node, ScalarNode, SequenceNode
from yaml.error import Mark

from image_workflow_emulator.documents.complaints import (
    DocumentError,
    Position,
    error_at,
)
from image_workflow_emulator.documents.limits import (
    MAX_BYTES,
    DocumentSize,
    JsonValue,
)
from image_workflow_emulator.kernel.wording import excerpt

if TYPE_CHECKING:
    from yaml._yaml import Mark as ParserMark

_TAG_PREFIX: Final = "tag:yaml.org,2002:"
_KINDS_BY_TAG: Final[Mapping[str, str]] = {
    "!!str": "a text",
    "!!seq": "an array",
    "!!map": "an object",
}
_MERGE_KEY: Final = "<<"
_EVENTS_PER_VALUE: Final = 3
"""More events than the parser gives for any value."""

_SURROGATE_ESCAPES: Final = re.compile(
    r"\\(?:u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})|.)",
    re.DOTALL | re.IGNORECASE,
)
_WORDS: Final[Mapping[str, bool | None]] = {
    "": None,
    "~": None,
    "null": None,
    "true": True,
    "false": False,
}
_JSON_NUMBER: Final = re.compile(
    r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?",
    re.ASCII,
)
_MAX_NUMBER_CHARACTERS: Final = 40
_FORBIDDEN_CHARACTER: Final = re.compile(
    "[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
)


class Span(Struct, frozen=True):
    """Where a value of a text begins, and its key; an item of an array is its own."""

    value: Position
    key: Position


Path = tuple[str, ...]
"""The way to a value: the names of fields and the indexes of items, as texts."""


class ReadText(Struct, frozen=True):
    """What a text says."""

    data: JsonValue
    spans: Mapping[Path, Span]
    text: str


def read_text(text: str | bytes, file: str) -> ReadText:
    """Read the one document of a YAML or JSON text.

    Raises:
        DocumentError: the text is too large, no UTF-8, no YAML, empty, or more than
            one document.
    """
    decoded = _decoded(text, file)
    yaml_text = decoded
    if decoded.lstrip().startswith("{"):
        yaml_text = _SURROGATE_ESCAPES.sub(_joined_escapes, decoded)
    reader = _NodeReader(file)
    try:
        reader.check_events(yaml_text)
        root = yaml.compose(yaml_text, yaml.CBaseLoader)
    except yaml.MarkedYAMLError as error:
        # The other errors are about characters, which were checked before.
        raise _syntax_error(error, yaml_text, file) from None
    if root is None:
        last_line = decoded.count("\n") + 1
        end = Position(last_line, 1)
        raise error_at(file, end, "an empty document", "an object")
    data = reader.read(
        root,
        key=root,
        path=(),
        depth=0,
    )
    return ReadText(data, reader.spans, decoded)


class _NodeReader:
    """Makes data of the nodes that PyYAML composed, and notes where each value begins.

    What an alias names is read, and counted, each time.
    """

    def __init__(self, file: str) -> None:
        self.spans: dict[Path, Span] = {}
        self._file = file
        self._size = DocumentSize(file)
        self._tagged_scalars: set[int] = set()
        """The indexes in the text of scalars that are texts, since their tag says so.
        """

    def check_events(self, text: str) -> None:
        """Check size and depth before PyYAML composes the text by recursion in C.

        Raises:
            DocumentError: it is too large or too deep.
            yaml.MarkedYAMLError: it is no YAML.
        """
        depth = 0
        events = yaml.parse(text, yaml.CBaseLoader)
        for number, event in enumerate(events):
            if isinstance(event, yaml.CollectionStartEvent):
                depth += 1
            elif isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
            mark = event.start_mark
            assert mark is not None
            if isinstance(event, yaml.ScalarEvent) and event.tag is not None:
                self._tagged_scalars.add(mark.index)
            least_values = number // _EVENTS_PER_VALUE
            self._size.check(least_values, depth, _position(mark))

    def read(
        self,
        node: Node,
        key: Node,
        path: Path,
        depth: int,
    ) -> JsonValue:
        """Return the data of a node, and note its place.

        Raises:
            DocumentError: it has a tag that does not fit, a key that is no text or
                comes twice, or too many values.
        """
        position = _position(node.start_mark)
        self.spans[path] = Span(position, _position(key.start_mark))
        # A node is what its class says: its tag is only what somebody wrote.
        if isinstance(node, MappingNode):
            self._size.add_value(depth + 1, position)
            return self._object(node, path, depth)
        if isinstance(node, SequenceNode):
            self._size.add_value(depth + 1, position)
            return self._array(node, path, depth)
        self._size.add_value(depth, position)
        return self._scalar(node)

    def _scalar(self, node: Node) -> JsonValue:
        self._check_tag(node, "a text")
        text: str = node.value
        is_quoted = isinstance(node, ScalarNode) and bool(node.style)
        if is_quoted or node.start_mark.index in self._tagged_scalars:
            return text
        return _plain_scalar(text)

    def _array(
        self,
        node: SequenceNode,
        path: Path,
        depth: int,
    ) -> list[JsonValue]:
        self._check_tag(node, "an array")
        items = []
        for index, item_node in enumerate(node.value):
            item_path = (*path, str(index))
            item = self.read(item_node, item_node, item_path, depth + 1)
            items.append(item)
        return items

    def _object(
        self,
        node: MappingNode,
        path: Path,
        depth: int,
    ) -> dict[str, JsonValue]:
        self._check_tag(node, "an object")
        fields: dict[str, JsonValue] = {}
        for name_node, value_node in node.value:
            name = self._name(name_node)
            self._size.add_value(depth, _position(name_node.start_mark))
            if name in fields:
                found = f"{excerpt(name)} a second time"
                raise self._error(name_node, found, "each key once")
            field_path = (*path, name)
            fields[name] = self.read(value_node, name_node, field_path, depth + 1)
        return fields

    def _name(self, node: Node) -> str:
        if not isinstance(node, ScalarNode):
            found = "an array or an object as a key"
            raise self._error(node, found, "a text as a key")
        self._check_tag(node, "a text")
        name: str = node.value
        if name == _MERGE_KEY and not node.style:
            expected = "the fields themselves, or an alias for a whole value"
            raise self._error(node, f'the merge key "{_MERGE_KEY}"', expected)
        return name

    def _check_tag(self, node: Node, kind: str) -> None:
        tag = node.tag
        if tag.startswith(_TAG_PREFIX):
            tag = f"!!{tag.removeprefix(_TAG_PREFIX)}"
        if _KINDS_BY_TAG.get(tag) == kind:
            return
        found = f"the tag {excerpt(tag)}"
        if tag in _KINDS_BY_TAG:
            found = f"{found} on {kind}"
        raise self._error(node, found, "a value without a tag")

    def _error(
        self,
        node: Node,
        found: str,
        expected: str,
    ) -> DocumentError:
        return error_at(self._file, _position(node.start_mark), found, expected)


def _plain_scalar(text: str) -> JsonValue:
    """Return what a scalar without quotes is as JSON, else its text."""
    if text in _WORDS:
        return _WORDS[text]
    if len(text) > _MAX_NUMBER_CHARACTERS or not _JSON_NUMBER.fullmatch(text):
        return text
    number: float = json.loads(text)
    if not math.isfinite(number):
        return text
    return number


def _joined_escapes(escape: re.Match[str]) -> str:
    """Return the character of two escapes, and any other escape as it is.

    JSON writes a character beyond 16 bits as two escapes, which YAML does not know.
    """
    high, low = escape.groups()
    if high is None:
        return escape[0]
    return bytes.fromhex(high + low).decode("utf-16-be")


def _decoded(text: str | bytes, file: str) -> str:
    """Return the text, checked for its size and for characters that YAML allows."""
    if isinstance(text, str):
        text = text.encode(errors="surrogatepass")
    if len(text) > MAX_BYTES:
        found = f"{len(text)} bytes"
        raise error_at(file, Position(), found, f"at most {MAX_BYTES}")
    decoded = text.decode(errors="surrogateescape").removeprefix("\ufeff")
    forbidden = _FORBIDDEN_CHARACTER.search(decoded)
    if forbidden is None:
        return decoded
    position = _position_at(decoded, forbidden.start())
    character = forbidden[0]
    if "\ud800" <= character <= "\udfff":
        raise error_at(file, position, "a byte that is not UTF-8", "UTF-8 text")
    found = f"the control character U+{ord(character):04X}"
    raise error_at(file, position, found, "text without control characters")


def _position_at(text: str, index: int) -> Position:
    before = text[:index]
    line = before.count("\n") + 1
    column = len(before) - before.rfind("\n")
    return Position(line, column)


def _syntax_error(
    error: yaml.MarkedYAMLError,
    text: str,
    file: str,
) -> DocumentError:
    """Say what the parser says, at the beginning of what is not closed.

    A tab is named, since it is the least visible mistake.
    """
    mark = error.problem_mark
    opening = error.context_mark
    assert mark is not None
    if text.startswith("\t", mark.index):
        return error_at(file, _position(mark), "a tab", "spaces")
    if opening is not None and opening.line < mark.line:
        is_unclosed = text[opening.index] in "{['\""
        if is_unclosed:
            mark = opening
    reasons = [error.context, error.problem]
    reason = " ".join(text for text in reasons if text)
    expected = f"YAML ({reason}); a value that begins with > * & @ % or ` needs quotes"
    return error_at(file, _position(mark), "text that is not YAML", expected)


def _position(mark: "Mark | ParserMark") -> Position:
    return Position(mark.line + 1, mark.column + 1)
