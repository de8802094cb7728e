"""The commands that need no running emulator: what is shipped, and the check of files."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from jsonschema_rs import Draft202012Validator

from image_workflow_emulator import __version__
from image_workflow_emulator.documents.shipped import shipped_document, shipped_path
from image_workflow_emulator.domain.problems import CATALOGUE
from tests.cli.command import run_command, run_writing_to
from tests.support.contract_check import read_contract
from tests.support.served import ROOT, run_program


def test_the_version_is_told() -> None:
    outcome = run_command("--version")

    assert outcome.output == f"image-workflow-emulator {__version__}\n"


def test_the_contract_is_printed_as_it_is_shipped() -> None:
    file = shipped_path("contract/openapi.yaml")

    outcome = run_command("contract")

    assert outcome.output == file.read_text("utf-8")


def test_the_contract_is_printed_as_json() -> None:
    outcome = run_command("contract", "--format", "json")

    document = json.loads(outcome.output)
    assert document == shipped_document("contract/openapi.yaml")


def test_operations_are_listed_with_their_prices() -> None:
    paths = read_contract("openapi.yaml")["paths"]
    prices = {}
    for path in paths.values():
        for operation in path.values():
            price = operation.get("x-service-credit-cost", "Free")
            prices[operation["operationId"]] = price

    outcome = run_command("contract", "operations", "--format", "json")

    rows = json.loads(outcome.output)["data"]
    listed_prices = {row["operation"]: row["credits"] for row in rows}
    assert listed_prices == prices


def test_an_operation_is_a_row_with_its_request_and_its_answers() -> None:
    outcome = run_command("contract", "operations")

    lines = outcome.output.splitlines()
    (line,) = [line for line in lines if line.startswith("getTeam ")]
    words = line.split()
    assert words[:6] == [
        "getTeam",
        "GET",
        "/v1/team",
        "Free",
        "200",
        "401",
    ]


@pytest.mark.parametrize("kind", ["scenario", "world"])
def test_the_schema_of_a_kind_of_file_is_printed_as_it_is_shipped(kind: str) -> None:
    file = ROOT / f"contract/{kind}.schema.json"

    outcome = run_command("contract", "schema", kind)

    assert outcome.output == file.read_text("utf-8")


def test_the_schema_of_given_files_accepts_a_product_and_refuses_a_misspelled_one() -> (
    None
):
    product = {"product": {"name": "Linen shirt", "photos": 2}}
    misspelled = {"produkt": {"name": "Linen shirt"}}

    outcome = run_command("contract", "schema", "given")

    schema = json.loads(outcome.output)
    validator = Draft202012Validator(schema)
    assert validator.is_valid({"given": [product]})
    assert not validator.is_valid({"given": [misspelled]})


def library_files() -> list[Path]:
    """The files of all scenarios that are shipped."""
    folder = shipped_path("scenarios")
    return sorted(folder.glob("*.yaml"))


def test_the_library_is_listed_with_a_scenario_for_each_problem() -> None:
    files = [file.stem for file in library_files()]
    problems = [f"problem:{code}" for code in CATALOGUE]

    outcome = run_command("scenario", "list")

    _, *rows = outcome.output.splitlines()
    listed = [row.split()[0] for row in rows]
    assert listed == [*files, *problems]


def test_a_scenario_of_the_library_is_shown_as_it_is_shipped() -> None:
    file = shipped_path("scenarios") / "answer-lost.yaml"

    outcome = run_command("scenario", "show", "answer-lost")

    assert outcome.output == file.read_text("utf-8")


def test_the_scenario_of_a_problem_is_shown() -> None:
    outcome = run_command("scenario", "show", "problem:not_found")

    assert "problem: not_found" in outcome.output


# The check of scenario files ----------------------------------------------------------


def checked(*files: str) -> tuple[int, Any]:
    """Check scenario files, and return the status and the report."""
    outcome = run_command(
        "scenario",
        "check",
        "--format",
        "json",
        *files,
    )
    return outcome.status, json.loads(outcome.output)


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

    status, report = checked(str(bad))

    (finding,) = report["findings"]
    assert status == 2
    assert finding["where"] == f"{bad}:2:1"
    assert finding["message"].startswith("/rulez: found an unknown")


def test_a_pause_that_nothing_ends_is_a_warning_with_its_place(tmp_path: Path) -> None:
    paused = tmp_path / "paused.yaml"
    paused.write_text("""\
scenario: paused
timeline:
  - at: 10s
    set: {admission: paused}
""")

    status, report = checked(str(paused))

    (finding,) = report["findings"]
    assert status == 0
    assert report["summary"] == "1 scenario file: 1 warning"
    assert finding["severity"] == "warning"
    assert finding["where"] == f"{paused}:3"


def test_no_scenario_of_the_library_has_a_warning() -> None:
    files = [str(file) for file in library_files()]

    _, report = checked(*files)

    assert report["findings"] == []


def test_a_scenario_file_that_is_not_there_is_a_finding_without_a_place() -> None:
    status, report = checked("no/such.yaml")

    (finding,) = report["findings"]
    assert status == 2
    assert finding["where"] is None
    assert finding["message"].startswith("cannot read no/such.yaml: no such")


@pytest.fixture
def own_world(tmp_path: Path) -> tuple[str, str]:
    """A world with a Team of its own, and a scenario about that Team."""
    world = tmp_path / "world.yaml"
    world.write_text("""\
teams:
  Ours:
    credentials:
      - {key: ours_full, name: Full, profile: full}
""")
    scenario = tmp_path / "scenario.yaml"
    scenario.write_text("""\
scenario: ours
rules:
  - match: {team: Ours}
    then: {problem: rate_limited}
""")
    return str(world), str(scenario)


def test_a_scenario_is_checked_against_the_world_of_an_option(
    own_world: tuple[str, str],
) -> None:
    world, scenario = own_world

    outcome = run_command("scenario", "check", "--world", world, scenario)

    assert outcome.status == 0


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

    outcome = run_command("scenario", "check", scenario)

    assert outcome.status == 2


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
    script = f"exec {program} {command} {closed}"

    outcome = run_program("sh", "-c", script)

    assert outcome.status == 0
    assert outcome.output == ""
    assert outcome.complaint == ""


def test_output_that_cannot_be_written_is_a_message() -> None:
    with Path("/dev/full").open("w") as full:
        status, complaint = run_writing_to(full, "scenario", "list")

    reason = "cannot write the output: No space left on device"
    assert status == 1
    assert complaint == f"image-workflow-emulator: {reason}\n"
