"""The operations of the control plane, as its contract describes them.

Owns what an operation takes: its query, its body, and the status of its success. The
rows of `routes` name the operations; a row whose name is not here fails at import.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from msgspec import Struct

from image_workflow_emulator.documents.schemas import Schemas
from image_workflow_emulator.documents.shipped import shipped_document

JSON: Final = "application/json"
STATE_FILE: Final = "application/zip"
YAML: Final = "application/yaml"
_METHODS: Final = ("get", "put", "post", "patch", "delete")


class QueryParameter(Struct, frozen=True):
    """A parameter of a query."""

    schema: str
    """The reference to its schema in the contract."""
    is_integer: bool
    default: Any


class Operation(Struct, frozen=True):
    """What an operation takes and how it answers."""

    query: Mapping[str, QueryParameter] = {}
    """Its query parameters, by name."""
    body_types: tuple[str, ...] = ()
    """The media types of its body; none if it takes no body."""
    body_schema: str | None = None
    """The reference to the schema of a body that is JSON and nothing else."""
    needs_body: bool = False
    status: int = 200
    """The status of its success."""
    concerns_process: bool = False
    """Whether it concerns the process as a whole, and not the state of one sandbox."""


@cache
def control_contract() -> Mapping[str, Any]:
    """Return the contract of the control plane."""
    document: Mapping[str, Any] = shipped_document("contract/control-plane.yaml")
    return document


@cache
def control_schemas() -> Schemas:
    """Return the schemas of bodies and parameters."""
    return Schemas(dict(control_contract()))


@cache
def operations() -> Mapping[str, Operation]:
    """Return all operations, by their ids."""
    by_id: dict[str, Operation] = {}
    for path_item in control_contract()["paths"].values():
        concerns_process = "servers" in path_item
        described_operations = [
            path_item[method] for method in _METHODS if method in path_item
        ]
        for described in described_operations:
            operation = _operation(described, concerns_process)
            by_id[described["operationId"]] = operation
    return by_id


def _operation(described: Mapping[str, Any], concerns_process: bool) -> Operation:
    body = described.get("requestBody", {})
    content = body.get("content", {})
    body_types = tuple(content)
    body_schema = None
    if body_types == (JSON,):
        body_schema = content[JSON]["schema"]["$ref"]
    first_status = next(iter(described["responses"]))
    return Operation(
        query=_query_of(described),
        body_types=body_types,
        body_schema=body_schema,
        needs_body=body.get("required", False),
        status=int(first_status),
        concerns_process=concerns_process,
    )


def _query_of(described: Mapping[str, Any]) -> Mapping[str, QueryParameter]:
    query: dict[str, QueryParameter] = {}
    for reference in described.get("parameters", ()):
        _, _, component = reference["$ref"].rpartition("/")
        parameter = _parameter(component)
        if parameter["in"] == "query":
            query[parameter["name"]] = query_parameter(component)
    return query


def _parameter(component: str) -> Mapping[str, Any]:
    parameters: Mapping[str, Any] = control_contract()["components"]["parameters"]
    parameter: Mapping[str, Any] = parameters[component]
    return parameter


def query_parameter(component: str) -> QueryParameter:
    """Return the parameter of this name among the contract's components."""
    schema = _parameter(component)["schema"]
    return QueryParameter(
        schema=f"#/components/parameters/{component}/schema",
        is_integer=schema.get("type") == "integer",
        default=schema.get("default"),
    )
