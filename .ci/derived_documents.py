"""What repeats a fact of the contract or of the code: `make contract` writes it.

In contract/openapi.yaml: prices, and the schemas and examples of problem codes. In other
documents: ids of operations, problem codes, kinds of work, decisions. A test holds all of
them against the code.
"""

import itertools
import json
import re
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from image_workflow_emulator.contract import Contract
from image_workflow_emulator.domain.orders import AUTHORING_PRICES, generation_price
from image_workflow_emulator.domain.problems import CATALOGUE, ProblemKind
from image_workflow_emulator.domain.resources import (
    OPERATION_TYPES,
    WORKFLOWS,
    operation_id,
)
from image_workflow_emulator.kernel.wording import count_of
from image_workflow_emulator.scenario.fault_words import FAULTS
from image_workflow_emulator.scenario.outcomes import FAILURE_CODES
from image_workflow_emulator.scenario.rule_reader import THEN_OPTIONS
from tests.support.contract_check import ROOT, read_contract

CONTRACT: Final = ROOT / "contract" / "openapi.yaml"
SCENARIO_SCHEMA: Final = ROOT / "contract" / "scenario.schema.json"
WORLD_SCHEMA: Final = ROOT / "contract" / "world.schema.json"
TEAMS_PAGE: Final = ROOT / "docs" / "control.md"
SCENARIO_PAGE: Final = ROOT / "docs" / "scenarios.md"
DECISIONS_PAGE: Final = ROOT / "docs" / "reference" / "decisions.md"
CODES_PAGE: Final = ROOT / "docs" / "reference" / "problem-codes.md"
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
    """Return the ids of the operations by the resource that they are about."""
    ids: dict[str, list[str]] = {tag["name"]: [] for tag in document["tags"]}
    for item in document["paths"].values():
        for operation in item.values():
            ids[operation["tags"][0]].append(operation["operationId"])
    return ids


def scenario_schema(document: dict[str, Any]) -> str:
    """Return the schema of scenario files, with the words of the contract."""
    schema = json.loads(SCENARIO_SCHEMA.read_text(encoding="utf-8"))
    definitions = schema["$defs"]
    ids_by_method = operation_ids(document).values()
    definitions["operation"]["enum"] = [*itertools.chain.from_iterable(ids_by_method)]
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
    requests = [*FAULTS]
    work = [word for word in THEN_OPTIONS if word not in FAULTS]
    definitions["then_of_requests"] = _without(
        work,
        requests,
        'requests; for work, match "work"',
    )
    definitions["then_of_work"] = _without(requests, work, "work")
    definitions["then_of_both"] = {
        "maxProperties": 0,
        "x-expected": "words of one kind: "
        f"for requests ({', '.join(requests)}) or for work ({', '.join(work)})",
    }
    of_bytes = ["problem", "network"]
    others = [word for word in THEN_OPTIONS if word not in of_bytes]
    definitions["then_of_bytes"] = _without(others, of_bytes, "bytes")
    then["dependentSchemas"]["retry_after"] |= _problem_of(
        waiting,
        'the problems that have "retry_after"',
    )
    then["dependentSchemas"]["at"]["then"] = _problem_of(
        of_service,
        'the problems that go with "at: after_commit"',
    )
    definitions["then_of_bytes"] |= _problem_of(
        of_service,
        "the problems of byte surfaces",
    )
    return json.dumps(schema, indent=2) + "\n"


def _without(
    others: Sequence[str],
    words: Sequence[str],
    subject: str,
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
    """Return the schema of world files, which is a part of that of scenarios."""
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
    """Return the page on scenarios with its tables of operations and codes."""
    codes: dict[int, list[str]] = {}
    for kind in CATALOGUE.values():
        codes.setdefault(kind.status, []).append(kind.code)
    page = SCENARIO_PAGE.read_text(encoding="utf-8")
    page = _with_table(page, "Resource", "Operation ids", operation_ids(document))
    return _with_table(page, "Status", "Codes", codes)


def _with_table(
    page: str,
    first: str,
    second: str,
    rows: Mapping[Any, Sequence[str]],
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
        always = count_of(price, "Credit") if price else "Free"
        at_times = f"0 or {always}" if price else "Free"
        is_background = kind == "background"
        found[operation_id("create", kind)] = at_times if is_background else always
        found[operation_id("update", kind)] = at_times
    photoshoot = count_of(
        generation_price("product_photography", {"output_mode": "photoshoot"}),
        "Credit",
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
    workflow: str,
    sizes: Sequence[str],
    intent: Mapping[str, Any],
) -> list[str]:
    prices: dict[int, list[str]] = {}
    for size in sizes:
        price = generation_price(
            workflow,
            {**intent, "resolution": size, "target_resolution": size},
        )
        prices.setdefault(price, []).append(size)
    return [
        f"{count_of(price, 'Credit')} at {' or '.join(names)}"
        for price, names in prices.items()
    ]


# The contract itself ------------------------------------------------------------------


class Change(NamedTuple):
    """A place in the contract, by the names that lead to it, and its value."""

    path: tuple[str, ...]
    value: Any


def contract_changes(document: dict[str, Any]) -> list[Change]:
    """Return what the contract has to say of prices and problem codes."""
    changes = [Change(("components", "schemas", "ProblemCode", "enum"), [*CATALOGUE])]
    changes += _price_changes(document)
    changes += _code_changes(document)
    return [change for change in changes if _at(document, change.path) != change.value]


def _at(document: dict[str, Any], path: Sequence[str]) -> Any:
    value: Any = document
    for step in path:
        value = value.get(step, {})
    return value


def _price_changes(document: dict[str, Any]) -> list[Change]:
    prices = costs()
    changes = []
    for path, item in document["paths"].items():
        for method, operation in item.items():
            price = prices.get(operation.get("operationId", ""))
            if price is not None:
                place = ("paths", path, method, "x-service-credit-cost")
                changes.append(Change(place, price))
    return changes


def _code_changes(document: dict[str, Any]) -> list[Change]:
    """Return the examples and the schema of each response that has codes of its own."""
    changes = []
    for name, response in document["components"]["responses"].items():
        codes = response.get("x-problem-codes")
        if codes is not None and not _has_every_code(response):
            changes.append(Change(_content_place(name), _content(name, codes)))
            changes += _code_schema_changes(document, name, codes)
    return changes


def _has_every_code(response: dict[str, Any]) -> bool:
    schema = _at(response, ("content", "application/problem+json", "schema"))
    return bool(schema == _reference("schemas", "Problem"))


def _content_place(name: str) -> tuple[str, ...]:
    return ("components", "responses", name, "content", "application/problem+json")


def _content(name: str, codes: Sequence[str]) -> dict[str, Any]:
    return {
        "schema": _reference("schemas", f"{name}Problem"),
        "examples": {code: _reference("examples", code) for code in codes},
    }


def _code_schema_changes(
    document: dict[str, Any],
    name: str,
    codes: Sequence[str],
) -> list[Change]:
    code_schema = ("components", "schemas", f"{name}Code")
    problem_schema = ("components", "schemas", f"{name}Problem")
    if _at(document, code_schema):
        return [Change((*code_schema, "enum"), codes)]
    if _at(document, problem_schema):
        return []  # one that is written by hand
    status = CATALOGUE[codes[0]].status
    schema = {
        "type": "string",
        "description": f"The codes of this {status} answer.",
        "enum": codes,
    }
    return [Change(code_schema, schema), Change(problem_schema, _problem_schema(name))]


def _reference(kind: str, name: str) -> dict[str, str]:
    return {"$ref": f"#/components/{kind}/{name}"}


def _problem_schema(name: str) -> dict[str, Any]:
    code = {**_reference("schemas", f"{name}Code"), "description": "What to decide by."}
    return {
        "description": f"A problem with one of the codes of `{name}Code`.",
        "allOf": [
            _reference("schemas", "ProblemDetails"),
            {"type": "object", "required": ["code"], "properties": {"code": code}},
        ],
    }


def write_contract(changes: Sequence[Change]) -> None:
    """Write changes into the contract, whose comments and layout stay as they are."""
    from ruamel.yaml import YAML

    yaml = YAML()
    yaml.width = 10_000
    yaml.preserve_quotes = True
    yaml.brace_single_entry_mapping_in_flow_sequence = True
    yaml.indent(
        mapping=2,
        sequence=4,
        offset=2,
    )
    yaml.representer.add_representer(type(None), _represent_null)
    document = yaml.load(CONTRACT)
    for path, value in changes:
        place = document
        for step in path[:-1]:
            place = place.setdefault(step, {})
        place[path[-1]] = _laid_out(value)
    yaml.dump(document, CONTRACT)


def _laid_out(value: Any) -> Any:
    """Return a value as the contract writes it: lists of words, and references, on one
    line.
    """
    from ruamel.yaml.comments import CommentedMap, CommentedSeq

    if isinstance(value, list):
        items = CommentedSeq(map(_laid_out, value))
        if not any(isinstance(item, dict) for item in value):
            items.fa.set_flow_style()
        return items
    if not isinstance(value, dict):
        return value
    members = CommentedMap()
    for name, inner in value.items():
        members[name] = _laid_out(inner)
    if "$ref" in value:
        members.fa.set_flow_style()
    return members


def _represent_null(representer: Any, _value: None) -> Any:
    return representer.represent_scalar("tag:yaml.org,2002:null", "null")


# The pages ----------------------------------------------------------------------------


def teams_page(document: dict[str, Any]) -> str:
    """Return the page on the control plane with its table of prices."""
    prices: dict[str, list[str]] = {}
    for operation in Contract(document).operations.values():
        if operation.cost != "Free":
            prices.setdefault(operation.cost, []).append(operation.id)
    return _with_table(
        TEAMS_PAGE.read_text(encoding="utf-8"),
        "Price",
        "Operations",
        prices,
    )


def decisions_page(_document: dict[str, Any]) -> str:
    """The page of decisions and readings: what is written by hand, and an entry for each decision."""
    by_hand = DECISIONS_PAGE.read_text(encoding="utf-8").partition(_GENERATED)[0]
    entries = (
        _decision(entry) for entry in read_contract("decisions.yaml")["decisions"]
    )
    return "\n".join([by_hand + _GENERATED, *entries])


_CODES_HEAD: Final = """\
# Problem codes

Every problem of the service has one of these codes. A client decides by the code, and never by the text. `make
contract` writes this page.
"""


def codes_page(document: dict[str, Any]) -> str:
    """The page of problem codes: for each its status, what to do, and the operations that answer so."""
    operations = Contract(document).operations.values()
    parts = [_CODES_HEAD]
    for kind in CATALOGUE.values():
        answering = [one.id for one in operations if kind.code in one.all_codes]
        parts.append(_problem_code(kind, answering, len(operations)))
    return "\n".join(parts)


def _problem_code(
    kind: ProblemKind,
    answering: Sequence[str],
    count: int,
) -> str:
    names = ", ".join(f"`{name}`" for name in answering)
    if len(answering) == count:
        names = "every operation"
    lines = (
        f"## {kind.code}",
        "",
        f"{kind.status}. {kind.title}.",
        "",
        _wrapped(f"- **What to do**: {kind.recovery}"),
        _wrapped(f"- **Declared by**: {names or 'byte surfaces only'}"),
        "",
    )
    return "\n".join(lines)


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
    """Write each paragraph of a text on one line, or as a numbered list if it has many steps."""
    head, colon, steps = _line(text).partition(": ")
    if steps.count("; ") < _STEPS:
        return "\n\n".join(_line(paragraph) for paragraph in text.splitlines())
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
    DECISIONS_PAGE: decisions_page,
    CODES_PAGE: codes_page,
    SCENARIO_SCHEMA: scenario_schema,
    WORLD_SCHEMA: world_schema,
    SCENARIO_PAGE: scenario_page,
    TEAMS_PAGE: teams_page,
}
"""What repeats words of the contract, and how it should read."""


def main() -> None:
    """Write what is out of date; first the contract, whose words the others repeat."""
    changes = contract_changes(read_contract("openapi.yaml"))
    if changes:
        write_contract(changes)
        read_contract.cache_clear()
    for path, written in DOCUMENTS.items():
        path.write_text(written(read_contract("openapi.yaml")), encoding="utf-8")


if __name__ == "__main__":
    main()
