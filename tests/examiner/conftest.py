"""A served emulator for the tests of a worker, each of which has its own sandbox."""

from collections.abc import Iterator

import pytest

from image_workflow_emulator.testing import Emulator, Sandbox


@pytest.fixture(scope="session")
def server() -> Iterator[Emulator]:
    with Emulator.start() as emulator:
        yield emulator


@pytest.fixture
def sandbox(server: Emulator) -> Iterator[Sandbox]:
    """A sandbox on a manual clock."""
    with server.sandbox(clock="manual") as sandbox:
        yield sandbox
