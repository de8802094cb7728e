"""The examples, the course, and the TypeScript that the documentation shows.

They are run as their reader would run them. The client of the course fails before each
step as the page says, and passes after it, in both languages.
"""

import json
import re
import shlex
import shutil
import socket
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from pathlib import Path
from subprocess import Popen
from typing import Final

import pytest
import yaml

from image_workflow_emulator.cli.program import PROGRAM
from image_workflow_emulator.settings import OPTIONS
from tests.clients.generated import TIME_LIMIT_SECONDS, install_packages, need, run
from tests.packaging.pages import fences, path_with_program, pattern_of
from tests.support.commands import parsed
from tests.support.served import (
    EMULATOR,
    ROOT,
    Outcome,
    Server,
    run_program,
    run_pytest,
    serving,
)
from tests.support.served_client import ServedClient

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


def free_port() -> int:
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        return int(reserved.getsockname()[1])


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


SANDBOXES = [f"branch-{number}" for number in range(100)]


def answers(url: str) -> bool:
    with suppress(ConnectionError):
        return ServedClient(url).ask("GET", "/health").status == 200
    return False


@contextmanager
def proxy(
    ports: tuple[int, int],
    port: int,
    folder: Path,
) -> Iterator[str]:
    need("haproxy")
    text = (ROOT / "examples/scale/haproxy.cfg").read_text(encoding="utf-8")
    for shown, real in zip(("8038", "8041", "8042"), (port, *ports), strict=True):
        text = text.replace(f"127.0.0.1:{shown}\n", f"127.0.0.1:{real}\n")
    (folder / "haproxy.cfg").write_text(text)
    url = f"http://127.0.0.1:{port}"
    process = Popen(["haproxy", "-db", "-f", folder / "haproxy.cfg"])
    try:
        while not answers(url):
            time.sleep(0.05)
        yield url
    finally:
        process.terminate()
        process.wait(10)


def create(url: str, name: str) -> str:
    """Create a sandbox, and return its key."""
    made = ServedClient(url).told("POST", "/sandboxes", {"id": name, "clock": "auto"})
    return str(made["env"]["IMAGE_WORKFLOW_API_KEY"])


def read_team(base_url: str, key: str) -> int:
    return ServedClient(base_url, key).get("/team").status


def journals(server: Server) -> dict[str, int]:
    """The number of requests in the journal of each sandbox of a replica.

    The one that is always there is left out.
    """
    client = ServedClient(server.url)
    totals = {}
    for sandbox in client.told("GET", "/sandboxes")["data"]:
        name = sandbox["id"]
        if name != "default":
            totals[name] = client.told("GET", "/requests", sandbox=name)["total"]
    return totals


def read_teams(base_url: str, keys: Iterable[str]) -> set[int]:
    """Read the Team with each key, and return the statuses."""
    return {read_team(base_url, key) for key in keys}


class Replicas:
    """Two emulators behind a proxy, of which the second can be stopped."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        """Start both and the proxy, which run until the stack is closed."""
        port = free_port()
        self._ports = (free_port(), free_port())
        self.addresses = [
            f"http://127.0.0.1:{port}/replica-0",
            f"http://127.0.0.1:{port}/replica-1",
        ]
        self._second = stack.enter_context(ExitStack())
        self.first = stack.enter_context(self._serving(0))
        self.second = self.start_second()
        self.url = stack.enter_context(proxy(self._ports, port, folder))

    def start_second(self) -> Server:
        return self._second.enter_context(self._serving(1))

    def stop_second(self) -> None:
        self._second.close()

    def _serving(self, number: int) -> AbstractContextManager[Server]:
        port = str(self._ports[number])
        return serving("--port", port, "--public-url", self.addresses[number])


@pytest.fixture
def replicas(tmp_path: Path) -> Iterator[Replicas]:
    with ExitStack() as stack:
        yield Replicas(tmp_path, stack)


@pytest.mark.verify
def test_every_request_arrives_where_its_sandbox_lives(replicas: Replicas) -> None:
    base_url = f"{replicas.url}/v1"
    keys = {name: create(replicas.url, name) for name in SANDBOXES}

    for _ in range(2):
        assert read_teams(base_url, keys.values()) == {200}

    here = journals(replicas.first)
    there = journals(replicas.second)
    assert here | there == dict.fromkeys(SANDBOXES, 2)
    assert len(here) > 20
    assert len(there) > 20


@pytest.mark.verify
def test_the_address_of_a_replica_leads_to_its_sandboxes(replicas: Replicas) -> None:
    keys = {name: create(replicas.url, name) for name in SANDBOXES}

    for server, address in (
        (replicas.first, replicas.addresses[0]),
        (replicas.second, replicas.addresses[1]),
    ):
        own_keys = [keys[name] for name in journals(server)]

        assert read_teams(f"{address}/v1", own_keys) == {200}


@pytest.mark.verify
def test_a_restart_loses_the_sandboxes_of_one_replica(replicas: Replicas) -> None:
    base_url = f"{replicas.url}/v1"
    keys = {name: create(replicas.url, name) for name in SANDBOXES}
    here = journals(replicas.first)
    there = journals(replicas.second)
    keys_here = [keys[name] for name in here]
    keys_there = [keys[name] for name in there]

    replicas.stop_second()
    while_stopped = read_teams(base_url, keys_there)
    of_the_other = read_teams(base_url, keys_here)
    replicas.start_second()
    after_restart = read_teams(base_url, keys_there)
    made_again = [create(replicas.url, name) for name in there]

    assert while_stopped == {503}
    assert of_the_other == {200}
    assert after_restart == {401}
    assert read_teams(base_url, made_again) == {200}


COURSE = EXAMPLES / "course"
PAGE = (COURSE / "README.md").read_text(encoding="utf-8")
SECTIONS = dict(
    enumerate(
        re.split(
            r"^## \d\. ",
            PAGE.partition("\n## What you have now")[0],
            flags=re.MULTILINE,
        )[1:]
    )
)
STEPS = range(1, len(SECTIONS))
LANGUAGES = ["python", pytest.param("typescript", marks=pytest.mark.verify)]
QUICK = """
import runpy, sys, time
time.sleep = lambda seconds: None
sys.argv[0] = "shop.py"
sys.path.insert(0, "")
runpy.run_path("shop.py")
"""
"""Runs the client without its pauses, which an auto clock takes for it."""
NEEDS_A_PERSON = 3
"""The status with which the client ends after the step about Credits."""


@pytest.fixture(scope="module")
def course_in_typescript(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the course beside the packages of examples/typescript."""
    folder = tmp_path_factory.mktemp("examples")
    for name in ("package.json", "package-lock.json"):
        shutil.copy(ROOT / "examples/typescript" / name, folder)
    install_packages(folder)
    for name in ("course", "python"):
        shutil.copytree(ROOT / "examples" / name, folder / name)
    shutil.copy(ROOT / "examples/typescript/tsconfig.json", folder / "course")
    return folder / "course"


def blocks(step: int, *languages: str) -> list[str]:
    """Return the texts of the blocks of a step that are in some languages."""
    fenced = re.findall(
        r"^```(\w+)\n(.*?)^```$",
        SECTIONS[step],
        re.MULTILINE | re.DOTALL,
    )
    return [text for language, text in fenced if language in languages]


def follow(
    step: int,
    client: int,
    language: str,
    request: pytest.FixtureRequest,
) -> Outcome:
    """Run the command of a step with the client as it is after some step."""
    console, *_ = blocks(step, "console")
    last_line = console.splitlines()[-1]
    command = shlex.split(last_line)
    assignments = command[: command.index(PROGRAM)]
    variables = dict(assignment.split("=") for assignment in assignments)
    options = command[command.index("exec") : command.index("--")]
    folder = COURSE
    program = [sys.executable, "-c", QUICK]
    if language == "typescript":
        folder = request.getfixturevalue("course_in_typescript")
        program = [str(folder.parent / "node_modules/.bin/vite-node"), "shop.ts"]
    return run_in(
        folder,
        *EMULATOR,
        *options,
        "--",
        *program,
        str(client),
        **variables,
    )


def run_in(
    folder: Path,
    *command: str,
    **variables: str,
) -> Outcome:
    variables = {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1", **variables}
    return run_program(
        *command,
        folder=folder,
        seconds=TIME_LIMIT_SECONDS,
        **variables,
    )


def check_said(step: int, *outcomes: Outcome) -> None:
    """See that the commands of a step have printed each line that the page shows."""
    said = "".join(outcome.output + outcome.complaint for outcome in outcomes)
    for line in "".join(blocks(step, "text")).splitlines():
        # JSON of the two languages differs in spaces.
        expected = pattern_of(line.strip()).replace(r'":\ ', r'": ?')
        assert re.search(expected, said), f"{line}\n{said}"


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    "step",
    [1, 4, 7, *(pytest.param(step, marks=pytest.mark.verify) for step in (2, 3, 5, 6))],
)
def test_clients_fail_before_a_step_and_pass_after_it(
    step: int,
    language: str,
    request: pytest.FixtureRequest,
) -> None:
    status = NEEDS_A_PERSON if step == 5 else 0

    before = follow(step, step - 1, language, request)
    after = follow(step, step, language, request)

    assert before.status != 0
    assert after.status == status, after.output + after.complaint
    check_said(step, before, after)


@pytest.mark.parametrize("step", STEPS)
def test_the_lines_that_the_page_shows_are_those_of_the_step(step: int) -> None:
    (shown,) = blocks(step, "py")

    assert shown in (COURSE / f"step_{step}.py").read_text(encoding="utf-8")


@pytest.mark.verify
def test_the_types_of_the_course_are_right(course_in_typescript: Path) -> None:
    run(["npx", "tsc", "--noEmit", "--erasableSyntaxOnly"], course_in_typescript)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_first_client_does_on_a_good_day_what_the_page_says(
    language: str,
    request: pytest.FixtureRequest,
) -> None:
    check_said(0, follow(0, 0, language, request))


@pytest.mark.verify
@pytest.mark.parametrize("readings", ["stingy", "other"])
def test_the_client_of_the_last_step_passes_under_sets_of_readings(
    readings: str,
) -> None:
    command = (
        *EMULATOR,
        "exec",
        "--clock",
        "auto",
        "--conduct",
        "fail",
        "--readings",
        readings,
    )
    outcome = run_in(
        COURSE,
        *command,
        "--",
        sys.executable,
        "-c",
        QUICK,
        str(STEPS[-1]),
    )

    assert outcome.status == 0, outcome.output + outcome.complaint
