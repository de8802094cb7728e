"""What the tests of the page share: a real emulator with a browser before it."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.clients.generated import install_packages
from tests.support.served import serving

NODE = Path(__file__).with_name("node")


@pytest.fixture
def origin(request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of an emulator with a manual clock.

    The marker `served` gives it other options.
    """
    options: tuple[str, ...] = ("--clock", "manual")
    marker = request.node.get_closest_marker("served")
    if marker is not None:
        options = marker.args
    with serving(*options) as emulator:
        yield emulator.url


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """One browser for the tests of a file.

    While it runs, so does its loop, and no other test can run its own.
    """
    from tests.page.browser import chromium

    with chromium() as running:
        yield running


@pytest.fixture
def visitor(browser: Any, origin: str) -> Iterator[Any]:
    """Open visits to the emulator, each with a context of its own.

    Every one must end without a complaint.
    """
    from tests.page.browser import Visit

    contexts: list[Any] = []
    visits: list[Visit] = []

    def open_visit(path: str = "/_emulator", **options: Any) -> Visit:
        usual = {"reduced_motion": "reduce", "accept_downloads": True}
        context = browser.new_context(**(usual | options))
        visit = Visit(context.new_page(), origin)
        contexts.append(context)
        visits.append(visit)
        return visit.open(path)

    yield open_visit
    for context in contexts:
        context.close()
    for visit in visits:
        assert visit.complaints == []


@pytest.fixture
def visit(visitor: Any) -> Any:
    return visitor()


@pytest.fixture
def service(origin: str) -> Any:
    from tests.page.browser import Service

    return Service(f"{origin}/v1")


@pytest.fixture(scope="session")
def node(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the page's files, and with what its lock names to check them."""
    folder = tmp_path_factory.mktemp("node")
    shutil.copytree(NODE, folder, dirs_exist_ok=True)
    from image_workflow_emulator.control.page_files import FOLDER

    shutil.copytree(FOLDER, folder / "page")
    install_packages(folder)
    return folder
