"""The machine-readable contract at run time: which operations exist, what they take, which answers they may give.

Reads `contract/openapi.yaml`, and nothing but it, so that code and contract cannot drift apart. Must not know what the
operations do, nor how a violation is answered.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache, cached_property
from typing import Any, Literal

import msgspec
import orjson
from msgspec import Struct, convert

from image_workflow_emulator.documents.schemas import Schemas, Violation
from image_workflow_emulator.documents.shipped import shipped_document

DOCUMENT = "contract/openapi.yaml"
BASE_PATH = "/v1"
"""The beginning of every operation's path, on every server."""
IDEMPOTENCY_KEY = "Idempotency-Key"
_METHODS = ("get", "post", "patch", "put", "delete")

OperationKind = Literal["read", "list", "poll", "write"]
"""What an operation is. A list answers with pages of a collection, a poll with work that it may ask to read again."""


class QueryParameter(Struct, frozen=True):
    """A query parameter: a whole number within bounds, one of a set of words, or any text."""

    type: str
    minimum: int = 0
    maximum: int = 0
    enum: tuple[str, ...] = ()

    def unmet(self, value: str) -> str | None:
        """Return what the parameter expects, where a value is not that; None where it is."""
        if self.type == "integer":
            digits = (
                value.isascii()
                and value.isdecimal()
                and len(value) <= 9
                and value == str(int(value))
            )
            is_met = digits and self.minimum <= int(value) <= self.maximum
            return (
                None
                if is_met
                else f"a whole number from {self.minimum} to {self.maximum}"
            )
        return (
            f"one of {', '.join(self.enum)}"
            if self.enum and value not in self.enum
            else None
        )


class OperationContract(Struct, frozen=True):
    """What the contract says of one operation."""

    id: str
    kind: OperationKind
    method: str
    path: str
    query: Mapping[str, QueryParameter]
    body: str | None
    """The name of its body's schema; None for an operation that takes no body."""
    cost: str
    """The Credits that it takes from the Team, in words."""
    takes_key: bool
    """Whether it takes an Idempotency-Key."""
    codes: Mapping[int, frozenset[str]]
    """The problem codes that each declared status can carry; 0 stands for the default response."""
    statuses: frozenset[int]

    @property
    def is_write(self) -> bool:
        """Whether it may change something."""
        return self.kind == "write"

    @property
    def success(self) -> int:
        """The status of a success; where there are two (a PATCH that may admit work), the one without work."""
        return min(self.statuses)

    @property
    def all_codes(self) -> frozenset[str]:
        """Every problem code that this operation can return at a status it declares, and internal_error."""
        return frozenset({"internal_error"}).union(
            *(codes for status, codes in self.codes.items() if status)
        )


class Contract:
    """The contract, with a validator for each body."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.document = document
        self.version: str = document["info"]["version"]
        """The contract's own version (section 9)."""
        self.operations = {
            operation.id: operation for operation in self._read_operations()
        }

    @cached_property
    def _schemas(self) -> Schemas:
        schemas = enforcing_unique_items(self.document["components"]["schemas"])
        return Schemas({"components": {"schemas": schemas}}, formats={})

    def violations(
        self, schema_name: str, value: object, first_only: bool = False
    ) -> list[Violation]:
        """Return the ways in which a value breaks a schema of the contract, or only the first that is found."""
        return self._schemas.violations(
            f"#/components/schemas/{schema_name}", value, first_only
        )

    def schema_of_success(
        self, operation: OperationContract, status: int
    ) -> str | None:
        """Return the name of the schema of a success, also of an undeclared status; None for one without a body."""
        responses = self.document["paths"][operation.path][operation.method.lower()][
            "responses"
        ]
        return self._body_schema(
            responses.get(str(status)) or responses[str(operation.success)]
        )

    def _body_schema(self, node: Mapping[str, Any]) -> str | None:
        """Return the name of the schema of the JSON that a request or an answer has; None where it has none."""
        content = self._resolve(node).get("content", {}).get("application/json", {})
        schema: str = content.get("schema", {}).get("$ref", "")
        return schema.rpartition("/")[2] or None

    def _resolve(self, node: Mapping[str, Any]) -> Mapping[str, Any]:
        """Follow references within the document."""
        while "$ref" in node:
            target: Any = self.document
            for step in node["$ref"].removeprefix("#/").split("/"):
                target = target[step]
            node = target
        return node

    def _read_operations(self) -> Iterator[OperationContract]:
        for path, item in self.document["paths"].items():
            for method in _METHODS:
                if method in item:
                    yield self._read_operation(
                        method, path, item[method], item.get("parameters", ())
                    )

    def _read_operation(
        self,
        method: str,
        path: str,
        operation: Mapping[str, Any],
        shared: Sequence[Mapping[str, Any]],
    ) -> OperationContract:
        parameters = [
            self._resolve(parameter)
            for parameter in (*shared, *operation.get("parameters", ()))
        ]
        query = {
            parameter["name"]: convert(
                self._resolve(parameter["schema"]), QueryParameter
            )
            for parameter in parameters
            if parameter["in"] == "query"
        }
        codes = {
            0 if status == "default" else int(status): frozenset(
                self._resolve(response).get("x-problem-codes", ())
            )
            for status, response in operation["responses"].items()
        }
        return OperationContract(
            id=operation["operationId"],
            kind=_kind_of(method, operation, query),
            method=method.upper(),
            path=path,
            query=query,
            body=self._body_schema(operation.get("requestBody", {})),
            cost=operation.get("x-service-credit-cost", "Free"),
            takes_key=any(
                parameter["name"] == IDEMPOTENCY_KEY for parameter in parameters
            ),
            codes={status: found for status, found in codes.items() if found},
            statuses=frozenset(codes) - {0},
        )


def _kind_of(
    method: str, operation: Mapping[str, Any], query: Collection[str]
) -> OperationKind:
    if method != "get":
        return "write"
    if "after" in query:
        return "list"
    return (
        "poll" if "Retry-After" in operation["responses"]["200"]["headers"] else "read"
    )


def enforcing_unique_items(node: Any) -> Any:
    """Return schemas in which `x-unique-items`, which client generators need, is the real keyword."""
    return orjson.loads(
        msgspec.json.encode(node).replace(b'"x-unique-items":', b'"uniqueItems":')
    )


@cache
def load_contract() -> Contract:
    """Return the contract that this installation ships, which never changes."""
    return Contract(shipped_document(DOCUMENT))
