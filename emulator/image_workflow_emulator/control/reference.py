"""The reference: the contract and its decisions as one page of HTML, each part as YAML
at an address of its own.

A script adds to each form of `Try it` what a sandbox has, and sends it.
"""

import asyncio
import json
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from html import escape
from typing import Any, Final

from starlette.responses import Response

from image_workflow_emulator.contract import Contract, OperationContract
from image_workflow_emulator.control.endpoint import ControlCall
from image_workflow_emulator.control.page_files import FOLDER, html_response
from image_workflow_emulator.documents.shipped import shipped_document

Part = Mapping[str, Any]


async def show_reference(call: ControlCall) -> Response:
    """GET /_emulator/reference: the contract, for people."""
    return html_response(call, await asyncio.to_thread(_reference, call.plane.contract))


_CODE: Final = re.compile(r"`([^`]+)`")
_NAME: Final = re.compile(r"(?:(?<=schemas/)|(?<=- ))\w+")
"""What may name a part in YAML: a reference to a schema, or an item of a list."""
_FILES: Final = 'The same as a file: <a href="contract.yaml">YAML</a>, <a href="contract.json">JSON</a>.'


@lru_cache(maxsize=1)
def _reference(contract: Contract) -> str:
    """Fill the frame of the reference, with the places `{contents}`, `{version}` and `{reference}`."""
    document, decisions = (
        contract.document,
        shipped_document("contract/decisions.yaml")["decisions"],
    )
    schemas = document["components"]["schemas"]
    described = {
        one.id: _described(contract, one) for one in contract.operations.values()
    }
    chapters: dict[str, Mapping[str, Part]] = {
        tag["name"]: {
            name: one for name, one in described.items() if tag["name"] in one["tags"]
        }
        for tag in document["tags"]
    }
    chapters["Problem codes"] = {
        code: _code(contract, code) for code in schemas["ProblemCode"]["enum"]
    }
    chapters["Schemas"] = schemas
    chapters["Decisions"] = {one["id"]: one for one in decisions}
    known = {name for parts in chapters.values() for name in parts}
    body = [f'<p class="lead">{_prose(document["info"]["summary"])}</p><p>{_FILES}</p>']
    for title, parts in chapters.items():
        body += [
            f"<h2>{title}</h2>",
            *(_part(name, one, contract, known) for name, one in parts.items()),
        ]
    contents = "".join(_chapter(title, parts) for title, parts in chapters.items())
    frame = (FOLDER / "reference.html").read_text(encoding="utf-8")
    return frame.format(
        contents=contents, version=escape(contract.version), reference="".join(body)
    )


def _described(contract: Contract, operation: OperationContract) -> Part:
    """Return an operation as in the contract, with parameters, responses and the examples of its body in place."""

    def resolved(part: Any, *kinds: str) -> Any:
        match part:
            case {"$ref": str(reference)} if (kind := reference.split("/")[2]) in kinds:
                return resolved(
                    contract.document["components"][kind][reference.rpartition("/")[2]],
                    *kinds,
                )
            case Mapping():
                return {
                    name: resolved(value, *kinds)
                    for name, value in part.items()
                    if name not in ("headers", "links")
                }
            case list():
                return [resolved(value, *kinds) for value in part]
        return part

    path = contract.document["paths"][operation.path]
    described = path[operation.method.lower()]
    described = {
        **described,
        "parameters": [*path.get("parameters", ()), *described.get("parameters", ())],
    }
    kinds = {"requestBody": ("examples",)}
    return {
        name: resolved(part, *kinds.get(name, ("parameters", "responses")))
        for name, part in described.items()
    }


def _code(contract: Contract, code: str) -> Part:
    """Return the statuses that a problem code comes with, and the operations that can answer with it."""
    every = contract.operations.values()
    statuses = sorted(
        {
            status
            for one in every
            for status, codes in one.codes.items()
            if code in codes
        }
    )
    return {
        "statuses": statuses,
        "operations": [one.id for one in every if code in one.all_codes],
    }


def _part(name: str, part: Part, contract: Contract, known: set[str]) -> str:
    """Write a part: its YAML, in which the names of others are links; of an operation also its route and a form."""
    operation = contract.operations.get(name)
    head = form = ""
    if operation is not None:
        method, form = operation.method, _form(operation, part)
        head = (
            f'<p class="route"><span class="method method-{method.lower()}">{method}</span>'
            f"<code>{operation.path}</code></p>"
            f'<p class="lead">{escape(part["summary"])}</p><p>{_prose(part["description"])}</p>'
        )
    text = _NAME.sub(
        lambda word: _link(word[0]) if word[0] in known else word[0],
        escape(_yaml(part), quote=False),
    )
    return (
        f'<article class="operation-part" id="{name}" aria-labelledby="{name}-title">'
        f'<h3 id="{name}-title">{_link(name)}</h3>{head}'
        f'<pre class="json" tabindex="0" role="group" aria-label="{name} in the contract">{text}</pre>{form}</article>'
    )


def _yaml(part: Part) -> str:
    import yaml  # 45 ms of start-up, which a process that shows no reference need not spend

    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    text: str = yaml.dump(
        part, Dumper=dumper, sort_keys=False, allow_unicode=True, width=100
    )
    return text


def _chapter(title: str, parts: Iterable[str]) -> str:
    items = "".join(f"<li>{_link(name)}</li>" for name in parts)
    return (
        f'<details class="chapter"><summary>{title}</summary><ul>{items}</ul></details>'
    )


def _link(part: str) -> str:
    return f'<a href="#{part}">{part}</a>'


def _prose(text: str) -> str:
    """Write a text of the contract, in which words in backticks are code."""
    return _CODE.sub(r"<code>\1</code>", escape(text))


def _form(operation: OperationContract, described: Part) -> str:
    """Write the form of `Try it`, with an example in it."""

    def field(
        label: str, name: str, element: str, attributes: str = "", content: str = ""
    ) -> str:
        place = f"try-{operation.id}-{name}"
        end = "" if element == "input" else f"{content}</{element}>"
        control = f'<{element} id="{place}" name="{name}" {attributes}>{end}'
        return f'<div class="field try-{element}"><label for="{place}">{label}</label>{control}</div>'

    fields = [field("Credential", "credential", "select")]
    for one in described["parameters"]:
        example = (
            one.get("example", one["schema"].get("example", ""))
            if one.get("required")
            else ""
        )
        required = "required" if one.get("required") else ""
        attributes = f'data-in="{one["in"]}" {required} autocomplete="off" value="{escape(str(example))}"'
        fields.append(field(one["name"], one["name"], "input", attributes))
    faults = sorted(
        operation.all_codes, key=lambda code: (code == "internal_error", code)
    )
    choices = '<option value="">none</option>' + "".join(
        f"<option>{code}</option>" for code in faults
    )
    fields.append(field("Fault (Emulator-Fault)", "fault", "select", "", choices))
    for content in described.get("requestBody", {"content": {}})["content"].values():
        examples = (
            json.dumps(one["value"], indent=2, ensure_ascii=False)
            for one in content["examples"].values()
        )
        fields.append(
            field(
                "Body",
                "body",
                "textarea",
                'rows="10" spellcheck="false"',
                escape(min(examples, key=len)),
            )
        )
    new_key = (
        '<button type="button" data-act="new-key">New Idempotency-Key</button>'
        if operation.takes_key
        else ""
    )
    return (
        f'<details class="try"><summary>Try it</summary><div class="try-content">'
        f'<form data-method="{operation.method}" data-path="{operation.path}">{"".join(fields)}'
        f'<div class="buttons"><button class="primary">Send</button>{new_key}</div></form>'
        f'<div class="answer" aria-live="polite"></div></div></details>'
    )
