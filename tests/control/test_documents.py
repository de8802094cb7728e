"""What the emulator says of itself: health, contract, ledger."""

import pytest

from emulator import __version__
from emulator.documents import shipped_document, shipped_path
from tests.control.controlled_emulator import ControlledEmulator


def test_health_tells_the_versions(control: ControlledEmulator) -> None:
    assert control.told("GET", "/health") == {"status": "ok", "version": __version__, "contract_version": "1.0.0"}


@pytest.mark.parametrize("path", ["/contract", "/contract.json"])
def test_the_contract_is_served_as_json(control: ControlledEmulator, path: str) -> None:
    answer = control.ask("GET", path)
    assert answer.headers["content-type"] == "application/json"
    assert answer.json == shipped_document("contract/openapi.yaml")


def test_the_contract_is_served_as_yaml_byte_for_byte(control: ControlledEmulator) -> None:
    answer = control.ask("GET", "/contract.yaml")
    assert answer.headers["content-type"] == "application/yaml"
    assert answer.body == shipped_path("contract/openapi.yaml").read_bytes()


def test_the_ledger_is_served_as_json(control: ControlledEmulator) -> None:
    assert control.told("GET", "/decisions") == {"data": shipped_document("contract/decisions.yaml")["decisions"]}
