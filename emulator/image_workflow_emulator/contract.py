"""The machine-readable contract at run time: which operations exist, what they take,
which answers they may give.

Reads `contract/openapi.yaml`, and nothing but it, so that code and contract cannot
drift apart. Must not know what the operations do, nor how a violation is answered.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache, cached_property
from typing import Any, Literal, TypeAlias

import msgspec
import orjson
from msgspec import Struct, convert

from image_workflow_emulator.documents.schemas import Schemas
from image_workflow_emulator.documents.shipped import shipped_document
from image_workflow_emulator.documents.violations import Violation

DOCUMENT = "contract/openapi.yaml"
BASE_PATH = "/v1"
"""The beginning of every operation's path, on every server."""
IDEMPOTENCY_KEY = "Idempotency-Key"
_METHODS = ("get", "post", "patch", "put", "delete")
_WHOLE_NUMBER = re.compile(r"0|[1-9]\d{0,8}", re.ASCII)

Node: TypeAlias = Mapping[str, Any]
"""An object in the document."""
OperationKind = Literal["read", "list", "poll", "write"]
"""What an operation is. A list answers with pages of a collection, a poll with work
that it may ask to read again."""


class QueryParameter(Struct, frozen=True):
    """A query parameter: a whole number within bounds, one of a set of words, or any
    text.
    """

    type: str
    minimum: int = 0
    maximum: int = 0
    enum: tuple[str, ...] = ()

    def unmet(self, value: str) -> str | None:
        """Return what the parameter expects, where a value is not that; None where it
        is.
        """
        if self.type == "integer":
            if self._is_within_bounds(value):
                return None
            return f"a whole number from {self.minimum} to {self.maximum}"
        if not self.enum or value in self.enum:
            return None
        return f"one of {', '.join(self.enum)}"

    def _is_within_bounds(self, value: str) -> bool:
        if not _WHOLE_NUMBER.fullmatch(value):
            return False
        return self.minimum <= int(value) <= self.maximum


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
    """The problem codes that each declared status can carry; 0 stands for the default
    response."""
    statuses: frozenset[int]

    @property
    def is_write(self) -> bool:
        """Whether it may change something."""
        return self.kind == "write"

    @property
    def success(self) -> int:
        """The status of a success; where there are two (a PATCH that may admit work),
        the one without work.
        """
        return min(self.statuses)

    @property
    def all_codes(self) -> frozenset[str]:
        """Every problem code that this operation can return at a status it declares,
        and internal_error.
        """
        codes = {"internal_error"}
        for status, codes_of_status in self.codes.items():
            if status:
                codes |= codes_of_status
        return frozenset(codes)


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
        self,
        schema_name: str,
        value: object,
        first_only: bool = False,
    ) -> list[Violation]:
        """Return the ways in which a value breaks a schema of the contract, or only the
        first that is found.
        """
        return self._schemas.violations(
            f"#/components/schemas/{schema_name}",
            value,
            first_only,
        )

    def schema_of_success(
        self,
        operation: OperationContract,
        status: int,
    ) -> str | None:
        """Return the name of the schema of a success, also of an undeclared status;
        None for one without a body.
        """
        methods = self.document["paths"][operation.path]
        responses = methods[operation.method.lower()]["responses"]
        response = responses.get(str(status)) or responses[str(operation.success)]
        return self._body_schema(response)

    def _body_schema(self, node: Node) -> str | None:
        """Return the name of the schema of the JSON that a request or an answer has;
        None where it has none.
        """
        content = self._resolve(node).get("content", {}).get("application/json", {})
        schema: str = content.get("schema", {}).get("$ref", "")
        return schema.rpartition("/")[2] or None

    def _resolve(self, node: Node) -> Node:
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
                        method,
                        path,
                        item[method],
                        item.get("parameters", ()),
                    )

    def _read_operation(
        self,
        method: str,
        path: str,
        operation: Node,
        shared: Sequence[Node],
    ) -> OperationContract:
        own_parameters = operation.get("parameters", ())
        parameters = list(map(self._resolve, (*shared, *own_parameters)))
        query = self._query(parameters)
        codes = self._codes(operation["responses"])
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
            codes={status: names for status, names in codes.items() if names},
            statuses=frozenset(codes) - {0},
        )

    def _query(self, parameters: Sequence[Node]) -> dict[str, QueryParameter]:
        """Read the query parameters among some, by their names."""
        query = {}
        for parameter in parameters:
            if parameter["in"] == "query":
                schema = self._resolve(parameter["schema"])
                query[parameter["name"]] = convert(schema, QueryParameter)
        return query

    def _codes(self, responses: Node) -> dict[int, frozenset[str]]:
        """Read the problem codes of responses by status; 0 is the default response."""
        codes = {}
        for status, response in responses.items():
            number = 0
            if status != "default":
                number = int(status)
            names = self._resolve(response).get("x-problem-codes", ())
            codes[number] = frozenset(names)
        return codes


def _kind_of(
    method: str,
    operation: Node,
    query: Collection[str],
) -> OperationKind:
    if method != "get":
        return "write"
    if "after" in query:
        return "list"
    if "Retry-After" in operation["responses"]["200"]["headers"]:
        return "poll"
    return "read"


def enforcing_unique_items(node: Any) -> Any:
    """Return schemas in which `x-unique-items`, which client generators need, is the
    real keyword.
    """
    encoded = msgspec.json.encode(node)
    return orjson.loads(encoded.replace(b'"x-unique-items":', b'"uniqueItems":'))


@cache
def load_contract() -> Contract:
    """Return the contract that this installation ships, which never changes."""
    return Contract(shipped_document(DOCUMENT))
