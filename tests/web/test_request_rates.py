"""The request rate: what counts, and for whom (section 8, D41); how long a wait is, tests/domain says."""

import pytest

from tests.support.emulator_client import FULL, OTHER, UPLOAD, EmulatorUnderTest
from tests.support.pictures import picture


def statuses(emulator: EmulatorUnderTest, count: int, key: str = FULL) -> list[int]:
    return [emulator.get("/team", key).status for _ in range(count)]


@pytest.mark.parametrize(
    ("expected", "target", "key"),
    [
        (True, "/team", FULL),
        (True, "/assets/ast_1", FULL),
        (True, "/assets?limit=0", FULL),
        (False, "/nothing", FULL),
        (False, "/uploads", FULL),
        (False, "/team", None),
    ],
)
def test_every_request_to_an_operation_counts_whatever_its_answer(
    emulator: EmulatorUnderTest, expected: bool, target: str, key: str | None
) -> None:
    """D41."""
    emulator.get(target, key)
    assert ([200] * (119 if expected else 120) + [429]) == statuses(emulator, 120 if expected else 121)


def test_a_repeat_counts_as_a_request(emulator: EmulatorUnderTest) -> None:
    """D41."""
    found = [emulator.post("/uploads", UPLOAD, idempotency_key="k").status for _ in range(121)]
    assert [201] * 120 + [429] == found


def test_bytes_do_not_count(emulator: EmulatorUnderTest) -> None:
    """D41: they carry no credential."""
    url, session = emulator.upload(picture())["url"], emulator.open_upload(len(picture()))
    for _ in range(120):
        assert emulator.fetch(url).status == emulator.send_bytes(session, picture()).status == 200
    assert emulator.get("/team").status == 200


def test_all_credentials_of_a_team_together_have_600_requests_a_minute(emulator: EmulatorUnderTest) -> None:
    keys = [emulator.new_key() for _ in range(6)]
    assert {200} == {status for key in keys[:5] for status in statuses(emulator, 119, key)}
    assert [200] * 5 + [429] == statuses(emulator, 6, keys[5])
    assert [429, 200] == [emulator.get("/team", key).status for key in (keys[0], OTHER)]
