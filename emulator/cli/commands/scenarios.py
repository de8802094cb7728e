"""`scenarios`: the library of scenarios that is shipped, and a check of files. Needs no running emulator."""

import shlex
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from emulator.cli.arguments import add_verbs
from emulator.cli.output import add_format, print_bytes, print_json
from emulator.cli.verdict import complaint, verdict
from emulator.documents.complaints import DocumentError
from emulator.kernel.wording import count_of
from emulator.settings import UsageError
from emulator.testing.errors import UnusableFileError
from emulator.testing.files import read_file

if TYPE_CHECKING:
    from emulator.scenario.library import ScenarioLibrary


def add_arguments(parser: ArgumentParser) -> None:
    """Take a verb, and names or files."""
    listing, show, check = add_verbs(
        parser,
        list="name every scenario of the library",
        show="print a scenario of the library",
        check="check scenario files",
    )
    add_format(listing, "table", "json")
    show.add_argument("name", metavar="NAME")
    check.add_argument("files", metavar="FILE", nargs="+")
    add_format(check, "text", "json")
    named = "the world whose Teams and keys they name (default: EMULATOR_WORLD, else built in)"
    check.add_argument("--world", metavar="FILE", help=named)


def run(options: Namespace, environment: Mapping[str, str]) -> int:
    """Run the command and return its exit status. Raises UsageError and DocumentError."""
    if options.action == "list":
        _list_scenarios(options.format)
    elif options.action == "show":
        print_bytes(_library().text(options.name).encode())
    else:
        world = options.world or environment.get("EMULATOR_WORLD")
        _check_scenarios(options.files, world, prints_json=options.format == "json")
    return 0


def _list_scenarios(form: str) -> None:
    entries = _library().entries()
    if form == "json":
        print_json({"data": entries})
        return
    width = max((len(entry["name"]) for entry in entries), default=0)
    for entry in entries:
        print(f"{entry['name']:{width}}  {' '.join(entry['description'].split())}".rstrip())


def _check_scenarios(files: Sequence[str], world_file: str | None, *, prints_json: bool) -> None:
    """Check each file as `serve --scenario` would, and say which are good. Raises UsageError for all the others together."""
    from emulator.contract import load_contract
    from emulator.scenario.format import parse_scenario
    from emulator.scenario.reach import warnings_of
    from emulator.scenario.world import BUILT_IN_WORLD, world_names
    from emulator.scenario.world_format import parse_world

    contract = load_contract()
    world = BUILT_IN_WORLD if world_file is None else parse_world(read_file(world_file), world_file)
    mistakes: list[str] = []
    findings: list[dict[str, Any]] = []
    for file in files:
        try:
            scenario = parse_scenario(read_file(file), file, contract, world_names(world))
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
        summary = f"{count_of(len(files), 'scenario file')} checked, {count_of(len(findings), 'warning')}"
        commands = [f"image-workflow-emulator exec --scenario {shlex.quote(files[0])} -- CMD"]
        print_json(verdict(summary, findings, ok=True, commands=commands))


def _library() -> "ScenarioLibrary":
    from emulator.contract import load_contract
    from emulator.scenario.library import shipped_library

    return shipped_library(load_contract())
