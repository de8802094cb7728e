"""What an Idempotency-Key is bound to, and for how long (D10 to D12)."""

import pytest

from image_workflow_emulator.domain import idempotency
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
    ("reading", "days"),
    [("plain", 1), ("week", 7)],
    ids=["24 hours", "a week"],
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


def test_the_least_reading_keeps_a_key_for_24_hours() -> None:
    records = IdempotencyRecords()
    records.bind(scope_of("k"), answer_at(BOUND_AT))

    assert records.find(scope_of("k"), BOUND_AT + DAY_MS - 1) is not None
    assert records.find(scope_of("k"), BOUND_AT + DAY_MS) is None


def test_a_key_that_is_bound_again_is_the_newest() -> None:
    records = IdempotencyRecords()
    records.bind(scope_of("a"), answer_at(BOUND_AT))
    records.bind(scope_of("b"), answer_at(BOUND_AT + 1))
    newer = answer_at(BOUND_AT + 2)

    records.bind(scope_of("a"), newer)

    assert [scope.key for scope, _ in records.records()] == ["b", "a"]
    assert records.find(scope_of("a"), BOUND_AT + 3) is newer


@pytest.fixture
def two_records(monkeypatch: pytest.MonkeyPatch) -> IdempotencyRecords:
    """Records that are full with two keys, bound in the first and second hour."""
    monkeypatch.setattr(idempotency, "MAX_RECORDS", 2)
    records = IdempotencyRecords()
    records.bind(scope_of("a"), answer_at(0))
    records.bind(scope_of("b"), answer_at(HOUR_MS))
    return records


def test_full_records_have_room_when_the_oldest_runs_out(
    two_records: IdempotencyRecords,
) -> None:
    assert two_records.full_until(DAY_MS - 1) == DAY_MS
    assert len(two_records.records()) == 2


def test_a_record_that_has_run_out_makes_room(two_records: IdempotencyRecords) -> None:
    assert two_records.full_until(DAY_MS) is None
    assert [scope.key for scope, _ in two_records.records()] == ["b"]


def test_records_with_room_for_one_more_are_not_full(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(idempotency, "MAX_RECORDS", 2)
    records = IdempotencyRecords()
    records.bind(scope_of("a"), answer_at(0))

    assert records.full_until(2 * DAY_MS) is None
    assert len(records.records()) == 1


def test_records_of_a_state_file_are_kept_whenever_they_run_out() -> None:
    records = IdempotencyRecords()
    records.restore(scope_of("a"), answer_at(0))
    records.restore(scope_of("b"), answer_at(9 * DAY_MS))

    assert [scope.key for scope, _ in records.records()] == ["a", "b"]
