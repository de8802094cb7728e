"""The request rate: an exact sliding window, and waits that are exact (section 8, D41, D42)."""

import pytest

from tests.support.emulator_client import FULL, READ_ONLY, UPLOAD, EmulatorUnderTest
from tests.support.pictures import picture


def statuses(emulator: EmulatorUnderTest, count: int, key: str = FULL) -> list[int]:
    return [emulator.get("/team", key).status for _ in range(count)]


@pytest.mark.parametrize(
    ("expected", "target", "key"),
    [
        (True, "/team", FULL), (True, "/assets/ast_1", FULL), (True, "/assets?limit=0", FULL),
        (False, "/nothing", FULL), (False, "/uploads", FULL), (False, "/team", None),
    ],
)  # fmt: skip
def test_every_request_to_an_operation_counts_whatever_its_answer(
    emulator: EmulatorUnderTest, expected: bool, target: str, key: str | None
) -> None:
    """D41."""
    emulator.get(target, key)
    assert ([200] * (119 if expected else 120) + [429]) == statuses(emulator, 120 if expected else 121)


def test_bytes_do_not_count(emulator: EmulatorUnderTest) -> None:
    """D41: they carry no credential."""
    url, session = emulator.upload(picture())["url"], emulator.open_upload(len(picture()))
    for _ in range(120):
        assert emulator.fetch(url).status == emulator.send_bytes(session, picture()).status == 200
    assert emulator.get("/team").status == 200


def test_refused_writes_count_as_well(emulator: EmulatorUnderTest) -> None:
    for status in (400, 403, 422):
        body = {} if status == 422 else UPLOAD
        key = READ_ONLY if status == 403 else FULL
        assert emulator.post("/uploads", body, key, None if status == 400 else "k").status == status
    assert statuses(emulator, 119) == [200] * 118 + [429]


def test_a_lowered_rate_waits_until_enough_requests_have_left(emulator: EmulatorUnderTest) -> None:
    for _ in range(3):
        statuses(emulator, 1)
        emulator.advance(10)
    emulator.set_team(requests_per_minute=1)
    assert emulator.get("/team").retry_after == 50
    emulator.set_team(requests_per_minute=0)
    assert emulator.get("/team").retry_after == 60


@pytest.mark.emulator(world="teams: {Demo: {requests_per_minute: 2, credentials: [{key: iwe_demo_full}]}}")
def test_a_world_can_have_another_rate(emulator: EmulatorUnderTest) -> None:
    assert statuses(emulator, 3) == [200, 200, 429]
