"""The tests of scenarios share an emulator on which a scenario runs."""

import pytest

from tests.support.emulator_client import EmulatorUnderTest


@pytest.fixture
def service(emulator: EmulatorUnderTest) -> EmulatorUnderTest:
    """The emulator of a test, with the options of the marker `emulator`."""
    return emulator
