"""Fixtures of the fuzz tests: an emulator without rates, which logs no error."""

import logging
from collections.abc import Iterator

import pytest

from tests.support.emulator_under_test import EmulatorUnderTest, MakeEmulator


@pytest.fixture
def control(make_emulator: MakeEmulator) -> EmulatorUnderTest:
    return make_emulator(rate_limits=False)


@pytest.fixture(autouse=True)
def no_errors_in_the_log(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Whatever is sent, nothing of it is an error of the emulator."""
    yield
    errors = [
        record
        for record in caplog.get_records("call")
        if record.levelno >= logging.ERROR
    ]
    assert [record.getMessage() for record in errors] == []
