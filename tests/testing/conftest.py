"""One emulator for the tests of a worker, each of which makes sandboxes of its own."""

from collections.abc import Iterator

import pytest

from image_workflow_emulator.testing import Emulator, Sandbox


@pytest.fixture(scope="session")
def server() -> Iterator[Emulator]:
    with Emulator.start(clock="manual", control_token="open sesame") as emulator:
        yield emulator


@pytest.fixture
def sandbox(server: Emulator) -> Iterator[Sandbox]:
    with server.sandbox() as sandbox:
        yield sandbox
