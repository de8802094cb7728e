"""The contract of the control plane: valid by itself, and with every route. The client of the tests holds answers to it."""

import re
from typing import Any

from openapi_spec_validator import OpenAPIV31SpecValidator

from image_workflow_emulator.control.application import PROCESS_ROUTES, SANDBOX_ROUTES
from image_workflow_emulator.documents.values import MAX_INTEGER, MAX_NAME_CHARACTERS
from image_workflow_emulator.kernel.seed import MAX_SEED
from tests.support.contract_check import read_contract

DOCUMENT: dict[str, Any] = read_contract("control-plane.yaml")
FOR_PEOPLE = {"", "/reference", "/page/{file}"}
"""Routes of the page, which programs have no use for."""


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
    assert schemas["Count"]["maximum"] == schemas["PositiveCount"]["maximum"] == MAX_INTEGER
    assert schemas["Line"]["maxLength"] == MAX_NAME_CHARACTERS
    assert schemas["SandboxWrite"]["properties"]["seed"]["maximum"] == MAX_SEED


def parameters(operation: dict[str, Any], place: str) -> list[str]:
    """The names of an operation's parameters in a place."""
    known = DOCUMENT["components"]["parameters"]
    found = [known[parameter["$ref"].rpartition("/")[2]] for parameter in operation.get("parameters", ())]
    return [parameter["name"] for parameter in found if parameter["in"] == place]
