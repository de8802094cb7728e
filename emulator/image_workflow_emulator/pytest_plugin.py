"""The pytest plugin: a sandbox for each test, and what the emulator recorded in the report of a test that failed.

Every run of pytest imports this wherever the emulator is installed, so nothing is imported here that a run without it
does not need.
"""

import os
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from image_workflow_emulator.pytest_guard import (
    PROBLEMS,
    failures_in_summary,
    failures_told_to,
)

if TYPE_CHECKING:
    from image_workflow_emulator.testing import Emulator, RecordedRequest, Sandbox

NAME: Final = "image_workflow"
"""The name of the fixture and of the marker."""
URL: Final = "--image-workflow-url"
COVERAGE: Final = "--image-workflow-coverage"
READINGS: Final = "--image-workflow-readings"
READINGS_INI: Final = "image_workflow_readings"
CONDUCT_INI: Final = "image_workflow_conduct"
CONDUCT: Final = ("off", "report", "fail")
PLUGIN_VARIABLE: Final = "IMAGE_WORKFLOW_PYTEST"
"""Names a module that is a plugin too."""
SECTION: Final = "image workflow requests"
CONDUCT_SECTION: Final = "image workflow conduct"
MAX_SHOWN_REQUESTS: Final = 100
"""Limit of the requests in the report of a failed test; the last ones are shown."""
_SHARD: Final = "image_workflow_coverage"
"""Where an xdist worker leaves its coverage for the process that started it."""
_WORKER_PROBLEMS: Final = "image_workflow_problems"
"""Where it leaves what went wrong outside of any test."""

_BEGAN = pytest.StashKey[float]()
"""When the test began, in the host's time: earlier requests to a sandbox that tests share are those of other tests."""
_COVERAGE = pytest.StashKey[list[dict[str, Any]]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options, and what an ini file may say."""
    group = parser.getgroup("image workflow")
    url = "use the emulator at this address (default: EMULATOR_URL, else one is started when a test asks for it)"
    coverage = "write how much of the contract the clients have covered, as JSON, or as a page to FILE.html"
    readings = (
        "run every test under other readings of the specification: such as D26=always-a-cursor, a set such as stingy, "
        "or a file (default: the file image-workflow.readings.yaml, if it is there)"
    )
    group.addoption(URL, metavar="URL", help=url)
    group.addoption(COVERAGE, metavar="FILE", help=coverage)
    group.addoption(READINGS, metavar="READINGS", help=readings)
    unless = "of every sandbox, unless its marker says otherwise"
    parser.addini(f"{NAME}_clock", f"the clock {unless}", default="auto")
    parser.addini(f"{NAME}_scenario", f"the scenario {unless}", default="")
    parser.addini(READINGS_INI, f"as {READINGS}, which goes before it", default="")
    misdeeds = "what follows from misdeeds of the client: `off`, `report` (in the report of a test that failed)"
    parser.addini(
        CONDUCT_INI, f"{misdeeds}, or `fail`: errors fail the test", default="report"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known, and load what a command that runs pytest adds to this plugin."""
    config.stash[_COVERAGE] = []
    added = os.environ.get(PLUGIN_VARIABLE)
    if added:
        with failures_in_summary(config, f"{PLUGIN_VARIABLE}={added} cannot be used"):
            config.pluginmanager.import_plugin(added)
    config.addinivalue_line(
        "markers",
        f"{NAME}(clock, scenario, world, seed, start, rate_limits, evolution, readings, conduct): how the sandbox of "
        "the fixture begins; the defaults of `clock`, `scenario` and `conduct` are the ini options of these names",
    )


def _common_readings(config: pytest.Config) -> dict[str, Any]:
    """Return the readings of every sandbox, as an option; empty where nothing is said of them."""
    readings = config.getoption(READINGS) or config.getini(READINGS_INI)
    return {"readings": readings} if readings else {}


def pytest_collection_finish(session: pytest.Session) -> None:
    """Import the client before a test can replace what it keeps of `http.client`, where a test uses an emulator."""
    fixtures = {NAME, f"{NAME}_emulator"}
    if any(
        fixtures.intersection(getattr(item, "fixturenames", ()))
        for item in session.items
    ):
        with failures_in_summary(
            session.config, "the client of the emulator cannot be imported"
        ):
            import image_workflow_emulator.testing  # noqa: F401


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Warn of a marker that says how the sandbox begins of a test that has none."""
    if NAME not in getattr(item, "fixturenames", ()) and any(
        marker.name == NAME for marker in item.own_markers
    ):
        item.warn(
            pytest.PytestWarning(
                f"@pytest.mark.{NAME} has no effect: the test does not take the fixture {NAME}"
            )
        )


@pytest.fixture(scope="session")
def image_workflow_emulator(request: pytest.FixtureRequest) -> "Iterator[Emulator]":
    """The emulator behind the sandboxes, one for each session and xdist worker.

    One that runs already is used where `--image-workflow-url` or EMULATOR_URL names it, with EMULATOR_CONTROL_TOKEN.
    """
    from image_workflow_emulator.testing import Emulator

    url = request.config.getoption(URL) or os.environ.get("EMULATOR_URL")
    token = os.environ.get("EMULATOR_CONTROL_TOKEN") or None
    readings = _common_readings(request.config)
    with _reporting_refusals(f"  ({URL} or EMULATOR_URL names it)" if url else ""):
        emulator = (
            Emulator.connect(url, token)
            if url
            else Emulator.start(journal_requests=100_000, **readings)
        )
    with emulator:
        yield emulator


@contextmanager
def _reporting_refusals(place: str) -> Iterator[None]:
    """Fail a test with the refusal of the emulator, without a traceback: the mistake comes first, then its place."""
    from image_workflow_emulator.testing import EmulatorError

    try:
        yield
    except EmulatorError as error:
        raise pytest.fail.Exception(
            f"{error.detail}\n{place}".rstrip(), pytrace=False
        ) from None


@pytest.fixture
def image_workflow(
    request: pytest.FixtureRequest, image_workflow_emulator: "Emulator"
) -> "Iterator[Sandbox]":
    """A sandbox of the test's own, begun as the marker `image_workflow` says; deleted after the test."""
    options = _options(request.node)
    del options["conduct"]
    with _reporting_refusals(f"  in {_marker_of(request.node)}"):
        sandbox = image_workflow_emulator.sandbox(**options)
    yield sandbox
    if request.config.getoption(COVERAGE):
        with failures_in_summary(
            request.config, f"the coverage of {request.node.nodeid} cannot be read"
        ):
            _add_coverage(request.config, sandbox.coverage())
    with failures_in_summary(
        request.config, f"the sandbox of {request.node.nodeid} cannot be deleted"
    ):
        _delete(sandbox)


def _delete(sandbox: "Sandbox") -> None:
    """Delete a sandbox, unless its test has done so."""
    from image_workflow_emulator.testing import EmulatorError

    try:
        sandbox.delete()
    except EmulatorError as error:
        if error.code != "not_found":
            raise


def _options(node: pytest.Item) -> dict[str, Any]:
    """Return what the test's markers ask for; one that is nearer to the test goes before one of its class or module."""
    ini = {
        name: node.config.getini(f"{NAME}_{name}")
        for name in ("clock", "scenario", "conduct")
    }
    options = {name: value for name, value in ini.items() if value} | _common_readings(
        node.config
    )
    for marker in reversed(list(node.iter_markers(NAME))):
        if marker.args:
            pytest.fail(
                f"{_marker_of(node)}: found {marker.args[0]!r}; expected options by name",
                pytrace=False,
            )
        options.update(marker.kwargs)
    if options["conduct"] not in CONDUCT:
        complaint = f"conduct: found {options['conduct']!r}; expected one of {', '.join(CONDUCT)}"
        pytest.fail(
            f"{complaint}\n  in {_marker_of(node)}, or the ini option {CONDUCT_INI}",
            pytrace=False,
        )
    return options


def _marker_of(node: pytest.Item) -> str:
    file, line, _ = node.location
    return f"@pytest.mark.{NAME} of {node.name} ({file}{'' if line is None else f', line {line + 1}'})"


def _add_coverage(config: pytest.Config, coverage: dict[str, Any]) -> None:
    from image_workflow_emulator.examiner.coverage import merged

    config.stash[_COVERAGE] = [merged([*config.stash[_COVERAGE], coverage])]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take over the coverage and the problems of an xdist worker that has ended."""
    output = getattr(node, "workeroutput", {})
    with failures_in_summary(node.config, "the coverage of a worker cannot be read"):
        for coverage in output.get(_SHARD, ()):
            _add_coverage(node.config, coverage)
    node.config.stash.setdefault(PROBLEMS, []).extend(output.get(_WORKER_PROBLEMS, ()))


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the coverage; a worker hands it on."""
    config = session.config
    coverage = config.stash.get(_COVERAGE, [])
    worker_output = getattr(config, "workeroutput", None)
    if worker_output is not None:
        worker_output[_SHARD] = coverage
        worker_output[_WORKER_PROBLEMS] = config.stash.get(PROBLEMS, [])
        return
    file = config.getoption(COVERAGE, None)
    if file and coverage:
        with failures_in_summary(config, f"{COVERAGE}: {file} cannot be written"):
            _write_coverage(Path(file), coverage[0])


def _write_coverage(file: Path, coverage: dict[str, Any]) -> None:
    from image_workflow_emulator.cli.judges import coverage_text

    file.write_text(coverage_text(coverage, file.suffix), encoding="utf-8")


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Print what went wrong outside of any test."""
    problems = config.stash.get(PROBLEMS, [])
    if problems:
        terminalreporter.section("image workflow emulator", "=", yellow=True)
    for problem in problems:
        terminalreporter.line(problem)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """Fail a test whose client did what costs money, leaks a credential or gets it banned, where that is asked for."""
    yield
    complaints: list[str] = []
    with failures_told_to(
        lambda text: complaints.append(f"its conduct cannot be judged: {text}")
    ):
        complaints += _misconduct(item)
    if complaints:
        pytest.fail("\n".join(complaints), pytrace=False)


def _misconduct(item: pytest.Item) -> list[str]:
    """Return the errors of the client of a test as lines, if its test is to fail for them."""
    sandbox = _sandboxes(item).get(NAME)
    if sandbox is None or _options(item)["conduct"] != "fail":
        return []
    errors = [str(finding) for finding in sandbox.conduct().errors]
    return ["the client under test misbehaved:", *errors] if errors else []


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add the recorded requests to the report of a test that failed, while its sandboxes are still there."""
    report = yield
    item.stash.setdefault(_BEGAN, call.start)  # of its setup
    if report.failed:
        sections: list[tuple[str, str]] = []
        with failures_told_to(
            lambda text: sections.append((SECTION, f"cannot be read: {text}"))
        ):
            for fixture, sandbox in _sandboxes(item).items():
                sections += _sections(item, fixture, sandbox)
        report.sections += sections
        item.user_properties += sections  # which --junitxml writes
    return report


def _sandboxes(item: pytest.Item) -> "dict[str, Sandbox]":
    """Return the sandboxes among the fixtures of a test, by the names of the fixtures."""
    module = sys.modules.get("image_workflow_emulator.testing.sandbox")
    fixtures: dict[str, Any] = getattr(item, "funcargs", None) or {}
    if module is None:
        return {}
    # isinstance would ask a fixture that is a proxy for its class, and some proxies refuse.
    return {
        name: value
        for name, value in fixtures.items()
        if issubclass(type(value), module.Sandbox)
    }


def _sections(
    item: pytest.Item, fixture: str, sandbox: "Sandbox"
) -> "list[tuple[str, str]]":
    """Describe what a test did in a sandbox, and what of that cannot be read."""
    is_shared = fixture != NAME
    section = f"{SECTION} ({fixture})" if is_shared else SECTION
    lines: list[str] = []
    findings: list[str] = []
    with failures_told_to(
        lambda text: lines.append(f"the journal cannot be read: {text}")
    ):
        if _is_deleted(sandbox):
            return []
        # What can be read stays where a later line cannot.
        lines.extend(_lines(sandbox, _requests(item, sandbox, is_shared)))
    with failures_told_to(
        lambda text: findings.append(f"the conduct cannot be read: {text}")
    ):
        if not is_shared and _options(item)["conduct"] != "off":
            findings += map(str, sandbox.conduct().findings)
    sections = [(section, "\n".join(lines))]
    if findings:
        sections.append((CONDUCT_SECTION, "\n".join(findings)))
    return sections


def _is_deleted(sandbox: "Sandbox") -> bool:
    """Whether the test has deleted its sandbox, which leaves nothing to report."""
    from image_workflow_emulator.testing import EmulatorError

    try:
        sandbox.show()
    except EmulatorError as error:
        if error.code == "not_found":
            return True
        raise
    return False


def _requests(
    item: pytest.Item, sandbox: "Sandbox", is_shared: bool
) -> "list[RecordedRequest]":
    """Return the requests to a sandbox; of one that other tests share, only those since the test began."""
    from image_workflow_emulator.kernel.timestamps import format_timestamp

    requests = sandbox.requests()
    if not is_shared:
        return requests
    began = format_timestamp(int(item.stash[_BEGAN] * 1000))
    return [
        request
        for request in requests
        if request.arrived_at and request.arrived_at >= began
    ]


def _lines(sandbox: "Sandbox", requests: "list[RecordedRequest]") -> Iterator[str]:
    """Describe requests, each refused one with why and what to do about it; the readings, and the rules that never
    fired, but for those of the library, whose other rules are for other clients.
    """
    from image_workflow_emulator.scenario.named_files import is_in_library

    if len(requests) > MAX_SHOWN_REQUESTS:
        yield f"({len(requests) - MAX_SHOWN_REQUESTS} earlier requests are not shown)"
    for request in requests[-MAX_SHOWN_REQUESTS:]:
        yield str(request)
        if request.code is not None:
            explanation = sandbox.explain(request)
            yield f"    {request.code}: {(explanation.decided_by or {}).get('detail') or explanation.summary}"
            if explanation.remedy:
                yield f"    remedy: {explanation.remedy}"
    if not requests:
        why = (
            "since its start, reset or load, no request came with a key of this sandbox"
        )
        yield f"none: {why}, such as {sandbox.api_key}"
    if readings := sandbox.readings:
        yield f"readings: {', '.join(readings)}"
    scenario = sandbox.scenario
    if scenario is not None and not is_in_library(scenario):
        yield from (
            rule.never_fired(scenario) for rule in sandbox.rules if not rule.fired
        )
