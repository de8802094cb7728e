"""The control plane's tests share one fixture: an emulator with a manual clock, whose options the marker `emulator` sets."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.control.controlled_emulator import ControlledEmulator
from tests.support.emulator_client import settings_of


@pytest.fixture
def control(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ControlledEmulator]:
    marker = request.node.get_closest_marker("emulator")
    with closing(ControlledEmulator(settings_of(tmp_path, **(marker.kwargs if marker else {})))) as emulator:
        yield emulator
