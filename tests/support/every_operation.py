"""One request for each operation, which succeeds in a Library that has something of everything."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from image_workflow_emulator.contract import load_contract
from tests.support.emulator_client import INGREDIENT_PATHS, KINDS, UPLOAD, Call, Client, Json, ingredient_body


@dataclass(slots=True)
class Things:
    asset_ids: list[str]
    product: Json
    session: Json
    token: str
    operation: Json
    generation: Json
    ingredients: dict[str, Json] = field(default_factory=dict)


def prepare(emulator: Client) -> Things:
    asset_ids = emulator.assets(3)
    ingredients = {kind: emulator.author(kind) for kind in KINDS}
    session, token = emulator.ready_upload()
    return Things(
        asset_ids=asset_ids,
        product=emulator.product(*asset_ids),
        session=session,
        token=token,
        operation=emulator.items("/operations")[0],
        generation=emulator.photograph(asset_ids=asset_ids).json,
        ingredients=ingredients,
    )


Build = Callable[[Things], Call]


def _ingredient_calls(kind: str, noun: str) -> dict[str, Build]:
    path = INGREDIENT_PATHS[kind]

    def one(things: Things) -> str:
        return f"{path}/{things.ingredients[kind]['id']}"

    return {
        f"list{noun}s": lambda _: Call("GET", path),
        f"create{noun}": lambda things: Call("POST", path, ingredient_body(kind, things.asset_ids[:3])),
        f"get{noun}": lambda things: Call("GET", one(things)),
        f"update{noun}": lambda things: Call("PATCH", one(things), {"name": "Renamed"}),
        f"delete{noun}": lambda things: Call("DELETE", one(things)),
    }


FORM: Final[Json] = {"aspect_ratio": "4:5", "resolution": "1k", "output_format": "webp"}
CALLS: Final[Mapping[str, Build]] = {
    "getTeam": lambda _: Call("GET", "/team"),
    "createUpload": lambda _: Call("POST", "/uploads", UPLOAD),
    "completeUpload": lambda things: Call(
        "POST", f"/uploads/{things.session['id']}/complete", {"upload_token": things.token}
    ),
    "listAssets": lambda _: Call("GET", "/assets"),
    "getAsset": lambda things: Call("GET", f"/assets/{things.asset_ids[0]}"),
    "deleteAsset": lambda things: Call("DELETE", f"/assets/{things.asset_ids[0]}"),
    "listProducts": lambda _: Call("GET", "/products"),
    "createProduct": lambda things: Call(
        "POST", "/products", {"name": "Shirt", "asset_ids": things.asset_ids, "primary_asset_id": things.asset_ids[0]}
    ),
    "getProduct": lambda things: Call("GET", f"/products/{things.product['id']}"),
    "updateProduct": lambda things: Call("PATCH", f"/products/{things.product['id']}", {"name": "Renamed"}),
    "deleteProduct": lambda things: Call("DELETE", f"/products/{things.product['id']}"),
    **_ingredient_calls("photography_style", "PhotographyStyle"),
    **_ingredient_calls("background", "Background"),
    **_ingredient_calls("pose", "Pose"),
    **_ingredient_calls("fashion_model", "FashionModel"),
    "listOperations": lambda _: Call("GET", "/operations"),
    "getOperation": lambda things: Call("GET", f"/operations/{things.operation['id']}"),
    "listGenerations": lambda _: Call("GET", "/generations"),
    "getGeneration": lambda things: Call("GET", f"/generations/{things.generation['id']}"),
    "createProductPhotographyGeneration": lambda things: Call(
        "POST", "/generations/product-photography", {"output_mode": "photoshoot", "asset_ids": things.asset_ids}
    ),
    "createEditImagesGeneration": lambda things: Call(
        "POST",
        "/generations/edit-images",
        {"asset_ids": things.asset_ids, "instructions": "Put them on a table."} | FORM,
    ),
    "createUpscaleGeneration": lambda things: Call(
        "POST",
        "/generations/upscale",
        {"asset_id": things.asset_ids[0], "target_resolution": "2k", "output_format": "jpeg"},
    ),
}

CONTRACT: Final = load_contract()
_OPERATIONS: Final = CONTRACT.operations
SUCCESSES: Final[Mapping[str, int]] = {name: _OPERATIONS[name].success for name in CALLS}
"""The status with which each of the calls succeeds."""
WRITES: Final = tuple(name for name in CALLS if _OPERATIONS[name].is_write)
KEYED: Final = tuple(name for name in CALLS if _OPERATIONS[name].takes_key)
LISTS: Final = tuple(name for name in CALLS if _OPERATIONS[name].kind == "list")
