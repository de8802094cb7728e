"""How entries of what is given are read: YAML or JSON, by the schemas of the bodies that
they become.

Must not know how an entry is made.
"""

from collections.abc import Collection, Mapping
from functools import lru_cache, partial
from typing import Any, Final

from msgspec import Struct

from image_workflow_emulator.contract import (
    Contract,
    OperationContract,
    enforcing_unique_items,
)
from image_workflow_emulator.control import JsonObject
from image_workflow_emulator.control.operations import control_contract
from image_workflow_emulator.documents.complaints import nearest
from image_workflow_emulator.documents.document import Document, read_document
from image_workflow_emulator.documents.schemas import Schemas
from image_workflow_emulator.domain.resources import operation_id

PHOTOSHOOT: Final = "photoshoot"


class Entry(Struct, frozen=True):
    """One thing to make."""

    kind: str
    fields: Mapping[str, Any]


def read_given(
    contract: Contract,
    content: bytes,
    file: str,
) -> list[Entry]:
    """Read the entries, YAML or JSON.

    Raises:
        DocumentError: every complaint, by file and line.
    """
    document = read_document(content, file)
    document.check(_schemas(contract), "#/components/schemas/Given")
    product_names: dict[str, None] = {}
    entries = _entries(document)
    for index, entry in enumerate(entries):
        if entry.kind == PHOTOSHOOT:
            _check_products(document, index, entry, product_names)
        elif entry.kind == "product":
            product_names[entry.fields["name"]] = None
    document.raise_complaints()
    return entries


def _entries(document: Document) -> list[Entry]:
    entries = []
    for described in document.data["given"]:
        ((kind, fields),) = described.items()
        entries.append(Entry(kind, fields))
    return entries


def _check_products(
    document: Document,
    index: int,
    entry: Entry,
    product_names: Collection[str],
) -> None:
    """Complain of the products of a photoshoot that are neither ids nor names of
    Products above.
    """
    for place, product in enumerate(entry.fields["products"]):
        is_id = product.startswith("prd_")
        if is_id or product in product_names:
            continue
        document.complain(
            ("given", index, entry.kind, "products", place),
            expected="the name of a Product above, or an id",
            suggestions=partial(nearest, product, tuple(product_names)),
        )


@lru_cache(maxsize=1)
def _schemas(contract: Contract) -> Schemas:
    """Return the schemas of entries: the fields of the body under `/v1`, and those that
    only `given` has.
    """
    bodies = enforcing_unique_items(contract.document["components"]["schemas"])
    own_schemas = control_contract()["components"]["schemas"]
    entry = own_schemas["GivenEntry"]
    entries: JsonObject = {}
    for kind, reference in entry["properties"].items():
        body = bodies[operation_of(contract, kind).body]
        _, _, schema_name = reference["$ref"].rpartition("/")
        own_fields = own_schemas[schema_name]
        properties = {**own_fields["properties"], **body["properties"]}
        properties.pop("product_ids", None)
        entries[kind] = {
            **body,
            "required": own_fields["required"],
            "properties": properties,
        }
    schemas = {
        **bodies,
        "Given": own_schemas["Given"],
        "GivenEntry": {**entry, "properties": entries},
    }
    return Schemas({"components": {"schemas": schemas}}, formats={})


def operation_of(contract: Contract, kind: str) -> OperationContract:
    """Return the operation that makes an entry of a kind."""
    if kind == PHOTOSHOOT:
        return contract.operations["createProductPhotographyGeneration"]
    return contract.operations[operation_id("create", kind)]
