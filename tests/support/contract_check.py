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

ROOT = Path(__file__).parents[2]
METHODS = ("get", "post", "patch", "put", "delete")
UNDECLARED_STATUSES = frozenset({400, 403, 405, 413, 500})
"""What the default response stands for on a known path (D03, D06, D69).

404 comes only on an unknown one.
"""
DOOR_STATUSES = frozenset({400, 403})
"""Those by which a host or a site is refused, whatever the path (D69)."""
TELLING_HEADERS = frozenset({"location", "retry-after", "allow", "www-authenticate"})
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

    def __init__(self, header: Mapping[str, Any]) -> None:
        self.is_required = bool(header.get("required"))
        self._is_integer = header["schema"].get("type") == "integer"
        self._validator = jsonschema_rs.Draft202012Validator(
            dict(header["schema"]),
            validate_formats=True,
        )

    def accepts(self, text: str) -> bool:
        if not self._is_integer:
            return self._validator.is_valid(text)
        return text.isdigit() and self._validator.is_valid(int(text))


class ContractChecker:
    undeclared_statuses = UNDECLARED_STATUSES
    """Those that an operation may answer with by its default response."""
    door_statuses = DOOR_STATUSES

    def __init__(self, document: Mapping[str, Any], *, is_closed: bool = True) -> None:
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
        self._validators: dict[str, jsonschema_rs.Draft202012Validator] = {}
        """By reference to a schema."""
        self._declared_headers: dict[int, dict[str, DeclaredHeader]] = {}
        """The headers of each response by lower-case name.

        The responses are known by their identity in the document.
        """
        literal_first = sorted(document["paths"], key=lambda path: "{" in path)
        self._paths: list[tuple[re.Pattern[str], Mapping[str, Any]]] = [
            (_pattern_of(path), document["paths"][path]) for path in literal_first
        ]

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
        if (exchange.status == 405) != ("allow" in headers):
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
    ) -> tuple[Mapping[str, Any] | None, bool]:
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

    def operations(self) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
        for path, item in self._document["paths"].items():
            for method in METHODS:
                if method in item:
                    yield method.upper(), path, item[method]

    def body_schema(self, operation_id: str) -> Mapping[str, Any]:
        by_id = {
            operation["operationId"]: operation for _, _, operation in self.operations()
        }
        content = by_id[operation_id]["requestBody"]["content"]
        return self.resolve(content["application/json"]["schema"])

    def validator(self, reference: str) -> jsonschema_rs.Draft202012Validator:
        if reference not in self._validators:
            self._validators[reference] = jsonschema_rs.Draft202012Validator(
                {"$ref": _URN + reference},
                registry=self._registry,
                validate_formats=True,
            )
        return self._validators[reference]

    def _path_item(self, path: str) -> Mapping[str, Any] | None:
        path = re.sub("^(/docs)/.*", r"\1/page", path)  # the name of a page has folders
        for pattern, item in self._paths:
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
            codes = response.get("x-problem-codes")
            if not codes:
                yield "the contract declares no problem codes for this answer"
            yield from self._problem_violations(exchange, headers, codes or ())

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
        if str(exchange.status) not in responses and exchange.status not in by_default:
            yield f"the status is not declared: {', '.join(responses)}"

    def _response_to(self, exchange: Exchange) -> Mapping[str, Any]:
        """Return the response of the contract that the answer must follow."""
        operation, _ = self.operation_of(exchange.method, exchange.path)
        if operation is None:
            return self.resolve({"$ref": "#/components/responses/Unexpected"})
        responses = operation["responses"]
        return self.resolve(responses.get(str(exchange.status)) or responses["default"])

    def _header_violations(
        self,
        exchange: Exchange,
        response: Mapping[str, Any],
        headers: Headers,
    ) -> Iterator[str]:
        yield from self._declared_header_violations(response, headers)
        undeclared = headers.keys() - self._headers_of(response).keys()
        for name in undeclared & TELLING_HEADERS:
            yield f"header {name} is not declared for this answer"
        if exchange.status in (429, 503) and "retry-after" not in headers:
            yield "header retry-after is missing"
        if (exchange.status == 405) != ("allow" in headers):
            yield "header allow belongs to 405, and to it alone"

    def _declared_header_violations(
        self,
        response: Mapping[str, Any],
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

    def _headers_of(self, response: Mapping[str, Any]) -> Mapping[str, DeclaredHeader]:
        identity = id(response)
        if identity not in self._declared_headers:
            declared: dict[str, DeclaredHeader] = {}
            for name, reference in response.get("headers", {}).items():
                header = self.resolve(reference)
                declared[name.lower()] = DeclaredHeader(header)
            self._declared_headers[identity] = declared
        return self._declared_headers[identity]

    def _content_violations(
        self,
        exchange: Exchange,
        response: Mapping[str, Any],
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
        content: Mapping[str, Any],
        headers: Headers,
    ) -> Iterator[str]:
        media_type = headers.get("content-type", ["(none)"])
        if len(media_type) != 1 or media_type[0] not in content:
            yield f"the media type is {media_type}, expected {' or '.join(content)}"
            return
        if _is_bodiless_head(exchange):
            return
        length = headers.get("content-length")
        if length is not None and length != [str(len(exchange.body))]:
            yield f"content-length is {length} for {len(exchange.body)} bytes"
        if media_type[0].endswith("json"):
            schema = content[media_type[0]]["schema"]
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
            path = "/".join(map(str, violation.instance_path))
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
            codes = self._document["components"]["schemas"]["ProblemCode"]["enum"]
        if code not in codes:
            yield f"the code {code} is not one of this answer's: {', '.join(codes)}"
        needs_operation = code == "resource_operation_in_progress"
        if needs_operation != ("active_operation_id" in problem):
            yield "active_operation_id belongs to resource_operation_in_progress alone"

    def resolve(self, node: Mapping[str, Any]) -> Mapping[str, Any]:
        while "$ref" in node:
            target: Any = self._document
            for step in node["$ref"].removeprefix("#/").split("/"):
                target = target[step]
            node = target
        return node


class ControlChecker(ContractChecker):
    """Judges the control plane.

    Any operation may answer with any problem, and the door asks for the control token.
    """

    undeclared_statuses = frozenset(range(400, 600))
    door_statuses = DOOR_STATUSES | {401}


def closed(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the contract's schemas with every object closed that is not open by itself.

    What is a part of others, in their `allOf`, stays open by itself.
    """
    schemas = document["components"]["schemas"]
    part_names: set[str] = set()
    for schema in schemas.values():
        for part in schema.get("allOf", ()):
            reference = part.get("$ref", "")
            part_names.add(reference.rpartition("/")[2])
    closed_schemas: dict[str, Any] = {}
    for name, schema in schemas.items():
        closed_schemas[name] = _closed_schema(schema, is_part=name in part_names)
    return {"components": {"schemas": closed_schemas}}


UNCHECKED_KEYS = frozenset({"default", "example", "examples", "discriminator"})
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
            result[key] = {name: _closed_schema(inner) for name, inner in value.items()}
        else:
            result[key] = _closed_schema(value, is_part=key == "allOf")
    describes_fields = schema.keys() & {"properties", "allOf"}
    if describes_fields and not is_part and "additionalProperties" not in schema:
        result["unevaluatedProperties"] = False
    return result


def _pattern_of(path: str) -> re.Pattern[str]:
    """Return what matches a path whose parameters have any values."""
    return re.compile(re.sub(r"\{\w+}", "[^/]+", path))


def _is_bodiless_head(exchange: Exchange) -> bool:
    return exchange.method == "HEAD" and not exchange.body


def _by_name(headers: Sequence[tuple[str, str]]) -> dict[str, list[str]]:
    values: dict[str, list[str]] = {}
    for name, value in headers:
        values.setdefault(name.lower(), []).append(value)
    return values


@lru_cache(maxsize=1)
def _read_json(body: bytes) -> Any:
    """Read a body, which several checks look at. Raises ValueError."""
    return json.loads(body.decode("utf-8"), object_pairs_hook=unique_keys)


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
    stricter = yaml.safe_load(file.read_text(encoding="utf-8"))
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
    text = (ROOT / "contract" / name).read_text(encoding="utf-8")
    return yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))


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
