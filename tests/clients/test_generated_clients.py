"""The contract in other people's tools: linters, and the clients of generators.

Each client takes the same tour, from the upload to the downloaded pictures. On its way
are a change that is done at once, one that takes an Operation, polls that wait as
Retry-After says, and a problem that is known by its code. The compiler or type checker
of the language accepts the types that the generator made. The commands are those of
docs/reference/clients.md.
"""

import importlib.util
import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from tests.clients.generated import (
    CLIENTS,
    CONTRACT,
    PACKAGE,
    TIME_LIMIT_SECONDS,
    TOURS,
    check_types,
    generate,
    install_packages,
    need,
    run,
    take_tour,
)
from tests.support.served import run_program

pytestmark = pytest.mark.verify

EXPECTED: Final[dict[str, Any]] = {
    "photo": ["jpeg", 640, 480],
    "product_photos": 1,
    "fashion_model": "Kim Lee",
    "changes": ["fashion_model", "operation"],
    "echo": "photoshoot",
    "pictures": [["webp", 820, 1024, True]] * 4,
    "polls": 5,  # one for each change: begun, and each output done
    "problem": "invalid_input",
    "credits": 96,
}
LINTERS: Final = {
    "redocly": ("lint", "--config", "redocly.yaml", "--format", "json"),
    "spectral": (
        "lint",
        "--ruleset",
        "spectral.yaml",
        "--format",
        "json",
        "--fail-severity",
        "hint",
        "--quiet",
    ),
}


@pytest.fixture(scope="session")
def typescript(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the TypeScript tours, with the packages that they need."""
    folder = tmp_path_factory.mktemp("typescript")
    shutil.copytree(CLIENTS / "typescript", folder, dirs_exist_ok=True)
    install_packages(folder)
    return folder


@pytest.mark.parametrize(
    "document",
    [CONTRACT, CONTRACT.with_name("control-plane.yaml")],
    ids=["service", "control"],
)
@pytest.mark.parametrize("linter", LINTERS)
def test_a_linter_finds_nothing_to_say_of_a_contract(
    linter: str,
    document: Path,
    typescript: Path,
) -> None:
    command, *options = LINTERS[linter]

    outcome = run_program(
        f"node_modules/.bin/{linter}",
        command,
        str(document),
        *options,
        folder=typescript,
        seconds=TIME_LIMIT_SECONDS,
        REDOCLY_TELEMETRY="off",
        REDOCLY_SUPPRESS_UPDATE_NOTICE="true",
    )

    assert outcome.output.startswith(("{", "[")), outcome.complaint
    assert problems_in(outcome.output) == []
    assert outcome.status == 0


def problems_in(output: str) -> Any:
    """Return what a linter has found: spectral writes a list, redocly an object."""
    report = json.loads(output)
    if isinstance(report, dict):
        return report["problems"]
    return report


def test_the_client_of_openapi_python_client_completes_the_tour(tmp_path: Path) -> None:
    # Its code is not read by anybody, so nothing formats it.
    (tmp_path / "options.yaml").write_text("post_hooks: []\n")
    options = ("--config", "options.yaml", "--fail-on-warning")
    generate(tmp_path, "openapi-python-client", with_option=options)
    tour = TOURS / "openapi_python_client_tour.py"

    report = take_tour([sys.executable, tour], tmp_path, PYTHONPATH=str(tmp_path))

    assert report == EXPECTED
    check_types(tour, tmp_path)


def test_the_client_of_openapi_generator_for_python_can_be_imported(
    tmp_path: Path,
) -> None:
    generate(tmp_path, "openapi-generator-cli", "generate", "-g", "python")
    run([sys.executable, "-c", f"import {PACKAGE}"], tmp_path, PYTHONPATH=str(tmp_path))


def test_the_types_of_the_pydantic_models_of_datamodel_code_generator_are_right(
    tmp_path: Path,
) -> None:
    generate(tmp_path, "datamodel-codegen")
    check_types(tmp_path / f"{PACKAGE}.py", tmp_path)


def test_the_client_of_openapi_typescript_and_openapi_fetch_completes_the_tour(
    typescript: Path,
) -> None:
    generate(typescript, "openapi-typescript")
    assert_typescript_tour("openapi_fetch_tour", typescript)


@pytest.mark.parametrize("library", ["fetch", "axios"])
def test_the_client_of_openapi_generator_for_typescript_completes_the_tour(
    typescript: Path,
    library: str,
) -> None:
    generate(
        typescript,
        "openapi-generator-cli",
        "generate",
        "-g",
        f"typescript-{library}",
    )
    assert_typescript_tour(f"{library}_tour", typescript)


def assert_typescript_tour(name: str, folder: Path) -> None:
    configuration = {"extends": "./tsconfig.json", "files": [f"{name}.ts"]}
    (folder / "tour.json").write_text(json.dumps(configuration))
    run([folder / "node_modules" / ".bin" / "tsc", "-p", "tour.json"], folder)

    command = ["node", f"made/{name}.js"]
    report = take_tour(command, folder, NO_COLOR="1", PATH=os.environ["PATH"])

    assert report == EXPECTED


def test_the_client_of_openapi_generator_for_java_completes_the_tour(
    tmp_path: Path,
) -> None:
    need("javac")
    generate(tmp_path, "openapi-generator-cli", "generate", "-g", "java")
    # Jackson, which the client needs, is in the generator's own archive.
    package = importlib.util.find_spec("openapi_generator_cli")
    assert package is not None
    jar = Path(str(package.origin)).with_name("openapi-generator.jar")
    classes = tmp_path / "classes"
    class_path = os.pathsep.join((str(jar), str(classes)))
    client = tmp_path / "client" / "src" / "main" / "java"
    sources = [*client.rglob("*.java"), *(CLIENTS / "java").rglob("*.java")]
    options: list[str | Path] = ["-nowarn", "-cp", class_path, "-d", classes]
    run(["javac", *options, *sources], tmp_path)

    report = take_tour(["java", "-cp", class_path, "Tour"], tmp_path)

    assert report == EXPECTED


def test_the_client_of_openapi_generator_for_go_completes_the_tour(
    tmp_path: Path,
) -> None:
    need("go")
    generate(tmp_path, "openapi-generator-cli", "generate", "-g", "go")
    tour = shutil.copytree(CLIENTS / "go", tmp_path / "tour")
    run(["go", "mod", "edit", "-go", "1.19"], tmp_path / "service")
    if VALIDATOR.is_dir():
        use_installed_validator(tmp_path, tour)
    run(["go", "build", "-mod=mod", "-o", "take", "."], tour)

    report = take_tour([tour / "take"], tmp_path)

    assert report == EXPECTED


VALIDATOR: Final = Path("/usr/share/gocode/src/gopkg.in/validator.v2")
"""Of Debian's golang-gopkg-validator.v2-dev: with it no network is needed."""


def use_installed_validator(folder: Path, tour: Path) -> None:
    copy = shutil.copytree(VALIDATOR, folder / "validator")
    (copy / "go.mod").write_text("module gopkg.in/validator.v2\n")
    replacement = "gopkg.in/validator.v2=../validator"
    run(["go", "mod", "edit", "-replace", replacement], tour)
