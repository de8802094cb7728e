"""The changes of a timeline at one instant: the later in the file is the later made."""

from tests.support.emulator_under_test import EmulatorUnderTest

OPENED_AND_PAUSED_AT_ONCE = """
scenario: opened and paused
timeline:
  - {at: 10s, set: {admission: open}}
  - {at: 10s, set: {admission: paused}}
  - {at: 60s, set: {admission: open}}
"""


def test_a_pause_is_not_ended_by_an_opening_before_it_at_the_same_instant(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.told("PUT", "/scenario", content=OPENED_AND_PAUSED_AT_ONCE.encode())
    emulator.told("POST", "/clock/advance", {"seconds": 10})

    refused = emulator.post("/uploads", {"content_type": "image/png", "size_bytes": 1})
    (request,) = emulator.told("GET", "/requests?limit=1")["data"]
    entry = emulator.told("GET", f"/requests/{request['sequence']}")

    assert refused.code == "service_unavailable"
    assert entry["explanation"]["remedy"] == "wait until 2026-01-01T00:01:00.000Z"
