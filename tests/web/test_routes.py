"""Paths and methods (D06), defects, and of two neighbouring checks that a request both
fails, the earlier one (D01).
"""

import re
from collections.abc import Callable
from typing import Any

import pytest

from image_workflow_emulator.contract import load_contract
from image_workflow_emulator.domain.problems import CATALOGUE, Check
from image_workflow_emulator.web.exchange import Route
from image_workflow_emulator.web.operations import OPERATIONS
from image_workflow_emulator.web.v1 import RoutingError, build_routes
from tests.support.contract_check import shipped_checker
from tests.support.emulator_client import (
    FULL,
    GHOST,
    LAPSED,
    OTHER,
    READ_ONLY,
    REVOKED,
    UPLOAD,
    Answer,
    Call,
)
from tests.support.emulator_under_test import EmulatorUnderTest, MakeEmulator
from tests.support.every_operation import expired_upload, paused, too_large
from tests.support.pictures import picture

METHODS = (
    "GET",
    "POST",
    "PATCH",
    "PUT",
    "DELETE",
    "HEAD",
    "OPTIONS",
    "TRACE",
    "CONNECT",
    "PROPFIND",
    "get",
)
ALLOWED: dict[str, list[str]] = {}
"""The methods of each path in the contract."""
for each_method, template, _ in shipped_checker().operations():
    ALLOWED.setdefault(re.sub(r"{\w+}", "some_1", template), []).append(each_method)


@pytest.mark.parametrize("path", ALLOWED)
def test_another_method_of_a_known_path_is_405_and_told_what_is_allowed(
    emulator: EmulatorUnderTest,
    path: str,
) -> None:
    """D06; before the credential is looked at (D01)."""
    allowed = ", ".join(sorted(ALLOWED[path]))
    for method in METHODS:
        if method in ALLOWED[path]:
            continue

        answer = emulator.send(Call(method, path, key=None))

        assert answer.status == 405, method
        assert answer.headers["allow"] == allowed, method


@pytest.mark.parametrize(
    "path",
    [
        "/nothing",
        "/team/",
        "/team/x",
        "/Team",
        "//team",
        "/./team",
        "/products/",
        "/products//",
        "/products/prd_1/",
        "/products/prd_1/x",
        "/uploads/upl_1",
        "/uploads//complete",
        "/uploads/upl_1/complete/",
        "/generations/gen_1/outputs",
        "/%74eam%2F",
        "/v1/team",
        "/{}",
        "/products/{}/x",
        "/",
    ],
)
def test_an_unknown_path_is_not_found(emulator: EmulatorUnderTest, path: str) -> None:
    """D06."""
    for method in ("GET", "POST", "DELETE", "HEAD"):
        answer = emulator.send(Call(method, f"/v1{path}"))

        assert answer.status == 404, method


def test_every_operation_needs_a_handler(
    make_emulator: MakeEmulator,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    handlers = dict(OPERATIONS)
    del handlers["getTeam"]
    monkeypatch.setattr("image_workflow_emulator.web.v1.OPERATIONS", handlers)

    with pytest.raises(RoutingError) as error:
        make_emulator()

    assert str(error.value) == "only one of the contract and the code has: getTeam"


def test_each_operation_makes_the_checks_of_its_codes_in_their_order() -> None:
    """D01."""
    order = list(Check)
    for route in all_routes():
        checks = list(dict.fromkeys(route.checks))
        assert sorted(checks, key=order.index) == checks, route.operation
        of_codes = {CATALOGUE[code].check for code in route.codes}
        assert of_codes - set(checks) <= checks_never_made(route), route.operation


def all_routes() -> list[Route]:
    routes: list[Route] = []
    for methods in build_routes(load_contract()).values():
        routes += methods.values()
    return routes


def checks_never_made(route: Route) -> set[Check]:
    """Return the checks of codes that the contract promises and that never come: a 403
    for reads, and a 409 for the deletion of a Product.
    """
    if route.is_read:
        return {Check.PROFILE}
    if route.operation == "deleteProduct":
        return {Check.STATE}
    return set()


DEFECTS: dict[str, Callable[[EmulatorUnderTest], Answer]] = {
    "imaging.helpers.Helpers.run": lambda emulator: emulator.fetch(
        emulator.premade("pose")["card_image_url"]
    ),
    "service.resources.uploads.accept": lambda emulator: emulator.send_bytes(
        emulator.open_upload(5),
        b"bytes",
    ),
    "control.plane.ControlPlane.find_sandbox": lambda emulator: emulator.ask(
        "GET",
        "/clock",
    ),
}
"""Where a defect is, and a request that meets it."""


@pytest.mark.parametrize("place", DEFECTS)
def test_a_defect_is_answered_with_a_problem_and_told_in_the_log(
    emulator: EmulatorUnderTest,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    place: str,
) -> None:
    def fail(*_: object) -> None:
        raise LookupError("what went wrong")

    with monkeypatch.context() as defect:
        defect.setattr(f"image_workflow_emulator.{place}", fail)
        answer = DEFECTS[place](emulator)
    again = DEFECTS[place](emulator)

    assert answer.status == 500
    assert answer.json["code"] == "internal_error"
    assert answer.headers["request-id"] in caplog.text
    assert "LookupError: what went wrong" in caplog.text
    assert again.status == 200


# The order of checks ------------------------------------------------------------------

Step = Callable[[EmulatorUnderTest], Any]


def sent(
    method: str,
    target: str,
    json: Any = None,
    **options: Any,
) -> Step:
    return lambda emulator: emulator.send(Call(method, target, json, **options))


def upload(
    key: str = FULL,
    idempotency_key: str = "k",
    **fields: int,
) -> Step:
    return sent(
        "POST",
        "/uploads",
        UPLOAD | fields,
        key=key,
        idempotency_key=idempotency_key,
    )


def exhausted(key: str = FULL) -> Step:
    return lambda emulator: [emulator.get("/team", key) for _ in range(120)]


def changed(key: str, **changes: Any) -> Step:
    def change(emulator: EmulatorUnderTest) -> Any:
        credential = emulator.sandbox.credentials[key].credential
        return emulator.told("PATCH", f"/credentials/{credential.id}", changes)

    return change


def team(**changes: Any) -> Step:
    return lambda emulator: emulator.set_team(**changes)


def photograph(**fields: Any) -> Step:
    return lambda emulator: emulator.photograph(**fields)


def premade_changed(key: str = FULL, **fields: Any) -> Step:
    def change(emulator: EmulatorUnderTest) -> Answer:
        pose = emulator.premade("pose")
        return emulator.patch(f"/poses/{pose['id']}", fields, key)

    return change


def pose_being_changed(key: str = FULL, **fields: Any) -> Step:
    """Change a Pose of Demo whose source is being replaced."""

    def change(emulator: EmulatorUnderTest) -> Answer:
        path = f"/poses/{emulator.author('pose')['id']}"
        emulator.patch(path, {"asset_id": emulator.assets(1)[0]})
        return emulator.patch(path, fields, key)

    return change


def walking_from_close_up(emulator: EmulatorUnderTest) -> Answer:
    """The Pose `Walking` is seen from afar only."""
    pose = emulator.premade("pose", "Walking")["id"]
    return emulator.photograph(
        pose_id=pose,
        camera_distance="close",
        photography_style_id="sty_1",
    )


def late_repeat(data: bytes) -> Step:
    """Complete a session that was completed before, after its window."""

    def repeat(emulator: EmulatorUnderTest) -> Answer:
        session, token = emulator.ready_upload(data)
        emulator.complete(session, token)
        emulator.advance(15 * 60)
        return emulator.complete(session, token)

    return repeat


poor = team(credits_available=0)
full = (team(concurrency_limit=1), photograph())

ORDER: dict[str, tuple[str, *tuple[Step, ...]]] = {
    "an unknown path before the credential": (
        "not_found",
        sent("POST", "/nothing", UPLOAD, key=None),
    ),
    "the credential before the rate": (
        "credential_revoked",
        exhausted(),
        changed(FULL, state="revoked"),
        sent("GET", "/team"),
    ),
    "the credential before the profile": (
        "credential_revoked",
        changed(READ_ONLY, state="revoked"),
        upload(READ_ONLY),
    ),
    "revocation before expiry": (
        "credential_revoked",
        changed(REVOKED, expires_at="2020-01-01T00:00:00Z"),
        sent("GET", "/team", key=REVOKED),
    ),
    "the rate before the profile": (
        "rate_limited",
        exhausted(READ_ONLY),
        upload(READ_ONLY),
    ),
    "a missing Idempotency-Key before the body": (
        "invalid_request",
        sent("POST", "/uploads", {}, idempotency_key=None),
    ),
    "the query before the body": ("invalid_request", sent("POST", "/uploads?x=1", {})),
    "the limit before the cursor": (
        "invalid_request",
        sent("GET", "/assets?after=x&limit=0"),
    ),
    "the pause before the subscription": (
        "service_unavailable",
        paused,
        upload(LAPSED),
    ),
    "the pause before the path's resource": (
        "service_unavailable",
        paused,
        sent("DELETE", f"/assets/{GHOST}"),
    ),
    "the subscription before the path's resource": (
        "subscription_required",
        sent("PATCH", "/products/prd_1", {"name": "x"}, key=LAPSED),
    ),
    "the subscription before read-only": (
        "subscription_required",
        premade_changed(LAPSED, name="x"),
    ),
    "the path's resource before references": (
        "product_not_found",
        sent("PATCH", "/products/prd_1", {"asset_ids": [GHOST]}),
    ),
    "the path's resource before its state": (
        "not_found",
        pose_being_changed(OTHER, name="x"),
    ),
    "read-only before references": (
        "permission_denied",
        premade_changed(asset_id=GHOST),
    ),
    "state before references": (
        "resource_operation_in_progress",
        pose_being_changed(asset_id=GHOST),
    ),
    "references before rules": ("invalid_reference", walking_from_close_up),
    "references before concurrency": (
        "invalid_reference",
        *full,
        photograph(asset_ids=[GHOST]),
    ),
    "rules before concurrency": ("already_at_target_resolution", *full, too_large),
    "concurrency before Credits": (
        "concurrency_limit_reached",
        *full,
        poor,
        photograph(),
    ),
    "D17: the window before the token": ("upload_expired", expired_upload),
    "D17: used before the window": ("upload_not_found", late_repeat(picture())),
    "D17: failed before the window": ("upload_not_found", late_repeat(b"no picture")),
}
"""The code that answers, what is done before, and at last the request."""


@pytest.mark.parametrize("order", ORDER)
def test_of_two_checks_the_earlier_one_answers(
    emulator: EmulatorUnderTest,
    order: str,
) -> None:
    code, *steps = ORDER[order]
    *earlier_steps, last_step = steps
    for step in earlier_steps:
        step(emulator)

    answer = last_step(emulator)

    assert answer.json["code"] == code
    assert answer.status == CATALOGUE[code].status
