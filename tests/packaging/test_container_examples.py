"""The files of examples/container: well-formed, true to the image and the command line, and run as far as no container
is needed.
"""

import json
import re
import shlex
import sys
from pathlib import Path

import pytest
import yaml

from image_workflow_emulator.cli.arguments import parse_arguments
from image_workflow_emulator.settings import OPTIONS
from tests.support.served import ROOT, run_program, serving

FOLDER = ROOT / "examples" / "container"
DOCUMENTS = [path for path in sorted(FOLDER.iterdir()) if path.suffix in (".yaml", ".yml")]
VARIABLES = {option.variable for option in OPTIONS} | {"EMULATOR_URL"}


@pytest.mark.parametrize("path", sorted(FOLDER.iterdir()), ids=lambda path: str(path.name))
def test_an_example_names_variables_that_there_are(path: Path) -> None:
    assert set(re.findall(r"\bEMULATOR_[A-Z_]+\b", path.read_text(encoding="utf-8"))) <= VARIABLES


def test_the_commands_of_the_workflows_can_be_typed() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in DOCUMENTS)
    commands = re.findall(r"- (?:run: )?image-workflow-emulator (\w.*)", text)
    assert {"exec", "sweep", "wait"} == {parse_arguments(shlex.split(command)).command for command in commands}


def test_the_application_of_the_compose_file_reads_its_team() -> None:
    services = yaml.safe_load((FOLDER / "compose.yaml").read_text(encoding="utf-8"))["services"]
    (_, *arguments), given = services["application"]["command"], services["application"]["environment"]
    with serving(**services["emulator"]["environment"]) as server:
        variables = {name: value.replace("http://emulator:8038", server.url) for name, value in given.items()}
        outcome = run_program(sys.executable, *arguments, **variables)
    assert "Demo" == json.loads(outcome.output)["name"]
