"""The tests of the examiner play clients against an emulator with its control plane."""

from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from tests.scenarios.player import MakeService, Service
from tests.support.emulator_client import settings_of


@pytest.fixture
def make_service(tmp_path: Path) -> Iterator[MakeService]:
    """Make emulators with options of their own."""
    with ExitStack() as stack:
        yield lambda **options: stack.enter_context(closing(Service(settings_of(tmp_path, **options))))


@pytest.fixture
def service(make_service: MakeService) -> Service:
    """An emulator on a manual clock."""
    return make_service()
