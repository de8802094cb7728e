"""The pytest plugin: a sandbox for each test, and what the emulator recorded in the
report of a test that failed.

Owns the hooks and the fixtures. Every run of pytest imports this wherever the emulator is
installed, so nothing is imported here that a run without it does not need. No hook
raises: `pytest_guard` says why.
"""

import os
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import pytest

from image_workflow_emulator.pytest_guard import (
    PROBLEMS,
    failures_in_summary,
    failures_told_to,
)
from image_workflow_emulator.pytest_plugin import coverage, shared_journals
from image_workflow_emulator.pytest_plugin.failed_tests import REQUESTS, sections_of
from image_workflow_emulator.pytest_plugin.fixtures import own_sandbox
from image_workflow_emulator.pytest_plugin.options import (
    COVERAGE,
    NAME,
    URL,
    Settings,
    add_marker,
    add_options,
    common_settings,
    conduct_of,
    marker_place,
    refusal_text,
    sandbox_options,
    settings_of,
)

if TYPE_CHECKING:
    from image_workflow_emulator.testing import Emulator, Sandbox

PLUGIN_VARIABLE: Final = "IMAGE_WORKFLOW_PYTEST"
"""Names a module that is a plugin too."""
_WORKER_PROBLEMS: Final = "image_workflow_problems"
"""Where an xdist worker leaves what went wrong outside of any test."""


# Options ------------------------------------------------------------------------------


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the command line and of ini files."""
    add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker, and load what a command that runs pytest adds."""
    add_marker(config)
    module = os.environ.get(PLUGIN_VARIABLE)
    if module:
        with failures_in_summary(config, f"{PLUGIN_VARIABLE}={module} cannot be used"):
            config.pluginmanager.import_plugin(module)


# Fixtures -----------------------------------------------------------------------------


@pytest.fixture(scope="session")
def image_workflow_emulator(request: pytest.FixtureRequest) -> "Iterator[Emulator]":
    """The emulator behind the sandboxes, one for each session and xdist worker.

    One that runs already is used where `--image-workflow-url` or EMULATOR_URL names it,
    with EMULATOR_CONTROL_TOKEN.
    """
    url = request.config.getoption(URL) or os.environ.get("EMULATOR_URL")
    emulator = _running_emulator(url) if url else _started_emulator(request.config)
    with emulator:
        yield emulator


@pytest.fixture
def image_workflow(
    request: pytest.FixtureRequest,
    image_workflow_emulator: "Emulator",
) -> "Iterator[Sandbox]":
    """A sandbox of the test's own, which begins as the marker `image_workflow` says.

    It is deleted after the test.
    """
    item = request.node
    settings = settings_of(item)
    with _refusals_of(settings, f"in {marker_place(item)}"):
        sandbox = image_workflow_emulator.sandbox(**sandbox_options(settings))
    yield sandbox
    config = request.config
    if config.getoption(COVERAGE):
        with failures_in_summary(config, f"{item.nodeid}: coverage cannot be read"):
            coverage.add_coverage(config, sandbox.coverage())
    with failures_in_summary(config, f"{item.nodeid}: sandbox cannot be deleted"):
        _delete(sandbox)


def _running_emulator(url: str) -> "Emulator":
    from image_workflow_emulator.testing import Emulator

    token = os.environ.get("EMULATOR_CONTROL_TOKEN") or None
    with _refusals_of({}, f"({URL} or EMULATOR_URL names it)"):
        return Emulator.connect(url, token)


def _started_emulator(config: pytest.Config) -> "Emulator":
    from image_workflow_emulator.testing import Emulator

    settings = common_settings(config)
    options: dict[str, Any] = {"journal_requests": 100_000}
    if "readings" in settings:
        options["readings"] = settings["readings"].value
    with _refusals_of(settings):
        return Emulator.start(**options)


@contextmanager
def _refusals_of(settings: Settings, otherwise: str = "") -> Iterator[None]:
    """Fail a test with the emulator's refusal of settings, without a traceback.

    `otherwise` is the last line for a mistake that is in none of the settings.
    """
    from image_workflow_emulator.testing import EmulatorError

    try:
        yield
    except (EmulatorError, TypeError, ValueError) as error:
        # The last two are for values that JSON does not have.
        detail = error.detail if isinstance(error, EmulatorError) else str(error)
        text = refusal_text(settings, detail, otherwise)
        raise pytest.fail.Exception(text, pytrace=False) from None


def _delete(sandbox: "Sandbox") -> None:
    """Delete a sandbox, unless its test has done so."""
    from image_workflow_emulator.testing import EmulatorError

    try:
        sandbox.delete()
    except EmulatorError as error:
        if error.code != "not_found":
            raise


# A session ----------------------------------------------------------------------------


def pytest_collection_finish(session: pytest.Session) -> None:
    """Import the client, if a test uses it, before the first test runs.

    It keeps what it needs of `http.client` and `socket`, which tests may replace.
    """
    fixtures = {NAME, f"{NAME}_emulator"}
    if not any(
        fixtures.intersection(getattr(item, "fixturenames", ()))
        for item in session.items
    ):
        return
    with failures_in_summary(session.config, "the client cannot be imported"):
        import image_workflow_emulator.testing  # noqa: F401


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take over what an xdist worker leaves that has ended."""
    config = node.config
    output = getattr(node, "workeroutput", {})
    with failures_in_summary(config, "the coverage of a worker cannot be read"):
        coverage.take_over(config, output)
    config.stash.setdefault(PROBLEMS, []).extend(output.get(_WORKER_PROBLEMS, ()))


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the coverage; a worker hands it on."""
    config = session.config
    worker_output = getattr(config, "workeroutput", None)
    if worker_output is not None:
        coverage.hand_over(config, worker_output)
        worker_output[_WORKER_PROBLEMS] = config.stash.get(PROBLEMS, [])
        return
    file = config.getoption(COVERAGE, None)
    if file:
        with failures_in_summary(config, f"{COVERAGE}: {file} cannot be written"):
            coverage.write_coverage(config, file)


def pytest_terminal_summary(
    # Its class has no public name before pytest 8.4.
    terminalreporter: Any,
    config: pytest.Config,
) -> None:
    """Print what went wrong outside of any test."""
    problems = config.stash.get(PROBLEMS, [])
    if problems:
        terminalreporter.section("image workflow emulator", "=", yellow=True)
    for problem in problems:
        terminalreporter.line(problem)


# A test -------------------------------------------------------------------------------


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Note where its requests begin, and warn of a marker without the fixture."""
    with failures_in_summary(item.config, f"{item.nodeid}: journal cannot be read"):
        shared_journals.begin_test(item)
    is_marked = any(marker.name == NAME for marker in item.own_markers)
    if is_marked and NAME not in getattr(item, "fixturenames", ()):
        item.warn(
            pytest.PytestWarning(
                f"@pytest.mark.{NAME} has no effect: "
                f"the test does not take the fixture {NAME}"
            )
        )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """Fail a test for misconduct of its client, where that is asked for."""
    yield
    complaints: list[str] = []
    with failures_told_to(
        lambda text: complaints.append(f"the conduct cannot be judged: {text}")
    ):
        complaints.extend(_misconduct(item))
    if complaints:
        pytest.fail("\n".join(complaints), pytrace=False)


def _misconduct(item: pytest.Item) -> list[str]:
    """Return what the client of a test did wrong, if the test is to fail for it."""
    sandbox = own_sandbox(item)
    if sandbox is None or conduct_of(item) != "fail":
        return []
    errors = [str(finding) for finding in sandbox.conduct().errors]
    return ["the client under test misbehaved:", *errors] if errors else []


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
    call: pytest.CallInfo[None],
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add to the report of a test that failed, while its sandboxes are still there."""
    report = yield
    sections: list[tuple[str, str]] = []
    with failures_told_to(
        lambda text: sections.append((REQUESTS, f"cannot be read: {text}"))
    ):
        if call.when == "setup":
            shared_journals.end_setup(item)
        if report.failed:
            sections.extend(sections_of(item))
    report.sections.extend(sections)
    item.user_properties.extend(sections)  # which --junitxml writes
    return report
