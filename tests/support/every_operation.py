"""What tests send.

A request for each operation, one for each kind of Generation, and the cause of each
problem code. The requests for operations succeed in a Library that has something of
everything.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from image_workflow_emulator.contract import load_contract
from tests.support.emulator_client import (
    BROKE,
    EXPIRED,
    FULL,
    INGREDIENT_PATHS,
    KINDS,
    LAPSED,
    READ_ONLY,
    REVOKED,
    UPLOAD,
    Answer,
    Call,
    Client,
    Json,
    completion_call,
    ingredient_body,
)
from tests.support.emulator_under_test import EmulatorUnderTest
from tests.support.pictures import picture


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
        f"create{noun}": lambda things: Call(
            "POST",
            path,
            ingredient_body(kind, things.asset_ids[:3]),
        ),
        f"get{noun}": lambda things: Call("GET", one(things)),
        f"update{noun}": lambda things: Call("PATCH", one(things), {"name": "Renamed"}),
        f"delete{noun}": lambda things: Call("DELETE", one(things)),
    }


FORM: Final[Json] = {"aspect_ratio": "4:5", "resolution": "1k", "output_format": "webp"}
CALLS: Final[Mapping[str, Build]] = {
    "getTeam": lambda _: Call("GET", "/team"),
    "createUpload": lambda _: Call("POST", "/uploads", UPLOAD),
    "completeUpload": lambda things: completion_call(things.session, things.token),
    "listAssets": lambda _: Call("GET", "/assets"),
    "getAsset": lambda things: Call("GET", f"/assets/{things.asset_ids[0]}"),
    "deleteAsset": lambda things: Call("DELETE", f"/assets/{things.asset_ids[0]}"),
    "listProducts": lambda _: Call("GET", "/products"),
    "createProduct": lambda things: Call(
        "POST",
        "/products",
        {
            "name": "Shirt",
            "asset_ids": things.asset_ids,
            "primary_asset_id": things.asset_ids[0],
        },
    ),
    "getProduct": lambda things: Call("GET", f"/products/{things.product['id']}"),
    "updateProduct": lambda things: Call(
        "PATCH",
        f"/products/{things.product['id']}",
        {"name": "Renamed"},
    ),
    "deleteProduct": lambda things: Call("DELETE", f"/products/{things.product['id']}"),
    **_ingredient_calls("photography_style", "PhotographyStyle"),
    **_ingredient_calls("background", "Background"),
    **_ingredient_calls("pose", "Pose"),
    **_ingredient_calls("fashion_model", "FashionModel"),
    "listOperations": lambda _: Call("GET", "/operations"),
    "getOperation": lambda things: Call("GET", f"/operations/{things.operation['id']}"),
    "listGenerations": lambda _: Call("GET", "/generations"),
    "getGeneration": lambda things: Call(
        "GET",
        f"/generations/{things.generation['id']}",
    ),
    "createProductPhotographyGeneration": lambda things: Call(
        "POST",
        "/generations/product-photography",
        {"output_mode": "photoshoot", "asset_ids": things.asset_ids},
    ),
    "createEditImagesGeneration": lambda things: Call(
        "POST",
        "/generations/edit-images",
        {"asset_ids": things.asset_ids, "instructions": "Put them on a table."} | FORM,
    ),
    "createUpscaleGeneration": lambda things: Call(
        "POST",
        "/generations/upscale",
        {
            "asset_id": things.asset_ids[0],
            "target_resolution": "2k",
            "output_format": "jpeg",
        },
    ),
}

CONTRACT: Final = load_contract()
_OPERATIONS: Final = CONTRACT.operations
SUCCESSES: Final[Mapping[str, int]] = {
    name: _OPERATIONS[name].success for name in CALLS
}
"""The status with which each of the calls succeeds."""
WRITES: Final = tuple(name for name in CALLS if _OPERATIONS[name].is_write)
KEYED: Final = tuple(name for name in CALLS if _OPERATIONS[name].takes_key)
LISTS: Final = tuple(name for name in CALLS if _OPERATIONS[name].kind == "list")


WORKFLOWS: Final = ("product-photography", "edit-images", "upscale")


def generation_call(
    workflow: str,
    asset_id: str,
    idempotency_key: str,
    key: str = FULL,
) -> Call:
    """Return a request for one output, for 1 Credit."""
    bodies: dict[str, Json] = {
        "product-photography": {"output_mode": "single_shots", "asset_ids": [asset_id]},
        "edit-images": {"asset_ids": [asset_id], "instructions": "Put it on a table."}
        | FORM,
        "upscale": {
            "asset_id": asset_id,
            "target_resolution": "2k",
            "output_format": "png",
        },
    }
    return Call(
        "POST",
        f"/generations/{workflow}",
        bodies[workflow],
        key=key,
        idempotency_key=idempotency_key,
    )


def upscale_call(
    asset_id: str,
    idempotency_key: str,
    key: str = FULL,
) -> Call:
    """Return a request for the plainest work."""
    return generation_call("upscale", asset_id, idempotency_key, key)


# Problems ----------------------------------------------------------------------------


def twice(
    emulator: EmulatorUnderTest,
    first: object,
    second: object,
) -> Answer:
    emulator.post("/uploads", first, idempotency_key="k")
    return emulator.post("/uploads", second, idempotency_key="k")


def in_progress(emulator: EmulatorUnderTest) -> Answer:
    call = completion_call(*emulator.ready_upload(), idempotency_key="k")
    return emulator.together(call, call)[1]


def busy(emulator: EmulatorUnderTest) -> Answer:
    (asset,) = emulator.assets(1)
    emulator.post("/poses", ingredient_body("pose", [asset]))
    return emulator.delete(f"/assets/{asset}")


def conflict(emulator: EmulatorUnderTest) -> Answer:
    session = emulator.open_upload(2)
    emulator.send_bytes(session, b"ab")
    return emulator.send_bytes(session, b"cd")


def expired_upload(emulator: EmulatorUnderTest) -> Answer:
    session = emulator.open_upload(2)
    emulator.advance(15 * 60)
    return emulator.complete(session, "x")


def too_large(emulator: EmulatorUnderTest) -> Answer:
    return emulator.upscale(emulator.upload(picture(size=(2048, 8)))["id"])


def crowded(emulator: EmulatorUnderTest) -> Answer:
    emulator.set_team(concurrency_limit=1)
    return [emulator.photograph() for _ in range(2)][1]


def hurried(emulator: EmulatorUnderTest) -> Answer:
    return [emulator.get("/team") for _ in range(121)][120]


def paused(emulator: EmulatorUnderTest) -> Answer:
    emulator.told("PUT", "/admission", {"state": "paused"})
    return emulator.post("/uploads", UPLOAD)


def broken(emulator: EmulatorUnderTest) -> Answer:
    """A defect cannot be ordered: a part of the sandbox is taken away."""
    del emulator.sandbox.pause
    return emulator.post("/uploads", UPLOAD)


CAUSES: Final[Mapping[str, Callable[[EmulatorUnderTest], Answer]]] = {
    "invalid_request": lambda emulator: emulator.post(
        "/uploads",
        UPLOAD,
        idempotency_key=None,
    ),
    "invalid_cursor": lambda emulator: emulator.get("/assets?after=page-2"),
    "authentication_required": lambda emulator: emulator.get("/team", None),
    "credential_expired": lambda emulator: emulator.get("/team", EXPIRED),
    "credential_revoked": lambda emulator: emulator.get("/team", REVOKED),
    "insufficient_credits": lambda emulator: emulator.photograph(key=BROKE),
    "permission_denied": lambda emulator: emulator.post("/uploads", UPLOAD, READ_ONLY),
    "subscription_required": lambda emulator: emulator.post("/uploads", UPLOAD, LAPSED),
    "not_found": lambda emulator: emulator.get("/generations/gen_unknown"),
    "upload_not_found": lambda emulator: emulator.post(
        "/uploads/upl_unknown/complete",
        {"upload_token": "x"},
    ),
    "asset_not_found": lambda emulator: emulator.get("/assets/ast_unknown"),
    "product_not_found": lambda emulator: emulator.get("/products/prd_unknown"),
    "idempotency_in_progress": in_progress,
    "resource_operation_in_progress": busy,
    "upload_bytes_conflict": conflict,
    "upload_expired": expired_upload,
    "invalid_input": lambda emulator: emulator.post(
        "/uploads",
        UPLOAD | {"size_bytes": 0},
    ),
    "invalid_reference": lambda emulator: emulator.photograph(
        asset_ids=["ast_unknown"]
    ),
    "idempotency_key_reused": lambda emulator: twice(
        emulator,
        UPLOAD,
        UPLOAD | {"size_bytes": 11},
    ),
    "already_at_target_resolution": too_large,
    "concurrency_limit_reached": crowded,
    "rate_limited": hurried,
    "service_unavailable": paused,
    "internal_error": broken,
}
"""By code; the contract shows these answers as its examples."""
