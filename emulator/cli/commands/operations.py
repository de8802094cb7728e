"""`operations`: the operations of the API, with what they cost and answer. Needs no running emulator."""

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from typing import Any

from emulator.cli.output import add_format, show
from emulator.contract import BASE_PATH, OperationContract, load_contract


def add_arguments(parser: ArgumentParser) -> None:
    """Take a format."""
    add_format(parser, "table", "json")


def run(options: Namespace, environment: Mapping[str, str]) -> int:
    """Print them."""
    described = [_describe(operation) for operation in load_contract().operations.values()]
    rows = (
        (one["operation"], f"{one['method']} {one['path']}", one["credits"], _answers(one["answers"]))
        for one in described
    )
    show(options, environment, {"data": described}, ("OPERATION", "REQUEST", "CREDITS", "ANSWERS"), rows)
    return 0


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
