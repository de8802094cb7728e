"""Every problem code, brought about by its real cause. The contract shows these answers as its examples."""

from collections.abc import Callable, Mapping

from tests.support.emulator_client import (
    BROKE,
    EXPIRED,
    LAPSED,
    READ_ONLY,
    REVOKED,
    UPLOAD,
    Answer,
    EmulatorUnderTest,
    completion_call,
    ingredient_body,
)
from tests.support.pictures import picture


def twice(emulator: EmulatorUnderTest, first: object, second: object) -> Answer:
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


CAUSES: Mapping[str, Callable[[EmulatorUnderTest], Answer]] = {
    "invalid_request": lambda emulator: emulator.post("/uploads", UPLOAD, idempotency_key=None),
    "invalid_cursor": lambda emulator: emulator.get("/assets?after=page-2"),
    "authentication_required": lambda emulator: emulator.get("/team", None),
    "credential_expired": lambda emulator: emulator.get("/team", EXPIRED),
    "credential_revoked": lambda emulator: emulator.get("/team", REVOKED),
    "insufficient_credits": lambda emulator: emulator.photograph(key=BROKE),
    "permission_denied": lambda emulator: emulator.post("/uploads", UPLOAD, READ_ONLY),
    "subscription_required": lambda emulator: emulator.post("/uploads", UPLOAD, LAPSED),
    "not_found": lambda emulator: emulator.get("/generations/gen_unknown"),
    "upload_not_found": lambda emulator: emulator.post("/uploads/upl_unknown/complete", {"upload_token": "x"}),
    "asset_not_found": lambda emulator: emulator.get("/assets/ast_unknown"),
    "product_not_found": lambda emulator: emulator.get("/products/prd_unknown"),
    "idempotency_in_progress": in_progress,
    "resource_operation_in_progress": busy,
    "upload_bytes_conflict": conflict,
    "upload_expired": expired_upload,
    "invalid_input": lambda emulator: emulator.post("/uploads", UPLOAD | {"size_bytes": 0}),
    "invalid_reference": lambda emulator: emulator.photograph(asset_ids=["ast_unknown"]),
    "idempotency_key_reused": lambda emulator: twice(emulator, UPLOAD, UPLOAD | {"size_bytes": 11}),
    "already_at_target_resolution": too_large,
    "concurrency_limit_reached": crowded,
    "rate_limited": hurried,
    "service_unavailable": paused,
    "internal_error": broken,
}
