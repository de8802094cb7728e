"""The reference: the contract and its decisions as one page of HTML, each part at an address of its own.

It holds what is shipped and nothing of a sandbox, so it needs no control token. A script adds to each form of `Try it` what
a sandbox has, and sends it.
"""

import json
import re
from collections.abc import Iterable, Mapping
from html import escape
from pathlib import Path
from typing import Any, Final

from image_workflow_emulator.contract import Contract, OperationContract

Part = Mapping[str, Any]

_FRAME: Final = Path(__file__).with_name("page") / "reference.html"
_CODE: Final = re.compile(r"`([^`]+)`")
_BOUNDS: Final = {
    "minimum": "at least",
    "maximum": "at most",
    "minLength": "characters, at least",
    "maxLength": "characters, at most",
    "minItems": "items, at least",
    "maxItems": "items, at most",
    "default": "default",
    "x-expected": "expected:",
}
"""The bounds of a value, in words."""
_FILES: Final = 'The same as a file: <a href="contract.yaml">YAML</a>, <a href="contract.json">JSON</a>.'
_DECIDED: Final = (
    "Where the specification is silent or leaves a choice: what the emulator does, and what a client should do."
)


def reference_page(contract: Contract, decisions: list[Part]) -> str:
    """Fill the frame of the reference, with the places `{contents}`, `{version}` and `{reference}`."""
    document = contract.document
    reference, schemas = _Reference(contract), document["components"]["schemas"]
    codes = schemas["ProblemCode"]["enum"]
    # What only narrows down the codes of a problem says nothing of its own.
    named = [name for name in schemas if name in ("Problem", "ProblemCode") or not name.endswith(("Problem", "Code"))]
    body, contents = [f'<p class="lead">{_prose(document["info"]["summary"])}</p><p>{_FILES}</p>'], []
    for tag in document["tags"]:
        tagged = [one for one in contract.operations.values() if tag["name"] in reference.described(one)["tags"]]
        body.append(f'<h2>{tag["name"]}</h2><p class="faint">{_prose(tag["description"])}</p>')
        body += map(reference.operation, tagged)
        contents.append(_chapter(tag["name"], (one.id for one in tagged), "open"))
    body += ["<h2>Problem codes</h2>", *map(reference.code, codes)]
    body += ["<h2>Schemas</h2>", *(_schema(name, schemas[name]) for name in named)]
    body += [f'<h2>Decisions</h2><p class="faint">{_DECIDED}</p>', *map(_decision, decisions)]
    contents += [_chapter("Problem codes", codes), _chapter("Schemas", named)]
    contents.append(_chapter("Decisions", (f"{one['id']} {one['title']}" for one in decisions)))
    parts = {"contents": "".join(contents), "version": escape(contract.version), "reference": "".join(body)}
    return re.sub(r"\{(\w+)\}", lambda place: parts[place[1]], _FRAME.read_text(encoding="utf-8"))


class _Reference:
    """Writes the parts that follow references within the contract."""

    def __init__(self, contract: Contract) -> None:
        self._contract = contract
        self._document = contract.document

    def described(self, operation: OperationContract) -> Part:
        """Return what the contract says of an operation."""
        described: Part = self._document["paths"][operation.path][operation.method.lower()]
        return described

    def operation(self, operation: OperationContract) -> str:
        described, identifier, method = self.described(operation), operation.id, operation.method
        shared = self._document["paths"][operation.path].get("parameters", ())
        parameters = [self._resolve(one) for one in (*shared, *described.get("parameters", ()))]
        content: Part = next(iter(described.get("requestBody", {"content": {}})["content"].values()), {})
        examples = [self._resolve(one)["value"] for one in content.get("examples", {}).values()]
        rows = [
            _row(one["name"], one["schema"], f"{_required(one)} {one['in']}", one.get("description"))
            for one in parameters
        ]
        responses = [self._response(*one) for one in described["responses"].items()]
        shown = _json(examples[0], f"Example of a body of {identifier}") if examples else ""
        body = f"<h4>Body</h4><p>{_type(content['schema'])}</p>{shown}" if content else ""
        return (
            f'<article class="operation-part" id="{identifier}" aria-labelledby="{identifier}-title">'
            f'<h3 id="{identifier}-title">{_link(identifier)}</h3>'
            f'<p class="route"><span class="method method-{method.lower()}">{method}</span>'
            f"<code>{operation.path}</code></p>"
            f'<p class="lead">{escape(described["summary"])}</p><p>{_prose(described.get("description"))}</p>'
            f'<p><span class="tag">Credits: {escape(operation.cost)}</span></p>{_cited(described)}'
            f"{_table('Parameters', identifier, rows)}"
            f"{body}{_form(operation, parameters, examples)}"
            f'<h4>Responses</h4><table class="responses">{"".join(responses)}</table></article>'
        )

    def code(self, code: str) -> str:
        every = self._contract.operations.values()
        statuses = sorted({status for one in every for status, codes in one.codes.items() if code in codes})
        operations = [_link(one.id) for one in every if code in one.all_codes]
        badges = [f'<span class="badge badge-refused">{status}</span>' for status in statuses]
        title = self._document["components"]["examples"].get(code, {}).get("value", {}).get("title", "")
        uses = f"<details><summary>{len(operations)} operations</summary>{_choices(operations)}</details>"
        return _part(code, code, f"{_choices(badges)}<p>{escape(title)}</p>{uses if operations else ''}")

    def _resolve(self, part: Part) -> Part:
        if "$ref" not in part:
            return part
        _, _, kind, name = part["$ref"].split("/")
        found: Part = self._document["components"][kind][name]
        return found

    def _response(self, status: str, reference: Part) -> str:
        response = self._resolve(reference)
        kind = {"2": "good", "4": "refused"}.get(status[0], "failed")
        schemas = [_type(content["schema"]) for content in response.get("content", {}).values() if kind == "good"]
        codes = [_link(code, f"<code>{code}</code>") for code in response.get("x-problem-codes", ())]
        badge = f'<span class="badge badge-{kind}">{"other" if status == "default" else status}</span>'
        text = (
            f'<p>{_prose(response.get("description"))}</p><p class="type">{"".join(schemas[:1])}</p>{_choices(codes)}'
        )
        return f'<tr><th scope="row">{badge}</th><td>{text}</td></tr>'


def _link(part: str, text: str = "") -> str:
    return f'<a href="#{part}">{text or part}</a>'


def _part(identifier: str, title: str, content: str) -> str:
    title = _link(identifier, escape(title))
    return f'<div class="operation-part" id="{identifier}"><h3>{title}</h3>{content}</div>'


def _prose(text: str | None) -> str:
    """Write a text of the contract, in which words in backticks are code."""
    return _CODE.sub(r"<code>\1</code>", escape(text or ""))


def _choices(items: Iterable[str]) -> str:
    words = " ".join(items)
    return f'<p class="choices">{words}</p>' if words else ""


def _cited(part: Part) -> str:
    cited = part.get("x-decision", [])
    links = " ".join(_link(one) for one in ([cited] if isinstance(cited, str) else cited))
    return f'<p class="cited"><span class="faint">Decisions</span> {links}</p>' if links else ""


def _type(schema: Part) -> str:
    """Write what a value may be, in a line."""
    if "$ref" in schema:
        return _link(schema["$ref"].rpartition("/")[2])
    if "oneOf" in schema:
        return " or ".join(map(_type, schema["oneOf"]))
    if "const" in schema:
        return f"<code>{escape(json.dumps(schema['const']))}</code>"
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    types = schema.get("type", "any")
    words = types if isinstance(types, str) else " or ".join(types)
    return f"{words} ({schema['format']})" if "format" in schema else words


def _required(part: Part) -> str:
    return "required" if part.get("required") else ""


def _row(name: str, schema: Part, note: str, description: str | None = None) -> str:
    bounds = "; ".join(f"{word} {schema[key]}" for key, word in _BOUNDS.items() if key in schema)
    words = _choices(f"<code>{escape(str(word))}</code>" for word in schema.get("enum", ()))
    return (
        f'<tr><th scope="row"><code>{name}</code> <span class="faint">{note}</span></th>'
        f'<td><p class="type">{_type(schema)} <span class="faint">{escape(bounds)}</span></p>'
        f"<p>{_prose(description or schema.get('description'))}</p>{words}</td></tr>"
    )


def _table(what: str, owner: str, rows: list[str]) -> str:
    caption = f'<caption class="visually-hidden">{what} of {owner}</caption>'
    return f'<h4>{what}</h4><table class="fields">{caption}{"".join(rows)}</table>' if rows else ""


def _schema(name: str, schema: Part) -> str:
    required = schema.get("required", ())
    fields = schema.get("properties", {}).items()
    rows = [_row(field, value, "required" if field in required else "") for field, value in fields]
    words = _choices(f"<code>{escape(str(word))}</code>" for word in schema.get("enum", ()))
    kind = f'<p class="type">{_type(schema)}</p>' if "oneOf" in schema else ""
    return _part(
        name,
        name,
        f"<p>{_prose(schema.get('description'))}</p>{_cited(schema)}{kind}{words}{_table('Fields', name, rows)}",
    )


def _decision(one: Part) -> str:
    terms = {"The specification": "specification", "The emulator": "emulator", "A client": "client"}
    items = "".join(f"<dt>{term}</dt><dd>{_prose(one[key])}</dd>" for term, key in terms.items())
    return _part(one["id"], f"{one['id']} {one['title']}", f'<dl class="ledger">{items}</dl>')


def _chapter(title: str, links: Iterable[str], state: str = "") -> str:
    items = "".join(f"<li>{_link(text.partition(' ')[0], escape(text))}</li>" for text in links)
    return f'<details class="chapter" {state}><summary>{title}</summary><ul>{items}</ul></details>'


def _json(value: Any, name: str) -> str:
    text = escape(json.dumps(value, indent=2, ensure_ascii=False))
    return f'<pre class="json" tabindex="0" role="group" aria-label="{name}">{text}</pre>'


# `Try it` -------------------------------------------------------------------------------------------------------------


def _form(operation: OperationContract, parameters: list[Part], examples: list[Any]) -> str:
    """Write a form with an example in it."""

    def field(label: str, name: str, element: str, attributes: str = "", content: str = "") -> str:
        place = f"try-{operation.id}-{name}"
        end = "" if element == "input" else f"{content}</{element}>"
        control = f'<{element} id="{place}" name="{name}" {attributes}>{end}'
        return f'<div class="field try-{element}"><label for="{place}">{label}</label>{control}</div>'

    def parameter(one: Part) -> str:
        example = one.get("example", one["schema"].get("example", "")) if one.get("required") else ""
        attributes = f'data-in="{one["in"]}" {_required(one)} autocomplete="off" value="{escape(str(example))}"'
        return field(one["name"], one["name"], "input", attributes)

    faults = [*sorted(operation.all_codes - {"internal_error"}), "internal_error"]
    choices = '<option value="">none</option>' + "".join(f"<option>{code}</option>" for code in faults)
    shortest = min((json.dumps(value, indent=2, ensure_ascii=False) for value in examples), key=len, default="")
    body = field("Body", "body", "textarea", 'rows="10" spellcheck="false"', escape(shortest)) if shortest else ""
    new_key = '<button type="button" data-act="new-key">New Idempotency-Key</button>' if operation.takes_key else ""
    return (
        f'<details class="try"><summary>Try it</summary><div class="try-content">'
        f'<form data-method="{operation.method}" data-path="{operation.path}">'
        f"{field('Credential', 'credential', 'select')}"
        f"{''.join(map(parameter, parameters))}{field('Fault (Emulator-Fault)', 'fault', 'select', '', choices)}{body}"
        f'<div class="buttons"><button class="primary">Send</button>{new_key}</div></form>'
        f'<div class="answer" aria-live="polite"></div></div></details>'
    )
