"""Idempotency records (section 4, D10 to D14): which key is bound to what, and for how
long.

A key is scoped to the credential, the method and the concrete path. It is *held* while
its request is being admitted (D13), then bound to the answer (D10) or released. Records
are kept for 24 hours from admission (D12).
"""

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, NamedTuple

from msgspec import Meta

from image_workflow_emulator.domain.resources import Instant
from image_workflow_emulator.kernel.timestamps import HOUR_MS

RETENTION_MS = 24 * HOUR_MS
RETENTIONS_MS: Mapping[str, int] = {"plain": RETENTION_MS, "week": 7 * RETENTION_MS}
"""How long a key is remembered, by the reading of D12."""
MAX_RECORDS = 200_000
"""The most records of one sandbox: one API Credential can make 172,800 within its
request rate in 24 hours (D58)."""


class Scope(NamedTuple):
    """What a key is unique within, and the key."""

    credential_id: str
    method: str
    path: str
    key: str


class StoredAnswer(NamedTuple):
    """The answer that a key is bound to, byte for byte (D11)."""

    admitted_at: Instant
    fingerprint: bytes
    status: Annotated[int, Meta(ge=200, le=599)]
    headers: tuple[tuple[bytes, bytes], ...]
    body: bytes


@dataclass(slots=True, eq=False)
class IdempotencyRecords:
    """The records of one sandbox, oldest first."""

    retention_ms: int = RETENTION_MS
    _records: OrderedDict[Scope, StoredAnswer] = field(
        default_factory=OrderedDict,
        init=False,
    )
    """Ordered: the more was deleted from an ordinary dict, the longer it takes to find
    its first key."""
    held: set[Scope] = field(default_factory=set, init=False)
    """The keys whose requests are being admitted (D13). One that is taken out without a
    record is as new (D10)."""

    def find(self, scope: Scope, now: int) -> StoredAnswer | None:
        """Return the record of a key; to the millisecond, none once it is 24 hours old
        (D12).
        """
        record = self._records.get(scope)
        if record is None or now >= record.admitted_at + self.retention_ms:
            return None
        return record

    def bind(self, scope: Scope, record: StoredAnswer) -> None:
        """Keep the answer under its key, and drop the records that have run out."""
        self._drop_old(record.admitted_at)
        self.restore(scope, record)

    def full_until(self, now: int) -> int | None:
        """Return when there is room for one more; None if there is some now. No record
        is dropped before it has run out.
        """
        if len(self._records) < MAX_RECORDS:
            return None
        self._drop_old(now)
        if len(self._records) < MAX_RECORDS:
            return None
        oldest = next(iter(self._records.values()))
        return oldest.admitted_at + self.retention_ms

    def _drop_old(self, now: int) -> None:
        records = self._records
        newest_expired = now - self.retention_ms
        while records and records[next(iter(records))].admitted_at <= newest_expired:
            records.popitem(last=False)

    def restore(self, scope: Scope, record: StoredAnswer) -> None:
        """Take over a record of a state file; they come oldest first."""
        self._records.pop(scope, None)  # a key that is kept again is the newest
        self._records[scope] = record

    def records(self) -> list[tuple[Scope, StoredAnswer]]:
        """Return all records, oldest first."""
        # Ten times as fast as the items of an OrderedDict, and in the same order.
        return list(dict.items(self._records))
