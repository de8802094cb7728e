"""The contract of the control plane: valid by itself. The client of the tests holds answers to it, and the emulator
routes by it.
"""

from typing import Any

from openapi_spec_validator import OpenAPIV31SpecValidator

from image_workflow_emulator.documents.values import MAX_INTEGER, MAX_NAME_CHARACTERS
from image_workflow_emulator.kernel.seed import MAX_SEED
from tests.support.contract_check import read_contract

DOCUMENT: dict[str, Any] = read_contract("control-plane.yaml")


def test_it_is_valid_openapi() -> None:
    assert [error.message for error in OpenAPIV31SpecValidator(DOCUMENT).iter_errors()] == []


def test_its_bounds_are_those_of_the_code() -> None:
    schemas = DOCUMENT["components"]["schemas"]
    assert schemas["Count"]["maximum"] == schemas["PositiveCount"]["maximum"] == MAX_INTEGER
    assert schemas["Line"]["maxLength"] == MAX_NAME_CHARACTERS
    assert schemas["SandboxWrite"]["properties"]["seed"]["maximum"] == MAX_SEED
