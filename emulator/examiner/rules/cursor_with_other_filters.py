"""`cursor-with-other-filters`: a cursor is sent with other filters than those of the list that gave it.

Theory of operation. The service says that the cursor is invalid; the rule is broken if the same collection gave the
cursor before, with other filters. A cursor that was never given is a mistake of another kind.
"""

from collections.abc import Iterator, Sequence
from typing import Final
from urllib.parse import parse_qsl

from emulator.examiner.history import History
from emulator.examiner.reading import cursor_of, query_of, title_of
from emulator.examiner.rules.base import KEPT, Breach, ConductRule, Verdict
from emulator.service.record import RequestRecord

_PAGING: Final = ("limit", "after")


def _filters(record: RequestRecord) -> list[tuple[str, str]]:
    return [pair for pair in parse_qsl(query_of(record), keep_blank_values=True) if pair[0] not in _PAGING]


def _examine(history: History) -> Iterator[Verdict]:
    for operation, records in history.by_operation.items():
        if operation is not None and operation.startswith("list"):
            yield from _judge(records)


def _judge(records: Sequence[RequestRecord]) -> Iterator[Verdict]:
    given: dict[str, RequestRecord] = {}
    for record in records:
        cursor = cursor_of(record)
        if cursor is not None:
            given[cursor] = record
        after = dict(parse_qsl(query_of(record))).get("after") if b"after=" in record.query else None
        if after is None or after not in given:
            continue
        is_earned = record.code == "invalid_cursor" and not record.is_injected
        if is_earned and _filters(record) != _filters(given[after]):
            message = f"{title_of(record)} was sent with a cursor that it gave for other filters"
            yield Breach((record.sequence,), message)
        else:
            yield KEPT


RULE: Final = ConductRule(
    name="cursor-with-other-filters",
    severity="warning",
    source="Section 4: An invalid or filter-mismatched cursor yields 400 invalid_cursor.",
    remedy="send a cursor with the filters of the list that gave it; begin anew, without one, where they change",
    examine=_examine,
)
