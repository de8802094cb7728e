"""Holds an answer of the service against `contract/openapi.yaml`, as strictly as it can be read.

Owns one question: may this operation answer so? Knows the contract and nothing of the emulator, so that it can judge
any server. Stricter than a client may be, since the contract promises no more than the specification: fields that are
not declared are refused, and what the emulator sends beyond its promises is as `stricter.yaml` says.
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
"""What the default response stands for on a known path (D03, D06, D69); 404 only on an unknown one."""
DOOR_STATUSES = frozenset({400, 403})
"""Those by which a host or a site is refused, whatever the path (D69)."""
TELLING_HEADERS = frozenset({"location", "retry-after", "allow", "www-authenticate"})
"""Headers that promise something: they may come only where the contract declares them."""
_URN = "urn:closed-contract"
Headers = Mapping[str, list[str]]
"""Values by name."""


class ContractViolationError(AssertionError):
    """An answer that the contract does not allow; its text lists all that is wrong with it."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request and its answer: `path` is relative to the base URL and has no query; header names in any case."""

    method: str
    path: str
    status: int
    headers: Sequence[tuple[str, str]]
    body: bytes


class ContractChecker:
    undeclared_statuses = UNDECLARED_STATUSES
    """Those that an operation may answer with by its default response."""
    door_statuses = DOOR_STATUSES

    def __init__(self, document: Mapping[str, Any], *, is_closed: bool = True) -> None:
        """With `is_closed`, objects must have no field that the contract does not name; it allows them by itself."""
        self._document = document
        self._registry = jsonschema_rs.Registry(
            [(_URN, closed(document) if is_closed else dict(document))],
            draft=jsonschema_rs.Draft202012,
        )
        self._validators: dict[str, Any] = {}
        """By reference to a schema."""
        self._declared_headers: dict[int, dict[str, tuple[Mapping[str, Any], Any]]] = {}
        """By identity of a response of the document: its headers by lower-case name, each with its validator."""
        literal_first = sorted(
            document["paths"].items(), key=lambda path: "{" in path[0]
        )
        self._paths = [
            (re.compile(re.sub(r"\{\w+}", "[^/]+", path)), item)
            for path, item in literal_first
        ]

    def check(self, exchange: Exchange) -> None:
        found = list(self._violations(exchange))
        if found:
            shown = exchange.body[:2000].decode("utf-8", "replace")
            lines = "\n".join(f"  - {line}" for line in found)
            raise ContractViolationError(
                f"{exchange.method} {exchange.path} answered {exchange.status}, which breaks the contract:\n{lines}\n"
                f"  headers: {dict(exchange.headers)}\n  body: {shown}"
            )

    def check_problem(self, exchange: Exchange) -> None:
        """Accept a problem of a surface that the contract does not list (direct uploads, files)."""
        headers = _by_name(exchange.headers)
        found = list(self._body_violations("#/components/schemas/Problem", exchange))
        found += self._problem_violations(exchange, headers, None)
        if (exchange.status == 405) != ("allow" in headers):
            found.append("header allow belongs to 405, and to it alone")
        if headers.get("content-type") != ["application/problem+json"]:
            found.append(f"the media type is {headers.get('content-type')}")
        if found:
            raise ContractViolationError(
                f"{exchange.method} {exchange.path}: {found}\n  {exchange.body!r}"
            )

    def operation_of(
        self, method: str, path: str
    ) -> tuple[Mapping[str, Any] | None, bool]:
        """Return the operation of a method and path (None if there is none), and whether the path is known."""
        item = self._path_item(path)
        if item is None:
            return None, False
        name = method.lower()
        operation: Mapping[str, Any] | None = (
            item.get(name) if name in METHODS and method == name.upper() else None
        )
        return operation, True

    def operations(self) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
        for path, item in self._document["paths"].items():
            for method in METHODS:
                if method in item:
                    yield method.upper(), path, item[method]

    def body_schema(self, operation_id: str) -> Mapping[str, Any]:
        (operation,) = [
            one for _, _, one in self.operations() if one["operationId"] == operation_id
        ]
        return self.resolve(
            operation["requestBody"]["content"]["application/json"]["schema"]
        )

    def validator(self, reference: str) -> jsonschema_rs.Draft202012Validator:
        found = self._validators.get(reference)
        if found is None:
            found = self._validators[reference] = jsonschema_rs.Draft202012Validator(
                {"$ref": _URN + reference},
                registry=self._registry,
                validate_formats=True,
            )
        return found

    def _path_item(self, path: str) -> Mapping[str, Any] | None:
        path = re.sub("^(/docs)/.*", r"\1/page", path)  # the name of a page has folders
        return next(
            (item for pattern, item in self._paths if pattern.fullmatch(path)), None
        )

    def _violations(self, exchange: Exchange) -> Iterator[str]:
        operation, is_known_path = self.operation_of(exchange.method, exchange.path)
        headers = _by_name(exchange.headers)
        if operation is None:
            expected = 405 if is_known_path else 404
            if exchange.status not in {expected, *self.door_statuses}:
                yield f"the status must be {expected}: there is no such operation"
            response = self.resolve({"$ref": "#/components/responses/Unexpected"})
        else:
            declared = operation["responses"].get(str(exchange.status))
            if declared is None and exchange.status not in self.undeclared_statuses - {
                405
            }:
                yield f"the status is not declared: {', '.join(operation['responses'])}"
            response = self.resolve(declared or operation["responses"]["default"])
        yield from self._header_violations(exchange, response, headers)
        yield from self._content_violations(exchange, response, headers)

        if exchange.status >= 400 and not (
            exchange.method == "HEAD" and not exchange.body
        ):
            codes = response.get("x-problem-codes")
            if not codes:
                yield "the contract declares no problem codes for this answer"
            yield from self._problem_violations(exchange, headers, codes or ())

    def _header_violations(
        self, exchange: Exchange, response: Mapping[str, Any], headers: Headers
    ) -> Iterator[str]:
        declared = self._headers_of(response)
        for name, (header, validator) in declared.items():
            values = headers.get(name, [])
            if len(values) > 1:
                yield f"header {name} comes {len(values)} times"
            elif not values and header.get("required"):
                yield f"header {name} is missing"
            elif values and not _fits(validator, header["schema"], values[0]):
                yield f"header {name} is {values[0]!r}, which its schema refuses"
        for name in TELLING_HEADERS & headers.keys() - declared.keys():
            yield f"header {name} is not declared for this answer"
        if exchange.status in (429, 503) and "retry-after" not in headers:
            yield "header retry-after is missing"
        if (exchange.status == 405) != ("allow" in headers):
            yield "header allow belongs to 405, and to it alone"

    def _headers_of(
        self, response: Mapping[str, Any]
    ) -> Mapping[str, tuple[Mapping[str, Any], Any]]:
        found = self._declared_headers.get(id(response))
        if found is None:
            headers = {
                name.lower(): self.resolve(header)
                for name, header in response.get("headers", {}).items()
            }
            found = self._declared_headers[id(response)] = {
                name: (
                    header,
                    jsonschema_rs.Draft202012Validator(
                        dict(header["schema"]), validate_formats=True
                    ),
                )
                for name, header in headers.items()
            }
        return found

    def _content_violations(
        self, exchange: Exchange, response: Mapping[str, Any], headers: Headers
    ) -> Iterator[str]:
        content = response.get("content")
        length = headers.get("content-length")
        if content is None:
            if exchange.body:
                yield "the answer must not have a body"
            if "content-type" in headers:
                yield "the answer has no body and so no media type"
            return
        media_type = headers.get("content-type", ["(none)"])
        if len(media_type) != 1 or media_type[0] not in content:
            yield f"the media type is {media_type}, expected {' or '.join(content)}"
            return
        if exchange.method == "HEAD" and not exchange.body:
            return
        if length is not None and length != [str(len(exchange.body))]:
            yield f"content-length is {length} for {len(exchange.body)} bytes"
        if media_type[0].endswith("json"):
            yield from self._body_violations(
                content[media_type[0]]["schema"]["$ref"], exchange
            )

    def _body_violations(self, reference: str, exchange: Exchange) -> Iterator[str]:
        try:
            value = _read_json(exchange.body)
        except ValueError as error:
            yield f"the body is not JSON: {error}"
            return
        validator = self.validator(reference)
        for violation in (
            () if validator.is_valid(value) else validator.iter_errors(value)
        ):
            yield (
                "/"
                + "/".join(map(str, violation.instance_path))
                + ": "
                + violation.message
            )

    def _problem_violations(
        self, exchange: Exchange, headers: Headers, codes: Sequence[str] | None
    ) -> Iterator[str]:
        try:
            problem = _read_json(exchange.body)
        except ValueError:
            return
        if not isinstance(problem, dict):
            return
        if problem.get("status") != exchange.status:
            yield f"the member status is {problem.get('status')}"
        if [problem.get("request_id")] != headers.get("request-id"):
            yield f"request_id is {problem.get('request_id')}, the header Request-Id {headers.get('request-id')}"
        code = problem.get("code")
        codes = (
            self._document["components"]["schemas"]["ProblemCode"]["enum"]
            if codes is None
            else codes
        )
        if code not in codes:
            yield f"the code {code} is not one of this answer's: {', '.join(codes)}"
        if (code == "resource_operation_in_progress") != (
            "active_operation_id" in problem
        ):
            yield "active_operation_id belongs to resource_operation_in_progress, and to it alone"

    def resolve(self, node: Mapping[str, Any]) -> Mapping[str, Any]:
        while "$ref" in node:
            found: Any = self._document
            for step in node["$ref"].removeprefix("#/").split("/"):
                found = found[step]
            node = found
        return node


class ControlChecker(ContractChecker):
    """Judges the control plane: any operation may answer with any problem, and the door asks for the control token."""

    undeclared_statuses = frozenset(range(400, 600))
    door_statuses = DOOR_STATUSES | {401}


def closed(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the contract's schemas with every object closed that does not say that it is open.

    What is a part of others, in their `allOf`, stays open by itself.
    """
    schemas = document["components"]["schemas"]
    references = (
        part.get("$ref", "")
        for schema in schemas.values()
        for part in schema.get("allOf", ())
    )
    parts = {reference.rpartition("/")[2] for reference in references}
    return {
        "components": {
            "schemas": {
                name: _closed_schema(schemas[name], name in parts) for name in schemas
            }
        }
    }


def _closed_schema(schema: Any, is_part: bool = False) -> Any:
    if isinstance(schema, list):
        return [_closed_schema(item, is_part) for item in schema]
    if not isinstance(schema, dict):
        return schema
    result = {
        key: {name: _closed_schema(inner) for name, inner in value.items()}
        if key == "properties"
        else _closed_schema(value, is_part=key == "allOf")
        for key, value in schema.items()
        if key not in ("default", "example", "examples", "discriminator")
    }
    if (
        schema.keys() & {"properties", "allOf"}
        and "additionalProperties" not in schema
        and not is_part
    ):
        result["unevaluatedProperties"] = False
    return result


def _by_name(headers: Sequence[tuple[str, str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, value in headers:
        found.setdefault(name.lower(), []).append(value)
    return found


def _fits(validator: Any, schema: Mapping[str, Any], text: str) -> bool:
    if schema.get("type") != "integer":
        return bool(validator.is_valid(text))
    return text.isdigit() and bool(validator.is_valid(int(text)))


@lru_cache(maxsize=1)
def _read_json(body: bytes) -> Any:
    """Read a body, which several checks look at. Raises ValueError."""
    return json.loads(body.decode("utf-8"), object_pairs_hook=unique_keys)


def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object whose keys all differ. Raises ValueError."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError(f"a key comes twice in {[name for name, _ in pairs]}")
    return found


@cache
def shipped_checker(*, is_closed: bool = True) -> ContractChecker:
    stricter = yaml.safe_load(
        Path(__file__).with_name("stricter.yaml").read_text(encoding="utf-8")
    )
    return ContractChecker(
        _laid_over(read_contract("openapi.yaml"), stricter), is_closed=is_closed
    )


def _laid_over(under: Any, over: Any) -> Any:
    """Return a document with another laid over it: objects are merged, lists added up, and other values replaced."""
    if isinstance(under, dict) and isinstance(over, dict):
        return under | {
            key: _laid_over(under.get(key), value) for key, value in over.items()
        }
    return under + over if isinstance(under, list) else over


@cache
def read_contract(name: str) -> Any:
    """Return a document of the contract, which nobody changes."""
    text = (ROOT / "contract" / name).read_text(encoding="utf-8")
    return yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))


STATUSES: Mapping[str, int] = {
    name: example["value"]["status"]
    for name, example in read_contract("openapi.yaml")["components"]["examples"].items()
    if "status" in example["value"] and "code" in example["value"]
}
"""Each problem code, with its status. 405 and 413 come with invalid_request (D03, D06)."""
