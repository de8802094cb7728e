"""The tests of scenarios share an emulator on which a scenario runs."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from emulator.documents.values import parse_clock
from emulator.settings import Settings
from tests.support.emulator_client import EmulatorUnderTest, MakeEmulator


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "plays(name, clock=...): the test plays a client against this scenario of the library, and lets every rule act; "
        "without a `clock` it runs on a manual one",
    )


@pytest.fixture
def service(request: pytest.FixtureRequest, make_emulator: MakeEmulator) -> Iterator[EmulatorUnderTest]:
    """The emulator of a test: with the options of the marker `emulator`, or with the scenario that the test `plays`."""
    plays, options = request.node.get_closest_marker("plays"), request.node.get_closest_marker("emulator")
    if not plays:
        yield make_emulator(**(options.kwargs if options else {}))
        return
    settings = Settings(clock=parse_clock(plays.kwargs.get("clock", "manual")), scenario=plays.args[0])
    with closing(EmulatorUnderTest(settings)) as service:
        yield service
        idle = [name for name, (_, fired) in service.rules().items() if not fired]
        assert not idle, "a play lets every rule of its scenario act"


@pytest.fixture
def asset_id(service: EmulatorUnderTest) -> str:
    """The id of a small picture in the Library of Demo, brought in while the scenario runs."""
    return service.assets(1)[0]
