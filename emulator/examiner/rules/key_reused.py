"""`key-reused`: a key comes with another intent than the one that it is bound to.

Theory of operation. The service says so itself: 422 idempotency_key_reused. One that a scenario asked for does not
count.
"""

from collections.abc import Iterator
from typing import Final

from emulator.examiner.history import History
from emulator.examiner.reading import title_of
from emulator.examiner.rules.base import KEPT, Breach, ConductRule, Verdict


def _examine(history: History) -> Iterator[Verdict]:
    for record in history.with_key:
        if record.code != "idempotency_key_reused" or record.is_injected:
            yield KEPT
        else:
            message = f"{title_of(record)} came with an Idempotency-Key that belongs to another intent"
            yield Breach((record.sequence,), message)


RULE: Final = ConductRule(
    name="key-reused",
    severity="warning",
    source="Section 4: Same key with different intent: 422 idempotency_key_reused.",
    remedy="make a new Idempotency-Key for each intent, such as a random UUID",
    examine=_examine,
)
