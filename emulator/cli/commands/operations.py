"""`operations`: the operations of the API, with what they cost and answer. Needs no running emulator."""

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from typing import Any

from emulator.cli.output import add_format, out, print_json, print_table
from emulator.contract import BASE_PATH, OperationContract, load_contract
from emulator.domain.pricing import AUTHORING_PRICES, PHOTOSHOOT_CREDITS, generation_price


def add_arguments(parser: ArgumentParser) -> None:
    """Take a format."""
    add_format(parser, "table", "json")


def run(options: Namespace, environment: Mapping[str, str]) -> int:
    """Print them."""
    described = [_describe(operation) for operation in load_contract().operations.values()]
    if options.format == "json":
        print_json({"data": described})
        return 0
    rows = (
        (shown["operation"], f"{shown['method']} {shown['path']}", shown["credits"], _answers(shown["answers"]))
        for shown in described
    )
    print_table(("OPERATION", "REQUEST", "CREDITS", "ANSWERS"), rows, out(environment))
    return 0


def _describe(operation: OperationContract) -> dict[str, Any]:
    return {
        "operation": operation.id,
        "method": operation.method,
        "path": BASE_PATH + operation.path,
        "credits": _credits(operation.id),
        "answers": {str(status): sorted(operation.codes.get(status, ())) for status in sorted(operation.statuses)},
    }


def _answers(answers: Mapping[str, list[str]]) -> str:
    return "  ".join(f"{status} {', '.join(codes)}".rstrip() for status, codes in answers.items())


def _credits(operation: str) -> str:
    """Word what an operation costs once its work is completed."""
    by_size = {
        "createProductPhotographyGeneration": (
            "product_photography",
            "resolution",
            f"{PHOTOSHOOT_CREDITS} a photoshoot, else ",
        ),
        "createEditImagesGeneration": ("edit_images", "resolution", ""),
        "createUpscaleGeneration": ("upscale", "target_resolution", ""),
    }
    if operation in by_size:
        workflow, field, before = by_size[operation]
        shot = {"output_mode": "single_shots", "image_count": 1}
        usual, large = (generation_price(workflow, {**shot, field: size}) for size in ("2k", "4k"))
        return f"{before}{usual} an image, {large} at 4k"
    for kind, price in AUTHORING_PRICES.items():
        name = "".join(word.capitalize() for word in kind.split("_"))
        if operation == f"create{name}":
            return str(price)
        if operation == f"update{name}" and price:
            return f"{price} with new sources"
    return "0"
