"""`scenario`: what goes wrong in a sandbox; the library and the check of files, which
need no emulator.
"""

import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import click

from image_workflow_emulator.cli.addresses import of_sandbox, of_team
from image_workflow_emulator.cli.groups import Noun
from image_workflow_emulator.client.control_client import ControlClient
from image_workflow_emulator.client.local_files import (
    EmulatorError,
    UnusableFileError,
    read_file,
)
from image_workflow_emulator.console.options import form, reporting
from image_workflow_emulator.console.report_output import ReportOutput
from image_workflow_emulator.console.tables import show
from image_workflow_emulator.console.values import FILE, Text
from image_workflow_emulator.contract import load_contract
from image_workflow_emulator.documents.complaints import DocumentError
from image_workflow_emulator.documents.document import read_document
from image_workflow_emulator.kernel.wording import count_of
from image_workflow_emulator.report import Report, ReportFinding
from image_workflow_emulator.scenario.named_files import scenario_file
from image_workflow_emulator.settings import SCENARIO, CommandError

if TYPE_CHECKING:
    from image_workflow_emulator.scenario.pauses import PauseWarning
    from image_workflow_emulator.scenario.world import World

_COLUMNS: Final = ("scenario", "rule", "matched", "fired")


@contextmanager
def calling_missing(scenario: str | None) -> Iterator[None]:
    """Call a scenario that the library does not have missing: only in a file, a
    scenario is a mistake.
    """
    try:
        yield
    except EmulatorError as error:
        is_file = scenario_file(scenario or "") is not None
        if error.code != "invalid_scenario" or is_file:
            raise
        raise CommandError(error.detail, code=error.code) from error


@click.group("scenario", cls=Noun, default="status")
def command() -> None:
    """Show, change, list and check what goes wrong."""


@command.command("status")
@of_team
@form("table", "json")
@of_sandbox
def show_status(
    control: ControlClient,
    team: str | None,
    form: str,
) -> None:
    """Show the running scenario (the default)."""
    status = control.call("GET", "scenario", query={"team": team})
    name = status["scenario"] or "none"
    rows: list[tuple[Any, ...]] = [
        (name, rule["name"], rule["matched"], rule["fired"]) for rule in status["rules"]
    ]
    if not rows:
        rows.append((name, None, None, None))
    if team is None:
        for own in status["team_scenarios"]:
            whose = f"(of the Team {own['team']['name']})"
            rows.append((own["scenario"], whose, None, None))
    show(form, status, _COLUMNS, rows)


@command.command("use")
@click.argument("scenario", metavar="NAME|FILE", type=Text(SCENARIO))
@of_team
@of_sandbox
def use(
    control: ControlClient,
    scenario: str,
    team: str | None,
) -> None:
    """Run a scenario of the library, or a YAML file, from now on."""
    with calling_missing(scenario):
        status = control.use_scenario(scenario, team)
    click.echo(f"using {scenario}")
    later = status["takes_effect_at_reset"]
    if later:
        click.echo(f"from the next reset on: its {', '.join(later)}")


@command.command("off")
@of_team
@of_sandbox
def end(control: ControlClient, team: str | None) -> None:
    """End the running scenario."""
    control.call("DELETE", "scenario", query={"team": team})
    click.echo("done")


# Without an emulator ------------------------------------------------------------------


@command.command("list")
@form("table", "json")
def list_library(form: str) -> None:
    """List the scenarios of the library."""
    from image_workflow_emulator.scenario.library import ScenarioLibrary

    entries = ScenarioLibrary(load_contract()).entries
    rows = [
        (entry["name"], " ".join(entry["description"].split())) for entry in entries
    ]
    show(form, {"data": entries}, ("name", "description"), rows)


@command.command("show")
@click.argument("name", type=Text(SCENARIO))
def show_scenario(name: str) -> None:
    """Print a scenario of the library."""
    from image_workflow_emulator.scenario.library import ScenarioLibrary

    click.echo(ScenarioLibrary(load_contract()).text(name), nl=False)


@command.command("check")
@click.argument(
    "files",
    metavar="FILE ...",
    type=FILE,
    nargs=-1,
    required=True,
)
@click.option(
    "--world",
    type=FILE,
    metavar="FILE",
    envvar="EMULATOR_WORLD",
    show_envvar=True,
    help="the world whose Teams and keys they name (default: built in)",
)
@reporting
def check(
    output: ReportOutput,
    files: tuple[str, ...],
    world: str | None,
) -> int:
    """Check scenario files as `serve --scenario` would.

    Also warns of a pause that may never end. The exit status is 2 if a file cannot be
    used.
    """
    findings = _findings(files, world)
    errors = sum(finding.severity == "error" for finding in findings)
    warnings = len(findings) - errors
    outcome = _outcome(errors, warnings)
    report = Report(
        kind="scenario",
        ok=not errors,
        summary=f"{count_of(len(files), 'scenario file')}: {outcome}",
        findings=findings,
        counts={"files": len(files), "errors": errors, "warnings": warnings},
    )
    if errors:
        report.status = 2
    else:
        file = shlex.quote(files[0])
        report.next = [f"image-workflow-emulator exec --scenario {file} -- CMD"]
    return output.conclude(report)


def _outcome(errors: int, warnings: int) -> str:
    """Say how many errors and warnings there are."""
    counted = []
    if errors:
        counted.append(count_of(errors, "error"))
    if warnings:
        counted.append(count_of(warnings, "warning"))
    return ", ".join(counted) or "good"


def _findings(files: Sequence[str], world_file: str | None) -> list[ReportFinding]:
    """Return what is wrong with scenario files, for a world."""
    from image_workflow_emulator.scenario.pauses import pause_warnings
    from image_workflow_emulator.scenario.scenario_reader import parse_scenario
    from image_workflow_emulator.scenario.world import world_names

    contract = load_contract()
    names = world_names(_read_world(world_file))
    findings: list[ReportFinding] = []
    for file in files:
        try:
            scenario = parse_scenario(read_file(file), file, contract, names)
            findings += map(_warning_finding, pause_warnings(scenario))
        except DocumentError as error:
            for complaint in error.complaints:
                place = f"{complaint.file}:{complaint.line}:{complaint.column}"
                findings.append(_finding(place, complaint.words))
        except UnusableFileError as error:
            findings.append(_finding(None, error.detail))
    return findings


def _read_world(file: str | None) -> "World":
    from image_workflow_emulator.scenario.world import built_in_world, world_of

    if file is None:
        return built_in_world()
    return world_of(read_document(read_file(file), file))


def _warning_finding(warning: "PauseWarning") -> ReportFinding:
    return ReportFinding(
        rule="endless-pause",
        severity="warning",
        where=f"{warning.file}:{warning.line}",
        message=warning.message,
        remedy=warning.remedy,
    )


def _finding(where: str | None, message: str) -> ReportFinding:
    return ReportFinding(
        rule="invalid-file",
        severity="error",
        where=where,
        message=message,
    )
