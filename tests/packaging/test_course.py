"""The course: its client fails before each step as the page says, and passes after it.

It is run as its reader would run it, in both languages.
"""

import re
import shlex
import shutil
import sys
from pathlib import Path

import pytest

from image_workflow_emulator.cli.program import PROGRAM
from tests.clients.generated import TIME_LIMIT_SECONDS, install_packages, run
from tests.packaging.pages import FENCE, pattern_of, text_of
from tests.support.served import (
    EMULATOR,
    ROOT,
    Outcome,
    run_program,
)

COURSE = ROOT / "examples/course"
PAGE = text_of(COURSE / "README.md")
STEPS_OF_PAGE, _, _ = PAGE.partition("\n## What you have now")
_, *SECTIONS = re.split(r"^## \d\. ", STEPS_OF_PAGE, flags=re.MULTILINE)
"""The text of each step, from 0."""
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
    fenced = FENCE.findall(SECTIONS[step])
    return [text for language, text in fenced if language in languages]


def follow(
    step: int,
    client: int,
    language: str,
    request: pytest.FixtureRequest,
) -> Outcome:
    """Run the command of a step with the client as it is after some step."""
    console, *_ = blocks(step, "console")
    *_, last_line = console.splitlines()
    command = shlex.split(last_line)
    name_at = command.index(PROGRAM)
    program_at = command.index("--")
    variables = dict(assignment.split("=") for assignment in command[:name_at])
    options = command[name_at + 1 : program_at]
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
    usual = {
        "PYTHONPATH": str(ROOT),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    return run_program(
        *command,
        folder=folder,
        seconds=TIME_LIMIT_SECONDS,
        **{**usual, **variables},
    )


def check_said(step: int, *outcomes: Outcome) -> None:
    """See that the commands of a step have printed each line that the page shows."""
    said = "".join(outcome.output + outcome.complaint for outcome in outcomes)
    promised = "".join(blocks(step, "text"))
    for line in promised.splitlines():
        # JSON of the two languages differs in spaces.
        expected = pattern_of(line.strip()).replace(r'":\ ', r'": ?')
        assert re.search(expected, said), f"{line}\n{said}"


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    "step",
    [
        1,
        4,
        7,
        pytest.param(2, marks=pytest.mark.verify),
        pytest.param(3, marks=pytest.mark.verify),
        pytest.param(5, marks=pytest.mark.verify),
        pytest.param(6, marks=pytest.mark.verify),
    ],
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

    program = text_of(COURSE / f"step_{step}.py")
    assert shown in program


@pytest.mark.verify
def test_the_types_of_the_course_are_right(course_in_typescript: Path) -> None:
    run(["npx", "tsc", "--noEmit", "--erasableSyntaxOnly"], course_in_typescript)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_first_client_does_on_a_good_day_what_the_page_says(
    language: str,
    request: pytest.FixtureRequest,
) -> None:
    outcome = follow(0, 0, language, request)

    check_said(0, outcome)


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
