"""The files around the package.

The README, the page of claims, the fragments of the changelog, and the locks.
"""

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
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")

    project = tomllib.loads(text)["project"]

    description = project["description"].removesuffix(".")
    assert project["name"] == PROGRAM
    assert project["description"] == DESCRIPTION
    assert description in README
    assert description in (ROOT / "Dockerfile").read_text(encoding="utf-8")


def test_the_table_of_keys_has_those_of_the_built_in_world() -> None:
    cells = re.findall(r"^\| (`iwe_.*?) \|", README, re.MULTILINE)
    documented = re.findall(r"`(\w+)`", " ".join(cells))

    keys = []
    for team in built_in_world().teams:
        keys += [credential.key for credential in team.credentials]
    assert set(documented) == set(keys)


# Claims ------------------------------------------------------------------------------

PAGE_OF_CLAIMS = PAGE.read_text(encoding="utf-8")
CLAIMS = claims(PAGE_OF_CLAIMS)
RESULT = re.compile(r"On \d{4}-\d\d-\d\d(, \*\*not proved\*\*)?:[ \n]")


def test_every_section_of_the_page_is_a_claim() -> None:
    assert len(CLAIMS) == PAGE_OF_CLAIMS.count("\n## ")


@pytest.mark.parametrize("title", CLAIMS)
def test_a_claim_is_proved_by_tests_that_there_are_or_by_a_measurement(
    title: str,
) -> None:
    command = CLAIMS[title]["command"]

    places = re.findall(r"tests/[\w/.]+", command)
    if not places:
        assert command == "make bench"
    for place in places:
        assert (ROOT / place).exists(), place


@pytest.mark.parametrize("title", CLAIMS)
def test_a_claim_has_a_result_with_its_date(title: str) -> None:
    assert RESULT.match(CLAIMS[title]["result"])


def test_the_claims_count_what_there_is() -> None:
    assert f"All {len(load_contract().operations)} operations" in PAGE_OF_CLAIMS
    assert f"the {len(CATALOGUE)} problem codes" in PAGE_OF_CLAIMS


# The changelog -----------------------------------------------------------------------

KINDS = "added|changed|deprecated|removed|fixed|security"
FRAGMENTS = sorted((ROOT / "changes").glob("*.*.md"))


def test_every_file_of_changes_is_a_fragment_or_says_how_to_write_one() -> None:
    others = {*(ROOT / "changes").glob("*.md")} - {*FRAGMENTS}

    assert others == {ROOT / "changes/README.md"}


def test_a_fragment_is_named_by_its_kind() -> None:
    for file in FRAGMENTS:
        assert re.fullmatch(rf"[\w-]+\.({KINDS})\.md", file.name), file.name


def test_a_fragment_has_list_items() -> None:
    for file in FRAGMENTS:
        assert re.fullmatch(r"(- .+\n(  .+\n)*)+", file.read_text()), file.name


CHANGELOG = """\
# Changelog

## [2.0.0] - Unreleased

### Added

- a

### Fixed

- c

## [1.0.0]
"""
JOINED = """\
# Changelog

## [2.0.0] - 2026-01-01

### Added

- a
- b

### Fixed

- c

### Security

- d
  e

## [1.0.0]
"""


@pytest.fixture
def changes(tmp_path: Path) -> Path:
    """The folder of fragments, beside a changelog."""
    (tmp_path / "CHANGELOG.md").write_text(CHANGELOG)
    folder = tmp_path / "changes"
    folder.mkdir()
    shutil.copy(ROOT / "changes/join.py", folder)
    return folder


def join(
    changes: Path,
    version: str,
    date: str,
) -> str:
    """Join the fragments, and return the changelog."""
    outcome = run_program(sys.executable, "join.py", version, date, folder=changes)
    assert outcome.status == 0, outcome.complaint
    return (changes.parent / "CHANGELOG.md").read_text()


def test_fragments_are_joined_under_their_kind_and_deleted(changes: Path) -> None:
    (changes / "b.added.md").write_text("- b\n")
    (changes / "d.security.md").write_text("- d\n  e\n")

    changelog = join(changes, "2.0.0", "2026-01-01")

    assert changelog == JOINED
    assert list(changes.iterdir()) == [changes / "join.py"]


def test_fragments_after_a_release_are_joined_under_the_next_version(
    changes: Path,
) -> None:
    (changes.parent / "CHANGELOG.md").write_text(JOINED)
    (changes / "f.fixed.md").write_text("- f\n")

    changelog = join(changes, "2.1.0", "2026-02-01")

    section = "## [2.1.0] - 2026-02-01\n\n### Fixed\n\n- f\n\n"
    assert changelog == JOINED.replace("## [2.0.0]", f"{section}## [2.0.0]")


# Locks -------------------------------------------------------------------------------

LOCKS = ROOT / "requirements"


def pins(lock: str) -> dict[str, str]:
    """Name and version of everything in a lock."""
    pin = r"^([a-z0-9][a-z0-9._-]*)(?:\[[a-z-]+\])?==(\S+)"
    return dict(re.findall(pin, (LOCKS / lock).read_text(), re.MULTILINE))


LOCK_LINE = re.compile(
    r"#.*"
    r"|[a-z0-9._-]+(?:\[[a-z-]+\])?==[^/:@]+ \\"
    r"|    --hash=sha256:[0-9a-f]{64}(?: \\)?"
)


@pytest.mark.parametrize(
    "lock",
    ["runtime.lock", "dev.lock", "build.lock", "verify.lock"],
)
def test_a_lock_holds_pins_and_hashes_and_nothing_else(lock: str) -> None:
    for line in (LOCKS / lock).read_text().splitlines():
        assert LOCK_LINE.fullmatch(line), line


@pytest.mark.parametrize("lock", ["runtime.lock", "build.lock"])
def test_the_development_lock_holds_every_package_of_the_others_in_the_same_version(
    lock: str,
) -> None:
    assert pins(lock).items() <= pins("dev.lock").items()


TYPESCRIPT = ROOT / "examples" / "typescript"


def test_the_lock_of_the_typescript_example_has_its_packages() -> None:
    package = json.loads((TYPESCRIPT / "package.json").read_text())
    lock = json.loads((TYPESCRIPT / "package-lock.json").read_text())

    assert lock["packages"][""]["devDependencies"] == package["devDependencies"]


def test_the_lock_of_the_typescript_example_has_hashes_and_no_address_of_an_index() -> (
    None
):
    lock = json.loads((TYPESCRIPT / "package-lock.json").read_text())
    del lock["packages"][""]  # the example itself

    for name, package in lock["packages"].items():
        assert "integrity" in package, name
        assert "resolved" not in package, name


def test_the_version_of_the_npm_package_is_that_of_the_emulator() -> None:
    package = json.loads((TYPESCRIPT / "npm/package.json").read_text())

    assert package["version"] == __version__
