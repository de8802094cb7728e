"""What an Idempotency-Key is bound to, and for how long (D10 to D12)."""

import pytest

from image_workflow_emulator.domain.idempotency import (
    RETENTIONS_MS,
    IdempotencyRecords,
    Scope,
    StoredAnswer,
)
from image_workflow_emulator.kernel.timestamps import DAY_MS, HOUR_MS

BOUND_AT = 1_000


def scope_of(key: str) -> Scope:
    return Scope("cred_1", "POST", "/v1/products", key)


def answer_at(instant: int) -> StoredAnswer:
    return StoredAnswer(instant, b"intent", 201, (), b"{}")


@pytest.mark.parametrize(
    ("reading", "days"), [("plain", 1), ("week", 7)], ids=["24 hours", "a week"]
)
def test_a_record_is_found_until_its_last_millisecond(reading: str, days: int) -> None:
    records = IdempotencyRecords(RETENTIONS_MS[reading])
    answer = answer_at(BOUND_AT)
    records.bind(scope_of("k"), answer)
    over_at = BOUND_AT + days * DAY_MS

    assert records.find(scope_of("k"), over_at - 1) is answer
    assert records.find(scope_of("k"), over_at) is None


def test_a_record_is_of_its_key_alone() -> None:
    records = IdempotencyRecords()
    records.bind(scope_of("k"), answer_at(BOUND_AT))

    assert records.find(scope_of("other"), BOUND_AT) is None


def test_records_that_have_run_out_are_dropped_when_the_next_is_kept() -> None:
    records = IdempotencyRecords()
    for hour in range(0, 48, 6):
        records.bind(scope_of(str(hour)), answer_at(hour * HOUR_MS))

    keys = [scope.key for scope, _ in records.records()]

    assert keys == ["24", "30", "36", "42"]


def test_a_record_is_kept_until_the_millisecond_at_which_it_runs_out() -> None:
    records = IdempotencyRecords()
    records.bind(scope_of("old"), answer_at(BOUND_AT))

    records.bind(scope_of("new"), answer_at(BOUND_AT + DAY_MS - 1))

    assert [scope.key for scope, _ in records.records()] == ["old", "new"]
