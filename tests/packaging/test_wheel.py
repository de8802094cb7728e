"""The wheel: it carries all it needs, and serves without a checkout."""

import re
import sys
import zipfile
from importlib.metadata import distribution
from pathlib import Path

import pytest

from image_workflow_emulator import __version__
from tests.support.served import ROOT, run_program, run_script, serving
from tests.support.served_client import ServedClient


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from this checkout with nothing but what its build requires."""
    folder = tmp_path_factory.mktemp("wheel")
    packages = tmp_path_factory.mktemp("packages")
    link_packages_of_build(packages)
    for place in (folder, folder / "again"):
        build = (sys.executable, "-S", "-m", "hatchling", "build")
        targets = ("-t", "wheel", "-t", "sdist", "-d", str(place))
        outcome = run_program(*build, *targets, PYTHONPATH=str(packages))
        assert outcome.status == 0, outcome.complaint
    (built,) = folder.glob("*.whl")
    return built


def link_packages_of_build(folder: Path) -> None:
    """Put what the lock of the build names, and nothing else, into a folder."""
    lock = (ROOT / "requirements/build.lock").read_text()
    for name in re.findall(r"^([\w-]+)==", lock, re.MULTILINE):
        required = distribution(name)
        for top in {file.parts[0] for file in required.files or ()} - {".."}:
            (folder / top).symlink_to(Path(str(required.locate_file(top))))


def names_in(folder: Path) -> list[str]:
    """The names of all files in a folder, relative to it."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return sorted(str(path.relative_to(folder)) for path in files)


@pytest.mark.parametrize("suffix", [".whl", ".gz"])
def test_wheel_and_source_distribution_are_built_twice_to_equal_bytes(
    wheel: Path,
    suffix: str,
) -> None:
    (built,) = [file for file in wheel.parent.iterdir() if file.suffix == suffix]

    again = wheel.parent / "again" / built.name
    assert built.read_bytes() == again.read_bytes()


@pytest.fixture(scope="module")
def installation(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with nothing but what the wheel holds."""
    folder = tmp_path_factory.mktemp("installation")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


BUILD_WITH_PYTHON_3_10 = """
import sys
sys.version_info = (3, 10)
from hatch_build import Description
Description(".", {}).update({})
"""
NEEDS_NEWER_PYTHON = "The emulator needs Python 3.11 or newer: "


def test_an_older_python_is_told_what_is_needed_as_make_tells_it() -> None:
    outcome = run_program(
        sys.executable,
        "-c",
        BUILD_WITH_PYTHON_3_10,
        PYTHONPATH=str(ROOT / ".ci"),
    )

    assert outcome.status == 1
    assert outcome.complaint.startswith(NEEDS_NEWER_PYTHON)
    assert NEEDS_NEWER_PYTHON in (ROOT / "Makefile").read_text()


# What it carries ---------------------------------------------------------------------

METADATA = f"image_workflow_emulator-{__version__}.dist-info"
PAGE = "image_workflow_emulator/control/page"


@pytest.fixture
def carried(wheel: Path) -> list[str]:
    return zipfile.ZipFile(wheel).namelist()


@pytest.mark.parametrize("folder", ["contract", "scenarios", "docs", "skills"])
def test_it_carries_the_files_that_it_reads(installation: Path, folder: str) -> None:
    shipped = installation / "image_workflow_emulator/_shipped"

    assert names_in(shipped / folder) == names_in(ROOT / folder)


def test_it_carries_the_files_of_the_page(installation: Path) -> None:
    assert names_in(installation / PAGE) == names_in(ROOT / "emulator" / PAGE)


def test_it_carries_one_package_and_its_metadata(carried: list[str]) -> None:
    tops = {name.partition("/")[0] for name in carried}

    assert tops == {"image_workflow_emulator", METADATA}


@pytest.mark.parametrize(
    "license_file",
    ["LICENSE", f"emulator/{PAGE}/preact.txt", f"emulator/{PAGE}/swagger-ui.txt"],
)
def test_it_carries_the_licences(carried: list[str], license_file: str) -> None:
    assert f"{METADATA}/licenses/{license_file}" in carried


def test_it_carries_nothing_that_was_made_on_the_way(carried: list[str]) -> None:
    for name in carried:
        assert not name.endswith((".pyc", ".partial", ".made"))


READ_COMPILED_DOCUMENTS = """
import sys
from image_workflow_emulator.documents import shipped
for name in shipped.COMPILED_DOCUMENTS:
    shipped.shipped_document(name)
print("yaml" in sys.modules)
"""
"""Tells whether a document had to be read from its source."""


def test_it_carries_the_documents_compiled_from_its_own_sources(
    installation: Path,
) -> None:
    assert run_script(READ_COMPILED_DOCUMENTS, installation) == "False\n"


def test_its_description_is_the_readme_without_links_into_the_repository(
    installation: Path,
) -> None:
    text = (installation / METADATA / "METADATA").read_text("utf-8")

    description = text.partition("\n\n")[2]

    links = re.findall(r"\]\((?!https?:)[^)]*\)", description)
    assert description.startswith("# Image Workflow Emulator\n")
    assert "The tour (`docs/tour.md`)" in description
    assert links == []


# The source distribution -------------------------------------------------------------


@pytest.fixture(scope="module")
def sources(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the source distribution holds."""
    (built,) = wheel.parent.glob("*.tar.gz")
    unpacked = tmp_path_factory.mktemp("sources")
    # As a program: Python before 3.11.4 has no argument `filter`, and later ones warn
    # where it is missing.
    extract = (sys.executable, "-m", "tarfile", "-e", str(built), str(unpacked))
    outcome = run_program(*extract)
    assert outcome.status == 0, outcome.complaint
    (folder,) = unpacked.iterdir()
    return folder


def test_the_source_distribution_has_all_that_its_own_tests_import(
    sources: Path,
) -> None:
    collect = ("-m", "pytest", "-q", "--collect-only", "tests/packaging")

    outcome = run_program(sys.executable, *collect, folder=sources)

    assert outcome.status == 0, outcome.output[-2000:]


@pytest.mark.parametrize(
    "name",
    [
        ".github/SECURITY.md",
        "Dockerfile",
        "examples/typescript/npm/package.json",
        "setup/action.yml",
        ".ci/run",
        ".github/workflows/test.yml",
    ],
)
def test_the_source_distribution_has_all_that_its_own_tests_read(
    sources: Path,
    name: str,
) -> None:
    assert (sources / name).exists()


# Installed ---------------------------------------------------------------------------


def test_it_serves_without_a_checkout(installation: Path) -> None:
    with serving("--clock", "manual", folder=installation) as server:
        assert ServedClient(server.base_url).get("/team").json["name"] == "Demo"


@pytest.mark.parametrize("own", ["emulator/core.py", "emulator.py"])
def test_a_project_with_its_own_emulator_is_tested_beside_it(
    installation: Path,
    tmp_path: Path,
    own: str,
) -> None:
    file = tmp_path / own
    file.parent.mkdir(exist_ok=True)
    file.write_text("ANSWER = 42\n")
    module = own.removesuffix(".py").replace("/", ".")
    (tmp_path / "test_own.py").write_text(f"""
from {module} import ANSWER

def test_own():
    assert ANSWER == 42

def test_both(image_workflow):
    assert image_workflow.api_key
""")
    run_tests = (
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:schemathesis",
    )

    outcome = run_program(
        sys.executable,
        *run_tests,
        folder=tmp_path,
        PYTHONPATH=str(installation),
    )

    assert outcome.status == 0, outcome.output
    assert outcome.output.splitlines()[-1].startswith("2 passed")
