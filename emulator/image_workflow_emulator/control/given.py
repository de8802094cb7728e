"""What is given: resources that are made before clients come, as a file or a request
lists them.

Each entry goes through `/v1` as its Team would, off the record: no journal has it, no
request rate counts it, and no rule of a scenario for requests is asked. Work takes its
time by the clock, which is moved to its end. Photos are drawn, as those of the sample
of a first photoshoot. Must not know what an operation checks.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

import msgspec
from msgspec import Struct

from image_workflow_emulator.control import JsonObject
from image_workflow_emulator.control.clock import move_to
from image_workflow_emulator.control.endpoint import ControlCall
from image_workflow_emulator.control.given_reading import (
    PHOTOSHOOT,
    Entry,
    operation_of,
    read_given,
)
from image_workflow_emulator.control.teams import find_account
from image_workflow_emulator.domain.intents import PHOTOGRAPHY_DEFAULTS
from image_workflow_emulator.domain.orders import PHOTOSHOOT_SLOTS
from image_workflow_emulator.domain.problems import Problem
from image_workflow_emulator.domain.recipes import IngredientKind, PremadeRecipe
from image_workflow_emulator.domain.resources import INGREDIENT_KINDS
from image_workflow_emulator.service.resources.products import add_asset
from image_workflow_emulator.service.sandbox.calls import full_keys

_DEFAULTS: Final[Mapping[str, Mapping[str, Any]]] = {
    "fashion_model": {"age_range": "25-35", "gender": "neutral"},
    "background": {"kind": "backdrop"},
    PHOTOSHOOT: {"output_mode": "photoshoot", **PHOTOGRAPHY_DEFAULTS},
}
"""What is sent unless an entry says otherwise: under some readings the service fills in
nothing (D33)."""
_MADE_FROM_ONE_ASSET: Final = ("background", "pose")
"""The kinds that are made from one Asset, and not from several."""
_PHOTOS: Final = {"photography_style": 3}
"""How many photos a kind is made from, where not from one."""


async def give(call: ControlCall) -> JsonObject:
    """POST /given: make each entry in turn; what was made before a refused one stays.

    Raises:
        Problem: invalid_request for entries that cannot be read, before anything is
            made; else that of the service.
    """
    file = call.query["file"] or ""
    read = partial(read_given, call.plane.contract, call.body, file)
    entries = await call.plane.read_aside(len(call.body), read)
    call.check_unchanged()
    account = find_account(call.sandbox, call.query["team"])
    maker = Maker(call, account.team.id)
    for entry in entries:
        await maker.make(entry)
    return {"data": maker.made}


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
        self.made: list[JsonObject] = []
        """The resources, as `/v1` shows them."""
        self._ids: dict[_NamedResource, str] = {}
        """Their ids."""

    async def make(self, entry: Entry) -> None:
        """Make one entry. Raises Problem."""
        resource = await self._make(entry.kind, entry.fields)
        self.made.append(resource)
        if "name" in entry.fields:
            named = _NamedResource(entry.kind, entry.fields["name"])
            self._ids[named] = resource["id"]

    async def _make(self, kind: str, fields: Mapping[str, Any]) -> JsonObject:
        path = operation_of(self._call.plane.contract, kind).path
        body = self._body(kind, fields)
        created = await self._ask("POST", path, body)
        if kind == "product" or not fields.get("finished", True):
            return created
        work_id = created["id"]
        await self._finish(work_id)
        if kind == PHOTOSHOOT:
            return await self._ask("GET", f"/generations/{work_id}")
        operation = await self._ask("GET", f"/operations/{work_id}")
        if operation["error"]:
            code = operation["error"]["code"]
            detail = f"{fields['name']}: its Operation failed: {code}"
            raise Problem("invalid_request", detail, status=409)
        ingredient_id = operation["result"]["id"]
        return await self._ask("GET", f"{path}/{ingredient_id}")

    async def _ask(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
    ) -> JsonObject:
        """Ask `/v1` as the Team, off the record. Raises Problem."""
        call = self._call
        keys = full_keys(call.sandbox, self._team_id, call.now)
        if not keys:
            name = call.sandbox.accounts[self._team_id].team.name
            detail = f"the Team {name!r} has no full and active credential; add one"
            raise Problem("invalid_request", detail)
        content = b""
        if body is not None:
            content = msgspec.json.encode(body)
        answer = await call.plane.ask_off_record(
            sandbox=call.sandbox,
            scope=call.request.scope,
            key=keys[0],
            method=method,
            path=f"/v1{path}",
            content=content,
        )
        call.check_unchanged()
        return answer

    async def _finish(self, work_id: str) -> None:
        """Move the clock to the end of some work.

        Raises:
            Problem: invalid_request with status 409 where a scenario stalls it.
        """
        call = self._call
        account = call.sandbox.accounts[self._team_id]
        finishes_at = account.budget.finishes_at
        if work_id in finishes_at:  # unless it has ended (D71)
            ends_at = finishes_at[work_id]
            if ends_at is None:
                detail = f"{work_id}: a scenario stalls it; expected work that ends"
                raise Problem("invalid_request", detail, status=409)
            await move_to(call.sandbox, ends_at)
        call.check_unchanged()

    # Bodies --------------------------------------------------------------------------

    def _body(self, kind: str, fields: Mapping[str, Any]) -> JsonObject:
        """Return the body under `/v1`, for which photos are added."""
        body = dict(_DEFAULTS.get(kind, {}))
        for name, value in fields.items():
            body[name] = self._with_ids(name, value)
        photos = body.pop("photos", _PHOTOS.get(kind, 1))
        if kind == PHOTOSHOOT:
            self._complete_photoshoot(body)
        elif kind in _MADE_FROM_ONE_ASSET:
            if not body.get("asset_id"):
                (asset_id,) = self._add_photos(kind, body["name"], 1)
                body["asset_id"] = asset_id
        elif not body.get("asset_ids"):
            body["asset_ids"] = self._add_photos(kind, body["name"], photos)
        if kind == "product":
            first_asset_id = body["asset_ids"][0]
            body.setdefault("primary_asset_id", first_asset_id)
        return body

    def _complete_photoshoot(self, body: JsonObject) -> None:
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
            singular = field.removesuffix("s")
            return [self._with_ids(singular, part) for part in value]
        if field.endswith("_id"):
            return self._id_of(field.removesuffix("_id"), value)
        return value

    def _id_of(self, kind: str, name_or_id: str) -> str:
        named = _NamedResource(kind, name_or_id)
        return self._ids.get(named, name_or_id)

    def _add_photos(
        self,
        kind: str,
        name: str,
        number: int,
    ) -> list[str]:
        """Add Assets without uploads, and return their ids.

        Those of a product are shirts, others premade pictures of their kind.
        """
        call = self._call
        picture_kind: IngredientKind = "background"
        ending = " shirt"
        if kind in INGREDIENT_KINDS:
            picture_kind = kind
            ending = ""
        ids = []
        for photo in range(1, number + 1):
            recipe = PremadeRecipe(
                kind=picture_kind,
                name=f"{kind} {name} {photo}{ending}",
                width=1024,
                height=1024,
                format="png",
            )
            asset = add_asset(call.sandbox, self._team_id, recipe, call.now)
            ids.append(asset.id)
        return ids
