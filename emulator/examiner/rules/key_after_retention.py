"""`key-after-retention`: a key comes again after its 24 hours, and is carried out again.

Theory of operation. A key is kept for 24 hours at least. What comes with it later is a new write: a job that is started
anew the next day is carried out twice.
"""

from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from emulator.examiner.history import History
from emulator.examiner.reading import credential_of, title_of
from emulator.examiner.rules.base import KEPT, Breach, ConductRule, Verdict
from emulator.kernel.timestamps import HOUR_MS
from emulator.service.record import RequestRecord

RETENTION_MS: Final = 24 * HOUR_MS


def _examine(history: History) -> Iterator[Verdict]:
    done: defaultdict[tuple[str | None, str, str, str | None], list[RequestRecord]] = defaultdict(list)
    for record in history.with_key:
        earlier = done[credential_of(record), record.method, record.path, record.idempotency_key]
        if earlier and record.is_committed and record.at - earlier[-1].at >= RETENTION_MS:
            message = (
                f"{title_of(record)} came again with the same key after more than 24 hours, and was carried out again"
            )
            yield Breach((earlier[-1].sequence, record.sequence), message)
        elif earlier:
            yield KEPT
        if record.is_committed:
            earlier.append(record)


RULE: Final = ConductRule(
    name="key-after-retention",
    severity="warning",
    source="Section 4: Idempotency records are kept at least 24 hours.",
    remedy="finish repeating a write within 24 hours; after that, look first whether it was carried out",
    examine=_examine,
)
