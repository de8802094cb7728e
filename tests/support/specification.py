"""The contract as the emulator reads it, and what it says of problem codes by itself."""

from collections.abc import Mapping
from typing import Final

from image_workflow_emulator.contract import Contract, load_contract
from tests.support.contract_check import read_contract

CONTRACT: Final[Contract] = load_contract()


def _statuses() -> dict[str, int]:
    document = read_contract("openapi.yaml")
    responses = document["components"]["responses"]
    found = {"internal_error": 500}  # which no operation lists: any can answer so
    for item in document["paths"].values():
        for operation in (part for part in item.values() if "responses" in part):
            for status, response in operation["responses"].items():
                if status != "default" and "$ref" in response:
                    codes = responses[response["$ref"].rpartition("/")[2]].get("x-problem-codes", ())
                    found.update(dict.fromkeys(codes, int(status)))
    return found


STATUSES: Final[Mapping[str, int]] = _statuses()
"""Each code, with its status. 405 and 413 come with invalid_request (D03, D06)."""
