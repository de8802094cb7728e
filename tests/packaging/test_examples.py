"""The examples, and the TypeScript that the documentation shows.

They are run as their reader would run them.
"""

import json
import re
import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pytest
import yaml

from image_workflow_emulator.settings import OPTIONS
from tests.clients.generated import TIME_LIMIT_SECONDS, install_packages, need, run
from tests.packaging.pages import fences, path_with_program, text_of
from tests.support.commands import parsed
from tests.support.served import (
    EMULATOR,
    ROOT,
    Outcome,
    free_port,
    run_program,
    run_pytest,
    serving,
)

EXAMPLES = ROOT / "examples"


def run_python_suite(*options: str) -> Outcome:
    return run_pytest(
        EXAMPLES / "python",
        "-q",
        "-c",
        "pytest.ini",
        *options,
        seconds=300,
    )


def test_the_suite_of_the_python_client_passes() -> None:
    outcome = run_python_suite()

    assert outcome.status == 0, outcome.output + outcome.complaint
    assert "25 passed" in outcome.output


@pytest.fixture(scope="module")
def typescript(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of examples/typescript with its packages.

    It has the tests that the documentation shows, too.
    """
    folder = tmp_path_factory.mktemp("typescript")
    shutil.copytree(EXAMPLES / "typescript", folder, dirs_exist_ok=True)
    install_packages(folder)
    for number, block in enumerate(fences(ROOT / "docs/testing.md", "ts")):
        # Those of Playwright have a test of their own.
        if 'from "vitest"' in block.text:
            file = folder / f"shown-{number}.test.ts"
            file.write_text(block.text)
    return folder


def run_vitest(
    folder: Path,
    *options: str,
    tests: Sequence[str] = (),
    **variables: str,
) -> None:
    """Run Vitest with an emulator that `exec` starts with some options."""
    emulator = [*EMULATOR, "exec", *options, "--"]
    vitest = ["npx", "vitest", "run", *tests]
    run(
        [*emulator, *vitest],
        folder,
        PYTHONPATH=str(ROOT),
        **variables,
    )


@pytest.mark.verify
def test_the_types_of_the_typescript_client_are_right(typescript: Path) -> None:
    run(["npx", "tsc", "--noEmit"], typescript)


@pytest.mark.verify
@pytest.mark.parametrize("readings", ["plain", "stingy", "other"])
def test_the_suite_of_the_typescript_client_passes(
    readings: str,
    typescript: Path,
) -> None:
    run_vitest(typescript, "--readings", readings)


NPM_INSTALL: Final = (
    "npm",
    "install",
    "--ignore-scripts",
    "--no-audit",
    "--no-fund",
)
SPOILED: Final = "problem:internal_error"
"""A scenario that spoils the first call of each operation."""


@pytest.mark.verify
def test_a_sandbox_of_the_typescript_helper_has_the_scenario_of_exec_or_none(
    typescript: Path,
) -> None:
    run_vitest(
        typescript,
        "--scenario",
        SPOILED,
        tests=["scenario.test.ts"],
        EXPECTED_SCENARIO=SPOILED,
    )


@pytest.mark.verify
@pytest.mark.parametrize("readings", ["stingy", "other"])
def test_the_python_client_passes_under_sets_of_readings(readings: str) -> None:
    outcome = run_python_suite("--image-workflow-readings", readings)

    assert outcome.status == 0, outcome.output


JAVA_LIBRARIES = Path("/usr/share/java")
JUNIT = (
    "junit-jupiter*",
    "junit-platform*",
    "opentest4j*",
    "apiguardian*",
)
"""The jars of Debian's package junit5."""


def run_tests_of(
    language: str,
    folder: Path,
    **variables: str,
) -> Outcome:
    """Run the tests of a copy of examples/java or examples/go."""
    if language == "go":
        need("go")
        settings = {
            "GOPROXY": "off",
            "GOCACHE": str(folder / "cache"),
            **variables,
        }
        return run_program(
            "go",
            "test",
            "-v",
            "./...",
            folder=folder,
            seconds=TIME_LIMIT_SECONDS,
            **settings,
        )
    need("javac")
    jars: list[Path] = []
    for name in JUNIT:
        jars += JAVA_LIBRARIES.glob(f"{name}.jar")
    if not jars:
        pytest.skip(
            "needs the jars of JUnit 5, such as those of Debian's package junit5"
        )
    libraries = ":".join(str(jar) for jar in jars)
    classes = folder / "classes"
    sources = folder.glob("*.java")
    compiler: list[str | Path] = ["javac", "-cp", libraries, "-d", classes]
    run([*compiler, *sources], folder)
    command = (
        "java",
        "-cp",
        f"{libraries}:{classes}",
        "org.junit.platform.console.ConsoleLauncher",
    )
    options = (
        "--scan-classpath",
        str(classes),
        "--disable-ansi-colors",
        "--details",
        "tree",
    )
    return run_program(
        *command,
        *options,
        folder=folder,
        seconds=TIME_LIMIT_SECONDS,
        **variables,
    )


@pytest.mark.verify
@pytest.mark.parametrize("language", ["java", "go"])
def test_the_tests_in_another_language_pass(language: str, tmp_path: Path) -> None:
    folder = tmp_path / language
    path = path_with_program(tmp_path)
    shutil.copytree(EXAMPLES / language, folder)

    outcome = run_tests_of(language, folder, PATH=path)

    assert outcome.status == 0, outcome.output + outcome.complaint


@pytest.mark.verify
@pytest.mark.parametrize("language", ["java", "go"])
def test_a_sandbox_in_another_language_has_the_scenario_of_its_emulator_or_none(
    language: str,
    tmp_path: Path,
) -> None:
    folder = tmp_path / language
    shutil.copytree(EXAMPLES / language, folder)

    with serving("--scenario", SPOILED) as server:
        outcome = run_tests_of(
            language,
            folder,
            EMULATOR_URL=server.url,
            EXPECTED_SCENARIO=SPOILED,
        )

    assert outcome.status == 0, outcome.output + outcome.complaint


@pytest.mark.verify
def test_a_fresh_project_uses_the_npm_package(tmp_path: Path) -> None:
    helper = tmp_path / "typescript"
    clean = shutil.ignore_patterns("node_modules", "dist", "*.tgz")
    shutil.copytree(EXAMPLES / "typescript", helper, ignore=clean)
    install_packages(helper)
    run(["npm", "pack", "./npm"], helper)
    (packed,) = helper.glob("*.tgz")
    project = tmp_path / "project"
    project.mkdir()
    (shown_test,) = fences(helper / "npm/README.md", "ts")
    (project / "emulator.test.ts").write_text(shown_test.text)
    inheriting = text_of(EXAMPLES / "typescript/scenario.test.ts")
    inheriting = inheriting.replace("./emulator.ts", "image-workflow-emulator")
    (project / "scenario.test.ts").write_text(inheriting)
    package_of_helper = json.loads(text_of(helper / "package.json"))
    tools = package_of_helper["devDependencies"]
    package = {
        "type": "module",
        "devDependencies": {**tools, "image-workflow-emulator": f"file:{packed}"},
    }
    (project / "package.json").write_text(json.dumps(package))
    shutil.copy(helper / "tsconfig.json", project)

    run([*NPM_INSTALL], project)

    run(["npx", "tsc", "--noEmit"], project)
    run_vitest(
        project,
        "--scenario",
        SPOILED,
        EXPECTED_SCENARIO=SPOILED,
    )


SHOP = """\
const headers = { Authorization: `Bearer ${process.env.IMAGE_WORKFLOW_API_KEY}` };
require("node:http").createServer(async (request, response) => {
  const team = await (await fetch(`${process.env.IMAGE_WORKFLOW_BASE_URL}/team`, { headers })).json();
  response.end(`<p>${team.credits} Credits left</p>`);
}).listen(3000, "127.0.0.1");
"""
OWN_CONFIGURATION = """\
import shown from "./playwright.config.ts";
const launchOptions = { executablePath: "CHROMIUM", args: ["--no-sandbox", "--disable-gpu"] };
export default { ...shown, use: { ...shown.use, launchOptions } };
"""


@pytest.mark.verify
def test_the_recipe_for_playwright_runs(tmp_path: Path) -> None:
    need("npm", "chromium")
    port = str(free_port())
    chromium = str(shutil.which("chromium"))
    files = {
        "shop.js": SHOP,
        "own.config.ts": OWN_CONFIGURATION.replace("CHROMIUM", chromium),
    }
    for block in fences(ROOT / "docs/testing.md", "ts"):
        if block.text.startswith("// "):
            _, name, _ = block.text.split(maxsplit=2)
            files.setdefault(name, block.text)
    for name, text in files.items():
        file = tmp_path / name
        file.write_text(text.replace("3000", port))
    (tmp_path / "package.json").write_text("{}")
    run([*NPM_INSTALL, "@playwright/test@1.65.1"], tmp_path)
    emulator = [*EMULATOR, "exec", "--clock", "auto", "--conduct", "fail", "--"]
    playwright = ["npx", "playwright", "test", "-c", "own.config.ts"]
    said = run(
        [*emulator, *playwright],
        tmp_path,
        PYTHONPATH=str(ROOT),
    )

    assert "1 passed" in said


CONTAINER = EXAMPLES / "container"
FILES = sorted(CONTAINER.iterdir())
VARIABLES = {option.variable for option in OPTIONS} | {"EMULATOR_URL"}
VARIABLE = re.compile(r"\bEMULATOR_[A-Z_]+\b")
COMMAND = re.compile(r"- (?:run: )?image-workflow-emulator (\w.*)")


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.name))
def test_an_example_names_variables_that_there_are(path: Path) -> None:
    named = set(VARIABLE.findall(text_of(path)))

    assert named <= VARIABLES


def test_the_commands_of_the_workflows_can_be_typed() -> None:
    workflows = [text_of(path) for path in FILES if path.suffix in (".yaml", ".yml")]
    text = "".join(workflows).replace("$SHARD", "1")
    command_lines = [shlex.split(line) for line in COMMAND.findall(text)]

    commands = {parsed(words) for words in command_lines}

    assert commands == {"exec", "sweep", "wait"}


def test_the_application_of_the_compose_file_reads_its_team() -> None:
    text = text_of(CONTAINER / "compose.yaml")
    services = yaml.safe_load(text)["services"]
    emulator = services["emulator"]
    application = services["application"]
    _, *arguments = application["command"]

    with serving(**emulator["environment"]) as server:
        variables = {
            name: value.replace("http://emulator:8038", server.url)
            for name, value in application["environment"].items()
        }
        outcome = run_program(sys.executable, *arguments, **variables)

    team = json.loads(outcome.output)
    assert team["name"] == "Demo"
