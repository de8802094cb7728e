"""The ledger with its readings, the contract of the control plane, and the examples of the contract."""

import re
from typing import Any

import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from image_workflow_emulator.documents.values import MAX_INTEGER, MAX_NAME_CHARACTERS
from image_workflow_emulator.domain.readings import NO_READINGS, PLAIN, READINGS, Readings
from image_workflow_emulator.kernel.seed import MAX_SEED
from tests.support.contract_check import ROOT, read_contract
from tests.support.contract_examples import told_examples

DECISIONS: list[dict[str, Any]] = read_contract("decisions.yaml")["decisions"]


def test_decisions_are_numbered_in_order_and_all_are_cited_and_no_others() -> None:
    ids = [decision["id"] for decision in DECISIONS]
    assert all(re.fullmatch("D[0-9]{2}", number) for number in ids)
    assert sorted({*ids}) == ids
    contract = (ROOT / "contract" / "openapi.yaml").read_text(encoding="utf-8")
    texts = [contract, *(path.read_text(encoding="utf-8") for path in (ROOT / "emulator").rglob("*.py"))]
    in_contract, cited = ({*re.findall(r"\bD[0-9]{2}\b", text)} for text in (contract, "\n".join(texts)))
    assert in_contract <= {*ids} <= cited


def test_the_code_has_each_reading_of_the_ledger_and_no_other() -> None:
    told = [
        (f"{decision['id']}={reading['id']}", reading["gives"])
        for decision in DECISIONS
        for reading in decision.get("readings", ())
    ]
    assert told == [(reading.name, reading.gives) for reading in READINGS.values()]


def test_each_field_of_the_readings_belongs_to_one_decision() -> None:
    decisions = {reading.field: reading.decision for reading in READINGS.values()}
    assert set(Readings.__struct_fields__) == set(decisions)
    assert len(decisions) == len(set(decisions.values()))
    assert {PLAIN} == {getattr(NO_READINGS, field) for field in Readings.__struct_fields__}


@pytest.mark.parametrize("name", ["openapi.yaml", "control-plane.yaml"])
def test_a_contract_is_valid_openapi(name: str) -> None:
    assert [error.message for error in OpenAPIV31SpecValidator(read_contract(name)).iter_errors()] == []


def test_bounds_of_the_control_plane_are_those_of_the_code() -> None:
    schemas = read_contract("control-plane.yaml")["components"]["schemas"]
    assert schemas["Count"]["maximum"] == schemas["PositiveCount"]["maximum"] == MAX_INTEGER
    assert schemas["Line"]["maxLength"] == MAX_NAME_CHARACTERS
    assert schemas["SandboxWrite"]["properties"]["seed"]["maximum"] == MAX_SEED


def test_the_examples_are_what_the_emulator_answers() -> None:
    shown = read_contract("openapi.yaml")["components"]["examples"]
    told = told_examples()
    assert list(told) == list(shown)
    for name, example in told.items():
        assert without_sizes(example) == without_sizes(shown[name]), f"{name} has changed; run: make contract"


def without_sizes(value: Any) -> Any:
    """An example but for the sizes of files, which another version of a library may change."""
    if isinstance(value, dict):
        return {name: without_sizes(item) for name, item in value.items() if name != "size_bytes"}
    return [without_sizes(item) for item in value] if isinstance(value, list) else value
