"""The strict reader of files: a YAML or JSON text becomes a document that knows the line and column of each value.

Every scalar is text here: what it means (a number, a timestamp, a word) is decided by the reader that knows what its key
expects, so `2026-01-01`, `on` and `12:30:00` never turn into something else. A key that comes twice in a mapping is an
error. What is read is bounded in bytes, depth and values, aliases counted as often as they are used.
"""

import json
import math
import re
from collections.abc import Mapping, Sequence
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

_PLAIN_TAGS: Final = frozenset({"!", "tag:yaml.org,2002:str", "tag:yaml.org,2002:map", "tag:yaml.org,2002:seq"})
_CLOSING: Final = {"{": "}", "[": "]", "'": "'", '"': '"'}
_ESCAPE: Final = re.compile(r"\\(?:u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})|.)", re.DOTALL | re.IGNORECASE)
_NULLS: Final = ("", "~", "null")
_JSON_NUMBER: Final = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?", re.ASCII)
_FORBIDDEN: Final = "[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
"""A pattern that takes 9 ms to compile, which a command that reads no file need not spend."""
_HALF: Final = "half of a surrogate pair"
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_NUMBER_CHARACTERS: Final = 40

JsonValue: TypeAlias = "bool | int | float | str | Sequence[JsonValue] | Mapping[str, JsonValue] | None"


def read_document(text: str | bytes, file: str) -> Document:
    """Read the one document of a YAML or JSON text.

    Raises:
        DocumentError: the text is too large, no UTF-8, no YAML, empty, or more than one document.
    """
    decoded = _decoded(text, file)
    # JSON spells a character beyond 16 bits as two escapes, which YAML does not know.
    plain = _ESCAPE.sub(_paired, decoded) if decoded.lstrip().startswith("{") else decoded
    root = _composed(plain, file)
    reader = _Reader(file)
    return Document(file, reader.read(root, root, (), 0), reader.places, decoded)


def document_of(data: JsonValue, file: str, where: str = "") -> Document:
    """Make a document without places of data that was parsed elsewhere; `where` is its place in a body.

    Raises:
        DocumentError: it is nested too deeply, or has too many values.
    """
    _Bounds(file or where).check_data(data)
    return Document(file, data, {}, json.dumps(data, ensure_ascii=False), where)


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


def _paired(escape: re.Match[str]) -> str:
    """Return the character of two escapes, and any other escape as it is."""
    high, low = escape.groups()
    return escape[0] if high is None else bytes.fromhex(high + low).decode("utf-16-be")


def _decoded(text: str | bytes, filename: str) -> str:
    """Return the text, which is checked for size and for characters that YAML allows."""
    try:
        encoded = text.encode() if isinstance(text, str) else text
        decoded = encoded.decode()
    except (UnicodeDecodeError, UnicodeEncodeError) as error:
        found = "a byte that is not UTF-8" if isinstance(error, UnicodeDecodeError) else _HALF
        before = error.object[: error.start]
        text_before = before if isinstance(before, str) else before.decode(errors="replace")
        raise _no_text_after(text_before, filename, found, "UTF-8 text") from None
    if len(encoded) > MAX_BYTES:
        raise _error(filename, NOWHERE, f"{len(encoded)} bytes", f"at most {MAX_BYTES}")
    decoded = decoded.removeprefix("\ufeff")
    if forbidden := re.search(_FORBIDDEN, decoded):
        found = f"the control character U+{ord(forbidden.group()):04X}"
        raise _no_text_after(decoded[: forbidden.start()], filename, found, "text without control characters")
    return decoded


def _no_text_after(before: str, filename: str, found: str, expected: str) -> DocumentError:
    line, column = before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1
    return _error(filename, Position(line, column), found, expected)


def _error(filename: str, position: Position, found: str, expected: str) -> DocumentError:
    return DocumentError([Complaint(filename, position.line, position.column, f"found {found}; expected {expected}")])


class _Bounds:
    """Counts what one document holds."""

    def __init__(self, filename: str) -> None:
        self.filename = filename
        self._values = 0

    def check(self, depth: int, position: Position) -> None:
        """Count a value at a depth. Raises DocumentError beyond a bound."""
        self._values += 1
        if depth > MAX_DEPTH:
            found = "arrays and objects nested too deeply"
            raise _error(self.filename, position, found, f"at most {MAX_DEPTH} levels")
        if self._values > MAX_VALUES:
            raise _error(self.filename, position, f"more than {MAX_VALUES} values", "a smaller document")

    def check_data(self, data: JsonValue, depth: int = 0) -> None:
        """Count a value of JSON with all that is in it. A level is a list or mapping; a scalar is on that of its holder."""
        inner = data.values() if isinstance(data, Mapping) else data if isinstance(data, list | tuple) else None
        self.check(depth if inner is None else depth + 1, NOWHERE)
        for value in inner or ():
            self.check_data(value, depth + 1)


class _Reader(_Bounds):
    """Reads the nodes that PyYAML composed."""

    def __init__(self, filename: str) -> None:
        super().__init__(filename)
        self.places: dict[tuple[str, ...], tuple[Position, Position]] = {}

    def read(self, node: Any, key: Any, path: tuple[str, ...], depth: int) -> Any:
        """Return the data of a node, and note its place; what an alias names is read and counted anew."""
        place = _position(node.start_mark)
        self.places[path] = place, _position(key.start_mark)
        if node.id == "scalar":
            text = self._scalar(node, depth)
            return text if node.style else _json_scalar(text)
        self._check_tag(node)
        self.check(depth + 1, place)
        if node.id == "sequence":
            return [self.read(item, item, (*path, str(index)), depth + 1) for index, item in enumerate(node.value)]
        entries = {}
        for named, value in node.value:
            if named.id != "scalar":
                raise self._refused(named, "an array or an object as a key", "a text as a key")
            name = self._scalar(named, depth + 1)
            if name in entries:
                raise self._refused(named, f"{excerpt(name)} a second time", "each key once")
            entries[name] = self.read(value, named, (*path, name), depth + 1)
        return entries

    def _scalar(self, node: Any, depth: int) -> str:
        self._check_tag(node)
        self.check(depth, _position(node.start_mark))
        if _SURROGATE.search(node.value):  # PyYAML's parser in C refuses such an escape, the other does not
            raise self._refused(node, _HALF, "UTF-8 text")
        return str(node.value)

    def _check_tag(self, node: Any) -> None:
        if node.tag not in _PLAIN_TAGS:
            raise self._refused(node, f"the tag {excerpt(node.tag)}", "a value without a tag")

    def _refused(self, node: Any, found: str, expected: str) -> DocumentError:
        return _error(self.filename, _position(node.start_mark), found, expected)


def _loader_class() -> Any:
    """Return PyYAML's loader, with bounds: it calls itself for each level, and has no limit of its own."""
    import yaml  # 45 ms of start-up, which a process that reads no YAML need not spend

    class Loader(getattr(yaml, "CBaseLoader", yaml.BaseLoader)):  # type: ignore[misc]
        def __init__(self, text: str, filename: str) -> None:
            super().__init__(text)
            self._bounds = _Bounds(filename)
            self._depth = -1

        def descend_resolver(self, parent: Any, _index: Any) -> None:
            self._depth += 1
            self._bounds.check(self._depth, _position(parent and parent.start_mark))

        def ascend_resolver(self) -> None:
            self._depth -= 1

    return Loader


def _composed(text: str, filename: str) -> Any:
    """Return PyYAML's node of the one document. Raises DocumentError."""
    import yaml

    try:
        root = _loader_class()(text, filename).get_single_node()
    except yaml.MarkedYAMLError as error:  # the other kind is about characters, which were checked before
        raise DocumentError([_syntax_error(error, text, filename)]) from None
    if root is None:
        raise _error(filename, Position(1, 1), "an empty document", "an object")
    return root


def _syntax_error(error: "MarkedYAMLError", text: str, filename: str) -> Complaint:
    """Say what the parser says; of what is not closed, where it begins. A tab is the least visible mistake."""
    position, mark, opening = _position(error.problem_mark), error.problem_mark, error.context_mark
    sign = text[opening.index : opening.index + 1] if opening is not None else ""
    if opening is not None and mark is not None and sign in _CLOSING and opening.line < mark.line:
        comma = "" if sign in "'\"" else f', or "," before line {position.line}, column {position.column}'
        words = f"found {sign} that is not closed; expected {_CLOSING[sign]}{comma}"
        return Complaint(filename, opening.line + 1, opening.column + 1, words)
    said = " ".join(filter(None, [error.problem, error.context]))
    words = f"found text that is not YAML; expected YAML ({said}); a value that begins with > * & @ % or ` needs quotes"
    if mark is not None and text[mark.index :].startswith("\t"):
        words = "found a tab; expected spaces"
    return Complaint(filename, position.line, position.column, words)


def _position(mark: "Mark | None") -> Position:
    return Position(mark.line + 1, mark.column + 1) if mark else NOWHERE
