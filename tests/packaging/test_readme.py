"""The README, and pages that show commands in bash, are run as they are written, by bash and curl against a real server."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from emulator.cli.arguments import PROGRAM, build_parser
from emulator.scenario.world import BUILT_IN_WORLD
from emulator.settings import DEFAULT_URL
from tests.cli.command import ROOT, environment, serving

README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = ["README.md", *(f"docs/{name}.md" for name in ("clock", "journal", "sandboxes", "scenarios", "state-files"))]
ANYTHING = "…"
END_OF_STEP = "\036"
COMMAND = f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -m emulator "$@"\n'


def all_blocks(page: str) -> list[tuple[str, str]]:
    """The language and the text of each block of a page."""
    return re.findall(r"^```(\w+)\n(.*?)^```$", (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def blocks(language: str) -> list[str]:
    """The blocks of the README in a language."""
    return [text for found, text in all_blocks("README.md") if found == language]


def promises(page: str) -> list[str]:
    """For each block of bash what the text after it says is printed; what no text follows may print anything."""
    found: list[str] = []
    for language, text in all_blocks(page):
        if language == "bash":
            found.append(ANYTHING)
        elif language in ("text", "json"):
            found[-1] = text.rstrip()
    return found


def test_it_has_at_most_8_kb() -> None:
    assert len(README.encode()) <= 8 * 1024


def test_a_clone_is_served_and_tested_by_two_commands() -> None:
    assert re.findall(r"^make \w+", "".join(blocks("sh")), re.MULTILINE) == ["make serve", "make test"]


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


@pytest.mark.parametrize(
    "document",
    [
        *(f"docs/{path.name}" for path in sorted((ROOT / "docs").glob("*.md"))),
        *(f"contract/{path.name}" for path in sorted((ROOT / "contract").iterdir())),
        *(f"examples/{path.name}" for path in sorted((ROOT / "examples").iterdir())),
        "docs/page.png",
        "emulator/README.md",
        "tests/README.md",
        "SECURITY.md",
        "CHANGELOG.md",
        "LICENSE",
    ],
)
def test_it_links_to_every_other_document(document: str) -> None:
    assert f"]({document})" in README


@pytest.mark.skipif(
    not (shutil.which("bash") and shutil.which("curl")), reason="the commands are those of bash and curl"
)
@pytest.mark.parametrize("page", PAGES)
def test_its_commands_print_what_it_says(page: str, tmp_path: Path) -> None:
    program = tmp_path / "bin" / PROGRAM
    program.parent.mkdir()
    program.write_text(COMMAND)
    program.chmod(0o755)
    (tmp_path / "busy.yaml").write_text(*blocks("yaml"))
    script = "".join(f"{text}printf '{END_OF_STEP}'\n" for language, text in all_blocks(page) if language == "bash")
    with serving("--clock", "manual") as server:
        finished = subprocess.run(
            ["bash", "-eu", "-o", "pipefail"],
            input=script.replace(DEFAULT_URL, server.url),
            env=environment(PATH=os.pathsep.join([str(program.parent), os.environ["PATH"]]), EMULATOR_URL=server.url),
            cwd=tmp_path,
            capture_output=True,
            encoding="utf-8",
            timeout=60,
            check=False,
        )
    assert (finished.returncode, finished.stderr) == (0, "")
    for promise, printed in zip(promises(page), finished.stdout.split(END_OF_STEP)[:-1], strict=True):
        pattern = ".*".join(re.escape(part) for part in promise.split(ANYTHING))
        assert re.fullmatch(pattern, printed.rstrip(), re.DOTALL), printed


@pytest.mark.slow
def test_its_test_for_pytest_passes(tmp_path: Path) -> None:
    shutil.copy(ROOT / "examples/python/photo.png", tmp_path)
    (tmp_path / "test_shown.py").write_text(*blocks("python"))
    finished = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "emulator.pytest_plugin", "-p", "no:cacheprovider"],
        cwd=tmp_path,
        env=environment(PYTHONPATH=f"{ROOT}:{ROOT / 'examples/python'}", PYTEST_DISABLE_PLUGIN_AUTOLOAD="1"),
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert "1 passed" in finished.stdout, finished.stdout + finished.stderr
