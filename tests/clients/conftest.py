"""Fixture of the tests of clients: one folder with the packages from npm."""

import shutil
from pathlib import Path

import pytest

from tests.clients.generated import CLIENTS, install_packages


@pytest.fixture(scope="session")
def typescript(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the TypeScript tours, with all that the lock of package.json names."""
    folder = tmp_path_factory.mktemp("typescript")
    shutil.copytree(CLIENTS / "typescript", folder, dirs_exist_ok=True)
    install_packages(folder)
    return folder
