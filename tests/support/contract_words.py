"""The words of the contract that documents repeat: ids of operations and what they lack, problem codes, kinds of work.

`make contract` writes them where they are repeated, in the contract itself too; a test holds the documents against it.
Knows no more of a document than where its words stand.
"""

import json
import re
import textwrap
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

from image_workflow_emulator.contract import Contract
from image_workflow_emulator.domain.orders import AUTHORING_PRICES, generation_price
from image_workflow_emulator.domain.problems import CATALOGUE
from image_workflow_emulator.domain.resources import (
    OPERATION_TYPES,
    WORKFLOWS,
    operation_id,
)
from image_workflow_emulator.kernel.wording import count_of
from image_workflow_emulator.scenario.faults import FAULTS
from image_workflow_emulator.scenario.scenario import FAILURE_CODES
from tests.support.contract_check import ROOT, read_contract

CONTRACT: Final = ROOT / "contract" / "openapi.yaml"
_SECTIONS: Final = re.compile(r"(?m)^(?=  # ---- (?:Responses|Schemas|Examples) )")
_CONTENT: Final = """\
      content:
        application/problem+json:
          schema: {{$ref: '#/components/schemas/{name}Problem'}}
          examples:
{examples}"""
_PROBLEM: Final = """\
    {name}Code:
      type: string
      description: The codes of this {status} answer.
      enum: [{codes}]
    {name}Problem:
      description: A problem with one of the codes of `{name}Code`.
      allOf:
        - $ref: '#/components/schemas/ProblemDetails'
        - type: object
          required: [code]
          properties:
            code: {{$ref: '#/components/schemas/{name}Code', description: What to decide by.}}
"""
SCENARIO_SCHEMA: Final = ROOT / "contract" / "scenario.schema.json"
WORLD_SCHEMA: Final = ROOT / "contract" / "world.schema.json"
TEAMS_PAGE: Final = ROOT / "docs" / "control.md"
SCENARIO_PAGE: Final = ROOT / "docs" / "scenarios.md"
DECISIONS_PAGE: Final = ROOT / "docs" / "reference" / "decisions.md"
_GENERATED: Final = "\n## The decisions\n"
"""The heading below which the page of decisions is written by `make contract`."""
_STEPS: Final = 5
"""The semicolons in a text from which it is a list of steps."""
_GIVES: Final = {
    "less": "promises less",
    "refuses": "takes less",
    "other": "differs",
    "more": "laxer",
}
_TABLE: Final = r"(?<=\| {} \| {} \|\n\|---\|---\|\n)(?:\|.*\n)+"


def operation_ids(document: dict[str, Any]) -> dict[str, list[str]]:
    ids: dict[str, list[str]] = {tag["name"]: [] for tag in document["tags"]}
    for item in document["paths"].values():
        for operation in item.values():
            ids[operation["tags"][0]].append(operation["operationId"])
    return ids


def scenario_schema(document: dict[str, Any]) -> str:
    schema = json.loads(SCENARIO_SCHEMA.read_text(encoding="utf-8"))
    definitions = schema["$defs"]
    definitions["operation"]["enum"] = [
        name for ids in operation_ids(document).values() for name in ids
    ]
    operations = Contract(document).operations.values()
    definitions["without_body"]["enum"] = [
        operation.id for operation in operations if operation.body is None
    ]
    definitions["without_key"]["enum"] = [
        operation.id for operation in operations if not operation.takes_key
    ]
    definitions["without_query"]["enum"] = [
        operation.id for operation in operations if not operation.query
    ]
    definitions["without_resource"]["enum"] = [
        operation.id for operation in operations if "{" not in operation.path
    ]
    definitions["code"]["enum"] = list(CATALOGUE)
    definitions["work"]["enum"] = [*WORKFLOWS, *OPERATION_TYPES]
    definitions["failure"]["enum"] = [*FAILURE_CODES]
    of_service = [code for code, kind in CATALOGUE.items() if kind.status >= 500]
    waiting = [code for code, kind in CATALOGUE.items() if kind.status in (429, 503)]
    then = definitions["then"]
    words = then["x-words"]
    requests, work = [*FAULTS], [word for word in words if word not in FAULTS]
    then |= _exclusive(
        words, [name for name in then["properties"] if name not in words]
    )
    definitions["then_of_requests"] = _without(
        work, requests, 'requests; for work, match "work"'
    )
    definitions["then_of_work"] = _without(requests, work, "work")
    of_bytes = ["problem", "network"]
    others = [word for word in words if word not in of_bytes]
    definitions["then_of_bytes"] = _without(others, of_bytes, "bytes")
    then["dependentSchemas"]["retry_after"] |= _problem_of(
        waiting, 'the problems that have "retry_after"'
    )
    then["dependentSchemas"]["at"]["then"] = _problem_of(
        of_service, 'the problems that go with "at: after_commit"'
    )
    definitions["then_of_bytes"] |= _problem_of(
        of_service, "the problems of byte surfaces"
    )
    return json.dumps(schema, indent=2) + "\n"


def _exclusive(words: dict[str, list[str]], options: Sequence[str]) -> dict[str, Any]:
    """The schema of an object that has one of some words, and its options alone; a word precedes those below it."""
    any_word = {
        "anyOf": [{"required": [word]} for word in words],
        "x-expected": f"one of {', '.join(words)}",
    }
    schema = {
        "if": {"propertyNames": {"enum": options}},
        "then": any_word,
        "else": _closed([*words, *options]),
    }
    for word in reversed(words):
        schema = {
            "if": {"required": [word]},
            "then": _closed([word, *words[word]]),
            "else": schema,
        }
    return schema


def _closed(names: Sequence[str]) -> dict[str, Any]:
    return {"properties": dict.fromkeys(names, True), "additionalProperties": False}


def _without(
    others: Sequence[str], words: Sequence[str], subject: str
) -> dict[str, Any]:
    expected = f"one of {', '.join(words)}, as this rule is about {subject}"
    return {"propertyNames": {"not": {"enum": others}, "x-expected": expected}}


def _problem_of(codes: Sequence[str], which: str) -> dict[str, Any]:
    return {
        "properties": {
            "problem": {
                "enum": codes,
                "x-expected": f"one of {', '.join(codes)}, {which}",
            }
        }
    }


def world_schema(document: dict[str, Any]) -> str:
    definitions = json.loads(scenario_schema(document))["$defs"]
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:image-workflow-emulator:world",
    }
    schema = {
        **head,
        "title": "World of the image workflow emulator",
        **definitions["world"],
        "$defs": {},
    }
    while (
        missing := set(re.findall(r'"#/\$defs/(\w+)"', json.dumps(schema)))
        - schema["$defs"].keys()
    ):
        schema["$defs"] |= {
            name: definitions[name] for name in definitions if name in missing
        }
    return json.dumps(schema, indent=2) + "\n"


def scenario_page(document: dict[str, Any]) -> str:
    codes: dict[int, list[str]] = {}
    for kind in CATALOGUE.values():
        codes.setdefault(kind.status, []).append(kind.code)
    page = SCENARIO_PAGE.read_text(encoding="utf-8")
    page = _with_table(page, "Resource", "Operation ids", operation_ids(document))
    return _with_table(page, "Status", "Codes", codes)


def _with_table(
    page: str, first: str, second: str, rows: Mapping[Any, Sequence[str]]
) -> str:
    lines = (
        f"| {name} | {', '.join(f'`{word}`' for word in words)} |\n"
        for name, words in rows.items()
    )
    return re.sub(_TABLE.format(first, second), lambda _: "".join(lines), page, count=1)


def costs() -> dict[str, str]:
    """The price of each operation that can cost something, in words, by its id."""
    shots = {"output_mode": "single_shots", "image_count": 1}
    found = {}
    for kind, price in AUTHORING_PRICES.items():
        always, at_times = (
            count_of(price, "Credit"),
            f"0 or {count_of(price, 'Credit')}" if price else "Free",
        )
        found[operation_id("create", kind)] = (
            at_times if kind == "background" or not price else always
        )
        found[operation_id("update", kind)] = at_times
    photoshoot = count_of(
        generation_price("product_photography", {"output_mode": "photoshoot"}), "Credit"
    )
    single, *larger = _by_resolution("product_photography", ("1k", "2k", "4k"), shots)
    pictures = [f"{single.partition(' at')[0]} an image", *larger]
    found["createProductPhotographyGeneration"] = (
        f"{photoshoot} a photoshoot; {', '.join(pictures)}"
    )
    found["createEditImagesGeneration"] = ", ".join(
        _by_resolution("edit_images", ("1k", "2k", "4k"), {})
    )
    found["createUpscaleGeneration"] = ", ".join(
        _by_resolution("upscale", ("2k", "4k"), {})
    )
    return found


def _by_resolution(
    workflow: str, sizes: Sequence[str], intent: Mapping[str, Any]
) -> list[str]:
    prices: dict[int, list[str]] = {}
    for size in sizes:
        price = generation_price(
            workflow, {**intent, "resolution": size, "target_resolution": size}
        )
        prices.setdefault(price, []).append(size)
    return [
        f"{count_of(price, 'Credit')} at {' or '.join(names)}"
        for price, names in prices.items()
    ]


def contract_page(_document: dict[str, Any]) -> str:
    """The contract, with its prices, and with the examples and schemas that follow from its `x-problem-codes`."""
    text = CONTRACT.read_text(encoding="utf-8")
    for name, cost in costs().items():
        text = re.sub(
            rf"(operationId: {name}\n(?:      .*\n)*?      x-service-credit-cost: ).*",
            rf"\g<1>{cost}",
            text,
        )
    for kind, price in AUTHORING_PRICES.items():
        for name in (operation_id("create", kind), operation_id("update", kind)):
            text = re.sub(
                rf"(?m)^      operationId: {name}\n(?:      .*\n)*",
                partial(_with_price, price),
                text,
            )
    before, responses, schemas, after = _SECTIONS.split(text)
    known = "".join(f"        - {code}\n" for code in CATALOGUE)
    listed = r"(?m)(?<=^    ProblemCode:\n)((?:      .*\n)*?      enum:\n)(?:        - .*\n)+"
    schemas = re.sub(listed, rf"\g<1>{known}", schemas)
    blocks = re.split(r"(?m)^(?=    \w+:$)", responses)
    for index, block in enumerate(blocks):
        found = re.search(r"(?<=x-problem-codes: \[).*(?=\])", block)
        name, codes = (
            block.partition(":")[0].strip(),
            found[0].split(", ") if found else [],
        )
        if codes and "schemas/Problem'" not in block:  # which has every code
            examples = "".join(
                f"            {code}: {{$ref: '#/components/examples/{code}'}}\n"
                for code in codes
            )
            head, end = (
                block.partition("      content:\n")[0].rstrip(),
                "\n" * block.endswith("\n\n"),
            )
            blocks[index] = (
                f"{head}\n{_CONTENT.format(name=name, examples=examples)}{end}"
            )
            schemas = _with_codes(schemas, name, codes)
    return "".join((before, *blocks, schemas, after))


def _with_price(price: int, operation: re.Match[str]) -> str:
    head, parameters, rest = operation[0].partition("      x-decision: ")
    return (
        re.sub(r"\b\d+ Credits?\b", count_of(price, "Credit"), head) + parameters + rest
    )


def _with_codes(schemas: str, name: str, codes: Sequence[str]) -> str:
    """The schemas, with that of a problem response: its codes are written anew, or it is added as a whole."""
    if f"    {name}Problem:\n" not in schemas:
        status = CATALOGUE[codes[0]].status
        return (
            schemas.rstrip("\n")
            + "\n"
            + _PROBLEM.format(name=name, status=status, codes=", ".join(codes))
            + "\n"
        )
    listed = rf"(?m)(?<=^    {name}Code:\n)((?:      .*\n)*?      enum: )\[.*\]"
    return re.sub(listed, rf"\g<1>[{', '.join(codes)}]", schemas)


def teams_page(document: dict[str, Any]) -> str:
    prices: dict[str, list[str]] = {}
    for operation in Contract(document).operations.values():
        if operation.cost != "Free":
            prices.setdefault(operation.cost, []).append(operation.id)
    return _with_table(
        TEAMS_PAGE.read_text(encoding="utf-8"), "Price", "Operations", prices
    )


def decisions_page(_document: dict[str, Any]) -> str:
    """The page of decisions and readings: what is written by hand, and an entry for each decision."""
    by_hand = DECISIONS_PAGE.read_text(encoding="utf-8").partition(_GENERATED)[0]
    entries = (
        _decision(entry) for entry in read_contract("decisions.yaml")["decisions"]
    )
    return "\n".join([by_hand + _GENERATED, *entries])


def _decision(entry: Mapping[str, Any]) -> str:
    lines = [f"### {entry['id']}: {entry['title']}", "", _steps(entry["emulator"]), ""]
    lines.append(_wrapped(f"- **Client**: {entry['client']}"))
    for reading in entry.get("readings", ()):
        name = f"`{entry['id']}={reading['id']}` ({_GIVES[reading['gives']]})"
        lines.append(
            _wrapped(f"- {name}: {reading['emulator']} Breaks: {reading['client']}")
        )
    return "\n".join([*lines, ""])


def _steps(text: str) -> str:
    """Write a text on one line, or as a numbered list if it has many steps."""
    head, colon, steps = _line(text).partition(": ")
    if steps.count("; ") < _STEPS:
        return _line(text)
    return "\n".join(
        [
            head + colon.rstrip(),
            "",
            *(f"{at}. {step}" for at, step in enumerate(steps.split("; "), 1)),
        ]
    )


def _line(text: str) -> str:
    return " ".join(text.split())


def _wrapped(text: str) -> str:
    """Write a paragraph or an item of a list in lines of at most 120 characters."""
    indent = "  " if text.startswith("- ") else ""
    return textwrap.fill(
        _line(text),
        120,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


DOCUMENTS: Final = {
    CONTRACT: contract_page,  # whose words the others repeat
    DECISIONS_PAGE: decisions_page,
    SCENARIO_SCHEMA: scenario_schema,
    WORLD_SCHEMA: world_schema,
    SCENARIO_PAGE: scenario_page,
    TEAMS_PAGE: teams_page,
}
"""What repeats words of the contract, and how it should read."""

if __name__ == "__main__":
    for path, written in DOCUMENTS.items():
        read_contract.cache_clear()  # the contract itself may have been written
        path.write_text(written(read_contract("openapi.yaml")), encoding="utf-8")
