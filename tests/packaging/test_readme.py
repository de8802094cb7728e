"""The README is short, true to the package, and leads to every other document. Its commands run in test_pages_run."""

import re
import tomllib

import pytest

from emulator.cli.arguments import PROGRAM, build_parser
from emulator.scenario.world import BUILT_IN_WORLD
from tests.packaging.pages import fences
from tests.support.served import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_it_has_at_most_8_kb() -> None:
    assert len(README.encode()) <= 8 * 1024


def test_a_clone_is_served_and_tested_by_two_commands() -> None:
    shown = "".join(text for _, text in fences(ROOT / "README.md", "sh"))
    assert re.findall(r"^make \w+", shown, re.MULTILINE) == ["make serve", "make test"]


def test_the_package_the_help_and_the_readme_describe_it_alike() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    description = project["description"].removesuffix(".")
    assert (PROGRAM, project["description"]) == (project["name"], build_parser().description)
    assert description in README
    assert description in (ROOT / "Dockerfile").read_text(encoding="utf-8")


def test_the_table_of_keys_has_those_of_the_built_in_world() -> None:
    rows = re.findall(r"^\| (`iwe_.*?) \|", README, re.MULTILINE)
    found = {key for row in rows for key in re.findall(r"`(\w+)`", row)}
    assert {credential.key for team in BUILT_IN_WORLD.teams for credential in team.credentials} == found


@pytest.mark.parametrize("document", [
    *(f"docs/{path.name}" for path in sorted((ROOT / "docs").glob("*.md"))),
    *(f"contract/{path.name}" for path in sorted((ROOT / "contract").iterdir())),
    *(f"examples/{path.name}" for path in sorted((ROOT / "examples").iterdir())), "docs/page.png",
    "emulator/README.md", "tests/README.md", "SECURITY.md", "CHANGELOG.md", "LICENSE",
])  # fmt: skip
def test_it_links_to_every_other_document(document: str) -> None:
    assert f"]({document})" in README
