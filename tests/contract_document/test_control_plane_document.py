"""The contract of the control plane: valid by itself, with every route, and kept by real answers."""

import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import yaml
from openapi_spec_validator import OpenAPIV31SpecValidator

from emulator.control import PREFIX
from emulator.control.application import PROCESS_ROUTES, SANDBOX_ROUTES
from emulator.documents.values import LARGEST_INTEGER, LONGEST_NAME
from emulator.kernel.seed import LARGEST_SEED
from tests.support.contract_check import ROOT, ContractChecker, Exchange
from tests.support.emulator_client import Answer, EmulatorUnderTest, settings_of
from tests.support.pictures import picture

DOCUMENT: dict[str, Any] = yaml.load(
    (ROOT / "contract" / "control-plane.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader
)
FOR_PEOPLE = {"", "/reference", "/page/{file}"}
"""Routes of the page, which programs have no use for."""
SCENARIO = """
scenario: observed
description: For a test.
rules:
  - {name: fails, match: {operation: getTeam}, when: {nth: "2"}, then: {problem: internal_error}}
  - {match: {work: pose.create}, then: {fail: timed_out}}
timeline:
  - {at: 1h, set: {admission: paused}}
"""


class ControlChecker(ContractChecker):
    """Any operation may answer with any problem."""

    undeclared_statuses = frozenset(range(400, 600))


class Observed(EmulatorUnderTest):
    """An emulator whose control plane is held against its contract with every answer."""

    checker = ControlChecker(DOCUMENT)

    def _check(self, method: str, path: str, answer: Answer) -> None:
        super()._check(method, path, answer)
        if path.startswith(PREFIX):
            below = re.sub(f"^{PREFIX}(/sandboxes/[^/]+(?=/))?", "", path)
            self.checker.check(Exchange(method, below, answer.status, answer.raw_headers, answer.body))


@pytest.fixture
def observed(tmp_path: Path) -> Iterator[Observed]:
    with closing(Observed(settings_of(tmp_path, scenario=SCENARIO))) as emulator:
        yield emulator


def test_it_is_valid_openapi() -> None:
    assert [error.message for error in OpenAPIV31SpecValidator(DOCUMENT).iter_errors()] == []


def test_it_has_every_route_with_its_methods_and_parameters() -> None:
    for routes, is_of_process in ((PROCESS_ROUTES, True), (SANDBOX_ROUTES, False)):
        described = {
            path: {method.upper(): operation for method, operation in item.items() if method != "servers"}
            for path, item in DOCUMENT["paths"].items()
            if ("servers" in item) == is_of_process
        }
        assert described.keys() == routes.keys() - FOR_PEOPLE
        for path, operations in described.items():
            assert operations.keys() == routes[path].keys(), path
            for method, operation in operations.items():
                assert list(routes[path][method].query) == parameters(operation, "query"), (method, path)
                assert re.findall(r"{(\w+)}", path) == parameters(operation, "path"), (method, path)


def test_its_bounds_are_those_of_the_code() -> None:
    schemas = DOCUMENT["components"]["schemas"]
    assert schemas["Count"]["maximum"] == schemas["PositiveCount"]["maximum"] == LARGEST_INTEGER
    assert schemas["Line"]["maxLength"] == LONGEST_NAME
    assert schemas["SandboxWrite"]["properties"]["seed"]["maximum"] == LARGEST_SEED


def parameters(operation: dict[str, Any], place: str) -> list[str]:
    """The names of an operation's parameters in a place."""
    known = DOCUMENT["components"]["parameters"]
    found = [known[parameter["$ref"].rpartition("/")[2]] for parameter in operation.get("parameters", ())]
    return [parameter["name"] for parameter in found if parameter["in"] == place]


def test_what_it_lists_and_shows_is_as_described(observed: Observed) -> None:
    observed.photograph(output_mode="photoshoot")
    observed.author("background")
    observed.post("/poses", {"name": "Lost", "asset_id": observed.assets(1)[0]})
    observed.advance(20)
    for key in ("iwe_demo_full", "iwe_demo_full", "unknown"):
        observed.get("/team", key)
    for path, item in DOCUMENT["paths"].items():
        if "get" in item and "{" not in path and path != "/events":
            assert observed.ask("GET", path).status == 200, path
    last = observed.told("GET", "/requests")["last_sequence"]
    for sequence in range(1, last + 1):
        observed.told("GET", f"/requests/{sequence}")
    picture_address = observed.told("GET", "/assets")["data"][0]["url"]
    assert observed.ask("GET", picture_address.removeprefix(PREFIX)).status == 200
    assert observed.ask("GET", "/sandboxes/default").status == 200


def test_what_it_changes_is_as_described(observed: Observed) -> None:
    ask, told = observed.ask, observed.told
    told("POST", "/sandboxes", {"id": "other", "clock": "x60", "scenario": "rate-limited"})
    told("GET", "/clock", sandbox="other")
    assert ask("DELETE", "/sandboxes/other").status == 204
    team = told("POST", "/teams", {"name": "New", "credits": 3})["id"]
    told("PATCH", f"/teams/{team}", {"subscription": "inactive"})
    credential = told("POST", f"/teams/{team}/credentials", {"profile": "full"})["id"]
    told("PATCH", f"/credentials/{credential}", {"state": "revoked"})
    told("PUT", "/clock", {"mode": "manual"})
    told("POST", "/clock/advance", {"seconds": 90})
    told("PUT", "/admission", {"state": "paused", "retry_after": 7})
    told("PUT", "/admission", {"state": "open"})
    told("POST", "/assets", content=picture(), headers={"Content-Type": "image/png"})
    told("POST", "/first-photoshoot")
    told("PUT", "/scenario", {"use": "some-outputs-fail"})
    assert ask("DELETE", "/scenario").status == 204
    told("GET", "/scenario")
    assert ask("DELETE", "/requests").status == 204
    told("PUT", "/state", content=ask("GET", "/state").body)
    told("POST", "/reset")


def test_what_it_refuses_is_as_described(observed: Observed) -> None:
    refusals = [
        observed.ask("POST", "/clock/advance", {"hours": 1}),
        observed.ask("GET", "/requests?status=fine"),
        observed.ask("GET", "/requests/unknown"),
        observed.ask("GET", "/nothing"),
        observed.ask("POST", "/health"),
        observed.ask("PUT", "/scenario", {"use": "nothing"}),
        observed.ask("PUT", "/scenario", {"rules": 7}),
        observed.ask("PUT", "/state", content=b"no archive"),
        observed.ask("GET", "/clock", headers={"Origin": "http://elsewhere.example"}),
    ]
    assert {answer.status // 100 for answer in refusals} == {4}
