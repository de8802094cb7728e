"""The README is short, true to the package, and leads to every other document. Its commands run in test_pages_run."""

import re
import tomllib

from image_workflow_emulator.cli.arguments import DESCRIPTION, PROGRAM
from image_workflow_emulator.scenario.world import built_in_world
from tests.support.served import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_it_has_at_most_8_kb() -> None:
    assert len(README.encode()) <= 8 * 1024


def test_the_package_the_help_and_the_readme_describe_it_alike() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    description = project["description"].removesuffix(".")
    assert (PROGRAM, project["description"]) == (project["name"], DESCRIPTION)
    assert description in README
    assert description in (ROOT / "Dockerfile").read_text(encoding="utf-8")


def test_the_table_of_keys_has_those_of_the_built_in_world() -> None:
    rows = re.findall(r"^\| (`iwe_.*?) \|", README, re.MULTILINE)
    found = {key for row in rows for key in re.findall(r"`(\w+)`", row)}
    assert {credential.key for team in built_in_world().teams for credential in team.credentials} == found
