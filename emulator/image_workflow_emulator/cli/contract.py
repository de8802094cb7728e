"""`contract`: what is shipped about the API. Needs no emulator."""

import re
from collections.abc import Mapping
from typing import Any

from image_workflow_emulator.cli.invocation import Invocation, print_bytes, print_json
from image_workflow_emulator.contract import BASE_PATH, DOCUMENT, OperationContract, load_contract
from image_workflow_emulator.documents import shipped_document, shipped_path


def contract_operations(call: Invocation) -> None:
    """List the operations of the API, with what they cost and answer."""
    described = [_describe(operation) for operation in load_contract().operations.values()]
    shown = (
        (one["operation"], f"{one['method']} {one['path']}", one["credits"], _answers(one["answers"]))
        for one in described
    )
    call.show({"data": described}, ("operation", "request", "credits", "answers"), shown)


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


def contract_readings(call: Invocation) -> None:
    """List the readings of the specification, with what each one finds."""
    from image_workflow_emulator.scenario.readings_format import described_readings

    described = described_readings()
    shown = ((f"{one['decision']}={one['id']}", one["gives"], one["client"]) for one in described)
    call.show({"data": described}, ("reading", "gives", "finds a client that"), shown)


def contract_show(call: Invocation) -> None:
    """Print the machine-readable contract."""
    if call.options.format == "yaml":
        print_bytes(shipped_path(DOCUMENT).read_bytes())
    else:
        print_json(shipped_document(DOCUMENT))


def contract_schema(call: Invocation) -> None:
    """Print the JSON Schema of a kind of file."""
    if call.options.kind == "given":
        print_json(_given_schema())
    else:
        print_bytes(shipped_path(f"contract/{call.options.kind}.schema.json").read_bytes())


def _given_schema() -> dict[str, Any]:
    """Return the schema of the files of `given`, which the contract of the control plane has."""
    schemas, wanted = shipped_document("contract/control-plane.yaml")["components"]["schemas"], ["Given"]
    for name in wanted:
        wanted += (one for one in re.findall(r"#/components/schemas/(\w+)", str(schemas[name])) if one not in wanted)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$ref": "#/components/schemas/Given",
        "components": {"schemas": {name: schemas[name] for name in wanted}},
    }
