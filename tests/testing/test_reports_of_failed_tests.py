"""What the pytest plugin adds to the report of a test that failed.

All tests read the output of one run of pytest in a process of its own, which starts its
own emulator.
"""

import re
from dataclasses import dataclass
from xml.etree import ElementTree as ET

import pytest

from tests.support.served import run_pytest
from tests.testing.conftest import SUITE_HEAD

FAILING = """
TEAM = {"operation": "getTeam"}
ERROR = {"problem": "internal_error"}
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

@pytest.mark.image_workflow(
    scenario="problem:rate_limited", readings="D66=silent,D26=always-a-cursor"
)
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


@dataclass
class Run:
    output: str
    report: ET.Element
    """The file for CI."""

    def section(self, title: str) -> list[str]:
        """Return the lines below the title of a section."""
        return self.output.partition(f"- {title} -")[2].splitlines()[1:]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("failed")
    (folder / "test_mine.py").write_text(SUITE_HEAD + FAILING)
    options = ("-W", "error", "--strict-markers", "--junitxml", "report.xml")
    outcome = run_pytest(folder, *options, seconds=120)
    report = ET.parse(folder / "report.xml").getroot()
    return Run(outcome.output, report)


def test_each_test_that_fails_is_told(run: Run) -> None:
    assert " 10 failed, 2 passed in " in run.output


def test_a_failed_test_shows_its_requests_with_their_remedies(run: Run) -> None:
    answered, refused, why, remedy = run.section("image workflow requests")[:4]

    assert answered.split()[1:3] == ["200", "getTeam"]
    assert refused.split()[1:4] == ["401", "getTeam", "credential_expired"]
    assert why.startswith("    credential_expired: the credential 'Expired' expired at")
    assert remedy == "    remedy: use the Team's credential 'Full'"


def test_what_the_emulator_refuses_is_told_at_the_line_of_the_test(run: Run) -> None:
    error_lines = r"^(\S+\.py):\d+: (?!Assert)\w*Error$"

    files = re.findall(error_lines, run.output, re.MULTILINE)

    assert files == ["test_mine.py"] * 5
    assert "/emulator/image_workflow_emulator/" not in run.output


def test_a_test_that_used_the_key_of_another_sandbox_is_told_its_own(run: Run) -> None:
    reason = (
        "no request came with a key of this sandbox, such as iwe_demo_full_sandbox-"
    )

    assert f" {reason}" in run.output


def test_a_rule_of_the_test_that_never_fired_is_named(run: Run) -> None:
    reason = 'the rule "second" of the scenario mine never fired (it matched once)'

    assert f"{reason}\n" in run.output
    assert run.output.count(" never fired ") == 1


def test_readings_are_named(run: Run) -> None:
    assert "readings: D26=always-a-cursor, D66=silent" in run.output


def test_the_requests_to_a_sandbox_of_wider_scope_are_those_of_the_test(
    run: Run,
) -> None:
    refused = run.section("image workflow requests (shop)")[0]

    assert refused.split()[1:4] == ["401", "getTeam", "credential_expired"]


def test_the_requests_to_a_sandbox_of_wider_scope_are_in_the_report_for_ci(
    run: Run,
) -> None:
    title = "image workflow requests (shop)"

    (requests,) = run.report.iterfind(f".//property[@name='{title}']")

    reason = "credential_expired: the credential 'Expired' expired"
    assert reason in str(requests.get("value"))
