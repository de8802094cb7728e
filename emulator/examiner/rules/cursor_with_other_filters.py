"""`cursor-with-other-filters`: a cursor is sent with other filters than those of the list that gave it.

Theory of operation. The service says that the cursor is invalid; the rule is broken if the same collection gave the
cursor before, with other filters. A cursor that was never given is a mistake of another kind.
"""

from collections.abc import Iterator, Sequence
from typing import Final
from urllib.parse import parse_qsl

from emulator.examiner.history import History, title_of
from emulator.examiner.rules.base import KEPT, Ask, Breach, Example, Rule, Verdict
from emulator.service.record import Note

_PAGING: Final = ("limit", "after")


def _filters(query: str) -> list[tuple[str, str]]:
    return [pair for pair in parse_qsl(query, keep_blank_values=True) if pair[0] not in _PAGING]


def _examine(history: History) -> Iterator[Verdict]:
    for operation, notes in history.by_operation.items():
        if operation is not None and operation.startswith("list"):
            yield from _judge(notes)


def _judge(notes: Sequence[Note]) -> Iterator[Verdict]:
    given: dict[str, str] = {}
    for note in notes:
        if note.cursor is not None:
            given[note.cursor] = note.query
        after = dict(parse_qsl(note.query)).get("after") if note.query else None
        if after is None or after not in given:
            continue
        is_earned = note.code == "invalid_cursor" and not note.is_injected
        if is_earned and _filters(note.query) != _filters(given[after]):
            message = f"{title_of(note)} was sent with a cursor that it gave for other filters"
            yield Breach(f"{note.credential}|{note.user_agent}|{note.operation}|{after}", (note.sequence,), message)
        else:
            yield KEPT


RULE: Final = Rule(
    name="cursor-with-other-filters",
    severity="warning",
    source="Section 4: An invalid or filter-mismatched cursor yields 400 invalid_cursor.",
    remedy="send a cursor with the filters of the list that gave it; begin anew, without one, where they change",
    examine=_examine,
    breaks=Example((Ask("GET", "/poses?limit=1&scope=all"), Ask("GET", "/poses?limit=1&scope=global&after={cursor}"))),
    keeps=Example((Ask("GET", "/poses?limit=1&scope=all"), Ask("GET", "/poses?limit=2&scope=all&after={cursor}"))),
)
