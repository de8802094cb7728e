"""The reference: the contract and its decisions as one page of HTML, each part at an address of its own.

It holds what is shipped and nothing of a sandbox, so it needs no control token. A script adds to each form of `Try it` what a
sandbox has, and sends it.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import Any, Final

from image_workflow_emulator.contract import Contract, OperationContract

Part = Mapping[str, Any]

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
    "pattern": "pattern",
}
"""The bounds of a value, in words."""
_DECIDED: Final = "Where the specification says nothing or leaves a choice: what the emulator does, and what a client should do about it."


def reference_page(template: str, contract: Contract, decisions: Iterable[Part]) -> str:
    """Fill the frame of the reference: the places `{contents}`, `{version}` and `{reference}` of a template."""
    return _Reference(contract).fill(template, list(decisions))


class _Reference:
    def __init__(self, contract: Contract) -> None:
        self._contract = contract
        self._document = contract.document
        self._components = self._document["components"]

    def fill(self, template: str, decisions: list[Part]) -> str:
        document, schemas = self._document, self._components["schemas"]
        operations = self._contract.operations
        tags = {
            tag["name"]: [one for one in operations if tag["name"] in self._of(one)["tags"]] for tag in document["tags"]
        }
        # What only narrows down the codes of a problem says nothing of its own.
        named = [
            name for name in schemas if name in ("Problem", "ProblemCode") or not name.endswith(("Problem", "Code"))
        ]
        codes = schemas["ProblemCode"]["enum"]
        chapters = {
            **tags,
            "Problem codes": codes,
            "Schemas": named,
            "Decisions": [f"{one['id']} {one['title']}" for one in decisions],
        }
        body = [
            _tag("p", _prose(document["info"]["summary"]), class_="lead"),
            '<p>The same as a file: <a href="contract.yaml">YAML</a>, <a href="contract.json">JSON</a>.</p>',
            *(
                _tag("h2", tag["name"])
                + _tag("p", _prose(tag["description"]), class_="faint")
                + "".join(self._operation(operations[one]) for one in tags[tag["name"]])
                for tag in document["tags"]
            ),
            "<h2>Problem codes</h2>",
            *map(self._code, codes),
            "<h2>Schemas</h2>",
            *(self._schema(name, schemas[name]) for name in named),
            "<h2>Decisions</h2>",
            _tag("p", _DECIDED, class_="faint"),
            *map(_decision, decisions),
        ]
        contents = "".join(_chapter(title, links, title in tags) for title, links in chapters.items())
        parts = {"contents": contents, "version": escape(self._contract.version), "reference": "".join(body)}
        return re.sub(r"\{(\w+)\}", lambda place: parts[place[1]], template)

    def _resolve(self, part: Part) -> Part:
        return self._components[part["$ref"].split("/")[2]][part["$ref"].split("/")[3]] if "$ref" in part else part

    def _path(self, identifier: str) -> Part:
        operation = self._contract.operations[identifier]
        path: Part = self._document["paths"][operation.path]
        return path

    def _of(self, identifier: str) -> Part:
        operation: Part = self._path(identifier)[self._contract.operations[identifier].method.lower()]
        return operation

    def _operation(self, operation: OperationContract) -> str:
        described, method = self._of(operation.id), operation.method
        given = (*self._path(operation.id).get("parameters", ()), *described.get("parameters", ()))
        parameters = [self._resolve(one) for one in given]
        content = next(iter(self._resolve(described.get("requestBody", {})).get("content", {}).values()), None)
        examples = [self._resolve(one)["value"] for one in (content or {}).get("examples", {}).values()]
        rows = [
            (one["name"], one["schema"], one.get("description"), one.get("required", False), one["in"])
            for one in parameters
        ]
        return _tag(
            "article",
            _title(operation.id, f"{operation.id}-title"),
            _tag(
                "p",
                _tag("span", method, class_=f"method method-{method.lower()}"),
                _tag("code", operation.path),
                class_="route",
            ),
            _tag("p", described["summary"], class_="lead"),
            _tag("p", _prose(described.get("description"))),
            _tag("p", _tag("span", f"Credits: {escape(operation.cost)}", class_="tag")) if operation.cost else "",
            _cited(described),
            "<h4>Parameters</h4>" + _table(f"Parameters of {operation.id}", rows) if rows else "",
            "<h4>Body</h4>" + _tag("p", _type(content["schema"])) if content else "",
            _json(examples[0], f"Example of a body of {operation.id}") if examples else "",
            _form(operation, parameters, examples),
            "<h4>Responses</h4>",
            _tag("table", *(self._response(*one) for one in described["responses"].items()), class_="responses"),
            class_="operation-part",
            id=operation.id,
            aria_labelledby=f"{operation.id}-title",
        )

    def _response(self, status: str, reference: Part) -> str:
        response = self._resolve(reference)
        content = next(iter(response.get("content", {}).values()), None)
        kind = {"2": "good", "4": "refused"}.get(status[0], "failed")
        shown = _tag("p", _type(content["schema"]), class_="type") if content and kind == "good" else ""
        codes = [_link(code, _tag("code", code)) for code in response.get("x-problem-codes", ())]
        badge = _tag("span", "other" if status == "default" else status, class_=f"badge badge-{kind}")
        text = _tag("p", _prose(response.get("description"))) + shown + _choices(codes)
        return _tag("tr", _tag("th", badge, scope="row"), _tag("td", text))

    def _code(self, code: str) -> str:
        uses = [
            (status, one.id)
            for one in self._contract.operations.values()
            for status in one.codes
            if code in one.codes[status]
        ]
        statuses = [
            _tag("span", str(status), class_="badge badge-refused") for status in sorted({use[0] for use in uses})
        ]
        operations = [_link(one, one) for one in dict.fromkeys(use[1] for use in uses)]
        title = self._components["examples"].get(code, {}).get("value", {}).get("title", "")
        summary = _tag("summary", f"{len(operations)} operation{'' if len(operations) == 1 else 's'}")
        more = _tag("details", summary, _choices(operations)) if operations else ""
        return _tag(
            "div", _title(code), _choices(statuses), _tag("p", escape(title)), more, class_="operation-part", id=code
        )

    def _schema(self, name: str, schema: Part) -> str:
        required = schema.get("required", ())
        rows = [(field, value, None, field in required, "") for field, value in schema.get("properties", {}).items()]
        return _tag(
            "div",
            _title(name),
            _tag("p", _prose(schema.get("description"))),
            _cited(schema),
            _tag("p", _type(schema), class_="type") if "oneOf" in schema else "",
            _choices([_tag("code", escape(str(word))) for word in schema.get("enum", ())]),
            _table(f"Fields of {name}", rows) if rows else "",
            class_="operation-part",
            id=name,
        )


def _tag(element: str, /, *children: str, **attributes: str | bool) -> str:
    """Write an element; an attribute that is true stands without a value, and `_` in its name for `-`."""
    words = [
        f" {key.rstrip('_').replace('_', '-')}" + ("" if value is True else f'="{escape(str(value))}"')
        for key, value in attributes.items()
        if value is not False
    ]
    start = f"<{element}{''.join(words)}>"
    return start if element == "input" else f"{start}{''.join(children)}</{element}>"


def _link(part: str, text: str) -> str:
    return _tag("a", text, href=f"#{part}")


def _title(part: str, identifier: str = "") -> str:
    return _tag("h3", _link(part, part), id=identifier) if identifier else _tag("h3", _link(part, part))


def _prose(text: str | None) -> str:
    """Write a text of the contract, in which words in backticks are code."""
    return _CODE.sub(r"<code>\1</code>", escape(text or ""))


def _choices(items: list[str]) -> str:
    return _tag("p", *(f"{item} " for item in items), class_="choices") if items else ""


def _cited(part: Part) -> str:
    cited = part.get("x-decision", [])
    links = [_link(one, one) + " " for one in ([cited] if isinstance(cited, str) else cited)]
    return _tag("p", '<span class="faint">Decisions </span>', *links, class_="cited") if links else ""


def _type(schema: Part) -> str:
    """Write what a value may be, in a line."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return _link(name, name)
    if "oneOf" in schema:
        return " or ".join(map(_type, schema["oneOf"]))
    if "const" in schema:
        return _tag("code", escape(json.dumps(schema["const"])))
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    types = schema.get("type", "any")
    words = types if isinstance(types, str) else " or ".join(types)
    return f"{words} ({schema['format']})" if "format" in schema else words


def _table(caption: str, rows: Sequence[tuple[str, Part, str | None, bool, str]]) -> str:
    """Write named values: each with its schema, its description, whether it is required, and where it stands."""

    def row(name: str, schema: Part, description: str | None, is_required: bool, where: str) -> str:
        hidden = "pattern" if "x-expected" in schema else ""
        bounds = [f"{word} {schema[key]}" for key, word in _BOUNDS.items() if key in schema and key != hidden]
        note = " ".join(word for word in ("required" if is_required else "", where) if word)
        return _tag(
            "tr",
            _tag("th", _tag("code", name), _tag("span", f" {note}", class_="faint"), scope="row"),
            _tag(
                "td",
                _tag("p", _type(schema), _tag("span", f" {escape('; '.join(bounds))}", class_="faint"), class_="type"),
                _tag("p", _prose(description or schema.get("description"))),
                _choices([_tag("code", escape(str(word))) for word in schema.get("enum", ())]),
            ),
        )

    return _tag(
        "table", _tag("caption", caption, class_="visually-hidden"), *(row(*one) for one in rows), class_="fields"
    )


def _json(value: Any, name: str) -> str:
    text = escape(json.dumps(value, indent=2, ensure_ascii=False))
    return _tag("pre", text, class_="json", tabindex="0", role="group", aria_label=name)


def _form(operation: OperationContract, parameters: list[Part], examples: list[Any]) -> str:
    """Write `Try it`: a form with an example in it."""

    def field(label: str, name: str, element: str, *children: str, **attributes: str | bool) -> str:
        place = f"try-{operation.id}-{name}"
        control = _tag(element, *children, id=place, name=name, **attributes)
        return _tag("div", _tag("label", label, for_=place), control, class_=f"field try-{element}")

    def inputs() -> Iterator[str]:
        for one in parameters:
            example = one.get("example", one["schema"].get("example", "")) if one.get("required") else ""
            yield field(
                one["name"],
                one["name"],
                "input",
                data_in=one["in"],
                required=bool(one.get("required")),
                value=str(example),
            )

    faults = [*sorted(operation.all_codes - {"internal_error"}), "internal_error"]
    choices = [_tag("option", "none", value=""), *(_tag("option", code) for code in faults)]
    texts = sorted((json.dumps(value, indent=2, ensure_ascii=False) for value in examples), key=len)
    body = [field("Body", "body", "textarea", escape(texts[0]), rows="10", spellcheck="false")] if texts else []
    new_key = ['<button type="button" data-act="new-key">New Idempotency-Key</button>'] if operation.takes_key else []
    form = _tag(
        "form",
        field("Credential", "credential", "select"),
        *inputs(),
        field("Fault (Emulator-Fault)", "fault", "select", *choices),
        *body,
        _tag("div", '<button class="primary">Send</button>', *new_key, class_="buttons"),
        data_method=operation.method,
        data_path=operation.path,
    )
    answer = _tag("div", class_="answer", aria_live="polite")
    return _tag("details", "<summary>Try it</summary>", _tag("div", form, answer, class_="try-content"), class_="try")


def _decision(one: Part) -> str:
    terms = {"The specification": "specification", "The emulator": "emulator", "A client": "client"}
    items = [_tag("dt", term) + _tag("dd", _prose(one[key])) for term, key in terms.items()]
    title = _tag("h3", _link(one["id"], escape(f"{one['id']} {one['title']}")))
    return _tag("div", title, _tag("dl", *items, class_="ledger"), class_="operation-part", id=one["id"])


def _chapter(title: str, links: Iterable[str], is_open: bool) -> str:
    items = [_tag("li", _link(text.split(" ")[0], escape(text))) for text in links]
    return _tag("details", _tag("summary", title), _tag("ul", *items), class_="chapter", open=is_open)
