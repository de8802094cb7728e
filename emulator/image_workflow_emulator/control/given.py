"""What is given: resources that are made before clients come, as a file or a request
lists them.

Each entry goes through `/v1` as its Team would, off the record: no journal has it, no
request rate counts it, and no rule of a scenario for requests is asked. Work takes its
time by the clock, which is moved to its end. Photos are drawn, as those of the sample
of a first photoshoot. Must not know what an operation checks.
"""

from collections.abc import Mapping
from functools import lru_cache, partial
from typing import Any, Final

from msgspec import Struct, structs

from image_workflow_emulator.contract import (
    Contract,
    OperationContract,
    enforcing_unique_items,
)
from image_workflow_emulator.control.clock import move_to
from image_workflow_emulator.control.endpoint import ControlCall
from image_workflow_emulator.control.operations import control_contract
from image_workflow_emulator.control.teams import find_account
from image_workflow_emulator.documents.complaints import nearest
from image_workflow_emulator.documents.document import Document, read_document
from image_workflow_emulator.documents.schemas import Schemas
from image_workflow_emulator.domain.intents import PHOTOGRAPHY_DEFAULTS
from image_workflow_emulator.domain.orders import PHOTOSHOOT_SLOTS
from image_workflow_emulator.domain.problems import Problem
from image_workflow_emulator.domain.recipes import IngredientKind, PremadeRecipe
from image_workflow_emulator.domain.resources import INGREDIENT_KINDS, operation_id
from image_workflow_emulator.http.answers import json_bytes
from image_workflow_emulator.service.resources.products import add_asset
from image_workflow_emulator.service.sandbox.calls import full_keys

PHOTOSHOOT: Final = "photoshoot"
_DEFAULTS: Final[Mapping[str, Mapping[str, Any]]] = {
    "fashion_model": {"age_range": "25-35", "gender": "neutral"},
    "background": {"kind": "backdrop"},
    PHOTOSHOOT: {"output_mode": "photoshoot", **PHOTOGRAPHY_DEFAULTS},
}
"""What is sent unless an entry says otherwise: under some readings the service fills in
nothing (D33)."""
_MADE_FROM_ONE_ASSET: Final = ("background", "pose")
"""The kinds that are made from one Asset, and not from several."""
_STYLE_PHOTOS: Final = 3
"""How many photos a photography style is made from; other kinds are made from one."""


async def give(call: ControlCall) -> dict[str, Any]:
    """POST /given: make each entry in turn; what was made before a refused one stays.

    Raises:
        Problem: invalid_request for entries that cannot be read, before anything is
            made; else that of the service.
    """
    file = call.query["file"] or ""
    read = partial(read_given, call.plane.contract, call.body, file)
    document = await call.plane.read_aside(len(call.body), read)
    call.check_unchanged()
    account = find_account(call.sandbox, call.query["team"])
    maker = Maker(call, account.team.id)
    made = []
    for kind, fields in _entries(document):
        made.append(await maker.make(kind, fields))
    return {"data": made}


# Reading -----------------------------------------------------------------------------


def read_given(contract: Contract, content: bytes, file: str) -> Document:
    """Read the entries, YAML or JSON.

    Raises:
        DocumentError: every complaint, by file and line.
    """
    document = read_document(content, file)
    document.check(_schemas(contract), "#/components/schemas/Given")
    product_names: dict[str, None] = {}
    for index, (kind, fields) in enumerate(_entries(document)):
        if kind == PHOTOSHOOT:
            for place, product in enumerate(fields["products"]):
                if product not in product_names and not product.startswith("prd_"):
                    document.complain(
                        ("given", index, kind, "products", place),
                        "the name of a Product above, or an id",
                        None,
                        nearest(product, product_names),
                    )
        elif kind == "product":
            product_names[fields["name"]] = None
    document.raise_complaints()
    return document


def _entries(document: Document) -> list[tuple[str, Mapping[str, Any]]]:
    """Return the entries, each as its kind and its fields."""
    return [next(iter(entry.items())) for entry in document.data["given"]]


@lru_cache(maxsize=1)
def _schemas(contract: Contract) -> Schemas:
    """Return the schemas of entries: the fields of the body under `/v1`, and those that
    only `given` has.
    """
    bodies = enforcing_unique_items(contract.document["components"]["schemas"])
    own_schemas = control_contract()["components"]["schemas"]
    entry = own_schemas["GivenEntry"]
    entries: dict[str, Any] = {}
    for kind, reference in entry["properties"].items():
        body = bodies[_operation(contract, kind).body]
        own_fields = own_schemas[reference["$ref"].rpartition("/")[2]]
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


def _operation(contract: Contract, kind: str) -> OperationContract:
    """Return the operation that makes an entry of a kind."""
    if kind == PHOTOSHOOT:
        return contract.operations["createProductPhotographyGeneration"]
    return contract.operations[operation_id("create", kind)]


# Making ------------------------------------------------------------------------------


class _NamedResource(Struct, frozen=True):
    """How an entry refers to a resource of an entry above."""

    kind: str
    name: str


class Maker:
    """Makes entries for one Team, each of which may name those made before."""

    def __init__(self, call: ControlCall, team_id: str) -> None:
        self._call = call
        self._team_id = team_id
        self._ids: dict[_NamedResource, str] = {}
        """The ids of what was made."""

    async def make(self, kind: str, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Make one entry, and return the resource as `/v1` shows it. Raises Problem."""
        resource = await self._make(kind, fields)
        if "name" in fields:
            self._ids[_NamedResource(kind, fields["name"])] = resource["id"]
        return resource

    async def _make(self, kind: str, fields: Mapping[str, Any]) -> dict[str, Any]:
        path = _operation(self._call.plane.contract, kind).path
        made = await self._ask("POST", path, self._body(kind, fields))
        if kind == "product" or not fields.get("finished", True):
            return made
        await self._finish(made["id"])
        if kind == PHOTOSHOOT:
            return await self._ask("GET", f"/generations/{made['id']}")
        ended = await self._ask("GET", f"/operations/{made['id']}")
        if ended["error"]:
            code = ended["error"]["code"]
            detail = f"{fields['name']}: its Operation failed: {code}"
            raise Problem("invalid_request", detail, status=409)
        return await self._ask("GET", f"{path}/{ended['result']['id']}")

    async def _ask(
        self, method: str, path: str, body: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Ask `/v1` as the Team, off the record. Raises Problem."""
        call = self._call
        keys = full_keys(call.sandbox, self._team_id, call.now)
        if not keys:
            name = call.sandbox.accounts[self._team_id].team.name
            detail = f"the Team {name!r} has no full and active credential; add one"
            raise Problem("invalid_request", detail)
        content = b"" if body is None else json_bytes(body)
        answer = await call.plane.ask_off_record(
            call.sandbox, call.request.scope, keys[0], method, f"/v1{path}", content
        )
        call.check_unchanged()
        return answer

    async def _finish(self, work_id: str) -> None:
        """Move the clock to the end of some work.

        Raises:
            Problem: invalid_request with status 409 where a scenario stalls it.
        """
        call = self._call
        finishes_at = call.sandbox.accounts[self._team_id].budget.finishes_at
        if work_id in finishes_at:  # unless it has ended (D71)
            ends_at = finishes_at[work_id]
            if ends_at is None:
                detail = f"{work_id}: a scenario stalls it; expected work that ends"
                raise Problem("invalid_request", detail, status=409)
            await move_to(call.sandbox, ends_at)
        call.check_unchanged()

    # Bodies --------------------------------------------------------------------------

    def _body(self, kind: str, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Return the body under `/v1`, for which photos are added."""
        body = dict(_DEFAULTS.get(kind, {}))
        for name, value in fields.items():
            body[name] = self._with_ids(name, value)
        photos = body.pop("photos", _STYLE_PHOTOS if kind == "photography_style" else 1)
        if kind == PHOTOSHOOT:
            self._complete_photoshoot(body)
        elif kind in _MADE_FROM_ONE_ASSET:
            if not body.get("asset_id"):
                body["asset_id"] = self._add_photos(kind, body["name"], 1)[0]
        elif not body.get("asset_ids"):
            body["asset_ids"] = self._add_photos(kind, body["name"], photos)
        if kind == "product":
            body.setdefault("primary_asset_id", body["asset_ids"][0])
        return body

    def _complete_photoshoot(self, body: dict[str, Any]) -> None:
        body.pop("finished", None)
        image_count = 1
        if body["output_mode"] == "photoshoot":
            image_count = PHOTOSHOOT_SLOTS
        body.setdefault("image_count", image_count)
        products = body.pop("products")
        body["product_ids"] = [self._id_of("product", product) for product in products]

    def _with_ids(self, field: str, value: Any) -> Any:
        """Put ids for the names of what was made above, where a field refers to another
        resource.
        """
        if isinstance(value, Mapping):
            return {name: self._with_ids(name, part) for name, part in value.items()}
        if isinstance(value, list):
            return [self._with_ids(field.removesuffix("s"), part) for part in value]
        if field.endswith("_id"):
            return self._id_of(field.removesuffix("_id"), value)
        return value

    def _id_of(self, kind: str, name_or_id: str) -> str:
        return self._ids.get(_NamedResource(kind, name_or_id), name_or_id)

    def _add_photos(self, kind: str, name: str, number: int) -> list[str]:
        """Add Assets without uploads, and return their ids.

        Those of a product are shirts, others premade pictures of their kind.
        """
        picture_kind: IngredientKind = "background"
        ending = " shirt"
        if kind in INGREDIENT_KINDS:
            picture_kind = kind
            ending = ""
        sample = PremadeRecipe(
            kind=picture_kind, name="", width=1024, height=1024, format="png"
        )
        ids = []
        for photo in range(1, number + 1):
            recipe = structs.replace(sample, name=f"{kind} {name} {photo}{ending}")
            asset = add_asset(self._call.sandbox, self._team_id, recipe, self._call.now)
            ids.append(asset.id)
        return ids
