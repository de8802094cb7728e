"""The contract before other people's eyes: the validator of OpenAPI in Python, and the linters that most of them use."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from openapi_spec_validator import OpenAPIV31SpecValidator
from openapi_spec_validator.readers import read_from_filename

from tests.clients.generated import CONTRACT, TIME_LIMIT_SECONDS

pytestmark = pytest.mark.verify

COMMANDS = {
    "redocly": ("lint", "--config", "redocly.yaml", "--format", "json"),
    "spectral": ("lint", "--ruleset", "spectral.yaml", "--format", "json", "--fail-severity", "hint", "--quiet"),
}
SPOILED_EXAMPLES = {"redocly": "no-invalid-media-type-examples", "spectral": "oas3-valid-media-example"}


def complaints(linter: str, folder: Path, contract: Path) -> set[str]:
    """Have a linter look at a contract; return the rules that it sees broken."""
    command, *options = COMMANDS[linter]
    quiet = {"REDOCLY_TELEMETRY": "off", "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true"}
    program = f"node_modules/.bin/{linter}"
    done = subprocess.run(
        ["env", *(f"{name}={value}" for name, value in quiet.items()), program, command, str(contract), *options],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=TIME_LIMIT_SECONDS,
        check=False,
    )
    assert done.stdout.startswith(("{", "[")), done.stderr
    told: Any = json.loads(done.stdout)
    found = {str(one["ruleId"]) for one in told["problems"]} if linter == "redocly" else {one["code"] for one in told}
    assert (done.returncode == 0) == (found == set())
    return found


def test_the_contract_is_openapi_3_1() -> None:
    document, address = read_from_filename(str(CONTRACT))
    assert [] == list(OpenAPIV31SpecValidator(dict(document), base_uri=address).iter_errors())


@pytest.mark.parametrize("linter", COMMANDS)
def test_a_linter_finds_nothing_to_say_of_the_contract(linter: str, typescript: Path) -> None:
    assert set() == complaints(linter, typescript, CONTRACT)


@pytest.mark.parametrize("linter", COMMANDS)
def test_a_linter_looks_at_examples(linter: str, typescript: Path) -> None:
    document = yaml.safe_load(CONTRACT.read_text(encoding="utf-8"))
    document["components"]["examples"]["team"]["value"] = {"object": 7}
    spoiled = typescript / "spoiled.yaml"
    spoiled.write_text(yaml.safe_dump(document), encoding="utf-8")
    assert SPOILED_EXAMPLES[linter] in complaints(linter, typescript, spoiled)
