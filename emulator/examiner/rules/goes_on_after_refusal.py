"""`goes-on-after-refusal`: a batch goes on with other writes after a refusal that will meet all of them.

Theory of operation. 401, 402 and 403 say something of the credential or its Team, not of the one write. A second write
that is refused in the same way may have been under way; from the third on, nobody reads the answers. It counts if it came
on a connection that had brought such a refusal: other programs did not see it. Where each request opened a connection of
its own, more than a few are needed. A write that succeeds, other Credits, and ten minutes of emulator time end the row.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from emulator.examiner.history import PATIENCE_MS, History
from emulator.examiner.reading import is_answered, is_success, title_of
from emulator.examiner.rules.base import KEPT, Breach, ConductRule, Verdict
from emulator.service.record import RequestRecord

_REFUSALS: Final = (401, 402, 403)
_HARMLESS: Final = 1
_MAX_PROGRAMS: Final = 5


def _examine(history: History) -> Iterator[Verdict]:
    if not any(record.status in _REFUSALS for record in history.failures):
        return
    for records in history.by_client.values():
        for row in _rows([record for record in records if record.operation and record.method != "GET"]):
            going_on = _going_on(history, row)
            yield KEPT
            if len(going_on) > _HARMLESS:
                yield _breach(row[0], going_on)


def _rows(writes: Sequence[RequestRecord]) -> Iterator[Sequence[RequestRecord]]:
    """Iterate over the refusals of the same kind that follow each other."""
    row: list[RequestRecord] = []
    for record in writes:
        is_refused = is_answered(record, *_REFUSALS)
        if row and (is_success(record) or (is_refused and not _is_alike(row[-1], record))):
            yield row
            row = []
        if is_refused:
            row.append(record)
    if row:
        yield row


def _is_alike(last: RequestRecord, record: RequestRecord) -> bool:
    is_same = (last.code, last.available_credits) == (record.code, record.available_credits)
    return is_same and record.at - last.left_at < PATIENCE_MS


def _going_on(history: History, row: Sequence[RequestRecord]) -> Sequence[RequestRecord]:
    """Return the writes of a row that are no repetitions, and whose program had seen such a refusal."""
    different = list({history.intent(record): record for record in reversed(row)}.values())[::-1]
    if len({record.connection for record in row}) == len(row):
        return different[1:] if len(different) > _MAX_PROGRAMS else ()
    numbers = {record.sequence for record in different}
    seen: dict[str | None, RequestRecord] = {}
    found = []
    for record in row:
        last = seen.setdefault(record.connection, record)
        if record.sequence in numbers and last is not record and history.knows(record, last):
            found.append(record)
    return found


def _breach(first: RequestRecord, going_on: Sequence[RequestRecord]) -> Breach:
    message = (
        f"{title_of(first)} was refused with {first.status} {first.code}, and {len(going_on)} other writes were sent on"
    )
    return Breach((first.sequence, *(record.sequence for record in going_on)), message)


RULE: Final = ConductRule(
    name="goes-on-after-refusal",
    severity="warning",
    source="Section 7, recovery: supply a valid credential; add Credits, submit a new logical request; use a full credential "
    "for writes; restore the Subscription.",
    remedy="stop the batch at the first 401, 402 or 403, and go on when what it asks for was done",
    examine=_examine,
)
