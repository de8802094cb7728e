"""Conduct as the control plane and `exec` show it: what is judged, what empties it, and what fails a run."""

import json
import re
import sys
from pathlib import Path

import pytest

from image_workflow_emulator.examiner.conduct import RULES
from tests.cli.command import reading, run_command
from tests.examiner.rule_examples import EXAMPLES, ExampleClient, rules_found
from tests.support.emulator_client import EmulatorUnderTest, Json, MakeEmulator
from tests.support.every_operation import upscale_call
from tests.support.served import Outcome

BROKEN = "retry-before-retry-after"
BREAKS, _ = EXAMPLES[BROKEN]
TIMED = ("retry-before-retry-after", "poll-before-retry-after", "no-backoff")


def conduct(emulator: EmulatorUnderTest, query: str = "") -> Json:
    return dict(emulator.told("GET", f"/conduct{query}"))


def test_a_finding_tells_what_was_done_where_it_is_forbidden_and_what_to_do(
    emulator: EmulatorUnderTest,
) -> None:
    ExampleClient(emulator).play(BREAKS)
    (finding,) = conduct(emulator)["findings"]
    assert {
        "rule",
        "severity",
        "message",
        "source",
        "requests",
        "client",
        "remedy",
    } == finding.keys()
    entry = emulator.told("GET", f"/requests/{finding['requests'][0]}")
    assert {
        "credential": entry["credential"]["id"],
        "user_agent": entry["user_agent"],
    } == finding["client"]
    assert "error" == finding["severity"]
    assert "Retry-After of 10 s of the 429 rate_limited" in finding["message"]
    first, second = finding["requests"]
    assert [429, 202] == [
        emulator.told("GET", f"/requests/{sequence}")["status"]
        for sequence in (first, second)
    ]


NONE_CHECKED = {rule.name: 0 for rule in RULES}
NOTHING = {
    "findings": [],
    "checked": NONE_CHECKED,
    "not_checked": [],
    "judged": {"requests": 0, "left": 0},
}


@pytest.mark.parametrize("ends", ["clear", "reset", "load"])
def test_a_cleared_journal_a_reset_and_a_load_clear_the_verdict(
    emulator: EmulatorUnderTest, ends: str
) -> None:
    ExampleClient(emulator).play(BREAKS)
    assert [BROKEN] == rules_found(emulator)
    if ends == "clear":
        emulator.ask("DELETE", "/requests")
    elif ends == "reset":
        emulator.ask("POST", "/reset")
    else:
        emulator.ask("PUT", "/state", content=emulator.ask("GET", "/state").body)
    assert NOTHING == conduct(emulator)
    assert 0 == emulator.told("GET", "/coverage")["percent"]
    ExampleClient(emulator).play(EXAMPLES["credential-sent-to-bytes"][0])
    assert ["credential-sent-to-bytes"] == rules_found(emulator)


def test_what_left_the_journal_is_not_judged_but_counted(
    make_emulator: MakeEmulator,
) -> None:
    emulator = make_emulator(clock="manual", journal_requests=30)
    ExampleClient(emulator).play(BREAKS)
    assert ([BROKEN], 0) == (rules_found(emulator), conduct(emulator)["judged"]["left"])
    for _ in range(30):
        emulator.get("/products")
    shown, covered = conduct(emulator), emulator.told("GET", "/coverage")
    assert ([], 30) == (shown["findings"], shown["judged"]["requests"])
    assert 0 < shown["judged"]["left"]
    assert shown["judged"] == covered["judged"]
    assert 30 == sum(
        point["covered"]
        for one in covered["operations"].values()
        for point in one["points"]
    )


def test_an_auto_clock_takes_every_wait_so_no_timed_rule_is_checked(
    make_emulator: MakeEmulator,
) -> None:
    emulator = make_emulator(clock="auto")
    for example in (BREAKS, EXAMPLES["poll-before-retry-after"][0]):
        ExampleClient(emulator).play(example)
    shown = conduct(emulator)
    assert [] == [finding for finding in shown["findings"] if finding["rule"] in TIMED]
    assert dict.fromkeys(TIMED, 0) == {name: shown["checked"][name] for name in TIMED}


def test_what_is_left_undone_is_found_ten_minutes_later(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.admitted_upscale()
    emulator.advance(600)
    assert [] == rules_found(emulator, "")
    emulator.advance(10)
    assert ["abandoned-work"] == rules_found(emulator, "")


def test_a_loop_is_one_finding_and_counted_with_each_turn(
    emulator: EmulatorUnderTest,
) -> None:
    work = emulator.admitted_upscale()
    for path in (f"/generations/{work['id']}", "/assets/none"):
        for _ in range(4):
            emulator.get(path)
    shown = conduct(emulator)
    named = {finding["rule"]: len(finding["requests"]) for finding in shown["findings"]}
    assert {"poll-before-retry-after": 4, "retry-of-the-hopeless": 4} == named
    assert [3, 4] == [shown["checked"][rule] for rule in named]


def test_a_request_that_comes_again_late_is_found_no_more(
    emulator: EmulatorUnderTest,
) -> None:
    asset = emulator.assets(1)[0]
    emulator.rule(
        {"operation": "createUpscaleGeneration"},
        {"problem": "service_unavailable"},
        {"nth": 1},
    )
    emulator.send(upscale_call(asset, "k"))
    assert ["gave-up-on-retryable"] == rules_found(emulator)
    emulator.advance(5)
    emulator.send(upscale_call(asset, "k"))
    assert [] == rules_found(emulator, "")


HAMMERING = ["/v1/team"] * 7
"""Two more than the scenario `rate-limited` lets through, the second at once."""
TWICE = [*HAMMERING, "/v1/products", "/v1/products"]
"""And the same with another operation."""


def run(*options: str, paths: list[str] = HAMMERING) -> Outcome:
    return run_command(
        "exec", "--scenario", "rate-limited", *options, "--", *reading(*paths)
    )


def test_the_report_tells_the_misdeed_its_source_its_requests_and_the_remedy(
    tmp_path: Path,
) -> None:
    outcome = run("--report", str(tmp_path / "report.json"))
    assert 0 == outcome.status
    told = (
        "conduct: 1 error",
        f"error: {BROKEN}: getTeam",
        "(requests 6, 7, by shop/1.0)",
        "Section 8:",
        "remedy:",
    )
    shown = " ".join(outcome.complaint.split())
    assert [] == [words for words in told if words not in shown]
    report = json.loads((tmp_path / "report.json").read_text())
    assert (BROKEN, [6, 7]) == (
        report["findings"][0]["rule"],
        report["findings"][0]["requests"],
    )
    assert {"error": 1} == report["data"]["conduct"]
    assert 1 == report["checked"][BROKEN]


def test_what_two_findings_of_a_rule_have_in_common_is_said_once() -> None:
    told = run(paths=TWICE).complaint
    assert (2, 1, 1) == (
        told.count(f"error: {BROKEN}: "),
        told.count("Section 8:"),
        told.count("remedy: wait"),
    )


def test_an_error_fails_a_run_where_that_is_asked_for_and_not_ignored() -> None:
    failed = run("--conduct", "fail", "--quiet")
    assert (1, True) == (failed.status, f"error: {BROKEN}: getTeam" in failed.complaint)
    assert 0 == run("--conduct", "fail", "--ignore", BROKEN).status
    clean = run("--conduct", "fail", paths=["/v1/team"])
    assert 0 == clean.status
    assert re.search(
        r"conduct: nothing wrong; \d+ of \d+ rules had an\s+occasion", clean.complaint
    )


def test_nothing_is_told_where_nobody_wants_to_know(tmp_path: Path) -> None:
    outcome = run("--conduct", "off", "--report", str(tmp_path / "report.json"))
    assert BROKEN not in outcome.complaint
    assert {} == json.loads((tmp_path / "report.json").read_text())["data"]["conduct"]


def test_rules_that_an_auto_clock_keeps_from_being_checked_are_named() -> None:
    outcome = run("--clock", "auto")
    assert (
        f"not checked {BROKEN}, poll-before-retry-after, no-backoff: an auto"
        in " ".join(outcome.complaint.split())
    )


def test_what_a_state_file_brings_with_it_is_not_held_against_this_run(
    tmp_path: Path,
) -> None:
    state, report, coverage = (
        str(tmp_path / name) for name in ("state", "report.json", "coverage.json")
    )

    def found(*paths: str, begin: tuple[str, str] = ("--state", state)) -> list[str]:
        options = (*begin, "--report", report, "--coverage", coverage)
        run_command("exec", *options, "--", *reading(*paths))
        return [
            finding["rule"]
            for finding in json.loads(Path(report).read_text())["findings"]
        ]

    loop = ["/v1/assets/none"] * 3
    assert ["retry-of-the-hopeless"] == found(*loop, begin=("--save-state", state))
    assert [] == found("/v1/team")
    assert 0 == json.loads(Path(report).read_text())["checked"]["retry-of-the-hopeless"]
    operations = json.loads(Path(coverage).read_text())["operations"]
    points = [
        (name, point) for name, one in operations.items() for point in one["points"]
    ]
    assert {("getTeam", "200")} == {
        (name, point["point"]) for name, point in points if point["covered"]
    }
    assert ["retry-of-the-hopeless"] == found(*loop)


def test_what_was_done_before_a_reset_and_in_a_deleted_sandbox_is_reported(
    tmp_path: Path,
) -> None:
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
        (finding["rule"], finding["where"].endswith(", in the sandbox gone"))
        for finding in found
    ]
