"""The files around the package: the README, the page of claims, the fragments of the changelog, and the locks."""

import json
import re
import shutil
import sys
import tomllib
from pathlib import Path

import pytest

from image_workflow_emulator import __version__
from image_workflow_emulator.cli.program import DESCRIPTION, PROGRAM
from image_workflow_emulator.contract import load_contract
from image_workflow_emulator.domain.problems import CATALOGUE
from image_workflow_emulator.scenario.world import built_in_world
from tests.claims.claims import PAGE, claims
from tests.support.served import ROOT, run_program

README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_readme_has_at_most_8_kb() -> None:
    assert len(README.encode()) <= 8 * 1024


def test_the_package_the_help_and_the_readme_describe_it_alike() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))[
        "project"
    ]
    description = project["description"].removesuffix(".")

    assert (PROGRAM, project["description"]) == (project["name"], DESCRIPTION)
    assert description in README
    assert description in (ROOT / "Dockerfile").read_text(encoding="utf-8")


def test_the_table_of_keys_has_those_of_the_built_in_world() -> None:
    rows = re.findall(r"^\| (`iwe_.*?) \|", README, re.MULTILINE)
    found = {key for row in rows for key in re.findall(r"`(\w+)`", row)}

    assert {
        credential.key
        for team in built_in_world().teams
        for credential in team.credentials
    } == found


CLAIMS = PAGE.read_text(encoding="utf-8")


def test_each_claim_counts_what_there_is_and_is_proved_by_tests_or_a_measurement() -> (
    None
):
    assert len(claims(CLAIMS)) == CLAIMS.count("\n## ")
    for claim in claims(CLAIMS).values():
        places = re.findall(r"tests/[\w/.]+", claim["command"])
        assert places or claim["command"] == "make bench"
        assert all((ROOT / place).exists() for place in places)
        assert re.match(
            r"On \d{4}-\d\d-\d\d(, \*\*not proved\*\*)?:[ \n]", claim["result"]
        )
    assert f"All {len(load_contract().operations)} operations" in CLAIMS
    assert f"the {len(CATALOGUE)} problem codes" in CLAIMS


KINDS = "added|changed|deprecated|removed|fixed|security"


def test_every_fragment_is_named_by_its_kind_and_has_list_items() -> None:
    for file in (ROOT / "changes").glob("*.md"):
        assert file.name == "README.md" or re.fullmatch(
            rf"[\w-]+\.({KINDS})\.md", file.name
        )
        assert file.name == "README.md" or re.fullmatch(
            r"(- .+\n(  .+\n)*)+", file.read_text()
        )


def test_fragments_are_joined_under_their_kind_and_deleted(tmp_path: Path) -> None:
    folder, changelog = tmp_path / "changes", tmp_path / "CHANGELOG.md"
    folder.mkdir()
    shutil.copy(ROOT / "changes/join.py", folder)
    changelog.write_text(
        "# Changelog\n\n## [2.0.0] - Unreleased\n\n### Added\n\n- a\n\n### Fixed\n\n- c\n\n## [1.0.0]\n"
    )
    for name, text in {"b.added": "- b\n", "d.security": "- d\n  e\n"}.items():
        (folder / f"{name}.md").write_text(text)
    assert (
        run_program(
            sys.executable, "join.py", "2.0.0", "2026-01-01", folder=folder
        ).status
        == 0
    )
    added, fixed, security = (
        "### Added\n\n- a\n- b\n\n",
        "### Fixed\n\n- c\n\n",
        "### Security\n\n- d\n  e\n\n",
    )
    joined = f"# Changelog\n\n## [2.0.0] - 2026-01-01\n\n{added}{fixed}{security}## [1.0.0]\n"
    assert joined == changelog.read_text()
    assert [folder / "join.py"] == list(folder.iterdir())
    (folder / "f.fixed.md").write_text("- f\n")
    assert (
        run_program(
            sys.executable, "join.py", "2.1.0", "2026-02-01", folder=folder
        ).status
        == 0
    )
    assert (
        joined.replace(
            "## [2.0", "## [2.1.0] - 2026-02-01\n\n### Fixed\n\n- f\n\n## [2.0"
        )
        == changelog.read_text()
    )


LOCKS = ROOT / "requirements"


def pins(lock: str) -> dict[str, str]:
    """Name and version of everything in a lock."""
    return dict(
        re.findall(
            r"^([a-z0-9][a-z0-9._-]*)(?:\[[a-z-]+\])?==(\S+)",
            (LOCKS / lock).read_text(),
            re.MULTILINE,
        )
    )


@pytest.mark.parametrize(
    "lock", ["runtime.lock", "dev.lock", "build.lock", "verify.lock"]
)
def test_a_lock_holds_pins_and_hashes_and_nothing_else(lock: str) -> None:
    for line in (LOCKS / lock).read_text().splitlines():
        assert re.fullmatch(
            r"#.*|[a-z0-9._-]+(?:\[[a-z-]+\])?==[^/:@]+ \\|    --hash=sha256:[0-9a-f]{64}(?: \\)?",
            line,
        ), line


@pytest.mark.parametrize("lock", ["runtime.lock", "build.lock"])
def test_the_development_lock_holds_every_package_of_the_others_in_the_same_version(
    lock: str,
) -> None:
    assert pins(lock).items() <= pins("dev.lock").items()


def test_the_lock_of_the_typescript_example_has_its_packages_by_hash_and_no_address_of_an_index() -> (
    None
):
    folder = ROOT / "examples" / "typescript"
    packages = json.loads((folder / "package-lock.json").read_text())["packages"]

    assert (
        json.loads((folder / "package.json").read_text())["devDependencies"]
        == packages.pop("")["devDependencies"]
    )
    assert set() == {
        name
        for name, package in packages.items()
        if "resolved" in package or "integrity" not in package
    }


def test_the_version_of_the_npm_package_is_that_of_the_emulator() -> None:
    package = json.loads((ROOT / "examples/typescript/npm/package.json").read_text())

    assert package["version"] == __version__
