"""Typed reading of nodes. Owns how a value of a file becomes a number, a span, an instant or a word, and how what does
not fit is reported.

Every complaint of a file is collected, so that its author mends it in one go: a value that does not fit counts as not
given, and the reading goes on. It knows neither scenarios nor worlds.
"""

import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Final, TypeVar

from emulator.documents.complaints import Complaint, DocumentError, Position, nearest, one_of
from emulator.documents.values import LARGEST_INTEGER as MAXIMUM_INTEGER
from emulator.documents.values import LONGEST_NAME as MAXIMUM_NAME
from emulator.documents.values import LONGEST_SPAN_MS as MAXIMUM_SPAN_MS
from emulator.documents.yaml_nodes import ListNode, MappingNode, Node, TextNode
from emulator.domain.problems import excerpt
from emulator.kernel.timestamps import TIMESTAMP_WORDS, parse_duration_ms, parse_timestamp

MAXIMUM_COMPLAINTS: Final = 100
"""So many complaints of one file are told; who corrects them is told the rest."""
_INTEGER: Final = re.compile(r"-?\d{1,19}", re.ASCII)
_BREAK: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_PLAIN_KEY: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")

T = TypeVar("T")
D = TypeVar("D")


class Report:
    """Collects the complaints about one file."""

    def __init__(self, filename: str) -> None:
        self.filename = filename
        self._complaints: dict[Complaint, None] = {}

    @property
    def complaints(self) -> tuple[Complaint, ...]:
        """The complaints so far, in the order of the file; where there are too many, the last says so."""
        found = sorted(self._complaints, key=lambda complaint: (complaint.line, complaint.column))
        if len(found) <= MAXIMUM_COMPLAINTS:
            return tuple(found)
        more = Complaint(self.filename, 0, 0, "", "more mistakes than these", "the first to be corrected first")
        return (*found[:MAXIMUM_COMPLAINTS], more)

    def add(self, position: Position, path: str, found: str, expected: str, suggestion: str | None = None) -> None:
        """Note one complaint."""
        if len(self._complaints) <= MAXIMUM_COMPLAINTS:
            complaint = Complaint(self.filename, position.line, position.column, path, found, expected, suggestion)
            self._complaints[complaint] = None

    def suggest(self, word: str, words: Collection[str]) -> str | None:
        """Return the nearest of the words, unless a complaint more would not be told anyway."""
        return nearest(word, words) if len(self._complaints) < MAXIMUM_COMPLAINTS else None

    def raise_as(self, error: type[DocumentError]) -> None:
        """Raise all complaints as one error of the given class; return if there are none."""
        if self._complaints:
            raise error(self.complaints)


def is_null(node: Node) -> bool:
    """Tell whether a node is nothing, however it is spelled."""
    return isinstance(node, TextNode) and not node.quoted and node.text in ("", "~", "null")


def describe(node: Node) -> str:
    """Say in a complaint what a node is."""
    match node:
        case TextNode(text=text):
            return "nothing" if is_null(node) else excerpt(text)
        case ListNode(items=items):
            return "a list" if items else "an empty list"
        case MappingNode(entries=entries):  # pragma: no branch (there is no other kind of node)
            return "a mapping" if entries else "an empty mapping"


@dataclass(frozen=True, slots=True)
class Cursor:
    """One node under reading, with its path. Each reader returns None after a complaint."""

    report: Report
    node: Node
    path: str

    @property
    def position(self) -> Position:
        """The place of the node in the file."""
        return self.node.position

    def complain(self, expected: str, *, found: str | None = None, suggestion: str | None = None) -> None:
        """Report that this node is not what was expected."""
        self.report.add(self.position, self.path, describe(self.node) if found is None else found, expected, suggestion)

    def text(self, expected: str = "a text") -> str | None:
        """Read a text that is not empty."""
        if isinstance(self.node, TextNode) and self.node.text.strip() and not is_null(self.node):
            return self.node.text
        self.complain(expected)
        return None

    def word(self, words: Collection[str], kind: str = "", also: str = "") -> str | None:
        """Read one of the given words; `kind` names them where they are too many to list, `also` what else there is."""
        expected = one_of(words, kind) + also
        text = self.text(expected)
        if text is None or text in words:
            return text
        self.complain(expected, suggestion=self.report.suggest(text, words))
        return None

    def line(self, expected: str) -> str | None:
        """Read a text of one line that is no longer than a name may be."""
        text = self.text(expected)
        if text is None or (len(text) <= MAXIMUM_NAME and not _BREAK.search(text)):
            return text
        self.complain(f"{expected} of one line and at most {MAXIMUM_NAME} characters")
        return None

    def flag(self) -> bool | None:
        """Read `true` or `false`."""
        word = self.word(("true", "false"))
        return None if word is None else word == "true"

    def integer(self, minimum: int = 0, maximum: int = MAXIMUM_INTEGER) -> int | None:
        """Read a whole number within bounds, both of them allowed."""
        expected = f"a whole number from {minimum} to {maximum}"
        text = self.text(expected)
        if text is None:
            return None
        if _INTEGER.fullmatch(text) and minimum <= int(text) <= maximum:
            return int(text)
        self.complain(expected)
        return None

    def number(self, minimum: float, maximum: float) -> float | None:
        """Read a decimal number within bounds, both of them allowed."""
        expected = f"a number from {minimum:g} to {maximum:g}"
        text = self.text(expected)
        if text is None:
            return None
        try:
            value = float(text)
        except ValueError:
            value = float("nan")
        if minimum <= value <= maximum:
            return value
        self.complain(expected)
        return None

    def duration_ms(self) -> int | None:
        """Read a span such as `250ms` or `2m` in milliseconds."""
        expected = "a duration such as 250ms, 90s, 2m or 1h"
        text = self.text(expected)
        if text is None:
            return None
        try:
            span_ms = parse_duration_ms(text)
        except ValueError:
            span_ms = -1
        if 0 <= span_ms <= MAXIMUM_SPAN_MS:
            return span_ms
        self.complain(expected if span_ms < 0 else "a duration of at most 3650d")
        return None

    def instant(self) -> int | None:
        """Read a timestamp in milliseconds since the Unix epoch."""
        text = self.text(TIMESTAMP_WORDS)
        if text is None:
            return None
        try:
            return parse_timestamp(text)
        except ValueError:
            self.complain(TIMESTAMP_WORDS)
            return None

    def items(self, expected: str = "a list") -> list["Cursor"] | None:
        """Read a list."""
        if not isinstance(self.node, ListNode):
            self.complain(expected)
            return None
        return [Cursor(self.report, item, f"{self.path}[{index}]") for index, item in enumerate(self.node.items)]

    def named(self, expected: str = "a mapping") -> dict[str, "Cursor"] | None:
        """Read a mapping whose keys are names of the author's choice; a key that repeats is reported."""
        if not isinstance(self.node, MappingNode):
            self.complain(expected)
            return None
        cursors: dict[str, Cursor] = {}
        for key, value in self.node.entries:
            if key.text in cursors:
                self.report.add(key.position, self.path, f"{excerpt(key.text)} a second time", "each key once")
            else:
                cursors[key.text] = Cursor(self.report, value, _joined(self.path, key.text))
        return cursors

    def fields(self, known: Collection[str], *, required: Collection[str] = (), expected: str = "") -> "Fields":
        """Read a mapping of known keys; what is no mapping at all is reported and counts as an empty one."""
        named = self.named(expected or f"a mapping with {one_of(known)}")
        if named is not None:
            self._check_keys(known, required)
        known_cursors = {key: cursor for key, cursor in (named or {}).items() if key in known}
        return Fields(self, known_cursors, is_sound=named is not None and len(named) == len(known_cursors))

    def _check_keys(self, known: Collection[str], required: Collection[str]) -> None:
        assert isinstance(self.node, MappingNode)
        keys = {key.text: key for key, _ in self.node.entries}
        for text, key in keys.items():
            if text not in known:
                self.report.add(key.position, self.path, excerpt(text), one_of(known), self.report.suggest(text, known))
        for missing in required:
            if missing not in keys:
                self.complain(f"the key {excerpt(missing)}", found=f"no {excerpt(missing)}")


@dataclass(frozen=True, slots=True)
class Fields:
    """The keys of one mapping, each at most once."""

    cursor: Cursor
    cursors: dict[str, Cursor]
    is_sound: bool
    """Whether it was a mapping that had no unknown keys."""

    def __contains__(self, key: str) -> bool:
        return key in self.cursors

    def __iter__(self) -> Iterator[str]:
        return iter(self.cursors)

    def refuse(self, keys: Collection[str], expected: str) -> None:
        """Report those of the keys that are there."""
        for key in keys:
            if key in self.cursors:
                self.cursor.report.add(self.position_of(key), self.cursor.path, excerpt(key), expected)

    def position_of(self, key: str) -> Position:
        """Return the place of a key that is there."""
        assert isinstance(self.cursor.node, MappingNode)
        return next(node.position for node, _ in self.cursor.node.entries if node.text == key)

    def get(self, key: str, read: Callable[[Cursor], T | None], default: D) -> T | D:
        """Read the value of a key, or return the default where it is absent or was complained of."""
        if key not in self.cursors:
            return default
        value = read(self.cursors[key])
        return default if value is None else value


def _joined(path: str, key: str) -> str:
    name = key if _PLAIN_KEY.fullmatch(key) else excerpt(key)
    return f"{path}.{name}" if path else name
