"""`contract`, and the scenarios and schemas that are shipped with it. Needs no emulator."""

import re
import shlex
from argparse import Namespace
from collections.abc import Mapping
from typing import Any

from image_workflow_emulator.cli.output import print_json, show
from image_workflow_emulator.client.local_files import UnusableFileError, read_file
from image_workflow_emulator.contract import BASE_PATH, DOCUMENT, load_contract
from image_workflow_emulator.documents.complaints import DocumentError
from image_workflow_emulator.documents.document import read_document
from image_workflow_emulator.documents.shipped import shipped_document, shipped_path
from image_workflow_emulator.kernel.wording import count_of
from image_workflow_emulator.report import Report, ReportFinding
from image_workflow_emulator.scenario.library import ScenarioLibrary
from image_workflow_emulator.scenario.scenario import parse_scenario
from image_workflow_emulator.scenario.world import (
    built_in_world,
    described_readings,
    world_names,
    world_of,
)


def contract_operations(options: Namespace, _environment: Mapping[str, str]) -> None:
    """List the operations of the API, with what they cost and answer."""
    described = [
        {
            "operation": operation.id,
            "method": operation.method,
            "path": BASE_PATH + operation.path,
            "credits": operation.cost,
            "answers": {
                str(status): sorted(operation.codes.get(status, ()))
                for status in sorted(operation.statuses)
            },
        }
        for operation in load_contract().operations.values()
    ]
    rows = (
        (
            one["operation"],
            f"{one['method']} {one['path']}",
            one["credits"],
            _answers(one),
        )
        for one in described
    )
    show(
        options,
        {"data": described},
        ("operation", "request", "credits", "answers"),
        rows,
    )


def _answers(operation: Mapping[str, Any]) -> str:
    return "  ".join(
        f"{status} {', '.join(codes)}".rstrip()
        for status, codes in operation["answers"].items()
    )


def contract_readings(options: Namespace, _environment: Mapping[str, str]) -> None:
    """List the readings of the specification, with what each one finds."""
    described = described_readings()
    rows = (
        (f"{one['decision']}={one['id']}", one["gives"], one["client"])
        for one in described
    )
    show(
        options, {"data": described}, ("reading", "gives", "finds a client that"), rows
    )


def contract_show(options: Namespace, _environment: Mapping[str, str]) -> None:
    """Print the machine-readable contract."""
    if options.format == "yaml":
        print(shipped_path(DOCUMENT).read_text("utf-8"), end="")
    else:
        print_json(shipped_document(DOCUMENT))


def contract_schema(options: Namespace, _environment: Mapping[str, str]) -> None:
    """Print the JSON Schema of a kind of file."""
    if options.kind == "given":
        print_json(_given_schema())
    else:
        print(
            shipped_path(f"contract/{options.kind}.schema.json").read_text("utf-8"),
            end="",
        )


def _given_schema() -> dict[str, Any]:
    """Return the schema of the files of `given`, which the contract of the control plane has."""
    schemas, wanted = (
        shipped_document("contract/control-plane.yaml")["components"]["schemas"],
        ["Given"],
    )
    for name in wanted:
        wanted += (
            one
            for one in re.findall(r"#/components/schemas/(\w+)", str(schemas[name]))
            if one not in wanted
        )
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$ref": "#/components/schemas/Given",
        "components": {"schemas": {name: schemas[name] for name in wanted}},
    }


# Scenarios ------------------------------------------------------------------------------------------------------------


def scenario_list(options: Namespace, _environment: Mapping[str, str]) -> None:
    """Name every scenario of the library."""
    entries = ScenarioLibrary(load_contract()).entries
    rows = (
        (entry["name"], " ".join(entry["description"].split())) for entry in entries
    )
    show(options, {"data": entries}, ("name", "description"), rows)


def scenario_show(options: Namespace, _environment: Mapping[str, str]) -> None:
    """Print a scenario of the library."""
    print(ScenarioLibrary(load_contract()).text(options.name), end="")


def scenario_check(options: Namespace, environment: Mapping[str, str]) -> Report:
    """Check each file as `serve --scenario` would. The status is 2 if one cannot be used."""
    file_of_world = options.world or environment.get("EMULATOR_WORLD")
    world = (
        world_of(read_document(read_file(file_of_world), file_of_world))
        if file_of_world
        else built_in_world()
    )
    known, names = load_contract(), world_names(world)
    errors: list[tuple[str | None, str]] = []
    for file in options.files:
        try:
            parse_scenario(read_file(file), file, known, names)
        except DocumentError as error:
            errors += (
                (f"{one.file}:{one.line}:{one.column}", one.words)
                for one in error.complaints
            )
        except UnusableFileError as error:
            errors.append((None, error.detail))
    found = count_of(len(errors), "error") if errors else "good"
    return Report(
        kind="scenario",
        ok=not errors,
        summary=f"{count_of(len(options.files), 'scenario file')}: {found}",
        findings=[
            ReportFinding(
                rule="invalid-file", severity="error", where=at, message=words
            )
            for at, words in errors
        ],
        counts={"files": len(options.files), "errors": len(errors)},
        next=[]
        if errors
        else [
            f"image-workflow-emulator exec --scenario {shlex.quote(options.files[0])} -- CMD"
        ],
        status=2 if errors else 0,
    )
