"""Holds an answer of the service against `contract/openapi.yaml`.

Owns one question: may this operation answer so? Knows the contract and nothing of the
emulator, so that it can judge any server. Stricter than a client may be, since the
contract promises no more than the specification: fields that are not declared are
refused, and what the emulator sends beyond its promises is as `stricter.yaml` says.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import jsonschema_rs
import yaml
from jsonschema_rs import Draft202012Validator as Validator

ROOT = Path(__file__).parents[2]
METHODS = ("get", "post", "patch", "put", "delete")
Node = Mapping[str, Any]
"""An object of the contract: a schema, a response, an operation."""
UNDECLARED_STATUSES = frozenset({400, 403, 405, 413, 500})
"""What the default response stands for on a known path (D03, D06, D69).

404 comes only on an unknown one.
"""
DOOR_STATUSES = frozenset({400, 403})
"""Those by which a host or a site is refused, whatever the path (D69)."""
TELLING_HEADERS = frozenset(
    {
        "location",
        "retry-after",
        "allow",
        "www-authenticate",
    }
)
"""Headers that promise something: they come only where the contract declares them."""
_URN = "urn:closed-contract"
Headers = Mapping[str, list[str]]
"""Values by name."""


class ContractViolationError(AssertionError):
    """An answer that the contract does not allow. Its text lists all that is wrong."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request and its answer.

    `path` is relative to the base URL and has no query; names of headers may have any
    case.
    """

    method: str
    path: str
    status: int
    headers: Sequence[tuple[str, str]]
    body: bytes


class DeclaredHeader:
    """A header that a response of the contract declares."""

    def __init__(self, header: Node) -> None:
        schema = header["schema"]
        self.is_required = bool(header.get("required"))
        self._is_integer = schema.get("type") == "integer"
        self._validator = Validator(schema, validate_formats=True)

    def accepts(self, text: str) -> bool:
        if not self._is_integer:
            return self._validator.is_valid(text)
        if not text.isdigit():
            return False
        return self._validator.is_valid(int(text))


class ContractChecker:
    undeclared_statuses = UNDECLARED_STATUSES
    """Those that an operation may answer with by its default response."""
    door_statuses = DOOR_STATUSES

    def __init__(self, document: Node, *, is_closed: bool = True) -> None:
        """With `is_closed`, objects must have no field that the contract does not name.

        The contract allows such fields by itself.
        """
        self._document = document
        schemas = dict(document)
        if is_closed:
            schemas = closed(document)
        self._registry = jsonschema_rs.Registry(
            [(_URN, schemas)],
            draft=jsonschema_rs.Draft202012,
        )
        self._validators: dict[str, Validator] = {}
        """By reference to a schema."""
        self._declared_headers: dict[int, dict[str, DeclaredHeader]] = {}
        """The headers of each response by lower-case name.

        The responses are known by their identity in the document.
        """
        self._paths: dict[re.Pattern[str], Node] = {}
        """The paths by what matches them, those without parameters first."""
        literal_first = sorted(document["paths"], key=lambda path: "{" in path)
        for path in literal_first:
            pattern = _pattern_of(path)
            self._paths[pattern] = document["paths"][path]

    def check(self, exchange: Exchange) -> None:
        violations = list(self._violations(exchange))
        if not violations:
            return
        body = exchange.body[:2000].decode("utf-8", "replace")
        lines = "\n".join(f"  - {violation}" for violation in violations)
        raise ContractViolationError(
            f"{exchange.method} {exchange.path} answered {exchange.status}, "
            f"which breaks the contract:\n{lines}\n"
            f"  headers: {dict(exchange.headers)}\n  body: {body}"
        )

    def check_problem(self, exchange: Exchange) -> None:
        """Accept a problem of a surface that the contract does not list.

        Direct uploads and files are such surfaces.
        """
        headers = _by_name(exchange.headers)
        media_type = headers.get("content-type")
        violations = [
            *self._body_violations("#/components/schemas/Problem", exchange),
            *self._problem_violations(exchange, headers, None),
        ]
        if not _allows_rightly(exchange, headers):
            violations.append("header allow belongs to 405, and to it alone")
        if media_type != ["application/problem+json"]:
            violations.append(f"the media type is {media_type}")
        if violations:
            raise ContractViolationError(
                f"{exchange.method} {exchange.path}: {violations}\n  {exchange.body!r}"
            )

    def operation_of(
        self,
        method: str,
        path: str,
    ) -> tuple[Node | None, bool]:
        """Return the operation of a method and path, and whether the path is known.

        The operation is None if there is none.
        """
        item = self._path_item(path)
        if item is None:
            return None, False
        for name in METHODS:
            if method == name.upper():
                return item.get(name), True
        return None, True

    def operations(self) -> Iterator[tuple[str, str, Node]]:
        for path, item in self._document["paths"].items():
            for method in METHODS:
                if method in item:
                    yield method.upper(), path, item[method]

    def body_schema(self, operation_id: str) -> Node:
        (operation,) = [
            operation
            for _, _, operation in self.operations()
            if operation["operationId"] == operation_id
        ]
        content = operation["requestBody"]["content"]
        return self.resolve(content["application/json"]["schema"])

    def validator(self, reference: str) -> Validator:
        if reference not in self._validators:
            self._validators[reference] = Validator(
                {"$ref": _URN + reference},
                registry=self._registry,
                validate_formats=True,
            )
        return self._validators[reference]

    def _path_item(self, path: str) -> Node | None:
        path = re.sub("^(/docs)/.*", r"\1/page", path)  # the name of a page has folders
        for pattern, item in self._paths.items():
            if pattern.fullmatch(path):
                return item
        return None

    def _violations(self, exchange: Exchange) -> Iterator[str]:
        headers = _by_name(exchange.headers)
        yield from self._status_violations(exchange)
        response = self._response_to(exchange)
        yield from self._header_violations(exchange, response, headers)
        yield from self._content_violations(exchange, response, headers)

        if exchange.status >= 400 and not _is_bodiless_head(exchange):
            codes = response.get("x-problem-codes", ())
            if not codes:
                yield "the contract declares no problem codes for this answer"
            yield from self._problem_violations(exchange, headers, codes)

    def _status_violations(self, exchange: Exchange) -> Iterator[str]:
        operation, is_known_path = self.operation_of(exchange.method, exchange.path)
        if operation is None:
            expected = 404
            if is_known_path:
                expected = 405
            if exchange.status not in {expected, *self.door_statuses}:
                yield f"the status must be {expected}: there is no such operation"
            return
        responses = operation["responses"]
        by_default = self.undeclared_statuses - {405}
        is_declared = str(exchange.status) in responses
        if not is_declared and exchange.status not in by_default:
            yield f"the status is not declared: {', '.join(responses)}"

    def _response_to(self, exchange: Exchange) -> Node:
        """Return the response of the contract that the answer must follow."""
        operation, _ = self.operation_of(exchange.method, exchange.path)
        if operation is None:
            return self.resolve({"$ref": "#/components/responses/Unexpected"})
        responses = operation["responses"]
        status = str(exchange.status)
        if status not in responses:
            status = "default"
        return self.resolve(responses[status])

    def _header_violations(
        self,
        exchange: Exchange,
        response: Node,
        headers: Headers,
    ) -> Iterator[str]:
        yield from self._declared_header_violations(response, headers)
        declared = self._headers_of(response)
        undeclared = headers.keys() - declared.keys()
        for name in undeclared & TELLING_HEADERS:
            yield f"header {name} is not declared for this answer"
        if exchange.status in (429, 503) and "retry-after" not in headers:
            yield "header retry-after is missing"
        if not _allows_rightly(exchange, headers):
            yield "header allow belongs to 405, and to it alone"

    def _declared_header_violations(
        self,
        response: Node,
        headers: Headers,
    ) -> Iterator[str]:
        for name, header in self._headers_of(response).items():
            values = headers.get(name, [])
            if len(values) > 1:
                yield f"header {name} comes {len(values)} times"
            elif not values and header.is_required:
                yield f"header {name} is missing"
            elif values and not header.accepts(values[0]):
                yield f"header {name} is {values[0]!r}, which its schema refuses"

    def _headers_of(self, response: Node) -> Mapping[str, DeclaredHeader]:
        identity = id(response)
        if identity not in self._declared_headers:
            declared: dict[str, DeclaredHeader] = {}
            references = response.get("headers", {})
            for name in references:
                header = self.resolve(references[name])
                declared[name.lower()] = DeclaredHeader(header)
            self._declared_headers[identity] = declared
        return self._declared_headers[identity]

    def _content_violations(
        self,
        exchange: Exchange,
        response: Node,
        headers: Headers,
    ) -> Iterator[str]:
        content = response.get("content")
        if content is None:
            if exchange.body:
                yield "the answer must not have a body"
            if "content-type" in headers:
                yield "the answer has no body and so no media type"
        else:
            yield from self._declared_content_violations(exchange, content, headers)

    def _declared_content_violations(
        self,
        exchange: Exchange,
        content: Node,
        headers: Headers,
    ) -> Iterator[str]:
        media_types = headers.get("content-type", ["(none)"])
        media_type = media_types[0]
        if len(media_types) != 1 or media_type not in content:
            yield f"the media type is {media_types}, expected {' or '.join(content)}"
            return
        if _is_bodiless_head(exchange):
            return
        size = len(exchange.body)
        length = headers.get("content-length")
        if length is not None and length != [str(size)]:
            yield f"content-length is {length} for {size} bytes"
        if media_type.endswith("json"):
            schema = content[media_type]["schema"]
            yield from self._body_violations(schema["$ref"], exchange)

    def _body_violations(self, reference: str, exchange: Exchange) -> Iterator[str]:
        try:
            value = _read_json(exchange.body)
        except ValueError as error:
            yield f"the body is not JSON: {error}"
            return
        validator = self.validator(reference)
        if validator.is_valid(value):  # in a tenth of the time
            return
        for violation in validator.iter_errors(value):
            steps = [str(step) for step in violation.instance_path]
            path = "/".join(steps)
            yield f"/{path}: {violation.message}"

    def _problem_violations(
        self,
        exchange: Exchange,
        headers: Headers,
        codes: Sequence[str] | None,
    ) -> Iterator[str]:
        try:
            problem = _read_json(exchange.body)
        except ValueError:
            return
        if not isinstance(problem, dict):
            return
        status = problem.get("status")
        if status != exchange.status:
            yield f"the member status is {status}"
        request_id = problem.get("request_id")
        header = headers.get("request-id")
        if header != [request_id]:
            yield f"request_id is {request_id}, the header {header}"
        code = problem.get("code")
        if codes is None:
            codes = self._every_code()
        if code not in codes:
            yield f"the code {code} is not one of this answer's: {', '.join(codes)}"
        needs_operation = code == "resource_operation_in_progress"
        if needs_operation != ("active_operation_id" in problem):
            yield "active_operation_id belongs to resource_operation_in_progress alone"

    def _every_code(self) -> Sequence[str]:
        schema = self.resolve({"$ref": "#/components/schemas/ProblemCode"})
        codes: Sequence[str] = schema["enum"]
        return codes

    def resolve(self, node: Node) -> Node:
        while "$ref" in node:
            target: Any = self._document
            path = node["$ref"].removeprefix("#/")
            for step in path.split("/"):
                target = target[step]
            node = target
        return node


class ControlChecker(ContractChecker):
    """Judges the control plane.

    Any operation may answer with any problem, and the door asks for the control token.
    """

    undeclared_statuses = frozenset(range(400, 600))
    door_statuses = DOOR_STATUSES | {401}


def closed(document: Node) -> dict[str, Any]:
    """Return the contract's schemas with every object closed that is not open by itself.

    What is a part of others, in their `allOf`, stays open by itself.
    """
    schemas = document["components"]["schemas"]
    part_names: set[str] = set()
    for schema in schemas.values():
        for part in schema.get("allOf", ()):
            reference = part.get("$ref", "")
            _, _, name = reference.rpartition("/")
            part_names.add(name)
    closed_schemas: dict[str, Any] = {}
    for name, schema in schemas.items():
        is_part = name in part_names
        closed_schemas[name] = _closed_schema(schema, is_part)
    return {"components": {"schemas": closed_schemas}}


UNCHECKED_KEYS = frozenset(
    {
        "default",
        "example",
        "examples",
        "discriminator",
    }
)
"""Keys of a schema that say nothing of what is valid."""


def _closed_schema(schema: Any, is_part: bool = False) -> Any:
    if isinstance(schema, list):
        return [_closed_schema(item, is_part) for item in schema]
    if not isinstance(schema, dict):
        return schema
    result: dict[str, Any] = {}
    for key, value in schema.items():
        if key in UNCHECKED_KEYS:
            continue
        if key == "properties":
            result[key] = {name: _closed_schema(value[name]) for name in value}
        else:
            result[key] = _closed_schema(value, is_part=key == "allOf")
    describes_fields = schema.keys() & {"properties", "allOf"}
    if describes_fields and not is_part and "additionalProperties" not in schema:
        result["unevaluatedProperties"] = False
    return result


def _pattern_of(path: str) -> re.Pattern[str]:
    """Return what matches a path whose parameters have any values."""
    pattern = re.sub(r"\{\w+}", "[^/]+", path)
    return re.compile(pattern)


def _allows_rightly(exchange: Exchange, headers: Headers) -> bool:
    is_wrong_method = exchange.status == 405
    has_header = "allow" in headers
    return is_wrong_method == has_header


def _is_bodiless_head(exchange: Exchange) -> bool:
    return exchange.method == "HEAD" and not exchange.body


def _by_name(headers: Sequence[tuple[str, str]]) -> dict[str, list[str]]:
    by_name: dict[str, list[str]] = {}
    for name, value in headers:
        values = by_name.setdefault(name.lower(), [])
        values.append(value)
    return by_name


@lru_cache(maxsize=1)
def _read_json(body: bytes) -> Any:
    """Read a body, which several checks look at. Raises ValueError."""
    text = body.decode("utf-8")
    return json.loads(text, object_pairs_hook=unique_keys)


def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object whose keys all differ. Raises ValueError."""
    fields = dict(pairs)
    if len(fields) != len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"a key comes twice in {names}")
    return fields


@cache
def shipped_checker(*, is_closed: bool = True) -> ContractChecker:
    file = Path(__file__).with_name("stricter.yaml")
    text = file.read_text(encoding="utf-8")
    stricter = yaml.safe_load(text)
    document = _laid_over(read_contract("openapi.yaml"), stricter)
    return ContractChecker(document, is_closed=is_closed)


def _laid_over(under: Any, over: Any) -> Any:
    """Return a document with another laid over it.

    Objects are merged, lists added up, and other values replaced.
    """
    if isinstance(under, dict) and isinstance(over, dict):
        merged = dict(under)
        for key, value in over.items():
            merged[key] = _laid_over(under.get(key), value)
        return merged
    if isinstance(under, list):
        return under + over
    return over


@cache
def read_contract(name: str) -> Any:
    """Return a document of the contract, which nobody changes."""
    file = ROOT / "contract" / name
    text = file.read_text(encoding="utf-8")
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return yaml.load(text, Loader=loader)


def _statuses() -> dict[str, int]:
    """Return the status of each problem code, by the examples of the contract."""
    statuses: dict[str, int] = {}
    examples = read_contract("openapi.yaml")["components"]["examples"]
    for name, example in examples.items():
        fields = example["value"]
        if "status" in fields and "code" in fields:
            statuses[name] = fields["status"]
    return statuses


STATUSES: Mapping[str, int] = _statuses()
"""Each problem code with its status; 405 and 413 have invalid_request (D03, D06)."""
