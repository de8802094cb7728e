"""`scenario`: the one that runs, those of the library, and files that are to be checked."""

import shlex
from argparse import Namespace
from collections.abc import Mapping
from typing import Any

from image_workflow_emulator.cli.invocation import BOLD, Invocation, print_bytes, print_json, print_table
from image_workflow_emulator.cli.remote import naming_scenario
from image_workflow_emulator.contract import load_contract
from image_workflow_emulator.documents.complaints import DocumentError
from image_workflow_emulator.kernel.printable import printable
from image_workflow_emulator.kernel.wording import count_of
from image_workflow_emulator.report import Report, ReportFinding
from image_workflow_emulator.scenario.format import parse_scenario
from image_workflow_emulator.scenario.library import shipped_library
from image_workflow_emulator.scenario.world import built_in_world, parse_world, world_names
from image_workflow_emulator.testing.errors import UnusableFileError
from image_workflow_emulator.testing.options import read_file

# The running scenario ---------------------------------------------------------------------------------------------------------


def scenario_use(call: Invocation) -> None:
    """Run a scenario from now on."""
    scenario, team = call.options.scenario, call.options.team
    with naming_scenario(scenario):
        shown = call.control.use_scenario(scenario, team)
    print(f"using {scenario}{_for(team)}")
    if shown["takes_effect_at_reset"]:
        print(f"from the next reset on: its {', '.join(shown['takes_effect_at_reset'])}")


def scenario_off(call: Invocation) -> None:
    """End the running scenario."""
    team = call.options.team
    call.control.call("DELETE", "scenario", query={"team": team})
    print(f"off{_for(team)}")
    if team is None:
        _print_those_of_teams(call.control.call("GET", "scenario"))


def scenario_status(call: Invocation) -> None:
    """Show the running scenario."""
    team, style = call.options.team, call.style
    shown = call.control.call("GET", "scenario", query={"team": team})
    if call.options.format == "json":
        print_json(shown)
        return
    if shown["scenario"] is None:
        print(f"none{_for(team)}")
    else:
        print(style(printable(shown["scenario"]), BOLD), f"since {shown['began_at']}{_for(team)}")
        print(printable(" ".join((shown["description"] or "").split())))
        if shown["rules"]:
            rules = ((rule["name"], rule["matched"], rule["fired"]) for rule in shown["rules"])
            print_table(("rule", "matched", "fired"), rules, style)
        if shown["timeline"]:
            changes = ((_when(entry), _words(entry["set"]), entry["done_at"]) for entry in shown["timeline"])
            print_table(("at", "sets", "done_at"), changes, style)
    if team is None:
        _print_those_of_teams(shown)


def _for(team: str | None) -> str:
    return "" if team is None else printable(f" for the Team {team}")


def _print_those_of_teams(shown: Mapping[str, Any]) -> None:
    for own in shown["team_scenarios"]:
        print(printable(f"the Team {own['team']['name']} has one of its own: {own['scenario']}"))


def _when(entry: Mapping[str, Any]) -> str:
    """Say when a change is made: at a time, or after a request."""
    if "after" not in entry:
        return str(entry["at"])
    return f"after {_words({**entry['after']['match'], 'nth': entry['after']['nth']})}"


def _words(facts: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {' or '.join(v) if isinstance(v, list) else v}" for name, v in facts.items())


# Files -----------------------------------------------------------------------------------------------------------------


def scenario_list(call: Invocation) -> None:
    """Name every scenario of the library."""
    entries = shipped_library(load_contract()).entries()
    shown = ((entry["name"], " ".join(entry["description"].split())) for entry in entries)
    call.show({"data": entries}, ("name", "description"), shown)


def scenario_show(call: Invocation) -> None:
    """Print a scenario of the library."""
    print_bytes(shipped_library(load_contract()).text(call.options.name).encode())


def scenario_check(options: Namespace, environment: Mapping[str, str]) -> Report:
    """Check each file as `serve --scenario` would. The status is 2 if one cannot be used."""
    file_of_world = options.world or environment.get("EMULATOR_WORLD")
    world = parse_world(read_file(file_of_world), file_of_world) if file_of_world else built_in_world()
    known, names = load_contract(), world_names(world)
    errors: list[ReportFinding] = []
    for file in options.files:
        try:
            parse_scenario(read_file(file), file, known, names)
        except DocumentError as error:
            errors += (_finding(f"{one.file}:{one.line}:{one.column}", one.words) for one in error.complaints)
        except UnusableFileError as error:
            errors.append(_finding(None, error.detail))
    found = count_of(len(errors), "error") if errors else "good"
    run = f"image-workflow-emulator exec --scenario {shlex.quote(options.files[0])} -- CMD"
    return Report(
        kind="scenario",
        ok=not errors,
        summary=f"{count_of(len(options.files), 'scenario file')}: {found}",
        findings=errors,
        counts={"files": len(options.files), "errors": len(errors)},
        next=[] if errors else [run],
        status=2 if errors else 0,
    )


def _finding(where: str | None, message: str) -> ReportFinding:
    return ReportFinding(rule="invalid-file", severity="error", where=where, message=message)
