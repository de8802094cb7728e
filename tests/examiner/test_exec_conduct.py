"""`exec` tells what its command did wrong, and fails it where that is asked for. Each test runs the real command."""

import json
import re
import sys
from pathlib import Path

from tests.cli.command import reading, run_command
from tests.support.served import Outcome

HAMMERING = ["/v1/team"] * 7
"""Two more than the scenario `rate-limited` lets through, the second at once."""
TWICE = [*HAMMERING, "/v1/products", "/v1/products"]
"""And the same with another operation."""
RULE = "retry-before-retry-after"


def run(*options: str, paths: list[str] = HAMMERING) -> Outcome:
    return run_command("exec", "--scenario", "rate-limited", *options, "--", *reading(*paths))


def test_the_report_tells_the_misdeed_its_source_its_requests_and_the_remedy(tmp_path: Path) -> None:
    outcome = run("--report", str(tmp_path / "report.json"))
    assert 0 == outcome.status
    told = ("conduct: 1 error", f"error: {RULE}: getTeam", "(requests 6, 7, by shop/1.0)", "Section 8:", "remedy: wait")
    shown = " ".join(outcome.complaint.split())
    assert [] == [words for words in told if words not in shown]
    report = json.loads((tmp_path / "report.json").read_text())
    assert (RULE, [6, 7]) == (report["findings"][0]["rule"], report["findings"][0]["requests"])
    assert {"error": 1} == report["data"]["conduct"]
    assert 1 == report["checked"][RULE]


def test_what_two_findings_of_a_rule_have_in_common_is_said_once() -> None:
    told = run(paths=TWICE).complaint
    assert (2, 1, 1) == (told.count(f"error: {RULE}: "), told.count("Section 8:"), told.count("remedy: wait"))


def test_an_error_fails_a_run_where_that_is_asked_for_and_not_ignored() -> None:
    failed = run("--conduct", "fail", "--quiet")
    assert (1, True) == (failed.status, f"error: {RULE}: getTeam" in failed.complaint)
    assert 0 == run("--conduct", "fail", "--ignore", RULE).status
    clean = run("--conduct", "fail", paths=["/v1/team"])
    assert 0 == clean.status
    assert re.search(r"conduct: nothing wrong; \d+ of \d+ rules had an\s+occasion", clean.complaint)


def test_nothing_is_told_where_nobody_wants_to_know(tmp_path: Path) -> None:
    outcome = run("--conduct", "off", "--report", str(tmp_path / "report.json"))
    assert RULE not in outcome.complaint
    assert {} == json.loads((tmp_path / "report.json").read_text())["data"]["conduct"]


def test_rules_that_an_auto_clock_keeps_from_being_checked_are_named() -> None:
    outcome = run("--clock", "auto")
    assert f"not checked {RULE}, poll-before-retry-after, no-backoff: an auto" in " ".join(outcome.complaint.split())


def test_what_a_state_file_brings_with_it_is_not_held_against_this_run(tmp_path: Path) -> None:
    state, report, coverage = (str(tmp_path / name) for name in ("state", "report.json", "coverage.json"))

    def found(*paths: str, begin: tuple[str, str] = ("--state", state)) -> list[str]:
        options = (*begin, "--report", report, "--coverage", coverage)
        run_command("exec", *options, "--", *reading(*paths))
        return [finding["rule"] for finding in json.loads(Path(report).read_text())["findings"]]

    loop = ["/v1/assets/none"] * 3
    assert ["retry-of-the-hopeless"] == found(*loop, begin=("--save-state", state))
    assert [] == found("/v1/team")
    assert 0 == json.loads(Path(report).read_text())["checked"]["retry-of-the-hopeless"]
    operations = json.loads(Path(coverage).read_text())["operations"]
    points = [(name, point) for name, one in operations.items() for point in one["points"]]
    assert {("getTeam", "200")} == {(name, point["point"]) for name, point in points if point["covered"]}
    assert all(point["covered"] == point["met"] for _, point in points)
    assert ["retry-of-the-hopeless"] == found(*loop)


def test_what_was_done_before_a_reset_and_in_a_deleted_sandbox_is_reported(tmp_path: Path) -> None:
    code = """
import os
from image_workflow_emulator.testing import Emulator
from tests.support.served_client import ServedClient

emulator = Emulator.connect(os.environ["EMULATOR_URL"])
for sandbox in (emulator.default, emulator.sandbox(id="gone")):
    with sandbox:
        ServedClient(sandbox.base_url, sandbox.api_key).get(f"/team?api_key={sandbox.api_key}")
        sandbox.reset()
"""
    report = tmp_path / "report.json"
    run_command("exec", "--report", str(report), "--", sys.executable, "-c", code)
    found = json.loads(report.read_text())["findings"]
    assert [("credential-in-request", False), ("credential-in-request", True)] == [
        (finding["rule"], finding["where"].endswith(", in the sandbox gone")) for finding in found
    ]
