"""The published JSON Schemas, as an editor reads them that knows no formats of ours."""

import json
from collections.abc import Iterator
from typing import Any, get_args

from jsonschema_rs import meta

from image_workflow_emulator.documents.values import MAX_INTEGER, MAX_NAME_CHARACTERS, MAX_SPAN_MS
from image_workflow_emulator.kernel.seed import MAX_SEED
from image_workflow_emulator.scenario.faults.network import LOSSES, ClientDefect
from image_workflow_emulator.scenario.format import FAULTS
from tests.support.served import ROOT

SCHEMA: dict[str, Any] = json.loads((ROOT / "contract" / "scenario.schema.json").read_text())


def test_the_schema_is_one() -> None:
    assert meta.is_valid(SCHEMA)


def test_bounds_are_those_of_the_code() -> None:
    definitions = SCHEMA["$defs"]
    assert definitions["count"]["maximum"] == definitions["positive"]["maximum"] == MAX_INTEGER
    assert definitions["line"]["maxLength"] == MAX_NAME_CHARACTERS
    assert definitions["duration"]["maximum"] * 1_000 == MAX_SPAN_MS
    assert SCHEMA["properties"]["seed"]["maximum"] == MAX_SEED


def test_the_words_under_then_are_those_that_the_code_reads() -> None:
    definitions = SCHEMA["$defs"]
    words = [branch["$ref"].removeprefix("#/$defs/then_") for branch in definitions["then_of_requests"]["oneOf"]]
    assert words == [*FAULTS]
    outcomes = [branch["$ref"].removeprefix("#/$defs/then_") for branch in definitions["then_of_work"]["oneOf"]]
    assert outcomes == ["outputs", "fail", "stall", "duration", "scene"]
    for scope in ("then", "then_of_requests", "then_of_work", "then_of_bytes"):
        names = [branch["$ref"].removeprefix("#/$defs/then_") for branch in definitions[scope]["oneOf"]]
        assert definitions[scope]["x-expected"].startswith(f"one of {', '.join(names)}")
    assert definitions["then_network"]["properties"]["network"]["oneOf"][0]["enum"] == [*LOSSES]
    assert definitions["then_client"]["properties"]["client"]["enum"] == [*get_args(ClientDefect)]


def described_keys(schema: Any, path: str = "") -> Iterator[tuple[str, bool]]:
    """Every key that a file may have, and whether it is described, itself or where it refers to."""
    if isinstance(schema, list):
        for index, item in enumerate(schema):
            yield from described_keys(item, f"{path}[{index}]")
    if isinstance(schema, dict):
        for key, value in schema.items():
            yield from described_keys(value, f"{path}.{key}")
        if schema.get("additionalProperties") is False:
            for key, value in schema.get("properties", {}).items():
                target = SCHEMA["$defs"][value["$ref"].rpartition("/")[2]] if "$ref" in value else value
                yield f"{path}.{key}", "description" in value or "description" in target


def test_every_key_is_described_for_editors() -> None:
    assert [key for key, is_described in described_keys(SCHEMA) if not is_described] == []
