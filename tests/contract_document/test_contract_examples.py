"""The examples of the contract against what the emulator answers."""

from typing import Any

from tests.support.contract_check import read_contract
from tests.support.contract_examples import told_examples


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
