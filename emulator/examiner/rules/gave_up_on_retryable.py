"""`gave-up-on-retryable`: a request that got 429 or 503 is never sent again.

Theory of operation. The answer says that the same request will succeed later. A client may stop that has sent it again
at least once, that was asked to wait for more than a minute, whose credential was refused meanwhile, or that sent the
same request with another key or query. Whether the request never comes again is known ten minutes of emulator time
after its Retry-After, or at the end of the run.
"""

from collections.abc import Iterator
from typing import Final

from emulator.examiner.history import History
from emulator.examiner.reading import is_answered, is_success, retry_after_of, title_of
from emulator.examiner.rules.base import KEPT, Breach, ConductRule, Verdict
from emulator.kernel.timestamps import SECOND_MS

LONG_WAIT_SECONDS: Final = 60


def _examine(history: History) -> Iterator[Verdict]:
    for records in history.by_intent.values():
        refused = [is_answered(record, 429, 503) for record in records]
        yield from [KEPT] * sum(refused[:-1])
        record = records[-1]
        wait_seconds = retry_after_of(record) or 0
        if refused[-1] and history.is_over(record.left_at + wait_seconds * SECOND_MS):
            is_excused = (
                refused[-2:] == [True, True]
                or any(map(is_success, history.same_request(record)) if record.idempotency_key else ())
                or wait_seconds > LONG_WAIT_SECONDS
                or history.was_shut_out(record)
                or (record.method == "GET" and history.asked_again(record))
            )
            message = f"{title_of(record)} was refused with {record.status} {record.code} and never sent again"
            yield KEPT if is_excused else Breach((record.sequence,), message)


RULE: Final = ConductRule(
    name="gave-up-on-retryable",
    severity="warning",
    source="Section 7: service_unavailable, honor Retry-After; rate_limited, honor Retry-After, retry with backoff.",
    remedy="wait as long as Retry-After says and send the request again, a write with the same Idempotency-Key",
    examine=_examine,
)
