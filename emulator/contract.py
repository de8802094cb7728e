"""The machine-readable contract at run time: which operations exist, what they take, which answers they may give.

Reads `contract/openapi.yaml`, and nothing but it, so that code and contract cannot drift apart. Must not know what the
operations do, nor how a violation is answered.
"""

import dataclasses
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from emulator.documents import shipped_document
from emulator.domain.problems import count_of, pointer

DOCUMENT = "contract/openapi.yaml"
BASE_PATH = "/v1"
"""What the paths of the operations begin with, on every server."""
IDEMPOTENCY_KEY = "Idempotency-Key"
_METHODS = ("get", "post", "patch", "put", "delete")
_URN = "urn:contract"
_SHOWN_UNKNOWN = 50
"""How many unknown fields of one object are told of."""


@dataclass(frozen=True, slots=True)
class QueryParameter:
    """A query parameter: a whole number within bounds, one of a set of words, or any text."""

    name: str
    is_integer: bool
    minimum: int
    maximum: int
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OperationContract:
    """What the contract says of one operation."""

    id: str
    method: str
    path: str
    query: Mapping[str, QueryParameter]
    body: str | None
    """The name of its body's schema; None for an operation that takes no body."""
    is_idempotent: bool
    codes: Mapping[int, frozenset[str]]
    """By declared status, the problem codes that it can carry; 0 stands for the default response."""
    statuses: frozenset[int]

    @property
    def success(self) -> int:
        """The status of its success; of two (a PATCH that may admit work) the immediate one."""
        return min(self.statuses)

    @property
    def all_codes(self) -> frozenset[str]:
        """Every problem code that this operation can return at a status it declares, and internal_error."""
        return frozenset({"internal_error"}).union(*(codes for status, codes in self.codes.items() if status))


@dataclass(frozen=True, slots=True)
class Violation:
    """One way in which a body breaks the contract: a JSON Pointer, what is there, what should be."""

    where: str
    found: Any
    expected: str
    is_unknown: bool = False
    """Whether it is a field that must not be there at all."""

    @property
    def remedy(self) -> str:
        """What to change, as an order."""
        if self.is_unknown:
            return f"leave out {self.where}"
        if self.found is MISSING:
            wanted = "" if self.expected == _REQUIRED else f", {self.expected}"
            return f"add {self.where}{wanted}"
        verb = "have" if _IS_PART.search(self.expected) else "be"
        return f"let {self.where or 'the body'} {verb} {self.expected}"


_REQUIRED = "this required field"
_IS_PART = re.compile("^a character|(items?|item twice|characters?|field to change)$")
"""Expectations of what a value has in it, not of what it is."""
MISSING = object()
"""What is found where a required field is not."""


class Contract:
    """The contract, with a validator for each body."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.document = document
        self.operations: Mapping[str, OperationContract] = {
            operation.id: operation for operation in self._read_operations()
        }
        self._validators: dict[str, Any] = {}

    @property
    def version(self) -> str:
        """The contract's own version (section 9)."""
        return str(self.document["info"]["version"])

    def facts(self) -> dict[str, frozenset[str]]:
        """Return by operation id the problem codes that it can return: what a scenario may ask of it."""
        return {operation.id: operation.all_codes for operation in self.operations.values()}

    def violations(self, schema_name: str, value: object, first_only: bool = False) -> list[Violation]:
        """Return the ways in which a value breaks a schema of the contract, or only the first that is found.

        To look for all takes 50 µs for each: ask for the first of a large value that a stranger made.
        """
        validator = self._validators.get(schema_name)
        if validator is None:
            validator = self._validators[schema_name] = self._validator(schema_name)
        if validator.is_valid(value):
            return []
        errors = [_first_error(validator, value)] if first_only else validator.iter_errors(value)
        found = [violation for error in errors for violation in self._explain(error)]
        return sorted(found, key=lambda violation: violation.where)

    @cached_property
    def _registry(self) -> Any:
        # Imported when the first body comes: 20 ms that a server which is starting need not spend.
        from jsonschema_rs import Draft202012, Registry

        return Registry([(_URN, self.document)], draft=Draft202012)

    def _validator(self, schema_name: str) -> Any:
        from jsonschema_rs import Draft202012Validator

        reference = {"$ref": f"{_URN}#/components/schemas/{schema_name}"}
        return Draft202012Validator(reference, registry=self._registry)

    def _explain(self, error: Any) -> list[Violation]:
        where = pointer(*error.instance_path)
        schema = self._schema_at(error.schema_path[:-1])
        details = error.kind.as_dict()
        if error.kind.name == "oneOf" and "discriminator" in schema:
            return self._explain_union(schema["discriminator"], where, error.instance)
        if error.kind.name == "required":
            return [Violation(where + pointer(details["property"]), MISSING, _REQUIRED)]
        if error.kind.name == "additionalProperties":
            known = ", ".join(schema.get("properties", ())) or "none"
            return [
                Violation(where + pointer(name), error.instance[name], f"only the fields {known}", is_unknown=True)
                for name in details["unexpected"][:_SHOWN_UNKNOWN]
            ]
        return [Violation(where, error.instance, _expectation(error.kind.name, schema))]

    def _explain_union(self, discriminator: Mapping[str, Any], where: str, value: Any) -> list[Violation]:
        """Say which branch was meant and what is wrong there, instead of that no branch fits."""
        name, mapping = discriminator["propertyName"], discriminator["mapping"]
        if not isinstance(value, dict):
            return [Violation(where, value, "an object")]
        branch = value.get(name)
        if not isinstance(branch, str) or branch not in mapping:
            return [Violation(where + pointer(name), value.get(name, MISSING), f"one of {', '.join(mapping)}")]
        inner = self.violations(mapping[branch].rpartition("/")[2], value)
        return [dataclasses.replace(violation, where=where + violation.where) for violation in inner]

    def _schema_at(self, steps: Sequence[str | int]) -> Mapping[str, Any]:
        node: Any = self.document
        for step in steps:
            node = node[step]
        return node if isinstance(node, dict) else {}

    def _resolve(self, node: Mapping[str, Any]) -> Mapping[str, Any]:
        while "$ref" in node:
            node = self._schema_at(node["$ref"].removeprefix("#/").split("/"))
        return node

    def _read_operations(self) -> Iterator[OperationContract]:
        for path, item in self.document["paths"].items():
            for method in _METHODS:
                if method in item:
                    yield self._read_operation(method, path, item[method], item.get("parameters", ()))

    def _read_operation(
        self, method: str, path: str, operation: Mapping[str, Any], shared: Sequence[Mapping[str, Any]]
    ) -> OperationContract:
        parameters = [self._resolve(parameter) for parameter in (*shared, *operation.get("parameters", ()))]
        body = (
            self._resolve(operation["requestBody"])["content"]["application/json"]
            if "requestBody" in operation
            else None
        )
        codes = {
            0 if status == "default" else int(status): frozenset(self._problem_codes(response))
            for status, response in operation["responses"].items()
        }
        return OperationContract(
            id=operation["operationId"],
            method=method.upper(),
            path=path,
            query={
                parameter["name"]: self._read_query_parameter(parameter)
                for parameter in parameters
                if parameter["in"] == "query"
            },
            body=body["schema"]["$ref"].rpartition("/")[2] if body else None,
            is_idempotent=any(parameter["name"] == IDEMPOTENCY_KEY for parameter in parameters),
            codes={status: found for status, found in codes.items() if found},
            statuses=frozenset(codes) - {0},
        )

    def _problem_codes(self, response: Mapping[str, Any]) -> Sequence[str]:
        codes: Sequence[str] = response.get("x-problem-codes") or self._resolve(response).get("x-problem-codes", ())
        return codes

    def _read_query_parameter(self, parameter: Mapping[str, Any]) -> QueryParameter:
        schema = self._resolve(parameter["schema"])
        return QueryParameter(
            name=parameter["name"],
            is_integer=schema["type"] == "integer",
            minimum=schema.get("minimum", 0),
            maximum=schema.get("maximum", 0),
            words=tuple(schema.get("enum", ())),
        )


def _first_error(validator: Any, value: object) -> Any:
    try:
        validator.validate(value)
    except ValueError as error:
        return error
    raise AssertionError("a value that is not valid has an error")


_TYPES = {
    "string": "a string",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "object": "an object",
    "array": "an array",
    "null": "null",
}
_COUNTED = {"minItems": ("at least", "item"), "maxItems": ("at most", "item"), "minLength": ("at least", "character")}
_EXPECTATIONS = {
    "const": "{}",
    "uniqueItems": "no item twice",
    "minimum": "at least {}",
    "maximum": "at most {}",
    "minProperties": "at least {} field to change",
}


def _expectation(keyword: str, schema: Mapping[str, Any]) -> str:
    """Say in words what a keyword of a schema asks for."""
    limit = schema.get(keyword)
    if keyword == "type":
        return " or ".join(_TYPES[name] for name in (limit if isinstance(limit, list) else [str(limit)]))
    if keyword == "enum":
        return "one of " + ", ".join(map(str, limit or ()))
    if keyword == "pattern":
        return "a character that is not white space" if limit == r"\S" else f"text that matches {limit}"
    if keyword in _COUNTED and isinstance(limit, int):
        bound, noun = _COUNTED[keyword]
        return f"{bound} {count_of(limit, noun)}"
    return _EXPECTATIONS.get(keyword, f"what the contract's {keyword} allows").format(limit)


def load_contract() -> Contract:
    """Read the contract that this installation ships."""
    return Contract(shipped_document(DOCUMENT))
