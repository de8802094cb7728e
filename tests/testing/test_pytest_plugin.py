"""The pytest plugin: sandboxes of tests, their options, and what a run is told.

The runs of pytest are in this process; those about processes and about the report of
tests that failed are in files of their own.
"""

import re

import pytest

from image_workflow_emulator.testing import Emulator
from tests.support.served import unused_port
from tests.testing.conftest import PytestRunner

# Sandboxes and markers ---------------------------------------------------------------


def test_each_test_has_a_sandbox_of_its_own(runner: PytestRunner) -> None:
    result = runner.run("""
@pytest.mark.parametrize("run", [1, 2])
def test_it(image_workflow, run):
    assert image_workflow.requests() == []
    assert ask(image_workflow) == 200
""")

    assert result.parseoutcomes() == {"passed": 2}


def test_a_clock_is_automatic_unless_a_marker_says_otherwise(
    runner: PytestRunner,
) -> None:
    result = runner.run("""
def test_unmarked(image_workflow):
    assert image_workflow.clock.mode == "auto"

@pytest.mark.image_workflow(clock="manual")
def test_marked(image_workflow):
    assert image_workflow.clock.mode == "manual"
""")

    assert result.parseoutcomes() == {"passed": 2}


def test_markers_of_module_class_and_test_add_up(runner: PytestRunner) -> None:
    result = runner.run("""
pytestmark = pytest.mark.image_workflow(start="2030-01-01T00:00:00.000Z")

@pytest.mark.image_workflow(clock="manual", scenario="some-outputs-fail")
class TestGroup:
    @pytest.mark.image_workflow(seed=3)
    def test_it(self, image_workflow):
        assert image_workflow.clock.now.year == 2030
        assert image_workflow.clock.mode == "manual"
        assert len(image_workflow.rules) == 1
""")

    assert result.parseoutcomes() == {"passed": 1}


def test_the_nearest_marker_wins(runner: PytestRunner) -> None:
    result = runner.run("""
CREDENTIAL = {"key": "k", "name": "N", "profile": "full"}
WORLD = {"teams": {"Demo": {"credits": 7, "credentials": [CREDENTIAL]}}}

@pytest.mark.image_workflow(clock="manual", scenario="some-outputs-fail")
class TestGroup:
    @pytest.mark.image_workflow(scenario=None, world=WORLD, rate_limits=False)
    def test_it(self, image_workflow):
        assert image_workflow.clock.mode == "manual"
        assert image_workflow.rules == []
        assert image_workflow.team("Demo").credits == 7
""")

    assert result.parseoutcomes() == {"passed": 1}


def test_clock_and_scenario_are_those_of_the_ini_file(runner: PytestRunner) -> None:
    (runner.folder / "pytest.ini").write_text(
        "[pytest]\n"
        "image_workflow_clock = manual\n"
        "image_workflow_scenario = rate-limited\n"
    )

    result = runner.run("""
def test_it(image_workflow):
    assert image_workflow.clock.mode == "manual"
    assert image_workflow.scenario == "rate-limited"
""")

    assert result.parseoutcomes() == {"passed": 1}


def test_a_marker_wins_over_the_ini_file(runner: PytestRunner) -> None:
    (runner.folder / "pytest.ini").write_text(
        "[pytest]\n"
        "image_workflow_clock = manual\n"
        "image_workflow_scenario = rate-limited\n"
    )

    result = runner.run("""
@pytest.mark.image_workflow(clock="auto", scenario="answer-lost")
def test_it(image_workflow):
    assert image_workflow.clock.mode == "auto"
    assert image_workflow.scenario == "answer-lost"
""")

    assert result.parseoutcomes() == {"passed": 1}


def test_a_marker_without_the_fixture_is_a_warning(runner: PytestRunner) -> None:
    suite = """
@pytest.mark.image_workflow(clock="manual")
def test_it(): ...
"""

    result = runner.run(suite, "-W", "default")

    result.stdout.fnmatch_lines(
        "*@pytest.mark.image_workflow has no effect: the test does not take the "
        "fixture image_workflow"
    )


# The emulator ------------------------------------------------------------------------

USES_RUNNING = """
def test_it(image_workflow, image_workflow_emulator):
    assert image_workflow_emulator.url == {url!r}
    assert image_workflow.id != "default"
"""


def test_an_emulator_that_the_option_names_is_used(
    runner: PytestRunner,
    server: Emulator,
) -> None:
    result = runner.run_without_url(
        USES_RUNNING.format(url=server.url),
        "--image-workflow-url",
        server.url,
    )

    assert result.parseoutcomes() == {"passed": 1}


def test_an_emulator_that_the_variable_names_is_used(
    runner: PytestRunner,
    server: Emulator,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("EMULATOR_URL", server.url)

    result = runner.run_without_url(USES_RUNNING.format(url=server.url))

    assert result.parseoutcomes() == {"passed": 1}


def test_without_an_address_an_emulator_is_started(
    runner: PytestRunner,
    server: Emulator,
) -> None:
    result = runner.run_without_url(
        f"""
def test_it(image_workflow, image_workflow_emulator):
    assert image_workflow_emulator.url != {server.url!r}
    assert image_workflow_emulator.default.readings == ["D66=silent"]
    assert image_workflow_emulator.default.requests() == []
    assert ask(image_workflow) == 200
""",
        "--image-workflow-readings",
        "D66=silent",
    )

    assert result.parseoutcomes() == {"passed": 1}


def test_an_emulator_that_does_not_answer_is_told_without_a_traceback(
    runner: PytestRunner,
) -> None:
    suite = "def test_it(image_workflow): ..."

    with unused_port() as port:
        url = f"http://127.0.0.1:{port}"
        result = runner.run_without_url(suite, "--image-workflow-url", url)

    output = result.stdout.str()
    assert f"\nno emulator answers at {url} (" in output
    assert "\n  (--image-workflow-url or EMULATOR_URL names it)\n" in output
    assert "Traceback" not in output
    assert "control.py" not in output


# Readings ----------------------------------------------------------------------------

READINGS_FILE = "image-workflow.readings.yaml"
READINGS_OPTION = "--image-workflow-readings"
READINGS_INI = "[pytest]\nimage_workflow_readings = D66=silent\n"
READS_SILENT = """
def test_it(image_workflow):
    assert image_workflow.readings == ["D66=silent"]
"""


def test_readings_are_those_of_the_file_in_the_folder(runner: PytestRunner) -> None:
    (runner.folder / READINGS_FILE).write_text("readings: {D66: silent}\n")

    result = runner.run_without_url(READS_SILENT)

    assert result.parseoutcomes() == {"passed": 1}


def test_readings_of_the_ini_file_win_over_the_file(runner: PytestRunner) -> None:
    (runner.folder / READINGS_FILE).write_text("readings: {D42: rough}\n")
    (runner.folder / "pytest.ini").write_text(READINGS_INI)

    result = runner.run_without_url(READS_SILENT)

    assert result.parseoutcomes() == {"passed": 1}


def test_readings_of_the_option_win_over_the_ini_file(runner: PytestRunner) -> None:
    ini = "[pytest]\nimage_workflow_readings = D42=rough\n"
    (runner.folder / "pytest.ini").write_text(ini)

    result = runner.run(READS_SILENT, READINGS_OPTION, "D66=silent")

    assert result.parseoutcomes() == {"passed": 1}


def test_plain_as_the_option_takes_readings_back(runner: PytestRunner) -> None:
    (runner.folder / "pytest.ini").write_text(READINGS_INI)
    suite = """
def test_it(image_workflow):
    assert image_workflow.readings == []
"""

    result = runner.run(suite, READINGS_OPTION, "plain")

    assert result.parseoutcomes() == {"passed": 1}


def test_readings_of_a_marker_win_over_all_others(runner: PytestRunner) -> None:
    suite = """
@pytest.mark.image_workflow(readings={"D26": "always-a-cursor"})
def test_others(image_workflow):
    assert image_workflow.readings == ["D26=always-a-cursor"]

@pytest.mark.image_workflow(readings="plain")
def test_none(image_workflow):
    assert image_workflow.readings == []
"""

    result = runner.run(suite, READINGS_OPTION, "D66=silent")

    assert result.parseoutcomes() == {"passed": 2}


@pytest.mark.parametrize(
    ("file", "complaint"),
    [("known.yaml", "known.yaml:2:"), ("lost.yaml", "lost.yaml")],
    ids=["a mistake", "no file"],
)
def test_readings_that_cannot_be_used_fail_the_tests(
    runner: PytestRunner,
    file: str,
    complaint: str,
) -> None:
    (runner.folder / "known.yaml").write_text("readings:\n  D66: silnt\n")

    result = runner.run_without_url(READS_SILENT, READINGS_OPTION, file)

    assert complaint in result.stdout.str()
    assert result.parseoutcomes() == {"errors": 1}


# Markers with mistakes ---------------------------------------------------------------


def test_a_bad_scenario_file_is_told_with_line_and_column(runner: PytestRunner) -> None:
    (runner.folder / "mine.yaml").write_text(
        "scenario: mine\nrules:\n  - match: {operation: getTeem}\n"
    )

    result = runner.run("""
@pytest.mark.image_workflow(scenario="mine.yaml")
def test_it(image_workflow): ...
""")

    output = result.stdout.str()
    assert result.parseoutcomes() == {"errors": 1}
    assert re.search(
        r'\nmine\.yaml:3:24: .*did you mean "getTeam"\?'
        r"\n  in @pytest\.mark\.image_workflow of test_it \(test_mine\.py, line \d+\)",
        output,
    )
    # The summary is cut off at the width of a terminal.
    assert "ERROR test_mine.py::test_it - Failed: mine.yaml:" in output


@pytest.mark.parametrize(
    ("marker", "complaint"),
    [
        ('"rate-limited"', "found 'rate-limited'; expected options by name"),
        ('clok="auto"', 'clok: found an unknown option; *did you mean "clock"?'),
        ('conduct="fial"', "conduct: found 'fial'; expected one of off, report, fail"),
    ],
    ids=["an argument by place", "an unknown option", "a wrong value"],
)
def test_a_mistake_in_a_marker_is_told_with_its_place(
    runner: PytestRunner,
    marker: str,
    complaint: str,
) -> None:
    result = runner.run(f"""
@pytest.mark.image_workflow({marker})
def test_it(image_workflow): ...
""")

    assert result.parseoutcomes() == {"errors": 1}
    result.stdout.fnmatch_lines(
        [
            complaint,
            "  in @pytest.mark.image_workflow of test_it (test_mine.py, line *)",
        ],
        consecutive=True,
    )


# Conduct -----------------------------------------------------------------------------

MISBEHAVE = """
def misbehave(image_workflow):
    for _ in range(7):
        ask(image_workflow)
"""


def test_a_test_whose_client_misbehaved_fails_where_that_is_asked_for(
    runner: PytestRunner,
) -> None:
    suite = """
@pytest.mark.image_workflow(clock="manual", scenario="rate-limited", conduct="fail")
def test_it(image_workflow):
    misbehave(image_workflow)
"""

    result = runner.run(MISBEHAVE + suite)

    assert result.parseoutcomes() == {"failed": 1}
    output = result.stdout.str()
    assert "the client under test misbehaved:" in output
    assert "error: retry-before-retry-after: getTeam was sent again" in output


def test_a_test_that_asks_for_conduct_gets_what_would_fail_it(
    runner: PytestRunner,
) -> None:
    suite = """
@pytest.mark.image_workflow(clock="manual", scenario="rate-limited")
def test_it(image_workflow):
    misbehave(image_workflow)

    (finding,) = image_workflow.conduct().findings
    assert finding.rule == "retry-before-retry-after"
    assert image_workflow.conduct().errors == [finding]
"""

    result = runner.run(MISBEHAVE + suite)

    assert result.parseoutcomes() == {"passed": 1}


def test_a_test_whose_client_behaved_passes_where_conduct_fails_tests(
    runner: PytestRunner,
) -> None:
    suite = """
@pytest.mark.image_workflow(conduct="fail")
def test_it(image_workflow):
    misbehave(image_workflow)
"""

    result = runner.run(MISBEHAVE + suite)

    assert result.parseoutcomes() == {"passed": 1}


PASSES = """
@pytest.mark.image_workflow(clock="manual", scenario="rate-limited")
def test_it(image_workflow):
    misbehave(image_workflow)
"""
FAILS = f"{PASSES}    assert not 'its own mistake'\n"
CONDUCT_SECTION = "- image workflow conduct -"


def test_the_ini_option_makes_misconduct_fail_a_test(runner: PytestRunner) -> None:
    result = runner.run(MISBEHAVE + PASSES, "-o", "image_workflow_conduct=fail")

    assert result.parseoutcomes() == {"failed": 1}


def test_misconduct_is_in_the_report_of_a_test_that_failed(
    runner: PytestRunner,
) -> None:
    result = runner.run(MISBEHAVE + FAILS)

    assert CONDUCT_SECTION in result.stdout.str()


def test_the_ini_option_leaves_misconduct_out(runner: PytestRunner) -> None:
    result = runner.run(MISBEHAVE + FAILS, "-o", "image_workflow_conduct=off")

    assert result.parseoutcomes() == {"failed": 1}
    assert CONDUCT_SECTION not in result.stdout.str()
