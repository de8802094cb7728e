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
    marker = request.node.get_closest_marker("served")
    with serving(*(marker.args if marker else ("--clock", "manual"))) as emulator:
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

    visits: list[tuple[Any, Visit]] = []

    def visit(path: str = "/_emulator", **options: Any) -> Visit:
        context = browser.new_context(
            **{"reduced_motion": "reduce", "accept_downloads": True, **options}
        )
        visits.append((context, Visit(context.new_page(), origin)))
        return visits[-1][1].open(path)

    yield visit
    for context, _ in visits:
        context.close()
    assert [visit.complaints for _, visit in visits if visit.complaints] == []


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
