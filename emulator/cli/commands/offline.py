"""The commands that need no emulator: they show what is shipped, check scenario files, and merge coverage."""

import json
import shlex
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from typing import Any

from emulator.cli.arguments import add_arguments, add_parsers
from emulator.cli.errors import writable_files, write_file
from emulator.cli.output import add_format, out, print_bytes, print_json, show
from emulator.cli.verdict import complaint, coverage_verdict, verdict
from emulator.contract import BASE_PATH, DOCUMENT, OperationContract, load_contract
from emulator.documents import shipped_document, shipped_path
from emulator.documents.complaints import DocumentError
from emulator.drift.probes import PROBES
from emulator.examiner.coverage import Coverage, merged, read, rows
from emulator.examiner.coverage_page import coverage_page
from emulator.kernel.wording import count_of, first_of
from emulator.scenario.format import parse_scenario
from emulator.scenario.library import shipped_library
from emulator.scenario.reach import warnings_of
from emulator.scenario.readings_format import described_readings
from emulator.scenario.world import BUILT_IN_WORLD, world_names
from emulator.scenario.world_format import parse_world
from emulator.settings import UsageError
from emulator.testing.errors import UnusableFileError
from emulator.testing.files import read_file

# What is shipped ------------------------------------------------------------------------------------------------------


def operations(parser: ArgumentParser) -> None:
    """List the operations of the API, with what they cost and answer."""
    add_format(parser, "table", "json")
    parser.set_defaults(run=_list_operations)


def _list_operations(options: Namespace, environment: Mapping[str, str]) -> None:
    described = [_describe(operation) for operation in load_contract().operations.values()]
    shown = (
        (one["operation"], f"{one['method']} {one['path']}", one["credits"], _answers(one["answers"]))
        for one in described
    )
    headers = ("OPERATION", "REQUEST", "CREDITS", "ANSWERS")
    show(options, out(environment), {"data": described}, headers, shown)


def _describe(operation: OperationContract) -> dict[str, Any]:
    return {
        "operation": operation.id,
        "method": operation.method,
        "path": BASE_PATH + operation.path,
        "credits": operation.cost,
        "answers": {str(status): sorted(operation.codes.get(status, ())) for status in sorted(operation.statuses)},
    }


def _answers(answers: Mapping[str, list[str]]) -> str:
    return "  ".join(f"{status} {', '.join(codes)}".rstrip() for status, codes in answers.items())


def readings(parser: ArgumentParser) -> None:
    """List the readings of the specification, with what each one finds."""
    add_format(parser, "table", "json")
    parser.set_defaults(run=_list_readings)


def _list_readings(options: Namespace, environment: Mapping[str, str]) -> None:
    told_by = {decision: probe.summary for probe in PROBES for decision in probe.decisions}
    usual = "only traffic that shows it"
    described = [{**one, "told_by": told_by.get(one["decision"], usual)} for one in described_readings()]
    shown = ((f"{one['decision']}={one['id']}", one["gives"], one["client"], one["told_by"]) for one in described)
    headers = ("READING", "GIVES", "FINDS A CLIENT THAT", "TOLD BY")
    show(options, out(environment), {"data": described}, headers, shown)


def contract(parser: ArgumentParser) -> None:
    """Print the machine-readable contract."""
    add_format(parser, "yaml", "json")
    parser.set_defaults(run=_print_contract)


def _print_contract(options: Namespace, _environment: Mapping[str, str]) -> None:
    if options.format == "yaml":
        print_bytes(shipped_path(DOCUMENT).read_bytes())
    else:
        print_json(shipped_document(DOCUMENT))


def schema(parser: ArgumentParser) -> None:
    """Print the JSON Schema of a kind of file, for editors."""
    parser.add_argument("kind", metavar="scenario|world", choices=("scenario", "world"))
    parser.set_defaults(run=_print_schema)


def _print_schema(options: Namespace, _environment: Mapping[str, str]) -> None:
    print_bytes(shipped_path(f"contract/{options.kind}.schema.json").read_bytes())


# Scenarios ------------------------------------------------------------------------------------------------------------


def scenarios(parser: ArgumentParser) -> None:
    """List or print those of the library, or check files."""
    summaries = {
        "list": "name every scenario of the library",
        "show": "print a scenario of the library",
        "check": "check scenario files",
    }
    listing, printing, check = add_parsers(parser, summaries)
    add_format(listing, "table", "json")
    listing.set_defaults(run=_list_scenarios)
    add_arguments(printing, {"name NAME": "which"})
    printing.set_defaults(run=_print_scenario)
    named = "the world whose Teams and keys they name (default: EMULATOR_WORLD, else built in)"
    add_arguments(check, {"files FILE ...": "what to check", "--world FILE": named})
    add_format(check, "text", "json")
    check.set_defaults(run=_check_scenarios)


def _list_scenarios(options: Namespace, environment: Mapping[str, str]) -> None:
    entries = shipped_library(load_contract()).entries()
    shown = ((entry["name"], " ".join(entry["description"].split())) for entry in entries)
    show(options, out(environment), {"data": entries}, ("NAME", "DESCRIPTION"), shown)


def _print_scenario(options: Namespace, _environment: Mapping[str, str]) -> None:
    print_bytes(shipped_library(load_contract()).text(options.name).encode())


def _check_scenarios(options: Namespace, environment: Mapping[str, str]) -> None:
    """Check each file as `serve --scenario` would, and say which are good. Raises UsageError for all the others together."""
    file_of_world = options.world or environment.get("EMULATOR_WORLD")
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


# Coverage -------------------------------------------------------------------------------------------------------------

_MAX_GAPS = 3


def coverage(parser: ArgumentParser) -> None:
    """Merge the coverage of several runs, show it, and hold it to a threshold."""
    arguments = {
        "files FILE ...": "what `exec --coverage FILE` or the pytest plugin wrote",
        "--html FILE": "write the coverage as a page",
    }
    add_arguments(parser, arguments)
    parser.add_argument("--fail-under", metavar="N", type=float, help="exit with 1 below so many percent")
    add_format(parser, "table", "json")
    parser.set_defaults(run=_merge_coverage)


def _merge_coverage(options: Namespace, environment: Mapping[str, str]) -> int:
    files = writable_files(options, "html")
    whole = merged([_read_coverage(name) for name in options.files])
    if "html" in files:
        write_file(files["html"], coverage_page(whole))
    shown = [(name, f"{met}/{of}", first_of(gaps, _MAX_GAPS) or None) for name, met, of, gaps in rows(whole)]
    is_low = options.fail_under is not None and whole["percent"] < options.fail_under
    answer = coverage_verdict(whole, ok=not is_low) | whole if options.format == "json" else whole
    show(options, out(environment), answer, ("OPERATION", "MET", "GAPS"), shown)
    if options.format == "table":
        print(f"\n{whole['percent']:g} % of all points, {whole['percent_of_used']:g} % of the operations used")
        for gap in whole["next_gaps"]:
            (kind, what), *_ = gap["closed_by"].items()
            closing = f"scenario {what}" if kind == "scenario" else f"a {kind}, see --format json"
            print(f"next: {gap['operation']}: {gap['point']} ({closing})")
    return int(is_low)


def _read_coverage(name: str) -> Coverage:
    """Read a file. Raises UsageError for one that cannot be read, or is not a coverage document."""
    try:
        return read(json.loads(read_file(name)))
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{name}: {error}") from None
