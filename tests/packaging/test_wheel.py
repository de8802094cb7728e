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
    folder, packages = (
        tmp_path_factory.mktemp("wheel"),
        tmp_path_factory.mktemp("packages"),
    )
    for name in re.findall(
        r"^([\w-]+)==", (ROOT / "requirements/build.lock").read_text(), re.MULTILINE
    ):
        required = distribution(name)
        for top in {file.parts[0] for file in required.files or ()} - {".."}:
            (packages / top).symlink_to(Path(str(required.locate_file(top))))
    for place in (folder, folder / "again"):
        command = (
            sys.executable,
            "-S",
            "-m",
            "hatchling",
            "build",
            "-t",
            "wheel",
            "-t",
            "sdist",
            "-d",
            str(place),
        )
        outcome = run_program(*command, PYTHONPATH=str(packages))
        assert outcome.status == 0, outcome.complaint
    (built,) = folder.glob("*.whl")
    return built


def test_wheel_and_source_distribution_are_built_twice_to_equal_bytes(
    wheel: Path,
) -> None:
    built = [
        file.name for file in wheel.parent.iterdir() if file.suffix in (".whl", ".gz")
    ]

    assert len(built) == 2
    for name in built:
        assert (wheel.parent / name).read_bytes() == (
            wheel.parent / "again" / name
        ).read_bytes(), name


@pytest.fixture(scope="module")
def installation(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with nothing but what the wheel holds."""
    folder = tmp_path_factory.mktemp("installation")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def test_an_older_python_is_told_what_is_needed_as_make_tells_it() -> None:
    script = (
        "import sys; sys.version_info = (3, 10); "
        "from hatch_build import Description; Description('.', {}).update({})"
    )
    need = "The emulator needs Python 3.11 or newer: "

    outcome = run_program(sys.executable, "-c", script, PYTHONPATH=str(ROOT / ".ci"))

    assert outcome.status == 1
    assert outcome.complaint.startswith(need)
    assert need in (ROOT / "Makefile").read_text()


def test_it_carries_all_that_it_reads_and_nothing_else(
    wheel: Path, installation: Path
) -> None:
    shipped = installation / "image_workflow_emulator/_shipped"
    for folder in ("contract", "scenarios", "docs", "skills"):
        assert names(ROOT / folder) == names(shipped / folder)
    page = "image_workflow_emulator/control/page"

    assert names(ROOT / "emulator" / page) == names(installation / page)
    carried = zipfile.ZipFile(wheel).namelist()
    metadata = f"image_workflow_emulator-{__version__}.dist-info"
    assert {name.partition("/")[0] for name in carried} == {
        "image_workflow_emulator",
        metadata,
    }
    assert f"{metadata}/licenses/LICENSE" in carried
    for name in ("preact.txt", "swagger-ui.txt"):
        assert f"{metadata}/licenses/emulator/{page}/{name}" in carried
    assert [] == [
        name for name in carried if name.endswith((".pyc", ".partial", ".made"))
    ]


def test_it_carries_the_documents_compiled_from_its_own_sources(
    installation: Path,
) -> None:
    script = (
        "import sys; from image_workflow_emulator.documents.shipped import COMPILED_DOCUMENTS, shipped_document; "
        "[shipped_document(name) for name in COMPILED_DOCUMENTS]; print('yaml' in sys.modules)"
    )

    assert run_script(script, installation) == "False\n"


def test_its_description_is_the_readme_without_links_into_the_repository(
    installation: Path,
) -> None:
    (metadata,) = installation.glob("*.dist-info/METADATA")
    description = metadata.read_text("utf-8").partition("\n\n")[2]

    assert description.startswith("# Image Workflow Emulator\n")
    assert "The tour (`docs/tour.md`)" in description
    assert [] == re.findall(r"\]\((?!https?:)[^)]*\)", description)


def test_the_source_distribution_has_all_that_its_own_tests_read(
    wheel: Path, tmp_path: Path
) -> None:
    (built,) = wheel.parent.glob("*.tar.gz")
    # As a program: Python before 3.11.4 has no argument `filter`, and later ones warn
    # where it is missing.
    unpacked = run_program(
        sys.executable, "-m", "tarfile", "-e", str(built), str(tmp_path)
    )

    assert unpacked.status == 0, unpacked.complaint
    (folder,) = tmp_path.iterdir()
    outcome = run_program(
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "--collect-only",
        "tests/packaging",
        folder=folder,
    )
    assert outcome.status == 0, outcome.output[-2000:]
    own = [
        ".github/SECURITY.md",
        "Dockerfile",
        "examples/typescript/npm/package.json",
        "setup/action.yml",
        ".ci/run",
        ".github/workflows/test.yml",
    ]
    assert [] == [name for name in own if not (folder / name).exists()]


def test_it_serves_without_a_checkout(installation: Path) -> None:
    with serving("--clock", "manual", folder=installation) as server:
        assert ServedClient(server.base_url).get("/team").json["name"] == "Demo"


@pytest.mark.parametrize("own", ["emulator/core.py", "emulator.py"])
def test_a_project_with_its_own_emulator_is_tested_beside_it(
    installation: Path, tmp_path: Path, own: str
) -> None:
    module = tmp_path / own
    module.parent.mkdir(exist_ok=True)
    module.write_text("ANSWER = 42\n")
    name = own.removesuffix(".py").replace("/", ".")
    (tmp_path / "test_own.py").write_text(
        f"from {name} import ANSWER\ndef test_own(): assert ANSWER == 42\n"
        "def test_both(image_workflow): assert image_workflow.api_key\n"
    )
    command = (
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:schemathesis",
    )
    outcome = run_program(*command, folder=tmp_path, PYTHONPATH=str(installation))

    assert (outcome.status, outcome.output.splitlines()[-1][:8]) == (0, "2 passed"), (
        outcome.output
    )


def names(folder: Path) -> list[str]:
    return sorted(
        str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()
    )
