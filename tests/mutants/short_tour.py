"""A fixed tour of the service: every operation once, and every kind of refusal, each answer held against the contract.

What is wrong is found by the checker of the harness, or because a status is not the one that must come. It looks at
nothing else: what numbers and states are right is the model's business.
"""

from collections.abc import Callable
from typing import Final

from tests.support.emulator_client import BROKE, EXPIRED, LAPSED, OTHER, READ_ONLY, REVOKED, Call, EmulatorUnderTest
from tests.support.every_operation import CALLS, SUCCESSES, Things, prepare

Outcome = tuple[int, str]

REFUSALS: Final[tuple[tuple[Callable[[Things], Call], Outcome], ...]] = (
    (lambda _: Call("GET", "/team", key=None), (401, "authentication_required")),
    (lambda _: Call("GET", "/team", key=EXPIRED), (401, "credential_expired")),
    (lambda _: Call("GET", "/team", key=REVOKED), (401, "credential_revoked")),
    (lambda things: Call("DELETE", f"/products/{things.product['id']}", key=READ_ONLY), (403, "permission_denied")),
    (lambda things: _product(things, key=LAPSED), (403, "subscription_required")),
    (lambda things: _product(things, key=OTHER), (422, "invalid_reference")),
    (lambda things: Call("GET", f"/products/{things.product['id']}", key=OTHER), (404, "product_not_found")),
    (lambda things: Call("GET", f"/assets/{things.asset_ids[0]}", key=OTHER), (404, "asset_not_found")),
    (lambda _: Call("GET", "/poses/no-pose"), (404, "not_found")),
    (lambda _: Call("POST", "/uploads/no-session/complete", {"upload_token": "no"}), (404, "upload_not_found")),
    (lambda _: Call("GET", "/assets?limit=101"), (400, "invalid_request")),
    (lambda _: Call("GET", "/assets?colour=red"), (400, "invalid_request")),
    (lambda _: Call("GET", "/assets?after=made-up"), (400, "invalid_cursor")),
    (lambda things: _product(things, idempotency_key=None), (400, "invalid_request")),
    (lambda _: Call("POST", "/products", {"name": "Shirt"}), (422, "invalid_input")),
    (lambda things: _background(things, kind="garden"), (422, "invalid_input")),
    (lambda things: _background(things, key=BROKE), (422, "invalid_reference")),
)


def _product(things: Things, key: str = "iwe_demo_full", idempotency_key: str | None = "a key") -> Call:
    ids = things.asset_ids
    body = {"name": "Shirt", "asset_ids": ids, "primary_asset_id": ids[0]}
    return Call("POST", "/products", body, key=key, idempotency_key=idempotency_key)


def _background(things: Things, kind: str = "backdrop", key: str = "iwe_demo_full") -> Call:
    return Call("POST", "/backgrounds", {"name": "Wall", "kind": kind, "asset_id": things.asset_ids[0]}, key=key)


def take_tour(emulator: EmulatorUnderTest) -> None:
    """Go once round the default world. Raises AssertionError."""
    things = prepare(emulator)
    for build, outcome in REFUSALS:
        _expect(emulator, build(things), outcome)
    for operation, build in sorted(CALLS.items(), key=lambda row: row[0].startswith("delete")):
        if operation.startswith("delete"):
            emulator.advance(60)
        answer = emulator.send(build(things))
        assert SUCCESSES[operation] == answer.status, (operation, answer.body)
    emulator.set_team(concurrency_limit=0)
    _expect(emulator, _background(things, key="iwe_demo_full"), (422, "invalid_reference"))
    things.asset_ids = emulator.assets(1)
    _expect(emulator, _background(things), (429, "concurrency_limit_reached"))
    emulator.set_team(concurrency_limit=4, credits_available=0)
    _expect(emulator, _background(things), (402, "insufficient_credits"))
    emulator.pause()
    _expect(emulator, _product(things), (503, "service_unavailable"))


def _expect(emulator: EmulatorUnderTest, call: Call, outcome: Outcome) -> None:
    answer = emulator.send(call)
    assert outcome == answer.outcome, answer.body
