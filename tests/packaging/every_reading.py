"""A plugin for pytest: each test that has a sandbox runs once under each reading, unless its own marker says which it has."""

import pytest

from image_workflow_emulator.domain.readings import READINGS


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Multiply a test by the readings."""
    if "image_workflow" in metafunc.fixturenames:
        metafunc.fixturenames.append("reading")
        marked = [pytest.param(name, marks=pytest.mark.image_workflow(readings=name)) for name in READINGS]
        metafunc.parametrize("reading", marked)
