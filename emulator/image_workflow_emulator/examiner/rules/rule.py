"""A rule of conduct: a name, a sentence of the specification, and a function from a history to its verdicts.

Theory of operation. A rule looks at the whole history of a sandbox (examiner/history.py), and yields a verdict
for each time that it could have been broken: KEPT, or a Breach. It keeps nothing from one examination to the next, so a
breach that turns out to be none (a retry that came late, but came) is gone at the next examination. A rule that cannot
be sure yields nothing: a false alarm costs more than a mistake that is missed.

A new rule is a function in a file of this folder, its words in `rules.toml`, and a section of
docs/reference/conduct-rules.md; in the tests, its two examples.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Final, TypeAlias

from msgspec import Struct

from image_workflow_emulator.examiner.history import PATIENCE_MS, History
from image_workflow_emulator.report import Severity
from image_workflow_emulator.service.records.record import RequestRecord


class Breach(Struct, frozen=True):
    """A rule was broken. Those of one client at one operation are one finding, with the message of the first."""

    message: str
    records: tuple[RequestRecord, ...]
    severity: Severity | None = None
    """Replaces the severity of the rule."""
    times: int = 1
    """How many verdicts it stands for."""


KEPT: Final = None
"""The verdict on a client that kept the rule."""
Verdict: TypeAlias = Breach | None
Verdicts: TypeAlias = Iterator[Verdict]


class ConductRule(Struct, frozen=True):
    """A rule of conduct. `source` is the sentence of the specification that it follows from."""

    name: str
    examine: Callable[[History], Verdicts]
    source: str
    remedy: str
    severity: Severity = "warning"
    is_timed: bool = False
    """Whether it measures how long a client waited, which an auto clock does not tell."""


def breach(
    message: str,
    *records: RequestRecord,
    severity: Severity | None = None,
    times: int = 1,
) -> Breach:
    """Return the breach that some requests are."""
    return Breach(message, records, severity, times)


def follows_soon(earlier: RequestRecord, later: RequestRecord) -> bool:
    """Whether no pause of emulator time lies between two requests that makes the later one a new attempt."""
    return later.at - earlier.left_at < PATIENCE_MS


def is_refused_alike(earlier: RequestRecord, later: RequestRecord) -> bool:
    """Whether nothing has changed between two refusals that follow each other."""
    is_same = (earlier.code, earlier.available_credits) == (
        later.code,
        later.available_credits,
    )
    return is_same and follows_soon(earlier, later)


def rows_of(
    records: Iterable[RequestRecord],
    belongs: Callable[[RequestRecord], object],
    ends: Callable[[RequestRecord, RequestRecord], bool],
) -> Iterator[tuple[list[RequestRecord], RequestRecord | None]]:
    """Iterate over the rows of records that belong, each with the record that ended it: `ends` has the last of the row
    and it.
    """
    row: list[RequestRecord] = []
    for record in records:
        if row and ends(row[-1], record):
            yield row, record
            row = []
        if belongs(record):
            row.append(record)
    if row:
        yield row, None
