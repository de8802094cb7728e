"""Commands that judge, or refuse: what they answer programs, and what they add up."""

import json
from typing import Any

import pytest

from image_workflow_emulator.cli.observation import Observation
from tests.cli.command import (
    ask,
    asking,
    request_bytes,
    run_command,
    run_exec,
    shell,
)
from tests.support.emulator_client import FULL, OTHER
from tests.support.emulator_under_test import EmulatorUnderTest
from tests.support.served import Outcome, Server

MEMBERS = {"ok", "summary", "findings", "next"}
MEMBERS_OF_FINDING = {"rule", "severity", "where", "remedy", "command"}


def answered(outcome: Outcome) -> Any:
    """The object that a command prints for programs."""
    answer = json.loads(outcome.output)
    assert answer.keys() >= MEMBERS
    for finding in answer["findings"]:
        assert finding.keys() >= MEMBERS_OF_FINDING
    return answer


# exec ---------------------------------------------------------------------------------


def exec_as_json(*words: str, scenario: str | None = None) -> Outcome:
    options = ["--quiet", "--format", "json"]
    if scenario is not None:
        options += ["--scenario", scenario]
    return run_exec(options, words)


@pytest.fixture(scope="module")
def failed() -> Outcome:
    """A command that prints a line, sends no request and fails."""
    return exec_as_json(*shell("echo said; exit 3"))


def test_what_a_command_prints_goes_to_standard_error_beside_json(
    failed: Outcome,
) -> None:
    answer = answered(failed)

    assert failed.complaint == "said\n"
    assert answer["data"]["exit"] == 3


def test_a_command_that_fails_is_not_ok(failed: Outcome) -> None:
    answer = answered(failed)

    assert failed.status == 3
    assert answer["ok"] is False


def test_a_command_without_a_request_is_a_finding(failed: Outcome) -> None:
    (finding,) = answered(failed)["findings"]

    assert finding["rule"] == "no-request"


@pytest.fixture(scope="module")
def refused(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What is answered about a command that asks for the same unknown Product thrice.

    A rule of its scenario is about another operation.
    """
    scenario = tmp_path_factory.mktemp("refused") / "s.yaml"
    scenario.write_text("""\
scenario: s
rules:
  - name: idle
    match: {operation: getPose}
    then: {hold: 1s}
""")
    request = ("GET", "/v1/products/prd_unknown", None)
    command = asking(request, request, request)
    outcome = exec_as_json(*command, scenario=str(scenario))
    return answered(outcome)


def test_refusals_are_counted_with_their_remedy(refused: Any) -> None:
    (refusal,) = refused["data"]["refusals"]

    assert refusal["operation"] == "getProduct"
    assert refusal["code"] == "product_not_found"
    assert refusal["count"] == 3
    assert refusal["remedy"]


def test_misconduct_is_a_finding_and_a_number_by_severity(refused: Any) -> None:
    first, *_ = refused["findings"]

    assert refused["data"]["conduct"] == {"warning": 1}
    assert first["rule"] == "retry-of-the-hopeless"
    assert refused["ok"] is True


def test_the_gaps_of_operations_in_use_are_named(refused: Any) -> None:
    gaps = refused["data"]["coverage"]["unmet"]

    assert "getProduct 200" in gaps


def test_a_rule_that_never_fired_is_named(refused: Any) -> None:
    rules = [finding["rule"] for finding in refused["findings"]]

    assert refused["data"]["rules_never_fired"] == ["s: idle"]
    assert "rule-never-fired" in rules


def test_the_object_of_exec_stays_under_its_limit_and_says_what_is_missing() -> None:
    kinds = (
        "uploads",
        "products",
        "poses",
        "backgrounds",
        "fashion-models",
        "photography-styles",
    )
    requests: list[tuple[str, str, Any]] = [
        ("POST", f"/v1/{kind}", {}) for kind in kinds
    ]
    command = asking(*requests)

    outcome = exec_as_json(*command)

    answer = answered(outcome)
    assert len(outcome.output.encode()) <= 4096
    assert answer["not_shown"] > 0


# Refusals -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("coverage --format json no/such.json", 2),
        ("coverage --format=json --fail-under lots x.json", 2),
        ("drift --format json no/such.har", 2),
        ("requests show --format json --url http://127.0.0.1:1 1", 1),
        ("exec --format json -- no-such-command", 127),
    ],
)
def test_a_refusal_is_an_object_on_standard_output_beside_the_complaint(
    line: str,
    status: int,
) -> None:
    outcome = run_command(*line.split())

    answer = answered(outcome)
    assert outcome.status == status
    assert answer["ok"] is False
    assert answer["summary"] in outcome.complaint


# A running emulator -------------------------------------------------------------------


def test_an_explained_request_says_whether_it_was_refused(server: Server) -> None:
    server.converse(request_bytes("GET /v1/products/prd_unknown", ends=True))
    options = ("--format", "json", "--url", server.url)

    outcome = run_command("requests", "show", "last", *options)

    answer = answered(outcome)
    (finding,) = answer["findings"]
    assert answer["ok"] is False
    assert finding["rule"] == "product_not_found"
    assert finding["remedy"] == answer["explanation"]["remedy"]


def test_conduct_of_a_running_emulator_without_requests_is_clean(
    server: Server,
) -> None:
    outcome = run_command("conduct", "--url", server.url)

    assert outcome.status == 0
    assert outcome.output.startswith("0 requests; conduct: nothing wrong; 0 of ")


def test_conduct_judges_the_requests_of_a_running_emulator(server: Server) -> None:
    ask(server, "/v1/products?api_key=iwe_demo_full")

    outcome = run_command("conduct", "--url", server.url, "--format", "json")

    report = answered(outcome)
    (finding,) = report["findings"]
    assert outcome.status == 1
    assert report["judged"] == {"requests": 1, "left": 0}
    assert report["checked"]["credential-in-request"] == 1
    assert finding["rule"] == "credential-in-request"
    assert finding["requests"] == [1]
    assert finding["source"].startswith("Section 5")


def covered(server: Server, *options: str) -> tuple[int, Any]:
    """The status and the report of `coverage`."""
    outcome = run_command(
        "coverage",
        "--url",
        server.url,
        "--format",
        "json",
        *options,
    )
    return outcome.status, answered(outcome)


def test_coverage_shows_what_clients_of_a_running_emulator_covered(
    server: Server,
) -> None:
    ask(server, "/v1/team")

    status, report = covered(server)

    first_point = report["operations"]["getTeam"]["points"][0]
    assert status == 0
    assert report["judged"]["requests"] == 1
    assert first_point["point"] == "200"
    assert first_point["covered"] == 1


def test_coverage_below_its_threshold_fails(server: Server) -> None:
    status, report = covered(server, "--fail-under", "99")

    assert status == 1
    assert report["ok"] is False


# What is added up ---------------------------------------------------------------------


def finish_some_work(emulator: EmulatorUnderTest, key: str = FULL) -> None:
    """One Generation of two images, to its end."""
    emulator.photograph(key, image_count=2)
    emulator.advance(60)


def observed(emulator: EmulatorUnderTest) -> Observation:
    observation = Observation(
        judges_conduct=True,
        ignored_rules=(),
        keeps_journal=False,
    )
    observation.add(emulator.sandbox)
    return observation


def test_charged_credits_are_those_of_all_teams(emulator: EmulatorUnderTest) -> None:
    finish_some_work(emulator)
    finish_some_work(emulator, OTHER)

    totals = observed(emulator).totals

    assert totals.credits_charged == 4


def test_credits_of_unfinished_work_are_reserved(emulator: EmulatorUnderTest) -> None:
    emulator.photograph(image_count=3)

    totals = observed(emulator).totals

    assert totals.credits_reserved == 3


def test_what_a_state_file_brings_along_did_not_happen_here(
    emulator: EmulatorUnderTest,
) -> None:
    finish_some_work(emulator)
    saved = emulator.ask("GET", "/state").body
    emulator.told("PUT", "/state", content=saved)

    totals = observed(emulator).totals

    assert totals.credits_charged == 0
    assert totals.emulator_time_ms == 0


def test_rules_of_a_shipped_scenario_count_only_when_they_fired(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.use({"use": "problem:rate_limited"})
    emulator.get("/team")

    rules = list(observed(emulator).rules)

    assert rules == [("problem:rate_limited", "first getTeam")]
