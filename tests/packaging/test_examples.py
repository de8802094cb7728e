"""The examples, and the TypeScript that the documentation shows.

They are run as their reader would run them.
"""

import json
import re
import shlex
import shutil
import sys
from pathlib import Path
from typing import Final

import pytest
import yaml

from image_workflow_emulator.settings import OPTIONS
from tests.clients.generated import TIME_LIMIT_SECONDS, install_packages, need, run
from tests.packaging.pages import fences, path_with_program
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


def test_the_suite_of_the_python_client_passes() -> None:
    outcome = run_pytest(EXAMPLES / "python", "-q", "-c", "pytest.ini", seconds=300)

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
    for number, (_, shown) in enumerate(fences(ROOT / "docs/testing.md", "ts")):
        if 'from "vitest"' in shown:  # those of Playwright have a test of their own
            (folder / f"shown-{number}.test.ts").write_text(shown)
    return folder


@pytest.mark.verify
def test_the_types_of_the_typescript_client_are_right(typescript: Path) -> None:
    run(["npx", "tsc", "--noEmit"], typescript)


@pytest.mark.verify
@pytest.mark.parametrize("readings", ["plain", "stingy", "other"])
def test_the_suite_of_the_typescript_client_passes(
    readings: str,
    typescript: Path,
) -> None:
    command = [*EMULATOR, "exec", "--readings", readings, "--", "npx", "vitest", "run"]
    run(command, typescript, PYTHONPATH=str(ROOT))


SPOILED: Final = "problem:internal_error"
"""A scenario that spoils the first call of each operation."""


@pytest.mark.verify
def test_a_sandbox_of_the_typescript_helper_has_the_scenario_of_exec_or_none(
    typescript: Path,
) -> None:
    vitest = ["npx", "vitest", "run", "scenario.test.ts"]
    command = [*EMULATOR, "exec", "--scenario", SPOILED, "--", *vitest]
    run(command, typescript, PYTHONPATH=str(ROOT), EXPECTED_SCENARIO=SPOILED)


@pytest.mark.verify
@pytest.mark.parametrize("readings", ["stingy", "other"])
def test_the_python_client_passes_under_sets_of_readings(readings: str) -> None:
    arguments = ("-q", "-c", "pytest.ini", "--image-workflow-readings", readings)
    outcome = run_pytest(EXAMPLES / "python", *arguments, seconds=300)

    assert outcome.status == 0, outcome.output


JUNIT = ("junit-jupiter*", "junit-platform*", "opentest4j*", "apiguardian*")
"""The jars of Debian's package junit5."""


def run_tests_of(
    language: str,
    folder: Path,
    **variables: str,
) -> Outcome:
    """Run the tests of a copy of examples/java or examples/go."""
    if language == "go":
        need("go")
        settings = {"GOPROXY": "off", "GOCACHE": str(folder / "cache"), **variables}
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
    jars: list[str] = []
    for name in JUNIT:
        jars += map(str, Path("/usr/share/java").glob(f"{name}.jar"))
    if not jars:
        pytest.skip(
            "needs the jars of JUnit 5, such as those of Debian's package junit5"
        )
    classes = folder / "classes"
    run(["javac", "-cp", ":".join(jars), "-d", classes, *folder.glob("*.java")], folder)
    command = (
        "java",
        "-cp",
        ":".join([*jars, str(classes)]),
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
    shutil.copytree(EXAMPLES / language, folder)
    outcome = run_tests_of(language, folder, PATH=path_with_program(tmp_path))

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
        variables = {"EMULATOR_URL": server.url, "EXPECTED_SCENARIO": SPOILED}
        outcome = run_tests_of(language, folder, **variables)
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
    ((_, shown_test),) = fences(helper / "npm/README.md", "ts")
    (project / "emulator.test.ts").write_text(shown_test)
    inheriting = (EXAMPLES / "typescript/scenario.test.ts").read_text()
    inheriting = inheriting.replace("./emulator.ts", "image-workflow-emulator")
    (project / "scenario.test.ts").write_text(inheriting)
    tools = json.loads((helper / "package.json").read_text())["devDependencies"]
    dependencies = {**tools, "image-workflow-emulator": f"file:{packed}"}
    (project / "package.json").write_text(
        json.dumps({"type": "module", "devDependencies": dependencies})
    )
    shutil.copy(helper / "tsconfig.json", project)

    run(["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund"], project)

    run(["npx", "tsc", "--noEmit"], project)
    command = [*EMULATOR, "exec", "--scenario", SPOILED, "--", "npx", "vitest", "run"]
    run(command, project, PYTHONPATH=str(ROOT), EXPECTED_SCENARIO=SPOILED)


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
    for _, text in fences(ROOT / "docs/testing.md", "ts"):
        if text.startswith("// "):
            _, name, _ = text.split(maxsplit=2)
            files.setdefault(name, text)
    for name, text in files.items():
        (tmp_path / name).write_text(text.replace("3000", port))
    (tmp_path / "package.json").write_text("{}")
    run(
        [
            "npm",
            "install",
            "--ignore-scripts",
            "--no-audit",
            "--no-fund",
            "@playwright/test@1.65.1",
        ],
        tmp_path,
    )
    command = [*EMULATOR, "exec", "--clock", "auto", "--conduct", "fail", "--"]
    said = run(
        [*command, "npx", "playwright", "test", "-c", "own.config.ts"],
        tmp_path,
        PYTHONPATH=str(ROOT),
    )

    assert "1 passed" in said


CONTAINER = EXAMPLES / "container"
DOCUMENTS = [
    path for path in sorted(CONTAINER.iterdir()) if path.suffix in (".yaml", ".yml")
]
VARIABLES = {option.variable for option in OPTIONS} | {"EMULATOR_URL"}


@pytest.mark.parametrize(
    "path",
    sorted(CONTAINER.iterdir()),
    ids=lambda path: str(path.name),
)
def test_an_example_names_variables_that_there_are(path: Path) -> None:
    assert (
        set(re.findall(r"\bEMULATOR_[A-Z_]+\b", path.read_text(encoding="utf-8")))
        <= VARIABLES
    )


def test_the_commands_of_the_workflows_can_be_typed() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in DOCUMENTS).replace(
        "$SHARD",
        "1",
    )
    commands = re.findall(r"- (?:run: )?image-workflow-emulator (\w.*)", text)

    assert {"exec", "sweep", "wait"} == {
        parsed(shlex.split(command)) for command in commands
    }


def test_the_application_of_the_compose_file_reads_its_team() -> None:
    text = (CONTAINER / "compose.yaml").read_text(encoding="utf-8")
    services = yaml.safe_load(text)["services"]
    application = services["application"]
    arguments = application["command"][1:]

    with serving(**services["emulator"]["environment"]) as server:
        variables = {
            name: value.replace("http://emulator:8038", server.url)
            for name, value in application["environment"].items()
        }
        outcome = run_program(sys.executable, *arguments, **variables)

    assert json.loads(outcome.output)["name"] == "Demo"
