"""The pytest plugin. Each test runs pytest in a process of its own, on tests that use it."""

import json
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from image_workflow_emulator.testing import Emulator
from tests.support.served import run_pytest, unused_port

HEAD = """
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


def told(folder: Path, text: str, *arguments: str, **variables: str) -> str:
    """Run pytest on a file of tests and return what it prints."""
    (folder / "test_mine.py").write_text(HEAD + text)
    outcome = run_pytest(
        folder, "-W", "error", "--strict-markers", *arguments, seconds=120, **variables
    )
    return outcome.output + outcome.complaint


def test_each_test_has_a_sandbox_that_begins_as_its_markers_say(tmp_path: Path) -> None:
    text = """
pytestmark = pytest.mark.image_workflow(seed=3, start="2030-01-01T00:00:00.000Z")
WORLD = {"teams": {"Demo": {"credits": 7, "credentials": [{"key": "k", "name": "N", "profile": "full"}]}}}

def test_the_clock_is_automatic(image_workflow):
    assert image_workflow.clock.mode == "auto"
    assert image_workflow.clock.now.year == 2030
    assert image_workflow.requests() == []
    assert ask(image_workflow) == 200

@pytest.mark.image_workflow(clock="manual", scenario="some-outputs-fail")
class TestGroup:
    def test_a_class_has_a_say(self, image_workflow):
        assert image_workflow.clock.mode == "manual"
        assert image_workflow.clock.now.year == 2030
        assert image_workflow.requests() == []
        assert len(image_workflow.rules) == 1

    @pytest.mark.image_workflow(scenario=None, world=WORLD, rate_limits=False)
    def test_what_is_nearer_wins(self, image_workflow, image_workflow_emulator):
        assert image_workflow.rules == []
        assert image_workflow.team("Demo").credits == 7
        assert image_workflow_emulator.default.requests() == []
"""
    assert " 3 passed in " in told(tmp_path, text)


READINGS = """
def test_of_all(image_workflow):
    assert image_workflow.readings == ["D66=silent"]

@pytest.mark.image_workflow(readings={"D26": "always-a-cursor"})
def test_of_one(image_workflow):
    assert image_workflow.readings == ["D26=always-a-cursor"]

@pytest.mark.image_workflow(readings="plain")
def test_of_none(image_workflow):
    assert image_workflow.readings == []
"""
OPTION = "--image-workflow-readings"


@pytest.mark.parametrize(
    ("ini", "arguments", "passed"),
    [
        ("", [], 3),
        ("image_workflow_readings = D66=silent", [], 3),
        ("image_workflow_readings = D42=rough", [OPTION, "D66=silent"], 3),
        ("image_workflow_readings = D66=silent", [OPTION, "plain"], 2),
    ],
)
def test_readings_of_marker_option_ini_and_file_in_order(
    tmp_path: Path, ini: str, arguments: list[str], passed: int
) -> None:
    (tmp_path / "pytest.ini").write_text(f"[pytest]\n{ini}\n")
    found = "D42: rough" if ini else "D66: silent"
    (tmp_path / "image-workflow.readings.yaml").write_text(f"readings: {{{found}}}\n")
    assert f" {passed} passed" in told(tmp_path, READINGS, *arguments)


@pytest.mark.parametrize(
    ("readings", "complaint"),
    [("known.yaml", "known.yaml:2:"), ("lost.yaml", "lost.yaml")],
)
def test_readings_that_cannot_be_used_fail_the_tests(
    tmp_path: Path, readings: str, complaint: str
) -> None:
    (tmp_path / "known.yaml").write_text("readings:\n  D66: silnt\n")
    output = told(tmp_path, READINGS, OPTION, readings)
    assert complaint in output
    assert "passed" not in output


def test_each_worker_of_xdist_has_an_emulator_of_its_own(tmp_path: Path) -> None:
    text = """
def test_it(image_workflow):
    assert ask(image_workflow) == 200
    assert image_workflow.id == "sandbox-1"
"""
    assert "2 passed in " in told(
        tmp_path, text, "-p", "xdist", "-n", "2", "--dist", "each"
    )


@pytest.mark.parametrize("variable", [True, False])
def test_an_emulator_that_runs_already_is_used(
    tmp_path: Path, server: Emulator, variable: bool
) -> None:
    text = f"""
def test_it(image_workflow, image_workflow_emulator):
    assert image_workflow_emulator.url == {server.url!r}
    assert image_workflow.id != "default"
"""
    given = {"EMULATOR_URL": server.url} if variable else {}
    arguments = [] if variable else ["--image-workflow-url", server.url]
    assert " 1 passed in " in told(
        tmp_path, text, *arguments, EMULATOR_CONTROL_TOKEN="open sesame", **given
    )


def test_a_bad_scenario_fails_the_test_with_file_line_and_column(
    tmp_path: Path,
) -> None:
    (tmp_path / "mine.yaml").write_text(
        "scenario: mine\nrules:\n  - match: {operation: getTeem}\n"
    )
    text = """
@pytest.mark.image_workflow(scenario="mine.yaml")
def test_a_file(image_workflow): ...

@pytest.mark.image_workflow("rate-limited")
def test_by_place(image_workflow): ...

@pytest.mark.image_workflow(clok="auto")
def test_an_option(image_workflow): ...

@pytest.mark.image_workflow(conduct="fial")
def test_conduct(image_workflow): ...
"""
    output = told(tmp_path, text)
    place = r"\n  in @pytest\.mark\.image_workflow of test_a_file \(test_mine\.py, line \d+\)"
    assert re.search(rf'\nmine\.yaml:3:24: .*did you mean "getTeam"\?{place}', output)
    assert (
        "ERROR test_mine.py::test_a_file - Failed: mine.yaml:" in output
    )  # cut off at the width of a terminal
    assert "found 'rate-limited'; expected options by name" in output
    place = (
        r"\n  in @pytest\.mark\.image_workflow of test_\w+ \(test_mine\.py, line \d+\)"
    )
    assert re.search(
        rf"\nclok: found an unknown option; .*did you mean \"clock\"\?{place}", output
    )
    assert re.search(
        rf"conduct: found 'fial'; expected one of off, report, fail{place}", output
    )
    assert "4 errors" in output


# The report of tests that failed --------------------------------------------------------------------------------------

FAILING = """
TEAM, ERROR = {"operation": "getTeam"}, {"problem": "internal_error"}
RULE = {"name": "second", "match": TEAM, "when": {"nth": "2"}, "then": ERROR}

@pytest.fixture(scope="module")
def shop(image_workflow_emulator):
    with image_workflow_emulator.sandbox(clock="auto") as sandbox:
        assert ask(sandbox) == 200
        yield sandbox

def test_requests(image_workflow):
    assert ask(image_workflow) == 200
    assert ask(image_workflow, image_workflow.key("iwe_demo_expired")) == 200

def test_passes(image_workflow):
    assert ask(image_workflow) == 200

def test_key_of_another(image_workflow):
    assert ask(image_workflow, "iwe_demo_full") == 402

@pytest.mark.image_workflow(scenario={"scenario": "mine", "rules": [RULE]})
def test_own_rule(image_workflow):
    assert ask(image_workflow) == 500

@pytest.mark.image_workflow(scenario="problem:rate_limited", readings="D66=silent,D26=always-a-cursor")
def test_rule_of_library(image_workflow):
    assert ask(image_workflow, image_workflow.key("iwe_demo_revoked")) == 200

def test_shared_and_passes(shop):
    assert ask(shop, shop.key("iwe_demo_read")) == 200

def test_shared(shop):
    assert ask(shop, shop.key("iwe_demo_expired")) == 200

def test_scenario(image_workflow): image_workflow.use("nope")

def test_team(image_workflow): image_workflow.team("Demo").set(credits="lots")

def test_clock(image_workflow): image_workflow.clock.mode = "warp"

def test_load(image_workflow): image_workflow.load("none.zip")

def test_sandbox(image_workflow_emulator): image_workflow_emulator.sandbox(clock="warp")
"""


@pytest.fixture(scope="module")
def failed(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """The output of pytest for tests that fail, and its file for CI."""
    folder = tmp_path_factory.mktemp("failed")
    return told(folder, FAILING, "--junitxml", "report.xml"), folder / "report.xml"


def test_a_failed_test_shows_its_requests_their_remedies_and_the_refused_line(
    failed: tuple[str, Path],
) -> None:
    first, second, why, remedy = (
        failed[0].partition("- image workflow requests -")[2].splitlines()[1:5]
    )
    assert first.split()[1:3] == ["200", "getTeam"]
    assert second.split()[1:4] == ["401", "getTeam", "credential_expired"]
    assert why.startswith(
        "    credential_expired: the credential 'Expired' expired at "
    )
    assert remedy == "    remedy: use the Team's credential 'Full'"
    assert " 10 failed, 2 passed in " in failed[0]
    assert 1 == failed[0].count(" never fired ")
    assert ["test_mine.py"] * 5 == re.findall(
        r"^(\S+\.py):\d+: (?!Assert)\w*Error$", failed[0], re.MULTILINE
    )
    assert "/emulator/image_workflow_emulator/" not in failed[0]


def test_the_report_names_what_else_may_be_the_reason(failed: tuple[str, Path]) -> None:
    assert (
        " no request came with a key of this sandbox, such as iwe_demo_full_sandbox-"
        in failed[0]
    )
    assert (
        'the rule "second" of the scenario mine never fired (it matched once)\n'
        in failed[0]
    )
    assert "readings: D26=always-a-cursor, D66=silent" in failed[0]


def test_the_requests_to_a_sandbox_of_wider_scope_are_in_the_report_for_ci_too(
    failed: tuple[str, Path],
) -> None:
    section = failed[0].partition("- image workflow requests (shop) -")[2].splitlines()
    assert ["401", "getTeam", "credential_expired"] == section[1].split()[1:4]
    properties = {
        one.get("name"): str(one.get("value"))
        for one in ET.parse(failed[1]).iterfind(".//property")
    }
    assert (
        "credential_expired: the credential 'Expired' expired"
        in properties["image workflow requests (shop)"]
    )


# Conduct and coverage -------------------------------------------------------------------------------------------------

MISBEHAVING = """
def use(image_workflow):
    for _ in range(7):
        ask(image_workflow)
"""


def test_a_test_whose_client_misbehaved_fails_where_that_is_asked_for(
    tmp_path: Path,
) -> None:
    text = """
@pytest.mark.image_workflow(clock="manual", scenario="rate-limited", conduct="fail")
def test_fails(image_workflow):
    use(image_workflow)

@pytest.mark.image_workflow(clock="manual", scenario="rate-limited")
def test_asks(image_workflow):
    use(image_workflow)
    (finding,) = image_workflow.conduct().findings
    assert finding.rule == "retry-before-retry-after"
    assert image_workflow.conduct().errors == [finding]

@pytest.mark.image_workflow(conduct="fail")
def test_is_clean(image_workflow):
    use(image_workflow)
"""
    output = told(tmp_path, MISBEHAVING + text)
    assert "1 failed, 2 passed" in output
    assert "the client under test misbehaved:" in output
    assert "error: retry-before-retry-after: getTeam was sent again" in output


def test_clock_and_scenario_are_those_of_the_ini_file_unless_the_marker_says_otherwise(
    tmp_path: Path,
) -> None:
    ini = "[pytest]\nimage_workflow_clock = manual\nimage_workflow_scenario = rate-limited\n"
    (tmp_path / "pytest.ini").write_text(ini)
    text = """
def test_of_the_ini_file(image_workflow):
    assert (image_workflow.clock.mode, image_workflow.scenario) == ("manual", "rate-limited")

@pytest.mark.image_workflow(clock="auto", scenario="answer-lost")
def test_of_the_marker(image_workflow):
    assert (image_workflow.clock.mode, image_workflow.scenario) == ("auto", "answer-lost")
"""
    assert " 2 passed in " in told(tmp_path, text)


def test_the_ini_option_says_what_follows_from_misdeeds(tmp_path: Path) -> None:
    text = """
@pytest.mark.image_workflow(clock="manual", scenario="rate-limited")
def test_misbehaves(image_workflow):
    use(image_workflow)
    assert "@" not in {end}
"""
    passing, failing = (MISBEHAVING + text.format(end=end) for end in ("''", "'@'"))
    assert "1 failed" in told(tmp_path, passing, "-o", "image_workflow_conduct=fail")
    assert "- image workflow conduct -" in told(tmp_path, failing)
    assert "- image workflow conduct -" not in told(
        tmp_path, failing, "-o", "image_workflow_conduct=off"
    )


def test_the_coverage_of_all_sandboxes_is_written_as_one(tmp_path: Path) -> None:
    text = """
def test_one(image_workflow):
    assert ask(image_workflow) == 200

def test_other(image_workflow):
    assert ask(image_workflow, image_workflow.key("iwe_demo_revoked")) == 401
"""
    workers = ("-p", "xdist", "-n", "2")
    assert "2 passed" in told(
        tmp_path, text, *workers, "--image-workflow-coverage", "coverage.json"
    )
    points = json.loads((tmp_path / "coverage.json").read_text())["operations"][
        "getTeam"
    ]["points"]
    assert {"200": 1, "401 credential_revoked": 1} == {
        point["point"]: point["covered"] for point in points if point["covered"]
    }


def test_an_emulator_that_does_not_answer_is_told_without_a_traceback(
    tmp_path: Path,
) -> None:
    with unused_port() as port:
        url = f"http://127.0.0.1:{port}"
        output = told(tmp_path, "def test_it(image_workflow): ...", EMULATOR_URL=url)
    assert f"\nno emulator answers at {url} (" in output
    assert "\n  (--image-workflow-url or EMULATOR_URL names it)\n" in output
    assert "Traceback" not in output
    assert "control.py" not in output


def test_a_marker_without_the_fixture_is_a_warning(tmp_path: Path) -> None:
    text = """
@pytest.mark.image_workflow(clock="manual")
def test_it(): ...
"""
    complaint = "@pytest.mark.image_workflow has no effect: the test does not take the fixture image_workflow"
    assert complaint in told(tmp_path, text, "-W", "default")
