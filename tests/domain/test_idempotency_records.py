"""Idempotency records: what is kept, and how long (D12, D13)."""

from emulator.domain.idempotency import IdempotencyRecords, Scope, StoredAnswer
from emulator.kernel.timestamps import DAY_MS

SCOPE = Scope("cred_1", "POST", "/v1/products", "key")


def record(admitted_at: int = 0, fingerprint: bytes = b"intent") -> StoredAnswer:
    return StoredAnswer(admitted_at, fingerprint, 201, ((b"request-id", b"req_1"),), b"{}")


def test_records_that_have_run_out_are_dropped_when_the_next_is_kept() -> None:
    records = IdempotencyRecords()
    for hour in range(0, 48, 6):
        records.bind(SCOPE._replace(key=str(hour)), record(hour * DAY_MS // 24))
    assert [scope.key for scope, _ in records.records()] == ["24", "30", "36", "42"]
