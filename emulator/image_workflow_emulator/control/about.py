"""What the emulator hands out to be read: the page's files, the contract with its reference and schemas, the documents.

Owns what the page may do in a browser (its content security policy), and which addresses are files. The page's files,
in `page/` beside this one, hold no data: what the page shows it asks for by the other requests of the control plane,
with the control token where one is set.

The reference is the contract and its decisions as one page of HTML, each part as YAML at an address of its own. A
script adds to each form of `Try it` what a sandbox has, and sends it. The documentation is Markdown, for programs and
people without a clone: each page, their index, and `llms.txt`.
"""

import asyncio
import json
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from html import escape
from pathlib import Path
from posixpath import dirname, normpath
from typing import Any, Final

from starlette.responses import Response

from image_workflow_emulator import __version__
from image_workflow_emulator.contract import (
    BASE_PATH,
    DOCUMENT,
    Contract,
    OperationContract,
)
from image_workflow_emulator.control import PREFIX
from image_workflow_emulator.control.dispatch import ControlCall
from image_workflow_emulator.documents.shipped import shipped_document, shipped_path
from image_workflow_emulator.domain.problems import Problem
from image_workflow_emulator.domain.readings import chosen
from image_workflow_emulator.kernel.wording import excerpt
from image_workflow_emulator.scenario.world import described_readings

# The page -------------------------------------------------------------------------------------------------------------


_FOLDER: Final = Path(__file__).with_name("page")
_MEDIA_TYPES: Final = {
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
    ".txt": "text/plain",
}
_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS: Final = {
    "Content-Security-Policy": _POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
}


def show_page(call: ControlCall) -> Response:
    """GET /_emulator."""
    return _document(call, (_FOLDER / "index.html").read_text(encoding="utf-8"))


async def show_reference(call: ControlCall) -> Response:
    """GET /_emulator/reference: the contract, for people."""
    return _document(call, await asyncio.to_thread(_reference, call.plane.contract))


def show_file(call: ControlCall) -> Response:
    """GET /_emulator/page/{file}: one of the files that the page is made of. Raises Problem not_found."""
    name = call.parameters["file"]
    path = {file.name: file for file in _FOLDER.iterdir()}.get(name)
    if path is None or path.suffix not in _MEDIA_TYPES:
        raise Problem("not_found", f"{excerpt(name)}: the page has no such file")
    return Response(
        path.read_bytes(), media_type=_MEDIA_TYPES[path.suffix], headers=_HEADERS
    )


def _document(call: ControlCall, content: str) -> Response:
    """Return a document, which says whether a token must be asked for before anything else is."""
    if call.plane.settings.control_token is not None:
        content = content.replace("<html ", "<html data-needs-token ", 1)
    return Response(content, media_type="text/html", headers=_HEADERS)


# The contract and its ledger ------------------------------------------------------------------------------------------


_SERVERS: Final = re.compile(r"^servers:\n(?:[ #-].*\n|\n)+", re.MULTILINE)
"""The list of servers in the contract's YAML."""


def get_health(call: ControlCall) -> dict[str, Any]:
    """GET /health: answered as soon as the service is ready."""
    return {
        "status": "ok",
        "version": __version__,
        "contract_version": call.plane.contract.version,
    }


def get_contract(call: ControlCall) -> dict[str, Any]:
    """GET /contract and /contract.json; its server is the address that was asked."""
    document = call.plane.contract.document
    server = {
        **document["servers"][0],
        "url": call.head.origin + BASE_PATH,
        "description": "This emulator",
    }
    return {**document, "servers": [server]}


get_contract_as_json = get_contract


def get_contract_as_yaml(call: ControlCall) -> Response:
    """GET /contract.yaml: the document as it is shipped, but for its server."""
    servers = f"servers:\n  - url: {call.head.origin}{BASE_PATH}\n    description: This emulator\n"
    text = _SERVERS.sub(
        lambda _: servers, shipped_path(DOCUMENT).read_text(encoding="utf-8"), count=1
    )
    return Response(text, media_type="application/yaml")


def list_readings(call: ControlCall) -> dict[str, Any]:
    """GET /readings: every reading, and whether this sandbox has it."""
    names = chosen(call.sandbox.readings)
    return {
        "data": [
            {**one, "chosen": f"{one['decision']}={one['id']}" in names}
            for one in described_readings()
        ]
    }


def get_scenario_schema(call: ControlCall) -> Response:
    """GET /scenario.schema.json, and /world.schema.json."""
    name = call.head.path.rpartition("/")[2]
    return Response(
        shipped_path(f"contract/{name}").read_bytes(),
        media_type="application/schema+json",
    )


get_world_schema = get_scenario_schema


# The documentation ----------------------------------------------------------------------------------------------------


_SKILL: Final = "skills/image-workflow-emulator/SKILL.md"
_IMAGE: Final = re.compile(r"!\[[^]]*\]\((?!\w+:)[^)]*\)\n*")
_LINK: Final = re.compile(r"\[([^]]*)\]\((\.\./[^)#]*)([^)]*)\)")
"""A link of a page that leads out of its folder: its text, file and anchor."""


def get_page(call: ControlCall) -> Response:
    """GET /docs/PATH.md: a page, or the skill for agents. Raises Problem not_found."""
    name = call.parameters.get("path") or "README.md"
    folder = shipped_path("docs")
    pages = {file.relative_to(folder).as_posix(): file for file in folder.rglob("*.md")}
    page = {**pages, "SKILL.md": shipped_path(_SKILL)}.get(name)
    if page is None:
        raise Problem(
            "not_found",
            f"{excerpt(name)}: there is no such page; GET {PREFIX}/docs/ lists them",
        )
    text = page.read_text(encoding="utf-8").replace(f"](../{_SKILL})", "](SKILL.md)")

    def link(found: re.Match[str]) -> str:
        """Keep a link to another page; name any other file of the repository."""
        file = normpath(f"docs/{dirname(name)}/{found[2]}")
        return found[0] if file.startswith("docs/") else f"{found[1]} (`{file}`)"

    return Response(_LINK.sub(link, _IMAGE.sub("", text)), media_type="text/markdown")


list_pages = get_page
"""GET /docs: the index of the pages."""


def get_llms_text(call: ControlCall) -> Response:
    """GET /llms.txt: where a program begins to read, with the addresses of this emulator."""
    text, here = (
        shipped_path("llms.txt").read_text(encoding="utf-8"),
        call.head.origin + PREFIX,
    )
    for file, address in (
        ("docs/", "docs/"),
        ("contract/openapi.yaml", "contract.yaml"),
        (_SKILL, "docs/SKILL.md"),
    ):
        text = text.replace(f"]({file}", f"]({here}/{address}")
    return Response(text, media_type="text/plain")


# The reference --------------------------------------------------------------------------------------------------------


Part = Mapping[str, Any]

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
    frame = (_FOLDER / "reference.html").read_text(encoding="utf-8")
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
