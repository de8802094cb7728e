"""What random clients have found wrong with the emulator, as the fewest requests that showed it."""

from tests.support.emulator_client import UPLOAD, EmulatorUnderTest


def test_a_state_with_bytes_that_were_never_completed_can_be_loaded(emulator: EmulatorUnderTest) -> None:
    ready = emulator.ready_upload()
    emulator.advance(15 * 60)
    saved = emulator.ask("GET", "/state").body
    assert emulator.ask("PUT", "/state", content=saved).status == 200
    assert emulator.complete(*ready).outcome == (410, "upload_expired")


def test_an_auto_clock_does_not_wait_for_the_end_of_a_pause_that_will_not_come(emulator: EmulatorUnderTest) -> None:
    emulator.told("PUT", "/clock", {"mode": "auto"})
    pause = {"admission": "paused", "retry_after": 7}
    timeline = [{"at": 0, "set": pause}, {"at": 20, "set": {"admission": "open"}}]
    emulator.told("PUT", "/scenario", {"scenario": "pause", "timeline": timeline})
    assert 200 == emulator.get("/team").status
    emulator.ask("DELETE", "/scenario")
    before = emulator.now()
    refused = emulator.post("/uploads", UPLOAD)
    assert ((503, "service_unavailable"), 7000) == (refused.outcome, emulator.now() - before)
