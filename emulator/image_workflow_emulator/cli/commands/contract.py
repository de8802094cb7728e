"""`contract`: what is shipped about the API. Needs no emulator."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import click

from image_workflow_emulator.cli.groups import Noun
from image_workflow_emulator.console.options import form
from image_workflow_emulator.console.tables import print_json, show
from image_workflow_emulator.contract import (
    BASE_PATH,
    DOCUMENT,
    OperationContract,
    load_contract,
)
from image_workflow_emulator.documents.shipped import shipped_document, shipped_path


@click.group("contract", cls=Noun, default="show")
def command() -> None:
    """Print what is shipped about the API."""


@command.command("show")
@form("yaml", "json")
def show_contract(form: str) -> None:
    """Print the contract (OpenAPI 3.1; the default)."""
    if form == "yaml":
        click.echo(shipped_path(DOCUMENT).read_text("utf-8"), nl=False)
    else:
        print_json(shipped_document(DOCUMENT))


@command.command("operations")
@form("table", "json")
def list_operations(form: str) -> None:
    """List the operations with prices and problem codes."""
    operations = list(map(_described, load_contract().operations.values()))
    rows = []
    for operation in operations:
        request = f"{operation['method']} {operation['path']}"
        answers = _answers(operation["answers"])
        rows.append((operation["operation"], request, operation["credits"], answers))
    columns = ("operation", "request", "credits", "answers")
    show(form, {"data": operations}, columns, rows)


def _described(operation: OperationContract) -> dict[str, Any]:
    codes = operation.codes
    return {
        "operation": operation.id,
        "method": operation.method,
        "path": BASE_PATH + operation.path,
        "credits": operation.cost,
        "answers": {
            str(status): sorted(codes.get(status, ()))
            for status in sorted(operation.statuses)
        },
    }


def _answers(codes_by_status: Mapping[str, Sequence[str]]) -> str:
    answers = []
    for status, codes in codes_by_status.items():
        answers.append(f"{status} {', '.join(codes)}".rstrip())
    return "  ".join(answers)


@command.command("schema")
@click.argument("kind", type=click.Choice(["scenario", "world", "given"]))
def show_schema(kind: str) -> None:
    """Print the JSON Schema of a kind of file."""
    if kind == "given":
        print_json(_given_schema())
    else:
        file = shipped_path(f"contract/{kind}.schema.json")
        click.echo(file.read_text("utf-8"), nl=False)


def _given_schema() -> dict[str, Any]:
    """Return the schema of the files of `given`, which the contract of the control
    plane has.
    """
    document = shipped_document("contract/control-plane.yaml")
    schemas = document["components"]["schemas"]
    names = ["Given"]
    for name in names:  # which grows by those that each refers to
        for other in re.findall(r"#/components/schemas/(\w+)", str(schemas[name])):
            if other not in names:
                names.append(other)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$ref": "#/components/schemas/Given",
        "components": {"schemas": {name: schemas[name] for name in names}},
    }


@command.command("readings")
@form("table", "json")
def list_readings(form: str) -> None:
    """List the readings of the specification, where it is silent."""
    from image_workflow_emulator.scenario.readings import described_readings

    readings = described_readings()
    rows = []
    for reading in readings:
        name = f"{reading['decision']}={reading['id']}"
        rows.append((name, reading["gives"], reading["client"]))
    show(form, {"data": readings}, ("reading", "gives", "finds a client that"), rows)
