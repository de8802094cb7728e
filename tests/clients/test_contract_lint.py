"""The contract before other people's eyes: the linters that most of them use."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.clients.generated import CONTRACT, TIME_LIMIT_SECONDS
from tests.support.served import run_program

pytestmark = pytest.mark.verify

COMMANDS = {
    "redocly": ("lint", "--config", "redocly.yaml", "--format", "json"),
    "spectral": ("lint", "--ruleset", "spectral.yaml", "--format", "json", "--fail-severity", "hint", "--quiet"),
}


def complaints(linter: str, folder: Path, document: Path) -> set[str]:
    """Have a linter look at a contract; return the rules that it sees broken."""
    command, *options = COMMANDS[linter]
    quiet = {"REDOCLY_TELEMETRY": "off", "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true"}
    words = (f"node_modules/.bin/{linter}", command, str(document), *options)
    done = run_program(*words, folder=folder, seconds=TIME_LIMIT_SECONDS, **quiet)
    assert done.output.startswith(("{", "[")), done.complaint
    told: Any = json.loads(done.output)
    found = {str(one["ruleId"]) for one in told["problems"]} if linter == "redocly" else {one["code"] for one in told}
    assert (done.status == 0) == (found == set())
    return found


@pytest.mark.parametrize("document", [CONTRACT, CONTRACT.with_name("control-plane.yaml")], ids=["service", "control"])
@pytest.mark.parametrize("linter", COMMANDS)
def test_a_linter_finds_nothing_to_say_of_a_contract(linter: str, document: Path, typescript: Path) -> None:
    assert set() == complaints(linter, typescript, document)
