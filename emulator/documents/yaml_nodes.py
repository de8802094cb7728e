"""YAML with positions. Owns the reading of a YAML (or JSON) text into nodes that know their line and column.

Every scalar is text here: what it means (a number, a timestamp, a word) is decided by the reader that knows what its key
expects, so `2026-01-01`, `on` and `12:30:00` never turn into something else. A key that comes twice in a mapping is an
error. What is read is bounded in bytes, depth and nodes, aliases counted as often as they are used.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from msgspec import Struct

from emulator.documents.complaints import NOWHERE, Complaint, DocumentError, Position
from emulator.kernel.wording import excerpt

if TYPE_CHECKING:
    from yaml import Event, MarkedYAMLError

MAXIMUM_BYTES: Final = 1024 * 1024
MAXIMUM_DEPTH: Final = 32
MAXIMUM_NODES: Final = 100_000
"""Nodes of one document, those behind an alias counted each time it is used."""

_PLAIN_TAGS: Final = frozenset({None, "!", "tag:yaml.org,2002:str", "tag:yaml.org,2002:map", "tag:yaml.org,2002:seq"})
_NULLS: Final = ("", "~", "null")
_JSON_NUMBER: Final = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?", re.ASCII)
_FORBIDDEN: Final = "[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
_HALF: Final = "half of a surrogate pair"
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_ESCAPE: Final = re.compile(
    r"\\(?:u[Dd][89ABab][\dA-Fa-f]{2}\\u[Dd][C-Fc-f][\dA-Fa-f]{2}|(?P<half>u[Dd][89A-Fa-f][\dA-Fa-f]{2})|.)", re.ASCII
)
"""An escape in a text of JSON: a whole surrogate pair is one character, half of one is none."""
_NUMBER_CHARACTERS: Final = 40
_INDICATORS: Final = "*&>|@`%"
"""Characters with which a value can begin only in quotes, unless they mean what YAML means by them."""
_MISTAKEN: Final = ("while scanning an alias", "while scanning an anchor", "while scanning a block scalar")
_UNEXPECTED: Final = "cannot start any token"
"""How PyYAML's parsers tell that such a character was taken for what YAML means by it, or for nothing."""

JsonValue: TypeAlias = "bool | int | float | str | Sequence[JsonValue] | Mapping[str, JsonValue] | None"


class TextNode(Struct, frozen=True):
    """A scalar. `quoted` tells `"3"`, which can only be text, from `3`."""

    text: str
    quoted: bool
    position: Position


class ListNode(Struct, frozen=True):
    """A sequence of nodes."""

    items: tuple["Node", ...]
    position: Position


class MappingNode(Struct, frozen=True):
    """Keys, in the order of the file, each with its node."""

    entries: tuple[tuple[TextNode, "Node"], ...]
    position: Position


Node: TypeAlias = TextNode | ListNode | MappingNode


def read_document(text: str | bytes, filename: str) -> Node:
    """Read the one document of a YAML or JSON text.

    Raises:
        DocumentError: the text is too large, no UTF-8, no YAML, empty, or more than one document.
    """
    decoded = _decoded(text, filename)
    try:
        return _Composer(filename).compose(decoded)
    except DocumentError:
        if not decoded.lstrip().startswith("{"):
            raise
        data = _json_or_none(decoded, filename)
        if data is None:  # not JSON either, so the complaint about YAML is the better one
            raise
        return node_of(data, filename)


def node_of(data: JsonValue, filename: str) -> Node:
    """Turn data that was parsed elsewhere (a JSON body, a compiled document) into nodes without positions.

    Raises:
        DocumentError: it is nested too deeply.
    """
    return _node_of(data, filename, 1)


def json_value(node: Node) -> JsonValue:
    """Read a node as the JSON it looks like: unquoted numbers, true, false and null as such, all else as text."""
    match node:
        case TextNode(text=text, quoted=quoted):
            return text if quoted else _json_scalar(text)
        case ListNode(items=items):
            return [json_value(item) for item in items]
        case MappingNode(entries=entries):  # pragma: no branch (there is no other kind of node)
            return {key.text: json_value(value) for key, value in entries}


def _json_scalar(text: str) -> JsonValue:
    if text in _NULLS:
        return None
    if text in ("true", "false"):
        return text == "true"
    if len(text) > _NUMBER_CHARACTERS or not _JSON_NUMBER.fullmatch(text):
        return text
    if not set(text) & set(".eE"):
        return int(text)
    number = float(text)
    return number if math.isfinite(number) else text


def _node_of(data: JsonValue, filename: str, depth: int) -> Node:
    if depth > MAXIMUM_DEPTH:
        raise DocumentError([_too_deep(filename, NOWHERE)])
    if isinstance(data, str):
        return TextNode(data, quoted=True, position=NOWHERE)
    if isinstance(data, Mapping):
        return MappingNode(
            tuple(
                (TextNode(key, quoted=True, position=NOWHERE), _node_of(value, filename, depth + 1))
                for key, value in data.items()
            ),
            NOWHERE,
        )
    if isinstance(data, Sequence):
        return ListNode(tuple(_node_of(item, filename, depth + 1) for item in data), NOWHERE)
    return TextNode("" if data is None else json.dumps(data), quoted=False, position=NOWHERE)


def _json_or_none(text: str, filename: str) -> JsonValue:
    """Read a text as JSON; None if it is not JSON. Raises DocumentError: one of its texts cannot be written as UTF-8."""
    try:
        data: JsonValue = json.loads(text, object_pairs_hook=_object_of)
    except (ValueError, RecursionError):
        return None
    for escape in _ESCAPE.finditer(text):
        if escape["half"]:
            raise _no_text_after(text[: escape.start()], filename, _HALF)
    return data


def _object_of(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    """Raises ValueError: a key comes twice."""
    if len(fields := dict(pairs)) < len(pairs):
        raise ValueError(pairs)
    return fields


def _no_text_after(before: str, filename: str, found: str, expected: str = "UTF-8 text") -> DocumentError:
    line, column = before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1
    return DocumentError([Complaint(filename, line, column, "", found, expected)])


def _decoded(text: str | bytes, filename: str) -> str:
    """Return the text, which is checked for size and for characters that YAML allows."""
    try:
        encoded = text.encode() if isinstance(text, str) else text
        decoded = encoded.decode()
    except (UnicodeDecodeError, UnicodeEncodeError) as error:
        found = "a byte that is not UTF-8" if isinstance(error, UnicodeDecodeError) else _HALF
        before = error.object[: error.start]
        text_before = before if isinstance(before, str) else before.decode(errors="replace")
        raise _no_text_after(text_before, filename, found) from None
    if len(encoded) > MAXIMUM_BYTES:
        raise DocumentError([Complaint(filename, 0, 0, "", f"{len(encoded)} bytes", f"at most {MAXIMUM_BYTES}")])
    decoded = decoded.removeprefix("\ufeff")
    if forbidden := re.search(_FORBIDDEN, decoded):
        found = f"the control character U+{ord(forbidden.group()):04X}"
        raise _no_text_after(decoded[: forbidden.start()], filename, found, "text without control characters")
    return decoded


def _too_deep(filename: str, position: Position) -> Complaint:
    expected = f"at most {MAXIMUM_DEPTH} levels"
    return Complaint(filename, position.line, position.column, "", "arrays and objects nested too deeply", expected)


@dataclass(slots=True, eq=False)
class _Open:
    """A mapping or list whose end has not been seen yet."""

    is_mapping: bool
    anchor: str | None
    position: Position
    children: list[Node]
    size: int = 1
    height: int = 1

    def closed(self) -> Node:
        if not self.is_mapping:
            return ListNode(tuple(self.children), self.position)
        keys, values = self.children[::2], self.children[1::2]
        entries = tuple((key, value) for key, value in zip(keys, values, strict=True) if isinstance(key, TextNode))
        return MappingNode(entries, self.position)


class _Built(Struct, frozen=True):
    """A finished node, with its number of values and its levels."""

    node: Node
    size: int = 1
    height: int = 0


class _Composer:
    """Builds nodes from the parser's events, on a stack of its own: no depth of input can exhaust the interpreter's."""

    def __init__(self, filename: str) -> None:
        self._filename = filename
        self._open: list[_Open] = []
        self._anchors: dict[str, _Built] = {}
        self._root: Node | None = None
        self._nodes = 0

    def compose(self, text: str) -> Node:
        for event in self._events(text):
            self._take(event)
        if self._root is None:
            raise self._error(Position(1, 1), "an empty document", "an object")
        return self._root

    def _events(self, text: str) -> Iterator["Event"]:
        import yaml  # 45 ms of start-up, which a process that reads no YAML need not spend

        try:
            yield from yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        except yaml.MarkedYAMLError as error:  # the other kind is about characters, which were checked before
            raise self._syntax_error(error, text) from None

    def _take(self, event: "Event") -> None:
        import yaml

        mark = event.start_mark
        position = Position(mark.line + 1, mark.column + 1) if mark else NOWHERE
        match event:
            case yaml.DocumentStartEvent() if self._root is not None:
                raise self._error(position, "a second document", "one document in a file")
            case yaml.ScalarEvent(anchor=anchor, tag=tag, style=style, value=value):
                self._check_tag(tag, position)
                if _SURROGATE.search(value):  # of PyYAML's two parsers, that in C refuses such an escape by itself
                    raise self._error(position, _HALF, "UTF-8 text")
                self._nodes += 1
                self._add(_Built(TextNode(value, style not in (None, ""), position)), anchor)
            case yaml.AliasEvent(anchor=anchor):
                built = self._behind_alias(str(anchor), position)
                self._nodes += built.size
                self._add(built, None)
            case yaml.MappingStartEvent(anchor=anchor, tag=tag):
                self._begin(_Open(is_mapping=True, anchor=anchor, position=position, children=[]), tag)
            case yaml.SequenceStartEvent(anchor=anchor, tag=tag):
                self._begin(_Open(is_mapping=False, anchor=anchor, position=position, children=[]), tag)
            case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                closing = self._open.pop()
                node = closing.closed()
                self._check_keys_once(node)
                self._add(_Built(node, closing.size, closing.height), closing.anchor)

    def _begin(self, opening: _Open, tag: str | None) -> None:
        self._check_tag(tag, opening.position)
        self._nodes += 1
        self._open.append(opening)
        self._check_depth(len(self._open), opening.position)

    def _add(self, built: _Built, anchor: str | None) -> None:
        node = built.node
        if self._nodes > MAXIMUM_NODES:
            raise self._error(node.position, f"more than {MAXIMUM_NODES} values", "a smaller document")
        if anchor is not None:
            self._anchors[anchor] = built
        if not self._open:
            self._root = node
            return
        parent = self._open[-1]
        if parent.is_mapping and len(parent.children) % 2 == 0 and not isinstance(node, TextNode):
            raise self._error(node.position, f"{excerpt(json_value(node))} as a key", "a text as a key")
        self._check_depth(len(self._open) + built.height, node.position)
        parent.children.append(node)
        parent.size += built.size
        parent.height = max(parent.height, built.height + 1)

    def _behind_alias(self, anchor: str, position: Position) -> _Built:
        if anchor not in self._anchors:
            raise self._error(
                position, excerpt(f"*{anchor}"), "an alias of an anchor that ended before it, or quotes around it"
            )
        return self._anchors[anchor]

    def _check_keys_once(self, node: Node) -> None:
        taken: set[str] = set()
        for key, _ in node.entries if isinstance(node, MappingNode) else ():
            if key.text in taken:
                raise self._error(key.position, f"{excerpt(key.text)} a second time", "each key once")
            taken.add(key.text)

    def _check_tag(self, tag: str | None, position: Position) -> None:
        if tag not in _PLAIN_TAGS:
            raise self._error(position, f"the tag {excerpt(str(tag))}", "a value without a tag")

    def _check_depth(self, depth: int, position: Position) -> None:
        if depth > MAXIMUM_DEPTH:
            raise DocumentError([_too_deep(self._filename, position)])

    def _syntax_error(self, error: "MarkedYAMLError", text: str) -> DocumentError:
        """Say what to write for the commonest mistakes, and for the others what the parser says."""
        is_value = str(error.context).startswith(_MISTAKEN)  # then the problem comes after its first character
        mark = error.context_mark if is_value else error.problem_mark
        position = Position(mark.line + 1, mark.column + 1) if mark else NOWHERE
        first = text[mark.index : mark.index + 1] if mark else ""
        if first == "\t":
            return self._error(position, "a tab", "spaces")
        if first and first in _INDICATORS and (is_value or _UNEXPECTED in str(error.problem)):
            return self._error(position, f'a value that begins with "{first}"', "quotes around it")
        problem = " ".join(filter(None, [error.problem, error.context]))
        return self._error(position, "text that is not YAML", f"YAML ({problem})")

    def _error(self, position: Position, found: str, expected: str) -> DocumentError:
        return DocumentError([Complaint(self._filename, position.line, position.column, "", found, expected)])
