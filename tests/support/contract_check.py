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


class ContractChecker:
    undeclared_statuses = UNDECLARED_STATUSES
    """Those that an operation may answer with by its default response."""
    door_statuses = DOOR_STATUSES

    def __init__(self, document: Mapping[str, Any], *, is_closed: bool = True) -> None:
        """With `is_closed`, objects must have no field that the contract does not name.

        The contract allows such fields by itself.
        """
        self._document = document
        self._registry = jsonschema_rs.Registry(
            [(_URN, closed(document) if is_closed else dict(document))],
            draft=jsonschema_rs.Draft202012,
        )
        self._validators: dict[str, Any] = {}
        """By reference to a schema."""
        self._declared_headers: dict[int, dict[str, tuple[Mapping[str, Any], Any]]] = {}
        """The headers of each response by lower-case name, each with its validator.

        The responses are known by their identity in the document.
        """
        literal_first = sorted(
            document["paths"].items(),
            key=lambda path: "{" in path[0],
        )
        self._paths = [
            (re.compile(re.sub(r"\{\w+}", "[^/]+", path)), item)
            for path, item in literal_first
        ]

    def check(self, exchange: Exchange) -> None:
        violations = list(self._violations(exchange))
        if violations:
            body = exchange.body[:2000].decode("utf-8", "replace")
            lines = "\n".join(f"  - {line}" for line in violations)
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
            (item for pattern, item in self._paths if pattern.fullmatch(path)),
            None,
        )

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
            expected = 405 if is_known_path else 404
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
        for name in (
            TELLING_HEADERS & headers.keys() - self._headers_of(response).keys()
        ):
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
        for name, (header, validator) in self._headers_of(response).items():
            values = headers.get(name, [])
            if len(values) > 1:
                yield f"header {name} comes {len(values)} times"
            elif not values and header.get("required"):
                yield f"header {name} is missing"
            elif values and not _fits(validator, header["schema"], values[0]):
                yield f"header {name} is {values[0]!r}, which its schema refuses"

    def _headers_of(
        self,
        response: Mapping[str, Any],
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
                        dict(header["schema"]),
                        validate_formats=True,
                    ),
                )
                for name, header in headers.items()
            }
        return found

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
        if problem.get("status") != exchange.status:
            yield f"the member status is {problem.get('status')}"
        if [problem.get("request_id")] != headers.get("request-id"):
            header = headers.get("request-id")
            yield f"request_id is {problem.get('request_id')}, the header {header}"
        code = problem.get("code")
        if codes is None:
            codes = self._document["components"]["schemas"]["ProblemCode"]["enum"]
        if code not in codes:
            yield f"the code {code} is not one of this answer's: {', '.join(codes)}"
        if (code == "resource_operation_in_progress") != (
            "active_operation_id" in problem
        ):
            yield "active_operation_id belongs to resource_operation_in_progress alone"

    def resolve(self, node: Mapping[str, Any]) -> Mapping[str, Any]:
        while "$ref" in node:
            found: Any = self._document
            for step in node["$ref"].removeprefix("#/").split("/"):
                found = found[step]
            node = found
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
    parts: set[str] = set()
    for schema in schemas.values():
        references = [part.get("$ref", "") for part in schema.get("allOf", ())]
        parts.update(reference.rpartition("/")[2] for reference in references)
    closed_schemas = {
        name: _closed_schema(schema, name in parts) for name, schema in schemas.items()
    }
    return {"components": {"schemas": closed_schemas}}


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


def _is_bodiless_head(exchange: Exchange) -> bool:
    return exchange.method == "HEAD" and not exchange.body


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
        _laid_over(read_contract("openapi.yaml"), stricter),
        is_closed=is_closed,
    )


def _laid_over(under: Any, over: Any) -> Any:
    """Return a document with another laid over it.

    Objects are merged, lists added up, and other values replaced.
    """
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
"""Each problem code with its status; 405 and 413 have invalid_request (D03, D06)."""
