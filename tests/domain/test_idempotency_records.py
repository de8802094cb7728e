"""Idempotency records: what is kept, and how long (D12, D13)."""

import pytest

from emulator.domain.idempotency import IdempotencyRecords, Record, Scope
from emulator.kernel.timestamps import DAY_MS

SCOPE = Scope("cred_1", "POST", "/v1/products", "key")


def record(admitted_at: int = 0, fingerprint: bytes = b"intent") -> Record:
    return Record(admitted_at, fingerprint, 201, ((b"request-id", b"req_1"),), b"{}")


def test_a_record_is_found_until_it_is_24_hours_old_to_the_millisecond() -> None:
    records = IdempotencyRecords()
    records.bind(SCOPE, record(1_000))
    assert (record(1_000), None) == (records.find(SCOPE, 1_000 + DAY_MS - 1), records.find(SCOPE, 1_000 + DAY_MS))


def test_a_record_is_found_only_by_its_credential_method_path_and_key() -> None:
    records = IdempotencyRecords()
    records.bind(SCOPE, record())
    others = [
        SCOPE._replace(credential_id="cred_2"),
        SCOPE._replace(method="PATCH"),
        SCOPE._replace(path="/v1/poses"),
        SCOPE._replace(key="KEY"),
    ]
    assert [records.find(scope, 0) for scope in others] == [None] * 4


def test_a_key_is_held_until_it_is_let_go() -> None:
    records = IdempotencyRecords()
    seen = [records.is_held(SCOPE)]
    records.hold(SCOPE)
    seen.append(records.is_held(SCOPE))
    records.let_go(SCOPE)
    seen.append(records.is_held(SCOPE))
    assert seen == [False, True, False]


def test_a_key_can_be_bound_again_once_its_record_has_run_out() -> None:
    records = IdempotencyRecords()
    records.bind(SCOPE, record(0))
    records.bind(SCOPE, record(DAY_MS, b"other"))
    assert record(DAY_MS, b"other") == records.find(SCOPE, 2 * DAY_MS - 1)


def test_records_that_have_run_out_are_dropped_when_the_next_is_kept() -> None:
    records = IdempotencyRecords()
    for hour in range(0, 48, 6):
        records.bind(SCOPE._replace(key=str(hour)), record(hour * DAY_MS // 24))
    assert [scope.key for scope, _ in records.records()] == ["24", "30", "36", "42"]


def test_the_oldest_record_makes_room_when_there_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("emulator.domain.idempotency.MAXIMUM_RECORDS", 2)
    records = IdempotencyRecords()
    scopes = [SCOPE._replace(key=key) for key in "abc"]
    for at, scope in enumerate(scopes):
        records.bind(scope, record(at))
    assert [None, record(1), record(2)] == [records.find(scope, 3) for scope in scopes]
    assert records.dropped == 1
