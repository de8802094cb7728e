"""What each of the 38 operations does: one row an operation id, one short handler a row (section 4).

A handler runs without waiting, from the checks of its resource to its reply. It takes the call and returns a reply; how
the reply looks on the wire is the renderer's business, and what came before the road's.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from emulator.contract import OperationContract
from emulator.domain.intents import Intent
from emulator.domain.pagination import Page, PageRequest, paginate
from emulator.domain.problems import CATALOGUE, HANDLER_CHECKS, Check
from emulator.domain.resources import Asset, Generation, Operation
from emulator.kernel.timestamps import seconds_up
from emulator.service import authoring, engine, generations, library, uploads
from emulator.service.accounts import Caller
from emulator.service.store import Collection
from emulator.web.requests import page_limit

if TYPE_CHECKING:
    from emulator.web.pictures import PictureWorker

Item = TypeVar("Item")
Work = TypeVar("Work", Operation, Generation)


@dataclass(slots=True)
class Call:
    """An operation being called: what the road has found out, for the handler."""

    caller: Caller
    now: int
    resource_id: str = ""
    query: dict[str, str] = field(default_factory=dict)
    intent: Intent = field(default_factory=dict)
    decoded: uploads.DecodedUpload | None = None


class Reply(NamedTuple):
    """What a handler answers: a status and a resource, and the headers that the contract promises with it."""

    status: int
    resource: object = None
    location: str | None = None
    retry_after: int | None = None

    def assets(self) -> list[str]:
        """Return the keys of the pictures whose size the answer will tell."""
        if isinstance(self.resource, Page):
            return [item.id for item in self.resource.items if isinstance(item, Asset)]
        return [self.resource.id] if isinstance(self.resource, Asset) else []


Handler = Callable[[Call], Reply]
Preparation = Callable[[Call, "PictureWorker"], Awaitable[None]]


# Team, uploads ------------------------------------------------------------------------------------------------------


def get_team(call: Call) -> Reply:
    """GET /team."""
    return Reply(200, call.caller)


def create_upload(call: Call) -> Reply:
    """POST /uploads (no Location: D38)."""
    return Reply(201, uploads.create(call.caller, call.intent, call.now))


async def prepare_completion(call: Call, pictures: "PictureWorker") -> None:
    """Decode the session's bytes, if the completion is going to get that far."""
    found = uploads.to_decode(call.caller, call.resource_id, call.intent["upload_token"], call.now)
    if found is not None:
        call.decoded = await pictures.decode(*found)


def complete_upload(call: Call) -> Reply:
    """POST /uploads/{upload_id}/complete."""
    asset = uploads.complete(call.caller, call.resource_id, call.intent, call.decoded, call.now)
    return Reply(201, asset, f"/assets/{asset.id}")


# Assets, Products ---------------------------------------------------------------------------------------------------


def list_assets(call: Call) -> Reply:
    """GET /assets."""
    return _list(call, "assets", call.caller.sandbox.store.assets, lambda asset: _has(call, source=asset.source))


def get_asset(call: Call) -> Reply:
    """GET /assets/{asset_id}."""
    return Reply(200, library.get_asset(call.caller, call.resource_id))


def delete_asset(call: Call) -> Reply:
    """DELETE /assets/{asset_id}."""
    return Reply(200, library.delete_asset(call.caller, call.resource_id, call.now))


def list_products(call: Call) -> Reply:
    """GET /products."""
    return _list(call, "products", call.caller.sandbox.store.products)


def create_product(call: Call) -> Reply:
    """POST /products."""
    product = library.create_product(call.caller, call.intent, call.now)
    return Reply(201, product, f"/products/{product.id}")


def get_product(call: Call) -> Reply:
    """GET /products/{product_id}."""
    return Reply(200, library.get_product(call.caller, call.resource_id))


def update_product(call: Call) -> Reply:
    """PATCH /products/{product_id}."""
    return Reply(200, library.update_product(call.caller, call.resource_id, call.intent, call.now))


def delete_product(call: Call) -> Reply:
    """DELETE /products/{product_id}."""
    library.delete_product(call.caller, call.resource_id)
    return Reply(204)


# Ingredients: five operations for each of the four kinds ------------------------------------------------------------


def _ingredient_handlers(kind: str, noun: str) -> dict[str, Handler]:
    """Return the handlers of one kind's operations, by operation id."""

    def list_all(call: Call) -> Reply:
        scope = call.query.get("scope", "all")
        return _list(
            call,
            kind,
            call.caller.sandbox.store.ingredients[kind],
            owners=[
                owner
                for owner in (None, call.caller.team_id)
                if scope == "all" or (owner is None) == (scope == "global")
            ],
        )

    def create(call: Call) -> Reply:
        return _admitted(authoring.create(call.caller, kind, call.intent, call.now))

    def get(call: Call) -> Reply:
        return Reply(200, authoring.get(call.caller, kind, call.resource_id))

    def update(call: Call) -> Reply:
        result = authoring.update(call.caller, kind, call.resource_id, call.intent, call.now)
        return _admitted(result) if isinstance(result, Operation) else Reply(200, result)

    def delete(call: Call) -> Reply:
        authoring.delete(call.caller, kind, call.resource_id)
        return Reply(204)

    return {
        f"list{noun}s": list_all,
        f"create{noun}": create,
        f"get{noun}": get,
        f"update{noun}": update,
        f"delete{noun}": delete,
    }


async def prepare_background(call: Call, pictures: "PictureWorker") -> None:
    """Look at the source of a Background, which its price depends on (D30)."""
    asset_id = authoring.source_to_examine(call.caller, call.intent)
    if asset_id is not None:
        await pictures.examine(call.caller.sandbox.images, asset_id)


def _admitted(operation: Operation) -> Reply:
    return Reply(202, operation, f"/operations/{operation.id}")


# Operations, Generations --------------------------------------------------------------------------------------------


def list_operations(call: Call) -> Reply:
    """GET /operations; reading a list is not a poll."""

    def selected(operation: Operation) -> bool:
        return _has(call, status=operation.status, type=operation.type, target_id=operation.target_id)

    return _list(call, "operations", call.caller.sandbox.store.operations, selected)


def get_operation(call: Call) -> Reply:
    """GET /operations/{operation_id}."""
    return _poll(call, lambda: authoring.get_operation(call.caller, call.resource_id))


def list_generations(call: Call) -> Reply:
    """GET /generations; reading a list is not a poll."""

    def selected(generation: Generation) -> bool:
        return _has(call, workflow=generation.workflow, status=generation.status)

    return _list(call, "generations", call.caller.sandbox.store.generations, selected)


def get_generation(call: Call) -> Reply:
    """GET /generations/{generation_id}."""
    return _poll(call, lambda: generations.get(call.caller, call.resource_id))


def create_product_photography(call: Call) -> Reply:
    """POST /generations/product-photography (no Location: D38)."""
    return Reply(202, generations.create_product_photography(call.caller, call.intent, call.now))


def create_edit_images(call: Call) -> Reply:
    """POST /generations/edit-images."""
    return Reply(202, generations.create_edit_images(call.caller, call.intent, call.now))


def create_upscale(call: Call) -> Reply:
    """POST /generations/upscale."""
    return Reply(202, generations.create_upscale(call.caller, call.intent, call.now))


# What several of them share -----------------------------------------------------------------------------------------


def _has(call: Call, **values: str | None) -> bool:
    """Tell whether a resource has every value that the query filters by."""
    return all(call.query.get(name, value) == value for name, value in values.items())


def _list(
    call: Call,
    name: str,
    collection: Collection[Any],
    selected: Callable[[Any], bool] | None = None,
    owners: list[str | None] | None = None,
) -> Reply:
    """Return a page of what is selected (None: of all); `limit` is not part of what a cursor is bound to (D02)."""
    filters = sorted(
        f"{key}={value}"
        for key, value in call.query.items()
        if key not in ("limit", "after") and (key, value) != ("scope", "all")  # what is meant where nothing is said
    )
    request = PageRequest(page_limit(call.query), call.query.get("after"), (call.caller.team_id, name, *filters))

    sections = [collection.ids(owner) for owner in owners or [call.caller.team_id]]
    load = collection.items.get if selected is None else _only(selected, collection.items)
    return Reply(200, paginate(sections, load, request, call.caller.sandbox.signer))


def _only(selected: Callable[[Item], bool], items: Mapping[str, Item]) -> Callable[[str], Item | None]:
    def load(identifier: str) -> Item | None:
        item = items[identifier]
        return item if selected(item) else None

    return load


def _poll(call: Call, read: Callable[[], Work]) -> Reply:
    """Answer a poll: with the time to the next change (D42), or, on an auto clock, after having taken that wait."""
    sandbox = call.caller.sandbox
    work = read()
    wait_ms = engine.next_change_ms(work, sandbox, call.now)
    if wait_ms is None:
        return Reply(200, work)
    if not sandbox.clock.takes_waits:
        return Reply(200, work, retry_after=max(seconds_up(wait_ms), 1))
    engine.advance(sandbox, call.now + wait_ms)
    work = read()
    return Reply(200, work, retry_after=0 if engine.next_change_ms(work, sandbox, call.now) is not None else None)


HANDLERS: Mapping[str, Handler] = {
    "getTeam": get_team,
    "createUpload": create_upload,
    "completeUpload": complete_upload,
    "listAssets": list_assets,
    "getAsset": get_asset,
    "deleteAsset": delete_asset,
    "listProducts": list_products,
    "createProduct": create_product,
    "getProduct": get_product,
    "updateProduct": update_product,
    "deleteProduct": delete_product,
    **_ingredient_handlers("photography_style", "PhotographyStyle"),
    **_ingredient_handlers("background", "Background"),
    **_ingredient_handlers("pose", "Pose"),
    **_ingredient_handlers("fashion_model", "FashionModel"),
    "listOperations": list_operations,
    "getOperation": get_operation,
    "listGenerations": list_generations,
    "getGeneration": get_generation,
    "createProductPhotographyGeneration": create_product_photography,
    "createEditImagesGeneration": create_edit_images,
    "createUpscaleGeneration": create_upscale,
}
"""The 38 operations; the contract must name exactly these."""

_CHECKS_WITHOUT_CODE: Mapping[str, tuple[Check, ...]] = {
    "completeUpload": (Check.RULES,),
    "updateProduct": (Check.RULES,),
    "createProductPhotographyGeneration": (Check.RULES,),
    **{
        f"{verb}{noun}": (Check.READ_ONLY,)
        for verb in ("update", "delete")
        for noun in ("PhotographyStyle", "Background", "Pose", "FashionModel")
    },
}
"""What operations check although they share the code of the refusal with an earlier check."""


def handler_checks(operation: OperationContract) -> tuple[Check, ...]:
    """Return what the handler of an operation checks, in the order of D01: what its codes tell, and the rest."""
    own = {CATALOGUE[code].check for code in operation.all_codes}
    own.update(_CHECKS_WITHOUT_CODE.get(operation.id, ()))
    return tuple(check for check in HANDLER_CHECKS if check in own)


PREPARATIONS: Mapping[str, Preparation] = {
    "completeUpload": prepare_completion,
    "createBackground": prepare_background,
    "updateBackground": prepare_background,
}
"""The image work that an admission waits for, while its key is in progress (D13)."""
