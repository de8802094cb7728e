"""The tests of scenarios share an emulator with its control plane, on which a scenario runs."""

from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from emulator.documents.values import parse_clock
from emulator.settings import Settings
from tests.scenarios.player import MakeService, Service
from tests.support.emulator_client import settings_of


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "plays(name, clock=...): the test plays a client against this scenario of the library, and lets every rule act; "
        "without a `clock` it runs on a manual one",
    )


@pytest.fixture
def make_service(tmp_path: Path) -> Iterator[MakeService]:
    """Make emulators with options of their own; see the marker `emulator`."""
    with ExitStack() as stack:
        yield lambda **options: stack.enter_context(closing(Service(settings_of(tmp_path, **options))))


@pytest.fixture
def service(request: pytest.FixtureRequest, make_service: MakeService) -> Iterator[Service]:
    """The emulator of a test: with the options of the marker `emulator`, or with the scenario that the test `plays`."""
    plays, options = request.node.get_closest_marker("plays"), request.node.get_closest_marker("emulator")
    if not plays:
        yield make_service(**(options.kwargs if options else {}))
        return
    settings = Settings(clock=parse_clock(plays.kwargs.get("clock", "manual")), scenario=plays.args[0])
    with closing(Service(settings)) as service:
        yield service
        assert [] == service.rules_that_never_fired(), "a play lets every rule of its scenario act"
