"""The commands that need no running emulator: `contract` and `scenarios`. They look at what is shipped, and at files."""

import sys
from argparse import Namespace
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from emulator.cli.errors import unreadable
from emulator.documents import shipped_document, shipped_path
from emulator.documents.complaints import Complaint, DocumentError

if TYPE_CHECKING:
    from emulator.scenario.library import ScenarioLibrary


def run(options: Namespace, environment: Mapping[str, str]) -> int:
    """Run the command and return its exit status. Raises UsageError and DocumentError."""
    if options.command == "contract":
        _print_contract(options.format)
    elif options.action == "list":
        _list_scenarios()
    elif options.action == "show":
        _write(_library().text(options.name).encode())
    else:
        _check_scenarios(options.files, options.world or environment.get("EMULATOR_WORLD"))
    return 0


def _print_contract(form: str) -> None:
    if form == "yaml":
        _write(shipped_path("contract/openapi.yaml").read_bytes())
    else:
        import orjson

        document = shipped_document("contract/openapi.yaml")
        _write(orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))


def _list_scenarios() -> None:
    entries = _library().entries()
    width = max((len(entry.name) for entry in entries), default=0)
    for entry in entries:
        print(f"{entry.name:{width}}  {' '.join(entry.description.split())}".rstrip())


def _check_scenarios(files: Iterable[str], world_file: str | None) -> None:
    """Check each file as `serve --scenario` would, and say which are good. Raises DocumentError for all the others together."""
    from emulator.scenario.format import parse_scenario
    from emulator.scenario.world import BUILT_IN_WORLD, world_names
    from emulator.scenario.world_format import parse_world

    operations = _operation_facts()
    world = BUILT_IN_WORLD if world_file is None else parse_world(_read(world_file), world_file)
    complaints: list[Complaint] = []
    for file in files:
        try:
            parse_scenario(_read(file), file, operations, world_names(world))
        except DocumentError as error:
            complaints.extend(error.complaints)
        else:
            print(f"{file}: good", flush=True)
    if complaints:
        raise DocumentError(complaints)


def _library() -> "ScenarioLibrary":
    from emulator.scenario.library import ScenarioLibrary

    return ScenarioLibrary(shipped_path("scenarios"), _operation_facts())


def _operation_facts() -> dict[str, frozenset[str]]:
    from emulator.contract import load_contract

    return load_contract().facts()


def _read(file: str) -> bytes:
    try:
        return Path(file).read_bytes()
    except OSError as error:
        raise unreadable(error) from error


def _write(content: bytes) -> None:
    sys.stdout.flush()
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()
