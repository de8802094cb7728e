"""The contract before other people's eyes: the validator of OpenAPI in Python, and the linter that most of them use."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from openapi_spec_validator import OpenAPIV31SpecValidator
from openapi_spec_validator.readers import read_from_filename

from tests.clients.generated import CONTRACT, TIME_LIMIT_SECONDS, npm_folder

pytestmark = pytest.mark.verify


def test_the_contract_is_openapi_3_1() -> None:
    document, address = read_from_filename(str(CONTRACT))
    assert [] == list(OpenAPIV31SpecValidator(dict(document), base_uri=address).iter_errors())


@pytest.fixture(scope="module")
def linter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return npm_folder(tmp_path_factory.mktemp("linter"))


def complaints(linter: Path, contract: Path) -> list[dict[str, Any]]:
    """Have the linter look at a contract; return all that it says of it."""
    command = ["node_modules/.bin/redocly", "lint", str(contract), "--config", "redocly.yaml", "--format", "json"]
    quiet = {"REDOCLY_TELEMETRY": "off", "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true"}
    done = subprocess.run(
        ["env", *(f"{name}={value}" for name, value in quiet.items()), *command],
        cwd=linter,
        capture_output=True,
        text=True,
        timeout=TIME_LIMIT_SECONDS,
        check=False,
    )
    assert done.stdout.startswith("{"), done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)["problems"]
    assert (done.returncode == 0) == (found == [])
    return found


def test_the_linter_finds_nothing_to_say_of_the_contract(linter: Path) -> None:
    assert [] == complaints(linter, CONTRACT)


def test_the_linter_looks_at_examples(linter: Path) -> None:
    document = yaml.safe_load(CONTRACT.read_text(encoding="utf-8"))
    name, example = next((name, example) for name, example in document["components"]["examples"].items())
    example["value"] = {"object": 7}
    spoiled = linter / "spoiled.yaml"
    spoiled.write_text(yaml.safe_dump(document), encoding="utf-8")
    rules = {complaint["ruleId"] for complaint in complaints(linter, spoiled)}
    assert "no-invalid-media-type-examples" in rules, name
