"""The tests of the examiner play clients against an emulator."""

import pytest

from tests.support.emulator_client import EmulatorUnderTest


@pytest.fixture
def service(emulator: EmulatorUnderTest) -> EmulatorUnderTest:
    """An emulator on a manual clock."""
    return emulator
