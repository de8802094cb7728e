"""The strict reader of files: a YAML or JSON text becomes a document that knows the line and column of each value.

Every scalar is text here: what it means (a number, a timestamp, a word) is decided by the reader that knows what its key
expects, so `2026-01-01`, `on` and `12:30:00` never turn into something else. A key that comes twice in a mapping is an
error. What is read is bounded in bytes, depth and values, aliases counted as often as they are used.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from image_workflow_emulator.documents.complaints import NOWHERE, Complaint, DocumentError, Position
from image_workflow_emulator.documents.document import Document
from image_workflow_emulator.kernel.wording import excerpt

if TYPE_CHECKING:
    from yaml import MarkedYAMLError
    from yaml.error import Mark

MAX_BYTES: Final = 1024 * 1024
MAX_DEPTH: Final = 32
MAX_VALUES: Final = 20_000
"""Values of one document, those behind an alias counted each time it is used: they are read in 50 ms."""

_PLAIN_TAGS: Final = frozenset({None, "!", "tag:yaml.org,2002:str", "tag:yaml.org,2002:map", "tag:yaml.org,2002:seq"})
_CLOSING: Final = {"{": "}", "[": "]", "'": "'", '"': '"'}
_ESCAPE: Final = re.compile(r"\\(?:u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})|.)", re.DOTALL | re.IGNORECASE)
_WORDS: Final[Mapping[str, bool | None]] = {"": None, "~": None, "null": None, "true": True, "false": False}
_JSON_NUMBER: Final = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?", re.ASCII)
_FORBIDDEN: Final = "[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
"""A pattern that takes 9 ms to compile, which a command that reads no file need not spend."""
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_NUMBER_CHARACTERS: Final = 40

JsonValue: TypeAlias = "bool | int | float | str | Sequence[JsonValue] | Mapping[str, JsonValue] | None"


def read_document(text: str | bytes, file: str) -> Document:
    """Read the one document of a YAML or JSON text.

    Raises:
        DocumentError: the text is too large, no UTF-8, no YAML, empty, or more than one document.
    """
    import yaml  # 45 ms of start-up, which a process that reads no YAML need not spend

    decoded = _decoded(text, file)
    # JSON spells a character beyond 16 bits as two escapes, which YAML does not know.
    plain = _ESCAPE.sub(_paired, decoded) if decoded.lstrip().startswith("{") else decoded
    reader = _Reader(file)
    try:
        data = reader.read(yaml.parse(plain, getattr(yaml, "CBaseLoader", yaml.BaseLoader)))
    except yaml.MarkedYAMLError as error:  # the other kind is about characters, which were checked before
        raise _syntax_error(error, plain, file) from None
    return Document(file, data, reader.places, decoded)


def document_of(data: JsonValue, file: str, where: str = "") -> Document:
    """Make a document without places of data that was parsed elsewhere; `where` is its place in a body.

    Raises:
        DocumentError: it is nested too deeply, or has too many values.
    """
    _Reader(file or where).check_data(data)
    return Document(file, data, {}, json.dumps(data, ensure_ascii=False), where)


def _json_scalar(text: str) -> JsonValue:
    if text in _WORDS:
        return _WORDS[text]
    if len(text) > _NUMBER_CHARACTERS or not _JSON_NUMBER.fullmatch(text):
        return text
    number: float = json.loads(text)
    return number if math.isfinite(number) else text


def _paired(escape: re.Match[str]) -> str:
    """Return the character of two escapes, and any other escape as it is."""
    high, low = escape.groups()
    return escape[0] if high is None else bytes.fromhex(high + low).decode("utf-16-be")


def _decoded(text: str | bytes, filename: str) -> str:
    """Return the text, which is checked for size and for characters that YAML allows."""
    encoded = text.encode(errors="surrogatepass") if isinstance(text, str) else text
    if len(encoded) > MAX_BYTES:
        raise _error(filename, NOWHERE, f"{len(encoded)} bytes", f"at most {MAX_BYTES}")
    decoded = encoded.decode(errors="surrogateescape").removeprefix("\ufeff")
    if forbidden := re.search(_FORBIDDEN, decoded):
        before, character = decoded[: forbidden.start()], forbidden.group()
        position = Position(before.count("\n") + 1, len(before) - before.rfind("\n"))
        if _SURROGATE.match(character):
            raise _error(filename, position, "a byte that is not UTF-8", "UTF-8 text")
        found = f"the control character U+{ord(character):04X}"
        raise _error(filename, position, found, "text without control characters")
    return decoded


def _error(filename: str, position: Position, found: str, expected: str) -> DocumentError:
    return DocumentError([Complaint(filename, position.line, position.column, f"found {found}; expected {expected}")])


class _Reader:
    """Makes data of what PyYAML parsed, and counts what one document holds."""

    def __init__(self, filename: str) -> None:
        self.places: dict[tuple[str, ...], tuple[Position, Position]] = {}
        self._filename = filename
        self._anchors: dict[str | None, JsonValue] = {}
        self._values = 0

    def read(self, events: Iterator[Any]) -> JsonValue:
        """Return the data of the one document. Raises DocumentError, and what PyYAML raises."""
        next(events)
        if _kind(start := next(events)) == "StreamEnd":
            raise self._error(start, "an empty document", "an object")
        root = next(events)
        data = self._value(events, root, root, (), 0)
        next(events)
        if _kind(end := next(events)) != "StreamEnd":
            raise self._error(end, "a second document", "one")
        return data

    def check_data(self, data: JsonValue, depth: int = 0, position: Position = NOWHERE) -> None:
        """Count a value with all that is in it. A level is a list or mapping; a scalar is on that of its holder."""
        inner = data.values() if isinstance(data, Mapping) else data if isinstance(data, list | tuple) else None
        self._count(depth if inner is None else depth + 1, position)
        for value in inner or ():
            self.check_data(value, depth + 1, position)

    def _count(self, depth: int, position: Position) -> None:
        self._values += 1
        if depth > MAX_DEPTH:
            found = "arrays and objects nested too deeply"
            raise _error(self._filename, position, found, f"at most {MAX_DEPTH} levels")
        if self._values > MAX_VALUES:
            raise _error(self._filename, position, f"more than {MAX_VALUES} values", "a smaller document")

    def _value(self, events: Iterator[Any], event: Any, key: Any, path: tuple[str, ...], depth: int) -> JsonValue:
        """Return the data that begins with an event, and note its place; what an alias names is counted anew."""
        place = _position(event.start_mark)
        self.places[path] = place, _position(key.start_mark)
        data: JsonValue
        items: list[JsonValue]
        match _kind(event):
            case "Alias":
                if event.anchor not in self._anchors:
                    raise self._error(event, f"the alias {excerpt(event.anchor)}", "the name of an anchor before it")
                data = self._anchors[event.anchor]
                self.check_data(data, depth, place)
            case "Scalar":
                text = self._text(event, depth)
                data = text if event.style else _json_scalar(text)
            case "SequenceStart":
                self._begin(event, depth + 1)
                data = items = []
                while _kind(item := next(events)) != "SequenceEnd":
                    items.append(self._value(events, item, item, (*path, str(len(items))), depth + 1))
            case _:
                self._begin(event, depth + 1)
                data = self._entries(events, path, depth + 1)
        self._anchors[event.anchor] = data
        return data

    def _entries(self, events: Iterator[Any], path: tuple[str, ...], depth: int) -> JsonValue:
        entries: dict[str, JsonValue] = {}
        while _kind(key := next(events)) != "MappingEnd":
            if _kind(key) != "Scalar":
                raise self._error(key, "an alias, an array or an object as a key", "a text as a key")
            name = self._text(key, depth)
            if name in entries:
                raise self._error(key, f"{excerpt(name)} a second time", "each key once")
            entries[name] = self._value(events, next(events), key, (*path, name), depth)
        return entries

    def _text(self, scalar: Any, depth: int) -> str:
        self._begin(scalar, depth)
        if _SURROGATE.search(scalar.value):  # PyYAML's parser in C refuses such an escape, the other does not
            raise self._error(scalar, "half of a surrogate pair", "UTF-8 text")
        return str(scalar.value)

    def _begin(self, event: Any, depth: int) -> None:
        if event.tag not in _PLAIN_TAGS:
            raise self._error(event, f"the tag {excerpt(event.tag)}", "a value without a tag")
        self._count(depth, _position(event.start_mark))

    def _error(self, event: Any, found: str, expected: str) -> DocumentError:
        return _error(self._filename, _position(event.start_mark), found, expected)


def _kind(event: Any) -> str:
    return type(event).__name__.removesuffix("Event")


def _syntax_error(error: "MarkedYAMLError", text: str, filename: str) -> DocumentError:
    """Say what the parser says; of what is not closed, where it begins. A tab is the least visible mistake."""
    mark, opening = error.problem_mark, error.context_mark
    assert mark is not None
    sign = text[opening.index : opening.index + 1] if opening is not None and opening.line < mark.line else ""
    if opening is not None and sign in _CLOSING:
        comma = "" if sign in "'\"" else f', or "," before line {mark.line + 1}, column {mark.column + 1}'
        return _error(filename, _position(opening), f"{sign} that is not closed", f"{_CLOSING[sign]}{comma}")
    if text.startswith("\t", mark.index):
        return _error(filename, _position(mark), "a tab", "spaces")
    said = " ".join(filter(None, [error.problem, error.context]))
    expected = f"YAML ({said}); a value that begins with > * & @ % or ` needs quotes"
    return _error(filename, _position(mark), "text that is not YAML", expected)


def _position(mark: "Mark") -> Position:
    return Position(mark.line + 1, mark.column + 1)
