"""The control plane's tests call the emulator by what they ask of it."""

import pytest

from tests.support.emulator_client import EmulatorUnderTest


@pytest.fixture
def control(emulator: EmulatorUnderTest) -> EmulatorUnderTest:
    """The test's emulator."""
    return emulator
