"""What random clients have found wrong with the emulator, as the fewest requests that showed it."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.control.controlled_emulator import ControlledEmulator
from tests.support.emulator_client import settings_of
from tests.support.pictures import picture


@pytest.fixture
def emulator(tmp_path: Path) -> Iterator[ControlledEmulator]:
    with closing(ControlledEmulator(settings_of(tmp_path))) as emulator:
        yield emulator


def test_a_state_with_bytes_that_were_never_completed_can_be_loaded(emulator: ControlledEmulator) -> None:
    session = emulator.open_upload(len(picture()))
    token = emulator.send_bytes(session, picture()).json["upload_token"]
    emulator.advance(15 * 60)
    saved = emulator.ask("GET", "/state").body
    assert emulator.ask("PUT", "/state", content=saved).status == 200
    assert emulator.complete(session, token).outcome == (410, "upload_expired")
