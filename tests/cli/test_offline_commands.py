"""The commands that need no running emulator: what is shipped, and the check of files."""

import json
import sys
from pathlib import Path

import pytest
from jsonschema_rs import Draft202012Validator

from image_workflow_emulator import __version__
from image_workflow_emulator.documents.shipped import shipped_document, shipped_path
from image_workflow_emulator.domain.problems import CATALOGUE
from tests.cli.command import run_command, run_writing_to
from tests.support.contract_check import read_contract
from tests.support.served import ROOT, Outcome, run_program


def test_the_version_is_told() -> None:
    outcome = run_command("--version")

    assert outcome.output == f"image-workflow-emulator {__version__}\n"


def test_the_contract_is_printed_as_it_is_shipped() -> None:
    outcome = run_command("contract")

    assert outcome.output == shipped_path("contract/openapi.yaml").read_text("utf-8")


def test_the_contract_is_printed_as_json() -> None:
    outcome = run_command("contract", "--format", "json")

    assert json.loads(outcome.output) == shipped_document("contract/openapi.yaml")


def test_operations_are_listed_with_their_prices() -> None:
    outcome = run_command("contract", "operations", "--format", "json")

    listed = json.loads(outcome.output)["data"]
    prices = {}
    for path in read_contract("openapi.yaml")["paths"].values():
        for operation in path.values():
            price = operation.get("x-service-credit-cost", "Free")
            prices[operation["operationId"]] = price
    assert {row["operation"]: row["credits"] for row in listed} == prices


def test_an_operation_is_a_row_with_its_request_and_its_answers() -> None:
    outcome = run_command("contract", "operations")

    rows = [line.split() for line in outcome.output.splitlines()]
    (team,) = [row for row in rows if row[0] == "getTeam"]

    assert team[:6] == ["getTeam", "GET", "/v1/team", "Free", "200", "401"]


@pytest.mark.parametrize("kind", ["scenario", "world"])
def test_the_schema_of_a_kind_of_file_is_printed_as_it_is_shipped(kind: str) -> None:
    outcome = run_command("contract", "schema", kind)

    assert outcome.output == (ROOT / f"contract/{kind}.schema.json").read_text("utf-8")


@pytest.mark.parametrize(
    ("document", "is_valid"),
    [
        ({"given": [{"product": {"name": "Linen shirt", "photos": 2}}]}, True),
        ({"given": [{"produkt": {"name": "Linen shirt"}}]}, False),
    ],
)
def test_the_schema_of_given_files_judges_them(
    document: object,
    is_valid: bool,
) -> None:
    outcome = run_command("contract", "schema", "given")

    validator = Draft202012Validator(json.loads(outcome.output))
    assert validator.is_valid(document) == is_valid


def test_the_library_is_listed_with_a_scenario_for_each_problem() -> None:
    outcome = run_command("scenario", "list")

    names = [line.split()[0] for line in outcome.output.splitlines()[1:]]
    files = sorted(path.stem for path in shipped_path("scenarios").glob("*.yaml"))
    problems = [f"problem:{code}" for code in CATALOGUE]

    assert names == [*files, *problems]


def test_a_scenario_of_the_library_is_shown_as_it_is_shipped() -> None:
    outcome = run_command("scenario", "show", "answer-lost")
    file = shipped_path("scenarios") / "answer-lost.yaml"

    assert outcome.output == file.read_text("utf-8")


def test_the_scenario_of_a_problem_is_shown() -> None:
    outcome = run_command("scenario", "show", "problem:not_found")

    assert "problem: not_found" in outcome.output


# The check of scenario files ----------------------------------------------------------


def test_good_scenario_files_pass_their_check(tmp_path: Path) -> None:
    good = tmp_path / "good.yaml"
    good.write_text("scenario: good\n")

    outcome = run_command("scenario", "check", str(good))

    assert outcome.status == 0


def test_each_mistake_in_a_scenario_file_is_a_finding_with_its_place(
    tmp_path: Path,
) -> None:
    bad = tmp_path / "bad.yaml"
    bad.write_text("scenario: bad\nrulez: []\n")

    outcome = run_command("scenario", "check", "--format", "json", str(bad))

    assert outcome.status == 2
    (finding,) = json.loads(outcome.output)["findings"]
    assert finding["where"] == f"{bad}:2:1"
    assert finding["message"].startswith("/rulez: found an unknown")


def test_a_pause_that_nothing_ends_is_a_warning_with_its_place(tmp_path: Path) -> None:
    paused = tmp_path / "paused.yaml"
    timeline = "timeline:\n  - {at: 10s, set: {admission: paused}}\n"
    paused.write_text(f"scenario: paused\n{timeline}")

    outcome = run_command("scenario", "check", "--format", "json", str(paused))

    assert outcome.status == 0
    report = json.loads(outcome.output)
    assert report["summary"] == "1 scenario file: 1 warning"
    (finding,) = report["findings"]
    assert finding["severity"] == "warning"
    assert finding["where"] == f"{paused}:3"


def test_no_scenario_of_the_library_has_a_warning() -> None:
    files = map(str, shipped_path("scenarios").glob("*.yaml"))

    outcome = run_command("scenario", "check", "--format", "json", *files)

    assert json.loads(outcome.output)["findings"] == []


def test_a_scenario_file_that_is_not_there_is_a_finding_without_a_place() -> None:
    outcome = run_command("scenario", "check", "--format", "json", "no/such.yaml")

    assert outcome.status == 2
    (finding,) = json.loads(outcome.output)["findings"]
    assert finding["where"] is None
    assert finding["message"].startswith("cannot read no/such.yaml: no such")


@pytest.fixture
def own_world(tmp_path: Path) -> tuple[str, str]:
    """A world with a Team of its own, and a scenario about that Team."""
    world = tmp_path / "world.yaml"
    key = "{key: ours_full, name: Full, profile: full}"
    world.write_text(f"teams:\n  Ours:\n    credentials: [{key}]\n")
    scenario = tmp_path / "scenario.yaml"
    scenario.write_text(
        "scenario: ours\n"
        "rules:\n  - match: {team: Ours}\n    then: {problem: rate_limited}\n"
    )
    return str(world), str(scenario)


def test_a_scenario_is_checked_against_the_world_of_an_option(
    own_world: tuple[str, str],
) -> None:
    world, scenario = own_world

    assert run_command("scenario", "check", "--world", world, scenario).status == 0


def test_a_scenario_is_checked_against_the_world_of_the_variable(
    own_world: tuple[str, str],
) -> None:
    world, scenario = own_world
    outcome = run_command("scenario", "check", scenario, EMULATOR_WORLD=world)

    assert outcome.status == 0


def test_a_scenario_of_another_world_fails_its_check(
    own_world: tuple[str, str],
) -> None:
    _, scenario = own_world

    assert run_command("scenario", "check", scenario).status == 2


# Streams ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "closed"),
    [
        ("contract", ">&-"),
        ("scenario list", ">&- 2>&-"),
        ("exec -- true", "<&- >&- 2>&-"),
    ],
)
def test_closed_streams_are_no_failure(command: str, closed: str) -> None:
    program = f"{sys.executable} -m image_workflow_emulator"
    outcome = run_program("sh", "-c", f"exec {program} {command} {closed}")

    assert outcome == Outcome(0, "", "")


def test_output_that_cannot_be_written_is_a_message() -> None:
    with Path("/dev/full").open("w") as full:
        status, complaint = run_writing_to(full, "scenario", "list")

    assert status == 1
    reason = "cannot write the output: No space left on device"
    assert complaint == f"image-workflow-emulator: {reason}\n"
