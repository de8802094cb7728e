"""An Idempotency-Key is remembered for 24 hours from its admission, to the millisecond (D12)."""

import pytest

from tests.support.emulator_client import UPLOAD
from tests.support.emulator_under_test import EmulatorUnderTest

DAY_SECONDS = 24 * 60 * 60
MILLISECOND = 0.001


def test_a_key_is_replayed_until_the_last_millisecond_of_its_24_hours(
    emulator: EmulatorUnderTest,
) -> None:
    first = emulator.post("/uploads", UPLOAD, idempotency_key="k")
    emulator.advance(DAY_SECONDS - MILLISECOND)

    again = emulator.post("/uploads", UPLOAD, idempotency_key="k")

    assert again.id == first.id
    assert again.body == first.body


def test_a_key_is_as_new_once_its_24_hours_are_over(
    emulator: EmulatorUnderTest,
) -> None:
    first = emulator.post("/uploads", UPLOAD, idempotency_key="k")
    emulator.advance(DAY_SECONDS)

    again = emulator.post("/uploads", UPLOAD, idempotency_key="k")

    assert again.status == 201
    assert again.id != first.id


def test_a_replay_does_not_prolong_the_retention(emulator: EmulatorUnderTest) -> None:
    first = emulator.post("/uploads", UPLOAD, idempotency_key="k")
    emulator.advance(DAY_SECONDS - MILLISECOND)
    emulator.post("/uploads", UPLOAD, idempotency_key="k")
    emulator.advance(MILLISECOND)

    again = emulator.post("/uploads", UPLOAD, idempotency_key="k")

    assert again.id != first.id


@pytest.mark.emulator(readings="D12=week")
def test_by_the_reading_of_a_week_a_key_is_replayed_for_seven_days(
    emulator: EmulatorUnderTest,
) -> None:
    first = emulator.post("/uploads", UPLOAD, idempotency_key="k")
    emulator.advance(7 * DAY_SECONDS - MILLISECOND)
    within = emulator.post("/uploads", UPLOAD, idempotency_key="k")
    emulator.advance(MILLISECOND)

    over = emulator.post("/uploads", UPLOAD, idempotency_key="k")

    assert within.id == first.id
    assert over.id != first.id
