"""`use-after-sunset`: something deprecated is called after its Sunset.

Theory of operation. The answer carries the date; the call is judged by the emulator's clock. The first call after it
breaks the rule, since the date was announced before.
"""

from collections.abc import Iterator
from email.utils import parsedate_to_datetime
from typing import Final

from emulator.examiner.history import History
from emulator.examiner.reading import sunset_of, title_of
from emulator.examiner.rules.base import KEPT, Breach, ConductRule, Verdict
from emulator.kernel.timestamps import SECOND_MS, format_timestamp


def _examine(history: History) -> Iterator[Verdict]:
    for record in history.records:
        is_plain = record.rule is None and record.outcome == "answered"
        date = None if is_plain else sunset_of(record)
        if date is None:
            continue
        sunset = _instant(date)
        if record.at > sunset:
            message = f"{title_of(record)} was called after its Sunset, {format_timestamp(sunset)}"
            yield Breach((record.sequence,), message)
        else:
            yield KEPT


def _instant(date: bytes) -> int:
    """Read an HTTP date."""
    return int(parsedate_to_datetime(date.decode("latin-1")).timestamp()) * SECOND_MS


RULE: Final = ConductRule(
    name="use-after-sunset",
    severity="warning",
    source="Section 9: Planned removal adds a Sunset header (HTTP-date).",
    remedy="follow the migration guide that the Link header names before the Sunset",
    examine=_examine,
)
