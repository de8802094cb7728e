"""The pytest plugin beside tests that replace parts of the standard library.

VCR.py, pook, network guards and `monkeypatch` do so while a test runs, and all of it is
still replaced when the plugin makes its report.
"""

from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from image_workflow_emulator.sweep.evidence import Place, read_notes
from image_workflow_emulator.testing import Emulator
from tests.support.served import Outcome, run_pytest
from tests.testing.conftest import CONTROL_TOKEN

SUITE = """
import http.client, json, socket, urllib.error, urllib.request
from unittest.mock import MagicMock
import pytest
from image_workflow_emulator.testing import Sandbox

def refuse(*arguments, **options):
    pytest.fail("this test has no network")

class Recorded:
    def __init__(self, *arguments, **options):
        raise AssertionError("a cassette plays this request back")

class Proxy:
    @property
    def __class__(self):
        raise RuntimeError("there is no current application")

def send_request(sandbox):
    headers = {"Authorization": "Bearer " + sandbox.key("iwe_demo_expired")}
    request = urllib.request.Request(sandbox.base_url + "/team", headers=headers)
    with pytest.raises(urllib.error.HTTPError):
        urllib.request.urlopen(request)

@pytest.mark.parametrize(("holder", "name", "replacement"), [
    pytest.param(socket, "create_connection", MagicMock(), id="create_connection"),
    pytest.param(socket, "socket", MagicMock(), id="socket"),
    pytest.param(socket.socket, "connect", refuse, id="connect"),
    pytest.param(socket, "getaddrinfo", refuse, id="getaddrinfo"),
    pytest.param(http.client, "HTTPConnection", Recorded, id="http_client"),
    pytest.param(http.client.HTTPConnection, "request", refuse, id="request"),
    pytest.param(json, "loads", refuse, id="loads"),
])
def test_replaced(image_workflow, monkeypatch, holder, name, replacement):
    send_request(image_workflow)
    monkeypatch.setattr(holder, name, replacement)
    assert not "the test's own mistake"

def test_replaced_at_teardown(monkeypatch, image_workflow):
    monkeypatch.setattr(socket, "socket", MagicMock())

def test_unreadable(image_workflow, monkeypatch):
    monkeypatch.setattr(Sandbox, "requests", refuse)
    assert not "the test's own mistake"

@pytest.mark.image_workflow(conduct="fail")
def test_unreadable_conduct(image_workflow, monkeypatch):
    monkeypatch.setattr(Sandbox, "conduct", refuse)

def test_proxy(image_workflow, proxy):
    assert not "the test's own mistake"

def test_deleted(image_workflow):
    image_workflow.delete()

@pytest.fixture
def proxy():
    return Proxy()

def test_last(image_workflow):
    send_request(image_workflow)
"""
REPLACED = (
    "create_connection",
    "socket",
    "connect",
    "getaddrinfo",
    "http_client",
    "request",
    "loads",
)
OWN_MISTAKE = "the test's own mistake"
REQUESTS = "image workflow requests"


@dataclass
class Run:
    outcome: Outcome
    report: ET.Element
    places: dict[str, Place]
    """What the plugin noted for a sweep."""

    def case(self, name: str) -> ET.Element:
        case = self.report.find(f".//testcase[@name='{name}']")
        assert case is not None
        return case

    def section(self, name: str) -> str:
        """The requests in the report of a test."""
        path = f".//property[@name='{REQUESTS}']"
        requests = self.case(name).find(path)
        return "" if requests is None else str(requests.get("value"))


@pytest.fixture(scope="module")
def run(server: Emulator, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run of pytest as a sweep starts it; its coverage cannot be written."""
    folder = tmp_path_factory.mktemp("replaced")
    (folder / "test_mine.py").write_text(SUITE)
    outcome = run_pytest(
        folder,
        "--image-workflow-url",
        server.url,
        "--image-workflow-coverage",
        "no-such-folder/coverage.json",
        "--junitxml",
        "report.xml",
        EMULATOR_CONTROL_TOKEN=CONTROL_TOKEN,
        IMAGE_WORKFLOW_PYTEST="image_workflow_emulator.sweep.in_pytest",
        IMAGE_WORKFLOW_SWEEP=str(folder),
    )
    report = ET.parse(folder / "report.xml").getroot()
    return Run(outcome, report, read_notes(folder)[0].places)


def test_no_replaced_function_ends_the_session(run: Run) -> None:
    assert "INTERNALERROR" not in run.outcome.output
    assert run.case("test_last").find("failure") is None
    assert run.case("test_last").find("error") is None


@pytest.mark.parametrize("name", REPLACED)
def test_the_report_has_the_requests_whatever_is_replaced(run: Run, name: str) -> None:
    case = f"test_replaced[{name}]"

    failure = run.case(case).find("failure")

    assert failure is not None
    assert OWN_MISTAKE in str(failure.get("message"))
    assert "remedy: use the Team's credential 'Full'" in run.section(case)


@pytest.mark.parametrize("name", REPLACED)
def test_a_sweep_has_its_notes_whatever_is_replaced(run: Run, name: str) -> None:
    place = run.places[f"test_mine.py::test_replaced[{name}]"]

    (journal,) = place.journals

    assert journal[0].code == "credential_expired"


def test_a_sandbox_is_deleted_though_sockets_are_replaced(run: Run) -> None:
    assert run.case("test_replaced_at_teardown").find("error") is None
    assert "cannot be deleted" not in run.outcome.output


def test_what_cannot_be_read_is_a_section_that_says_why(run: Run) -> None:
    case = str(ET.tostring(run.case("test_unreadable")), "utf-8")

    complaint = "the journal cannot be read: Failed: this test has no network"
    assert OWN_MISTAKE in case
    assert run.section("test_unreadable") == complaint


def test_conduct_that_cannot_be_judged_fails_a_test_that_asks_for_it(run: Run) -> None:
    failure = run.case("test_unreadable_conduct").find("failure")

    assert failure is not None
    assert "conduct cannot be judged: Failed: this test" in str(failure.get("message"))


def test_a_fixture_that_is_a_proxy_is_not_asked_for_its_class(run: Run) -> None:
    assert "no request came with a key of this sandbox" in run.section("test_proxy")


def test_a_test_may_delete_its_own_sandbox(run: Run) -> None:
    assert run.case("test_deleted").find("error") is None


def test_coverage_that_cannot_be_written_is_named_in_the_summary(run: Run) -> None:
    assert run.outcome.status == 1
    assert "no-such-folder/coverage.json cannot be written: File" in run.outcome.output


GUARDED = """
import http.client, socket
from unittest.mock import MagicMock
import pytest

@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup():
    socket.socket = MagicMock()
    http.client.HTTPConnection = MagicMock()
"""


def test_what_replaces_sockets_before_the_first_fixture_is_not_in_its_way(
    server: Emulator,
    tmp_path: Path,
) -> None:
    (tmp_path / "conftest.py").write_text(GUARDED)
    suite = "def test_clock(image_workflow): assert image_workflow.clock.pending == 0"
    (tmp_path / "test_mine.py").write_text(suite)

    outcome = run_pytest(
        tmp_path,
        "--image-workflow-url",
        server.url,
        EMULATOR_CONTROL_TOKEN=CONTROL_TOKEN,
    )

    assert " 1 passed in " in outcome.output
