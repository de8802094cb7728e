"""From accepted bytes to an Asset: tokens and refusals (D17), beside what the model says of the five formats (D18)."""

import pytest

from image_workflow_emulator.imaging.helpers import Helpers, LostHelperError
from tests.support.emulator_client import INVALID_INPUT, EmulatorUnderTest


@pytest.mark.parametrize("token", ["", "x", "upt_" + "0" * 32, "string", "\ud7ff", "a" * 100_000, "another session's"])
def test_a_wrong_token_is_refused_and_the_right_one_serves_once(emulator: EmulatorUnderTest, token: str) -> None:
    """D17, D49."""
    (session, right), (_, another) = emulator.ready_upload(), emulator.ready_upload()
    wrong = another if token == "another session's" else token
    found = [emulator.complete(session, said).outcome for said in (wrong, right, right)]
    assert found == [INVALID_INPUT, (201, "asset"), (404, "upload_not_found")]


def test_bytes_that_cost_their_helper_are_refused_like_what_is_no_image(
    emulator: EmulatorUnderTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def lose(*_: object) -> None:
        raise LostHelperError

    ready = emulator.ready_upload()
    monkeypatch.setattr(Helpers, "run", lose)
    refused = emulator.complete(*ready)
    assert (refused.outcome, "time or memory" in refused.json["detail"]) == (INVALID_INPUT, True)
    assert emulator.complete(*ready).outcome == (404, "upload_not_found")
