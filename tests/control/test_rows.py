"""The rows of the control plane's routes are the operations of its contract."""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import pytest
from starlette.routing import Mount

from image_workflow_emulator.control.endpoint import ControlRoute
from image_workflow_emulator.control.routes import (
    PAGE,
    PAGE_ROUTES,
    PROCESS_ROUTES,
    ROUTES,
    SANDBOX_ROUTES,
)
from tests.support.contract_check import read_contract

CONTRACT = read_contract("control-plane.yaml")
PARAMETERS = CONTRACT["components"]["parameters"]


class ContractOperation(NamedTuple):
    path: str
    method: str
    concerns_process: bool
    described: Mapping[str, Any]


def contract_operations() -> dict[str, ContractOperation]:
    operations = {}
    for path, item in CONTRACT["paths"].items():
        for method, described in item.items():
            if method != "servers":
                operations[described["operationId"]] = ContractOperation(
                    path,
                    method.upper(),
                    "servers" in item,
                    described,
                )
    return operations


OPERATIONS = contract_operations()
ROWS = [*PROCESS_ROUTES, *SANDBOX_ROUTES]
CONTRACT_AS_JSON = {"getContract", "getContractAsJson"}
"""Two paths of one document."""
each_row = pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)


def query_names(operation: ContractOperation) -> list[str]:
    names = []
    for reference in operation.described.get("parameters", ()):
        parameter = PARAMETERS[reference["$ref"].rpartition("/")[2]]
        if parameter["in"] == "query":
            names.append(parameter["name"])
    return names


def test_every_operation_has_one_row() -> None:
    names = [row.name for row in ROWS]

    assert sorted(names) == sorted(OPERATIONS)


@each_row
def test_a_row_has_the_path_of_its_operation(row: ControlRoute) -> None:
    path_without_convertors = re.sub(r":\w+}", "}", row.path)

    assert path_without_convertors == OPERATIONS[row.name].path


@each_row
def test_a_row_has_the_method_of_its_operation(row: ControlRoute) -> None:
    assert row.methods is not None
    assert row.methods - {"HEAD"} == {OPERATIONS[row.name].method}


@each_row
def test_a_row_reads_the_query_of_its_operation(row: ControlRoute) -> None:
    assert list(row.operation.query) == query_names(OPERATIONS[row.name])


@each_row
def test_a_row_reads_the_body_of_its_operation(row: ControlRoute) -> None:
    body = OPERATIONS[row.name].described.get("requestBody", {})

    assert row.operation.body_types == tuple(body.get("content", ()))
    assert row.operation.needs_body == body.get("required", False)


@each_row
def test_a_row_answers_with_the_first_status_of_its_operation(
    row: ControlRoute,
) -> None:
    statuses = list(OPERATIONS[row.name].described["responses"])

    assert str(row.operation.status) == statuses[0]


def test_what_concerns_the_process_has_no_row_below_a_sandbox() -> None:
    names = {row.name for row in PROCESS_ROUTES}

    assert names == {
        name for name, operation in OPERATIONS.items() if operation.concerns_process
    }


def test_the_rows_of_a_sandbox_stand_once_more_below_its_path() -> None:
    (mount,) = [route for route in ROUTES if isinstance(route, Mount)]

    assert mount.path == "/sandboxes/{sandbox}"
    assert mount.routes == SANDBOX_ROUTES


def test_the_contract_leaves_out_the_page_and_its_files_alone() -> None:
    paths = [row.path for row in (PAGE, *PAGE_ROUTES)]

    assert paths == ["/_emulator", "/reference", "/page/{file}"]


@each_row
def test_no_row_has_the_handler_of_another_operation(row: ControlRoute) -> None:
    names = {other.name for other in ROWS if other.handler is row.handler}

    if row.name in CONTRACT_AS_JSON:
        assert names == CONTRACT_AS_JSON
    else:
        assert names == {row.name}
