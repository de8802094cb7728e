"""`--format json`: what commands that judge, or refuse, answer programs."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import asking, request_bytes, run_command
from tests.support.served import Outcome, Server

needs_posix = pytest.mark.skipif(sys.platform == "win32", reason="signals and process groups are those of POSIX")
MEMBERS = {"ok", "summary", "findings", "next"}
PARTS = {"rule", "severity", "where", "remedy", "command"}


def answered(outcome: Outcome) -> Any:
    answer = json.loads(outcome.output)
    assert answer.keys() >= MEMBERS
    assert all(finding.keys() >= PARTS for finding in answer["findings"])
    return answer


def run_exec(*words: str, options: tuple[str, ...] = ()) -> Outcome:
    return run_command("exec", "--quiet", "--format", "json", *options, "--", *words)


@needs_posix
def test_standard_output_of_exec_is_one_object_and_that_of_the_command_goes_to_standard_error() -> None:
    outcome = run_exec("sh", "-c", "echo said; exit 3")
    answer = answered(outcome)
    assert (outcome.status, outcome.complaint) == (3, "said\n")
    assert (answer["ok"], answer["data"]["exit"]) == (False, 3)
    assert answer["findings"][0]["rule"] == "no-request"


@needs_posix
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


@needs_posix
def test_the_object_of_exec_is_at_most_4096_bytes_and_says_what_was_left_out() -> None:
    names = ("uploads", "products", "poses", "backgrounds", "fashion-models", "photography-styles")
    outcome = run_exec(*asking(*(("POST", f"/v1/{name}", {}) for name in names)))
    assert len(outcome.output.encode()) <= 4096
    assert answered(outcome)["not_shown"] > 0


@needs_posix
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
