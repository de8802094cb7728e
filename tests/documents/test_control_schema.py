"""The bodies of the control plane are described twice: strictly for the reader, and for people and generators."""

import json
from pathlib import Path
from typing import Any

import pytest

from emulator.documents import shipped_document
from emulator.documents.values import LARGEST_INTEGER, LONGEST_NAME
from emulator.kernel.seed import LARGEST_SEED

ROOT = Path(__file__).parents[2]
SHAPES: dict[str, Any] = json.loads((ROOT / "contract/control.schema.json").read_text(encoding="utf-8"))["$defs"]
DESCRIBED: dict[str, Any] = shipped_document("contract/control-plane.yaml")


def described_fields(method: str, path: str) -> set[str]:
    """The fields of a body in the OpenAPI document."""
    schema = DESCRIBED["paths"][path][method]["requestBody"]["content"]["application/json"]["schema"]
    if "$ref" in schema:
        schema = DESCRIBED["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return set(schema["properties"])


@pytest.mark.parametrize(
    ("shape", "method", "path"),
    [
        ("sandbox", "post", "/sandboxes"),
        ("clock", "put", "/clock"),
        ("move", "post", "/clock/advance"),
        ("team", "post", "/teams"),
        ("team_change", "patch", "/teams/{team}"),
        ("credential", "post", "/teams/{team}/credentials"),
        ("credential_change", "patch", "/credentials/{credential}"),
        ("admission", "put", "/admission"),
    ],
)
def test_a_body_has_the_same_fields_in_both_documents(shape: str, method: str, path: str) -> None:
    assert set(SHAPES[shape]["properties"]) == described_fields(method, path)


def test_bounds_are_those_of_the_code() -> None:
    assert SHAPES["count"]["maximum"] == SHAPES["positive"]["maximum"] == LARGEST_INTEGER
    assert SHAPES["line"]["maxLength"] == LONGEST_NAME
    assert SHAPES["sandbox"]["properties"]["seed"]["maximum"] == LARGEST_SEED
