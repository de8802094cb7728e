"""Commands that judge, or refuse: what they answer programs, ask a running emulator, and add up."""

import json
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from image_workflow_emulator.cli.execution import Observed
from tests.cli.command import ask, asking, request_bytes, run_command
from tests.support.emulator_client import FULL, OTHER, EmulatorUnderTest
from tests.support.served import Outcome, Server

MEMBERS = {"ok", "summary", "findings", "next"}
PARTS = {"rule", "severity", "where", "remedy", "command"}


def answered(outcome: Outcome) -> Any:
    answer = json.loads(outcome.output)
    assert answer.keys() >= MEMBERS
    assert all(finding.keys() >= PARTS for finding in answer["findings"])
    return answer


def run_exec(*words: str, options: tuple[str, ...] = ()) -> Outcome:
    return run_command("exec", "--quiet", "--format", "json", *options, "--", *words)


def test_standard_output_of_exec_is_one_object_and_that_of_the_command_goes_to_standard_error() -> None:
    outcome = run_exec("sh", "-c", "echo said; exit 3")
    answer = answered(outcome)
    assert (outcome.status, outcome.complaint) == (3, "said\n")
    assert (answer["ok"], answer["data"]["exit"]) == (False, 3)
    assert answer["findings"][0]["rule"] == "no-request"


def test_exec_names_refusals_with_their_remedies_misconduct_gaps_and_rules_that_never_fired(tmp_path: Path) -> None:
    scenario = tmp_path / "s.yaml"
    scenario.write_text("scenario: s\nrules:\n- name: idle\n  match: {operation: getPose}\n  then: {hold: 1s}\n")
    command = asking(*[("GET", "/v1/products/prd_unknown", None)] * 3)
    answer = answered(run_exec(*command, options=("--scenario", str(scenario))))
    data = answer["data"]
    [refused] = data["refusals"]
    assert (refused["operation"], refused["code"], refused["count"]) == ("getProduct", "product_not_found", 3)
    assert refused["remedy"]
    assert data["conduct"] == {"warning": 1}
    assert [finding["rule"] for finding in answer["findings"]] == ["retry-of-the-hopeless", "rule-never-fired"]
    assert "getProduct 200" in data["coverage"]["unmet"]
    assert data["rules_never_fired"] == ["s: idle"]
    assert answer["ok"] is True


def test_the_object_of_exec_is_at_most_4096_bytes_and_says_what_was_left_out() -> None:
    names = ("uploads", "products", "poses", "backgrounds", "fashion-models", "photography-styles")
    outcome = run_exec(*asking(*(("POST", f"/v1/{name}", {}) for name in names)))
    assert len(outcome.output.encode()) <= 4096
    assert answered(outcome)["not_shown"] > 0


def test_a_command_that_cannot_be_started_is_refused_in_json_too() -> None:
    outcome = run_exec("no-such-command")
    assert (outcome.status, answered(outcome)["ok"]) == (127, False)


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (("coverage", "--format", "json", "no/such.json"), 2),
        (("coverage", "--format=json", "--fail-under", "lots", "x.json"), 2),
        (("drift", "--format", "json", "no/such.har"), 2),
        (("requests", "show", "last", "--format", "json", "--url", "http://127.0.0.1:1"), 1),
    ],
)
def test_a_refusal_is_an_object_on_standard_output_beside_the_complaint(words: tuple[str, ...], status: int) -> None:
    outcome = run_command(*words)
    answer = answered(outcome)
    assert (outcome.status, answer["ok"]) == (status, False)
    assert answer["summary"] in outcome.complaint


def test_an_explained_request_says_whether_it_was_refused_and_what_helps(server: Server) -> None:
    server.converse(request_bytes("GET /v1/products/prd_unknown", ends=True))
    answer = answered(run_command("requests", "show", "last", "--format", "json", "--url", server.url))
    assert answer["ok"] is False
    assert answer["findings"][0]["rule"] == answer["code"] == "product_not_found"
    assert answer["findings"][0]["remedy"] == answer["explanation"]["remedy"]


def test_conduct_asks_the_running_emulator(server: Server) -> None:
    clean = run_command("conduct", "--url", server.url)
    assert (0, True) == (clean.status, clean.output.startswith("0 requests; conduct: nothing wrong; 0 of "))
    ask(server, "/v1/products?api_key=iwe_demo_full")
    judged = run_command("conduct", "--url", server.url, "--format", "json")
    report = json.loads(judged.output)
    assert (1, False, {"requests": 1, "left": 0}) == (judged.status, report["ok"], report["judged"])
    (finding,) = report["findings"]
    assert ("credential-in-request", "error", [1]) == tuple(finding[name] for name in ("rule", "severity", "requests"))
    assert finding["source"].startswith("Section 5")
    assert 1 == report["checked"]["credential-in-request"]


def test_coverage_asks_the_running_emulator(server: Server) -> None:
    def covered(*options: str) -> Sequence[object]:
        outcome = run_command("coverage", "--url", server.url, "--format", "json", *options)
        report = json.loads(outcome.output)
        return outcome.status, report["ok"], report["judged"]["requests"], report["operations"]["getTeam"]["points"][:1]

    ask(server, "/v1/team")
    assert (0, True, 1) == tuple(covered()[:3])
    point = {"point": "200", "covered": 1, "met": 1, "closed_by": {"call": True}}
    assert [1, False, 1, [point]] == list(covered("--fail-under", "99"))


def finish_some_work(emulator: EmulatorUnderTest, key: str = FULL) -> None:
    """One Generation of two images, to its end."""
    emulator.photograph(key, image_count=2)
    emulator.advance(60)


def observed(emulator: EmulatorUnderTest) -> Observed:
    seen = Observed(Namespace(conduct="report", ignore=[], journal=None))
    seen.judge(emulator.sandbox)
    return seen


def test_credits_are_those_of_all_teams(emulator: EmulatorUnderTest) -> None:
    finish_some_work(emulator)
    finish_some_work(emulator, OTHER)
    emulator.photograph(image_count=3)  # which is not finished
    seen = observed(emulator)
    assert (4, 3) == (seen.counts["credits_charged"], seen.counts["credits_reserved"])


def test_what_a_state_file_brings_along_did_not_happen_here(emulator: EmulatorUnderTest) -> None:
    finish_some_work(emulator)
    emulator.told("PUT", "/state", content=emulator.ask("GET", "/state").body)
    seen = observed(emulator)
    assert (0, 0) == (seen.counts["credits_charged"], seen.counts["emulator_time_ms"])


def test_rules_of_a_shipped_scenario_count_only_when_they_fired(emulator: EmulatorUnderTest) -> None:
    emulator.use({"use": "problem:rate_limited"})
    emulator.get("/team")
    assert [("problem:rate_limited", "first getTeam")] == list(observed(emulator).rules)
