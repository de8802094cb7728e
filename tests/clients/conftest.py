"""What the tests of clients share: one folder with the packages from npm."""

from pathlib import Path

import pytest

from tests.clients.generated import npm_folder


@pytest.fixture(scope="session")
def typescript(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the TypeScript tours, with all that package.json names."""
    return npm_folder(tmp_path_factory.mktemp("typescript"))
