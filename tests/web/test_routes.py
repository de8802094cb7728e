"""Paths and methods (D06), and the addresses that answers carry."""

import re
from collections.abc import Callable

import pytest

from image_workflow_emulator.contract import load_contract
from image_workflow_emulator.domain.problems import CATALOGUE, Check
from image_workflow_emulator.web.operations import OPERATIONS
from image_workflow_emulator.web.v1 import RoutingError, build_routes
from tests.support.contract_check import shipped_checker
from tests.support.emulator_client import Answer, Call, EmulatorUnderTest, MakeEmulator

METHODS = ("GET", "POST", "PATCH", "PUT", "DELETE", "HEAD", "OPTIONS", "TRACE", "CONNECT", "PROPFIND", "get")
ALLOWED: dict[str, list[str]] = {}
"""The methods of each path in the contract."""
for each_method, template, _ in shipped_checker().operations():
    ALLOWED.setdefault(re.sub(r"{\w+}", "some_1", template), []).append(each_method)


@pytest.mark.parametrize("path", ALLOWED)
def test_another_method_of_a_known_path_is_405_and_told_what_is_allowed(emulator: EmulatorUnderTest, path: str) -> None:
    """D06; before the credential is looked at (D01)."""
    for method in METHODS:
        if method not in ALLOWED[path]:
            answer = emulator.send(Call(method, path, key=None))
            assert (answer.status, answer.headers["allow"]) == (405, ", ".join(sorted(ALLOWED[path]))), method


@pytest.mark.parametrize(
    "path",
    [
        "/nothing", "/team/", "/team/x", "/Team", "//team", "/./team", "/products/", "/products//",
        "/products/prd_1/", "/products/prd_1/x", "/uploads/upl_1", "/uploads//complete",
        "/uploads/upl_1/complete/", "/generations/gen_1/outputs", "/%74eam%2F", "/v1/team", "/{}",
        "/products/{}/x", "/",
    ],
)  # fmt: skip
def test_an_unknown_path_is_not_found(emulator: EmulatorUnderTest, path: str) -> None:
    """D06."""
    for method in ("GET", "POST", "DELETE", "HEAD"):
        assert emulator.send(Call(method, f"/v1{path}")).status == 404


def test_every_operation_needs_a_handler(make_emulator: MakeEmulator, monkeypatch: pytest.MonkeyPatch) -> None:
    handlers = {name: handler for name, handler in OPERATIONS.items() if name != "getTeam"}
    monkeypatch.setattr("image_workflow_emulator.web.v1.OPERATIONS", handlers)
    with pytest.raises(RoutingError, match=r"^only one of the contract and the code has: getTeam$"):
        make_emulator()


def test_each_operation_makes_the_checks_of_its_codes_in_their_order() -> None:
    """D01. The contract also promises a 403 for reads, and a 409 for the deletion of a Product, which never come."""
    order = list(Check)
    for methods in build_routes(load_contract()).values():
        for route in methods.values():
            checks = list(dict.fromkeys(route.checks))
            assert sorted(checks, key=order.index) == checks, route.operation
            missing = {CATALOGUE[code].check for code in route.codes}.difference(checks)
            never = {Check.PROFILE} if route.is_read else {Check.STATE} if route.operation == "deleteProduct" else set()
            assert missing <= never, route.operation


DEFECTS: dict[str, Callable[[EmulatorUnderTest], Answer]] = {
    "imaging.helpers.Helpers.run": lambda emulator: emulator.fetch(emulator.premade("pose")["card_image_url"]),
    "service.resources.uploads.accept": lambda emulator: emulator.send_bytes(emulator.open_upload(5), b"bytes"),
    "control.dispatch.ControlPlane.find_sandbox": lambda emulator: emulator.ask("GET", "/clock"),
}
"""Where a defect is, and a request that meets it."""


@pytest.mark.parametrize("place", DEFECTS)
def test_a_defect_is_answered_with_a_problem_and_told_in_the_log(
    emulator: EmulatorUnderTest, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, place: str
) -> None:
    def fail(*_: object) -> None:
        raise LookupError("what went wrong")

    with monkeypatch.context() as defect:
        defect.setattr(f"image_workflow_emulator.{place}", fail)
        answer = DEFECTS[place](emulator)
    assert answer.outcome == (500, "internal_error")
    assert answer.headers["request-id"] in caplog.text
    assert "LookupError: what went wrong" in caplog.text
    assert DEFECTS[place](emulator).status == 200
