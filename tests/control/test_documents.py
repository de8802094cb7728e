"""What the emulator says of itself: health, contract, schemas, ledger."""

import orjson
import pytest
from jsonschema_rs import Draft202012Validator

from image_workflow_emulator import __version__
from image_workflow_emulator.documents.shipped import shipped_document, shipped_path
from tests.support.emulator_client import EmulatorUnderTest


def test_health_tells_the_versions(emulator: EmulatorUnderTest) -> None:
    assert emulator.told("GET", "/health") == {"status": "ok", "version": __version__, "contract_version": "1.0.0"}


@pytest.mark.parametrize("path", ["/contract", "/contract.json"])
def test_the_contract_is_served_as_json_with_the_address_that_was_asked(emulator: EmulatorUnderTest, path: str) -> None:
    answer = emulator.ask("GET", path, headers={"Host": "localhost:9"})
    assert answer.headers["content-type"] == "application/json"
    document = answer.json
    assert [server["url"] for server in document["servers"]] == ["http://localhost:9/v1"]
    assert document == {**shipped_document("contract/openapi.yaml"), "servers": document["servers"]}


def test_the_contract_is_served_as_yaml_line_for_line_but_for_its_servers(emulator: EmulatorUnderTest) -> None:
    answer = emulator.ask("GET", "/contract.yaml")
    assert answer.headers["content-type"] == "application/yaml"
    shipped = shipped_path("contract/openapi.yaml").read_text().splitlines()
    served = answer.body.decode().splitlines()
    own = [line for line in served if line not in shipped]
    default = [line for line in shipped if line not in served]
    assert own == ["  - url: http://emulator.test/v1", "    description: This emulator"]
    assert default == ["  - url: http://127.0.0.1:8038/v1", "    description: The emulator at its default address"]


def test_the_schemas_of_scenarios_and_worlds_are_served(emulator: EmulatorUnderTest) -> None:
    scenario = emulator.ask("GET", "/scenario.schema.json")
    assert scenario.headers["content-type"] == "application/schema+json"
    assert scenario.json == orjson.loads(shipped_path("contract/scenario.schema.json").read_bytes())
    world = Draft202012Validator(emulator.told("GET", "/world.schema.json"))
    assert world.is_valid({"teams": {"Demo": {"credits": 5}}, "premade": False})
    assert not world.is_valid({"scenario": "x"})
    assert not world.is_valid({"teams": {"Demo": {"credits": "many"}}})
