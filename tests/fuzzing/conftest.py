"""What the fuzz tests share: an emulator without request rates, and an ear for what its log calls an error."""

import logging
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.control.controlled_emulator import ControlledEmulator
from tests.support.emulator_client import settings_of


@pytest.fixture
def control(tmp_path: Path) -> Iterator[ControlledEmulator]:
    with closing(ControlledEmulator(settings_of(tmp_path, rate_limits=False))) as emulator:
        yield emulator


@pytest.fixture(autouse=True)
def no_errors_in_the_log(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Whatever is sent, nothing of it is an error of the emulator."""
    yield
    errors = [record for record in caplog.get_records("call") if record.levelno >= logging.ERROR]
    assert [record.getMessage() for record in errors] == []
