"""One emulator for the tests of a worker, and runs of pytest that use the plugin."""

import os
from collections.abc import Iterator

import pytest

from image_workflow_emulator.testing import Emulator, Sandbox
from tests.support.served import PLUGIN

CONTROL_TOKEN = "open sesame"
SUITE_HEAD = """
import urllib.error, urllib.request
import pytest

def ask(sandbox, key=None):
    headers = {"Authorization": "Bearer " + (key or sandbox.api_key)}
    request = urllib.request.Request(sandbox.base_url + "/team", headers=headers)
    try:
        return urllib.request.urlopen(request).status
    except urllib.error.HTTPError as error:
        return error.code
"""
"""How each suite begins: `ask` reads the Team, and returns the status."""


@pytest.fixture(scope="session")
def server() -> Iterator[Emulator]:
    with Emulator.start(clock="manual", control_token=CONTROL_TOKEN) as emulator:
        yield emulator


@pytest.fixture
def sandbox(server: Emulator) -> Iterator[Sandbox]:
    with server.sandbox() as sandbox:
        yield sandbox


class PytestRunner:
    """Runs pytest on a suite, in this process and in a folder of its own."""

    def __init__(self, pytester: pytest.Pytester, server: Emulator) -> None:
        self.folder = pytester.path
        self._pytester = pytester
        self._server = server

    def run(self, suite: str, *arguments: str) -> pytest.RunResult:
        """Run a suite with sandboxes of the emulator that runs for these tests."""
        url = ("--image-workflow-url", self._server.url)
        return self.run_without_url(suite, *url, *arguments)

    def run_without_url(self, suite: str, *arguments: str) -> pytest.RunResult:
        """Run a suite that names its emulator by itself, or starts one."""
        (self.folder / "test_mine.py").write_text(SUITE_HEAD + suite)
        usual = ("-p", PLUGIN, "-p", "no:cacheprovider", "-W", "error")
        return self._pytester.runpytest_inprocess(
            *usual,
            "--strict-markers",
            *arguments,
        )


@pytest.fixture
def runner(
    pytester: pytest.Pytester,
    server: Emulator,
    monkeypatch: pytest.MonkeyPatch,
) -> PytestRunner:
    for name in os.environ:
        if name.startswith("EMULATOR_") or name in {"CI", "NO_COLOR"}:
            monkeypatch.delenv(name)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("EMULATOR_CONTROL_TOKEN", CONTROL_TOKEN)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    return PytestRunner(pytester, server)
