"""Rules about the byte surfaces: uploads to signed addresses, and downloads of files."""

import time

import pytest

from tests.support.emulator_client import EmulatorUnderTest, Json
from tests.support.pictures import picture

PICTURE = picture()
OTHER_PICTURE = bytes(reversed(PICTURE))
"""Bytes of the same number."""


def url_of(emulator: EmulatorUnderTest) -> str:
    return str(emulator.upload(PICTURE)["url"])


@pytest.mark.parametrize(("at", "second"), [("after_commit", 409), ("before_commit", 200)])
def test_an_upload_whose_answer_is_lost_was_kept_or_not(emulator: EmulatorUnderTest, at: str, second: int) -> None:
    emulator.rule({"bytes": "upload"}, {"network": "reset", "at": at}, {"nth": 1})
    session = emulator.open_upload(len(PICTURE))
    with pytest.raises(ConnectionResetError):
        emulator.send_bytes(session, PICTURE)
    assert emulator.send_bytes(session, OTHER_PICTURE).status == second
    assert emulator.rules() == {"the rule": (2, 1)}


@pytest.mark.parametrize("code", ["service_unavailable", "internal_error"])
def test_a_byte_surface_can_answer_with_a_problem(emulator: EmulatorUnderTest, code: str) -> None:
    url = url_of(emulator)
    emulator.rule({"bytes": "*"}, {"problem": code})
    session = emulator.open_upload(len(PICTURE))
    answers = [emulator.send_bytes(session, PICTURE), emulator.fetch(url)]
    assert [answer.code for answer in answers] == [code, code]
    assert {answer.headers["emulator-rule"] for answer in answers} == {"the rule"}
    assert emulator.rules() == {"the rule": (2, 2)}
    assert "writes" not in answers[1].json["detail"]  # a download is none


@pytest.mark.parametrize(
    ("match", "failing"),
    [
        ({"bytes": "upload", "resource": "second"}, [2]),
        ({"bytes": "upload", "resource": "3rd"}, [3]),
        ({"bytes": "upload", "team": "Demo"}, [1, 2, 3]),
        ({"bytes": "upload", "team": "Other"}, []),
        ({"bytes": "download"}, []),
    ],
)
def test_an_upload_is_found_by_its_place_and_team(emulator: EmulatorUnderTest, match: Json, failing: list[int]) -> None:
    sessions = [emulator.open_upload(len(PICTURE)) for _ in range(3)]
    emulator.rule(match, {"problem": "service_unavailable"})
    statuses = [emulator.send_bytes(session, PICTURE).status for session in sessions]
    assert [number for number, status in enumerate(statuses, start=1) if status == 503] == failing


def test_bytes_come_at_the_rate_that_is_said(emulator: EmulatorUnderTest) -> None:
    url = url_of(emulator)
    whole = emulator.fetch(url).body
    emulator.rule({"bytes": "download"}, {"network": {"rate": len(whole) * 10}})
    began_at = time.perf_counter()
    answer = emulator.fetch(url)
    assert time.perf_counter() - began_at >= 0.08  # a tenth of a second, less the last piece
    assert (answer.status, answer.body) == (200, whole)
    assert answer.headers["emulator-rule"] == "the rule"
