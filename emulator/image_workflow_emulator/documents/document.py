"""A document: a YAML or JSON text, read strictly to data with the line and column of each value, and checked.

A plain scalar that reads as JSON is that value, else text: what a text means (a timestamp, a duration, a word) is said
by the schema of its document, so `2026-01-01`, `on` and `12:30:00` never turn into something else. A key that comes
twice in a mapping is an error. Bytes, depth and values are limited, and aliases count as often as they are used.

First all that breaks the schema is reported, and then, by the room whose document it is, all that no schema can
express. Must not know what a document is about.
"""

import json
import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from image_workflow_emulator.documents.complaints import Complaint, DocumentError, Position, choice_of, clause, nearest
from image_workflow_emulator.documents.schemas import MAX_COMPLAINTS, Schemas, Steps, place_of
from image_workflow_emulator.kernel.wording import excerpt

if TYPE_CHECKING:
    from yaml import MarkedYAMLError
    from yaml.error import Mark

MAX_BYTES: Final = 1024 * 1024
MAX_DEPTH: Final = 32
MAX_VALUES: Final = 20_000
"""Values of one document, those behind an alias counted each time it is used: they are read in 0.1 s."""

_SEQUENCE_TAG: Final = "tag:yaml.org,2002:seq"
_PLAIN_TAGS: Final = ("!", "tag:yaml.org,2002:str", "tag:yaml.org,2002:map", _SEQUENCE_TAG)
_LEVELS: Final = {"SequenceStartEvent": 1, "MappingStartEvent": 1, "SequenceEndEvent": -1, "MappingEndEvent": -1}
_EVENTS_PER_VALUE: Final = 3
"""More events than the parser gives for any value."""
_ESCAPE: Final = re.compile(r"\\(?:u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})|.)", re.DOTALL | re.IGNORECASE)
_WORDS: Final[Mapping[str, bool | None]] = {"": None, "~": None, "null": None, "true": True, "false": False}
_JSON_NUMBER: Final = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?", re.ASCII)
_FORBIDDEN: Final = "[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
"""A pattern that takes 9 ms to compile, which a command that reads no file need not spend."""
_NUMBER_CHARACTERS: Final = 40

JsonValue: TypeAlias = "bool | int | float | str | Sequence[JsonValue] | Mapping[str, JsonValue] | None"
Suggest: TypeAlias = Callable[[Steps, Any], Sequence[str]]


@dataclass(slots=True, eq=False)
class Document:
    """A document under reading: its data with the places in its text, and all complaints about it."""

    file: str
    data: Any
    """Its content as JSON."""
    places: Mapping[tuple[str, ...], tuple[Position, Position]]
    """The positions of each value and of its key, by path. Empty for data without a text."""
    source: str
    """The text that it was read from."""
    where: str = ""
    """The place in a body that it was found at."""
    value: Any = None
    """What the data means, once it has passed `check`."""
    _complaints: list[Complaint] = field(default_factory=list)

    def check(self, schemas: Schemas, reference: str = "#", suggest: Suggest = lambda *_: ()) -> None:
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
        place = self.position(*steps, at_key=at_key)
        words = clause(excerpt(self.at(*steps)) if found is None else found, expected, meant)
        where = self.where + place_of(steps) or ("" if self.file else "(body)")
        self._complaints.append(Complaint(self.file, place.line, place.column, ": ".join(filter(None, (where, words)))))

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
        path = tuple(map(str, steps))  # the validator names a field `7` by the number
        for length in range(len(path), -1, -1):
            if path[:length] in self.places:
                value, key = self.places[path[:length]]
                return key if at_key and length == len(path) else value
        return Position()

    def raise_complaints(self) -> None:
        """Raise the first complaints, in the order of the file, as one DocumentError; return if there are none."""
        if self._complaints:
            in_order = sorted(self._complaints, key=lambda complaint: (complaint.line, complaint.column))
            raise DocumentError(in_order[:MAX_COMPLAINTS])


# Reading --------------------------------------------------------------------------------------------------------------


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
        reader.check_events(yaml.parse(plain, yaml.CBaseLoader))
        root = yaml.compose(plain, yaml.CBaseLoader)
    except yaml.MarkedYAMLError as error:  # the other kind is about characters, which were checked before
        raise _syntax_error(error, plain, file) from None
    if root is None:
        raise _error(file, Position(decoded.count("\n") + 1, 1), "an empty document", "an object")
    return Document(file, reader.value(root, root, (), 0), reader.places, decoded)


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
        raise _error(filename, Position(), f"{len(encoded)} bytes", f"at most {MAX_BYTES}")
    decoded = encoded.decode(errors="surrogateescape").removeprefix("\ufeff")
    if forbidden := re.search(_FORBIDDEN, decoded):
        before, character = decoded[: forbidden.start()], forbidden.group()
        position = Position(before.count("\n") + 1, len(before) - before.rfind("\n"))
        if "\ud800" <= character <= "\udfff":
            raise _error(filename, position, "a byte that is not UTF-8", "UTF-8 text")
        found = f"the control character U+{ord(character):04X}"
        raise _error(filename, position, found, "text without control characters")
    return decoded


def _error(filename: str, position: Position, found: str, expected: str) -> DocumentError:
    return DocumentError([Complaint(filename, position.line, position.column, f"found {found}; expected {expected}")])


class _Reader:
    """Makes data of the nodes that PyYAML composed, notes their places, and limits what one document holds."""

    def __init__(self, filename: str) -> None:
        self.places: dict[tuple[str, ...], tuple[Position, Position]] = {}
        self._filename = filename
        self._values = 0

    def check_events(self, events: Iterable[Any]) -> None:
        """Check size and depth before PyYAML composes the text, which it does by recursion in C."""
        depth = 0
        for number, event in enumerate(events):
            depth += _LEVELS.get(type(event).__name__, 0)
            self._check(number // _EVENTS_PER_VALUE, depth, event.start_mark)

    def check_data(self, data: JsonValue, depth: int = 0) -> None:
        """Count a value with all that is in it. A level is a list or mapping; a scalar is on that of its holder."""
        inner = data.values() if isinstance(data, Mapping) else data if isinstance(data, list | tuple) else None
        self._count(depth if inner is None else depth + 1)
        for value in inner or ():
            self.check_data(value, depth + 1)

    def _count(self, depth: int, mark: "Mark | None" = None) -> None:
        self._values += 1
        self._check(self._values, depth, mark)

    def _check(self, values: int, depth: int, mark: "Mark | None") -> None:
        if depth > MAX_DEPTH:
            raise self._error(mark, "arrays and objects nested too deeply", f"at most {MAX_DEPTH} levels")
        if values > MAX_VALUES:
            raise self._error(mark, f"more than {MAX_VALUES} values", "a smaller document")

    def value(self, node: Any, key: Any, path: tuple[str, ...], depth: int) -> JsonValue:
        """Return the data of a node, and note its place; what an alias names is read, and counted, each time."""
        self.places[path] = _position(node.start_mark), _position(key.start_mark)
        self._count(depth if isinstance(node.value, str) else depth + 1, node.start_mark)
        if node.tag not in _PLAIN_TAGS:
            raise self._error(node.start_mark, f"the tag {excerpt(node.tag)}", "a value without a tag")
        if isinstance(node.value, str):
            return node.value if node.style else _json_scalar(node.value)
        if node.tag == _SEQUENCE_TAG:
            return [self.value(item, item, (*path, str(index)), depth + 1) for index, item in enumerate(node.value)]
        entries: dict[str, JsonValue] = {}
        for name_node, inner in node.value:
            if not isinstance(name_node.value, str):
                raise self._error(name_node.start_mark, "an array or an object as a key", "a text as a key")
            name = name_node.value
            self._count(depth, name_node.start_mark)
            if name in entries:
                raise self._error(name_node.start_mark, f"{excerpt(name)} a second time", "each key once")
            entries[name] = self.value(inner, name_node, (*path, name), depth + 1)
        return entries

    def _error(self, mark: "Mark | None", found: str, expected: str) -> DocumentError:
        return _error(self._filename, _position(mark), found, expected)


def _syntax_error(error: "MarkedYAMLError", text: str, filename: str) -> DocumentError:
    """Say what the parser says, and where begins what is not closed. A tab is the least visible mistake."""
    mark, opening = error.problem_mark, error.context_mark
    assert mark is not None
    if text.startswith("\t", mark.index):
        return _error(filename, _position(mark), "a tab", "spaces")
    if opening is not None and opening.line < mark.line and text[opening.index] in "{['\"":
        mark = opening
    said = " ".join(filter(None, [error.context, error.problem]))
    expected = f"YAML ({said}); a value that begins with > * & @ % or ` needs quotes"
    return _error(filename, _position(mark), "text that is not YAML", expected)


def _position(mark: "Mark | None") -> Position:
    return Position() if mark is None else Position(mark.line + 1, mark.column + 1)
