"""One served emulator for the tests of a worker, each of which finds it at its start."""

from collections.abc import Iterator

import pytest

from tests.cli.command import run_command
from tests.support.served import Server, serving


@pytest.fixture(scope="session")
def manual_server() -> Iterator[Server]:
    with serving("--clock", "manual") as server:
        yield server


@pytest.fixture
def server(manual_server: Server) -> Server:
    """The server, back at its start."""
    for command in ("scenario off", "reset"):
        assert run_command(*command.split(), EMULATOR_URL=manual_server.url).status == 0
    return manual_server
