"""Idempotency records (section 4): how many are kept."""

from image_workflow_emulator.domain.idempotency import IdempotencyRecords, Scope, StoredAnswer
from image_workflow_emulator.kernel.timestamps import HOUR_MS


def scope(key: str) -> Scope:
    return Scope("cred_1", "POST", "/v1/products", key)


def kept(*hours: int) -> IdempotencyRecords:
    """Records of answers that were given at these hours, each with its hour as its key."""
    records = IdempotencyRecords()
    for hour in hours:
        records.bind(scope(str(hour)), StoredAnswer(hour * HOUR_MS, b"intent", 201, (), b"{}"))
    return records


def test_records_that_have_run_out_are_dropped_when_the_next_is_kept() -> None:
    assert [scope.key for scope, _ in kept(*range(0, 48, 6)).records()] == ["24", "30", "36", "42"]
