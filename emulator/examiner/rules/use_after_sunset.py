"""`use-after-sunset`: something deprecated is called after its Sunset.

Theory of operation. The answer carries the date; the call is judged by the emulator's clock. The first call after it
breaks the rule, since the date was announced before.
"""

from collections.abc import Iterator
from typing import Final

from emulator.examiner.history import History, title_of
from emulator.examiner.rules.base import KEPT, Ask, Breach, Example, Rule, Verdict, Wait
from emulator.kernel.timestamps import format_timestamp


def _examine(history: History) -> Iterator[Verdict]:
    for note in history.notes:
        if note.sunset is None:
            continue
        if note.at > note.sunset:
            message = f"{title_of(note)} was called after its Sunset, {format_timestamp(note.sunset)}"
            yield Breach(f"{note.credential}|{note.user_agent}|{title_of(note)}", (note.sequence,), message)
        else:
            yield KEPT


_DEPRECATED = {
    "match": {"operation": "listPoses"},
    "then": {"deprecated": {"sunset": "2026-01-01T01:00:00.000Z", "link": "https://docs.example/migration"}},
}

RULE: Final = Rule(
    name="use-after-sunset",
    severity="warning",
    source="Section 9: Planned removal adds a Sunset header (HTTP-date).",
    remedy="follow the migration guide that the Link header names before the Sunset",
    examine=_examine,
    breaks=Example((Ask("GET", "/poses"), Wait(4000), Ask("GET", "/poses")), (_DEPRECATED,)),
    keeps=Example((Ask("GET", "/poses"),), (_DEPRECATED,)),
)
