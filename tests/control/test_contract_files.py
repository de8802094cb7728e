"""What the emulator hands out of itself: versions, its contract, schemas of files."""

import pytest

from image_workflow_emulator import __version__
from image_workflow_emulator.documents.shipped import shipped_document, shipped_path
from tests.support.emulator_under_test import EmulatorUnderTest


def test_health_tells_the_versions(emulator: EmulatorUnderTest) -> None:
    health = emulator.told("GET", "/health")

    assert health == {
        "status": "ok",
        "version": __version__,
        "contract_version": "1.0.0",
    }


@pytest.mark.parametrize("path", ["/contract", "/contract.json"])
def test_the_server_of_the_contract_is_the_address_that_was_asked(
    emulator: EmulatorUnderTest,
    path: str,
) -> None:
    answer = emulator.ask("GET", path, headers={"Host": "localhost:9"})

    (server,) = answer.json["servers"]
    shipped = shipped_document("contract/openapi.yaml")

    assert answer.headers["content-type"] == "application/json"
    assert server["url"] == "http://localhost:9/v1"
    assert answer.json == {**shipped, "servers": [server]}


def test_the_contract_is_served_as_yaml_line_for_line_but_for_its_servers(
    emulator: EmulatorUnderTest,
) -> None:
    answer = emulator.ask("GET", "/contract.yaml")

    shipped = shipped_path("contract/openapi.yaml").read_text().splitlines()
    served = answer.body.decode().splitlines()
    own = [line for line in served if line not in shipped]

    assert answer.headers["content-type"] == "application/yaml"
    assert own == [
        "  - url: http://emulator.test/v1",
        "    description: This emulator",
    ]
    assert len(served) == len(shipped)


@pytest.mark.parametrize("kind", ["scenario", "world"])
def test_the_schemas_of_files_are_served_as_they_are_shipped(
    emulator: EmulatorUnderTest,
    kind: str,
) -> None:
    answer = emulator.ask("GET", f"/{kind}.schema.json")

    assert answer.headers["content-type"] == "application/schema+json"
    assert answer.json == shipped_document(f"contract/{kind}.schema.json")


def test_the_folder_of_the_documentation_is_its_index(
    emulator: EmulatorUnderTest,
) -> None:
    answer = emulator.ask("GET", "/docs/")

    assert answer.status == 200
    assert answer.body == emulator.ask("GET", "/docs").body
