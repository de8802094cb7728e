"""The commands about scenario files: those of the library, and any that are to be checked."""

import shlex
from typing import Any

from image_workflow_emulator.cli.invocation import Invocation, print_bytes, print_json
from image_workflow_emulator.cli.verdict import complaint, verdict
from image_workflow_emulator.contract import load_contract
from image_workflow_emulator.documents.complaints import DocumentError
from image_workflow_emulator.kernel.wording import count_of
from image_workflow_emulator.scenario.format import parse_scenario
from image_workflow_emulator.scenario.library import shipped_library
from image_workflow_emulator.scenario.reach import warnings_of
from image_workflow_emulator.scenario.world import BUILT_IN_WORLD, world_names
from image_workflow_emulator.scenario.world_format import parse_world
from image_workflow_emulator.settings import UsageError
from image_workflow_emulator.testing.errors import UnusableFileError
from image_workflow_emulator.testing.options import read_file


def scenarios_list(call: Invocation) -> None:
    """Name every scenario of the library."""
    entries = shipped_library(load_contract()).entries()
    shown = ((entry["name"], " ".join(entry["description"].split())) for entry in entries)
    call.show({"data": entries}, ("NAME", "DESCRIPTION"), shown)


def scenarios_show(call: Invocation) -> None:
    """Print a scenario of the library."""
    print_bytes(shipped_library(load_contract()).text(call.options.name).encode())


def scenarios_check(call: Invocation) -> None:
    """Check each file as `serve --scenario` would, and say which are good. Raises UsageError for all the others together."""
    options = call.options
    file_of_world = options.world or call.environment.get("EMULATOR_WORLD")
    world = parse_world(read_file(file_of_world), file_of_world) if file_of_world else BUILT_IN_WORLD
    known, names, prints_json = load_contract(), world_names(world), options.format == "json"
    mistakes: list[str] = []
    findings: list[dict[str, Any]] = []
    for file in options.files:
        try:
            scenario = parse_scenario(read_file(file), file, known, names)
        except (DocumentError, UnusableFileError) as error:
            mistakes.append(str(error))
        else:
            warnings = list(warnings_of(scenario))
            findings += [complaint("no-effect", "warning", warning) for warning in warnings]
            if not prints_json:
                print("\n".join([*(f"warning: {warning}" for warning in warnings), f"{file}: good"]), flush=True)
    if mistakes:
        raise UsageError("\n".join(mistakes))
    if prints_json:
        summary = f"{count_of(len(options.files), 'scenario file')} checked, {count_of(len(findings), 'warning')}"
        commands = [f"image-workflow-emulator exec --scenario {shlex.quote(options.files[0])} -- CMD"]
        print_json(verdict(summary, findings, ok=True, commands=commands))
