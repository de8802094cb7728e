"""The tests of the examiner play clients against an emulator: in this process, or served."""

from collections.abc import Iterator

import pytest

from image_workflow_emulator.testing import Emulator
from tests.support.emulator_client import EmulatorUnderTest


@pytest.fixture
def service(emulator: EmulatorUnderTest) -> EmulatorUnderTest:
    """An emulator on a manual clock."""
    return emulator


@pytest.fixture(scope="session")
def server() -> Iterator[Emulator]:
    """A served emulator, in which each test makes a sandbox of its own."""
    with Emulator.start() as emulator:
        yield emulator
