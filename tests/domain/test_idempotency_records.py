"""Idempotency records: what is kept, and how long (D12, D13)."""

from emulator.domain.idempotency import IdempotencyRecords, Scope, StoredAnswer
from emulator.kernel.timestamps import HOUR_MS


def test_records_that_have_run_out_are_dropped_when_the_next_is_kept() -> None:
    records = IdempotencyRecords()
    for hour in range(0, 48, 6):
        answer = StoredAnswer(hour * HOUR_MS, b"intent", 201, (), b"{}")
        records.bind(Scope("cred_1", "POST", "/v1/products", str(hour)), answer)
    assert [scope.key for scope, _ in records.records()] == ["24", "30", "36", "42"]
