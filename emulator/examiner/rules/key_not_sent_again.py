"""`key-not-sent-again`: a write whose effect is unknown is never repeated.

Theory of operation. A lost answer and a 500 leave open whether the write was carried out; its Idempotency-Key exists to
find out. One repetition is enough, by another program with the same credential too. The same intent under another key is
reported as `write-retried-with-new-key`. Whether the key never comes again is known ten minutes of emulator time later,
or at the end.
"""

from collections.abc import Iterator
from typing import Final

from emulator.examiner.history import History
from emulator.examiner.reading import is_unknown, title_of
from emulator.examiner.rules.base import KEPT, Breach, ConductRule, Verdict


def _examine(history: History) -> Iterator[Verdict]:
    for records in history.requests:
        record = records[0]
        is_write = record.operation is not None and record.method != "GET"
        if record.idempotency_key is None or not is_write or not is_unknown(record):
            continue
        if history.was_sent_again(record):
            yield KEPT
        elif history.is_over(record.left_at) and not history.was_shut_out(record) and not history.has_other_key(record):
            message = (
                f"the answer to {title_of(record)} left open if it was carried out, and its key was never sent again"
            )
            yield Breach((record.sequence,), message)


RULE: Final = ConductRule(
    name="key-not-sent-again",
    severity="warning",
    source="Section 4: Same key and same intent: the original admission status, headers and body are replayed exactly "
    "and work is not restarted.",
    remedy="send the same request with the same Idempotency-Key until its answer is known",
    examine=_examine,
)
