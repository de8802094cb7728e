"""`credential-in-request`: the key of a credential stands in the query of an operation, or in an Idempotency-Key.

Theory of operation. The credential belongs to the header Authorization. Addresses and Idempotency-Keys are written to
logs, shown to support and kept by the service: whoever reads them there has the key.
"""

from collections.abc import Iterator
from typing import Final

from emulator.examiner.history import History
from emulator.examiner.reading import title_of
from emulator.examiner.rules.base import KEPT, Breach, ConductRule, Verdict


def _examine(history: History) -> Iterator[Verdict]:
    for record in history.records:
        if record.byte_surface is None and record.shows_key:
            message = f"{title_of(record)} had the credential in its query or its Idempotency-Key"
            yield Breach((record.sequence,), message)
        elif record.query or record.key_header:
            yield KEPT


RULE: Final = ConductRule(
    name="credential-in-request",
    severity="error",
    source="Section 5, rule 1: Every request carries Authorization: Bearer <API_KEY>.",
    remedy="send the credential in the header Authorization alone, and make Idempotency-Keys of random UUIDs",
    examine=_examine,
)
