"""The published JSON Schemas, as an editor reads them that knows no formats of ours."""

import json
from collections.abc import Iterator
from typing import Any, get_args

from jsonschema_rs import meta

from image_workflow_emulator.documents.values import MAX_INTEGER, MAX_NAME_CHARACTERS, MAX_SPAN_MS
from image_workflow_emulator.kernel.seed import MAX_SEED
from image_workflow_emulator.scenario.faults import FAULTS, LOSSES, ClientDefect
from tests.support.served import ROOT

OUTCOMES = ("outputs", "fail", "stall", "duration", "scene")
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
    then = SCHEMA["$defs"]["then"]
    network, client = (then["properties"][word] for word in ("network", "client"))
    assert [*then["properties"]] == [*FAULTS, *OUTCOMES, "retry_after", "detail", "at"]
    assert network["oneOf"][0]["enum"] == [*LOSSES]
    assert client["enum"] == [*get_args(ClientDefect)]


def described_keys(schema: Any, path: str = "") -> Iterator[tuple[str, bool]]:
    """Every key that a file may have, and whether it is described, itself or where it refers to."""
    if isinstance(schema, list):
        for index, item in enumerate(schema):
            yield from described_keys(item, f"{path}[{index}]")
    if isinstance(schema, dict):
        for key, value in schema.items():
            yield from described_keys(value, f"{path}.{key}")
        if schema.get("type") == "object":
            for key, value in schema.get("properties", {}).items():
                target = SCHEMA["$defs"][value["$ref"].rpartition("/")[2]] if "$ref" in value else value
                yield f"{path}.{key}", "description" in value or "description" in target


def test_every_key_is_described_for_editors() -> None:
    found = dict(described_keys(SCHEMA))
    assert len(found) > 60
    assert [key for key, is_described in found.items() if not is_described] == []
