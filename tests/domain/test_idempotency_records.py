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
    return Scope(
        credential_id="cred_1",
        method="POST",
        path="/v1/products",
        key=key,
    )


def answer_at(instant: int) -> StoredAnswer:
    return StoredAnswer(
        admitted_at=instant,
        fingerprint=b"intent",
        status=201,
        headers=(),
        body=b"{}",
    )


def bind(
    records: IdempotencyRecords,
    key: str,
    at: int,
) -> StoredAnswer:
    """Bind a key to an answer of an instant, and return that answer."""
    answer = answer_at(at)
    records.bind(scope_of(key), answer)
    return answer


def kept_keys(records: IdempotencyRecords) -> list[str]:
    """Return the keys of the records, the oldest first."""
    return [scope.key for scope, _ in records.records()]


@pytest.mark.parametrize(
    ("reading", "days"),
    [
        pytest.param("plain", 1, id="24 hours"),
        pytest.param("week", 7, id="a week"),
    ],
)
def test_a_record_is_found_until_its_last_millisecond(reading: str, days: int) -> None:
    records = IdempotencyRecords(RETENTIONS_MS[reading])
    answer = bind(records, "k", at=BOUND_AT)
    over_at = BOUND_AT + days * DAY_MS

    last = records.find(scope_of("k"), over_at - 1)
    too_late = records.find(scope_of("k"), over_at)

    assert last is answer
    assert too_late is None


def test_a_record_is_of_its_key_alone() -> None:
    records = IdempotencyRecords()
    bind(records, "k", at=BOUND_AT)

    of_other = records.find(scope_of("other"), BOUND_AT)

    assert of_other is None


def test_records_that_have_run_out_are_dropped_when_the_next_is_kept() -> None:
    records = IdempotencyRecords()
    for hour in range(0, 48, 6):
        bind(records, str(hour), at=hour * HOUR_MS)

    assert kept_keys(records) == ["24", "30", "36", "42"]


def test_a_record_is_kept_until_the_millisecond_at_which_it_runs_out() -> None:
    records = IdempotencyRecords()
    bind(records, "old", at=BOUND_AT)

    bind(records, "new", at=BOUND_AT + DAY_MS - 1)

    assert kept_keys(records) == ["old", "new"]


def test_the_least_reading_keeps_a_key_for_24_hours() -> None:
    records = IdempotencyRecords()
    answer = bind(records, "k", at=BOUND_AT)
    over_at = BOUND_AT + DAY_MS

    last = records.find(scope_of("k"), over_at - 1)
    too_late = records.find(scope_of("k"), over_at)

    assert last is answer
    assert too_late is None


def test_a_key_that_is_bound_again_is_the_newest() -> None:
    records = IdempotencyRecords()
    bind(records, "a", at=BOUND_AT)
    bind(records, "b", at=BOUND_AT + 1)

    newer = bind(records, "a", at=BOUND_AT + 2)

    replayed = records.find(scope_of("a"), BOUND_AT + 3)
    assert kept_keys(records) == ["b", "a"]
    assert replayed is newer


@pytest.fixture
def two_records(monkeypatch: pytest.MonkeyPatch) -> IdempotencyRecords:
    """Records that are full with two keys, bound in the first and second hour."""
    monkeypatch.setattr(idempotency, "MAX_RECORDS", 2)
    records = IdempotencyRecords()
    bind(records, "a", at=0)
    bind(records, "b", at=HOUR_MS)
    return records


def test_full_records_have_room_when_the_oldest_runs_out(
    two_records: IdempotencyRecords,
) -> None:
    full_until = two_records.full_until(DAY_MS - 1)

    assert full_until == DAY_MS
    assert kept_keys(two_records) == ["a", "b"]


def test_a_record_that_has_run_out_makes_room(two_records: IdempotencyRecords) -> None:
    full_until = two_records.full_until(DAY_MS)

    assert full_until is None
    assert kept_keys(two_records) == ["b"]


def test_records_with_room_for_one_more_are_not_full(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(idempotency, "MAX_RECORDS", 2)
    records = IdempotencyRecords()
    bind(records, "a", at=0)

    full_until = records.full_until(2 * DAY_MS)

    assert full_until is None
    assert kept_keys(records) == ["a"]


def test_records_of_a_state_file_are_kept_whenever_they_run_out() -> None:
    records = IdempotencyRecords()
    records.restore(scope_of("a"), answer_at(0))
    records.restore(scope_of("b"), answer_at(9 * DAY_MS))

    assert kept_keys(records) == ["a", "b"]
