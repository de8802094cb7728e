"""Every command and every piece of Python of the documentation runs.

Page by page, as its reader would paste it. What a block of bash is followed by is what
it prints. The reader's own programs are stood in for by a client with one call; what
cannot be run here is listed with its reason. The tour has a test of its own, in which
`sleep` moves the clock: it waits exactly as long as it would in earnest, and no time
passes.
"""

import asyncio
import inspect
import os
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from image_workflow_emulator import DEFAULT_URL
from image_workflow_emulator.cli.program import PROGRAM
from tests.packaging.pages import DOCUMENTATION, fences, pattern_of, write_program
from tests.support.pictures import decode
from tests.support.served import ROOT, Outcome, Server, run_bash, run_pytest, serving
from tests.support.served_client import ServedClient

BY_VERIFY = (
    "openapi-python-client",
    "openapi-generator-cli",
    "datamodel-codegen",
    "openapi-typescript",
)
NOT_RUN = ("make", "docker", "uvx", "npm", "pip", "git", "gh", *BY_VERIFY)
"""First words of the lines that are not run here.

They start these tests, need Docker, the network or a maintainer, or are run by `make
verify`, in tests/clients.
"""
ONE_CELL = "--only getTeam#1:rate_limited"
AS_RUN = {
    DEFAULT_URL: "{url}",
    "requests/REQUEST_ID": "requests/1",
    # The stand-in makes one call, and meets little.
    "--coverage-fail-under 5": "--coverage-fail-under 0",
    "shard-2.json --report coverage.html --fail-under 5": (
        "shard-1.json --report coverage.html --fail-under 0"
    ),
    "pytest -n 4": "pytest",
    "sweep --jobs 2": f"sweep --jobs 2 {ONE_CELL}",
    "sweep --strict recoverable": f"sweep --strict recoverable {ONE_CELL}",
    "--faults all --shard 2/8": f"{ONE_CELL} --shard 1/1",
    "sweep -- ": f"sweep {ONE_CELL} -- ",
    # Exits with 1 for the difference that the page shows.
    "drift session.har": "drift --fail-on bug session.har",
    "createProduct#2:lost-after-commit": "getTeam#1:lost-before-commit",
}
"""Words of the pages, and the words that are run instead."""

OWN_PROGRAM = """\
# Stands in for the reader's own program or tests: one call, which is tried again.
header="Authorization: Bearer $IMAGE_WORKFLOW_API_KEY"
for attempt in 1 2 3; do
  if curl -sSf -o /dev/null -H "$header" "$IMAGE_WORKFLOW_BASE_URL/team" 2>/dev/null
  then
    exit 0
  fi
done
exit 1
"""
CURL = shutil.which("curl")
PROGRAMS = {
    PROGRAM: f"""\
export PYTHONPATH="{ROOT}"
case "$*" in
  serve*)
    set -- "$@" --port 0
    ;;
  *--follow*)
    ;;
  *)
    exec "{sys.executable}" -m image_workflow_emulator "$@"
    ;;
esac
# It has no end: its reader has seen enough when it has said something.
"{sys.executable}" -m image_workflow_emulator "$@" >said.txt &
until [ -s said.txt ]; do
  kill -0 $! || exit
  sleep 0.05
done
kill $!
wait $! || [ $? = 143 ]
""",
    "curl": f"""\
# A refused request to the control plane is a mistake of the page.
case "$*" in
  *_emulator*)
    set -- --fail-with-body "$@"
    ;;
esac
# A stream has no end: it is read until curl gives up.
case "$*" in
  *-N*)
    {CURL} --max-time 0.5 "$@" 2>/dev/null
    [ $? = 28 ]
    exit
    ;;
esac
exec {CURL} "$@"
""",
    "pytest": f"""\
case "$*" in
  *--image-workflow*)
    ;;
  *)
    exec own-program
    ;;
esac
export PYTHONPATH="{ROOT}"
export PYTEST_DISABLE_PLUGIN_AUTOLOAD=1
set -- -p image_workflow_emulator.pytest_plugin -p no:cacheprovider "$@"
exec "{sys.executable}" -m pytest -q "$@" test_mine.py
""",
    "own-program": OWN_PROGRAM,
    "npx": OWN_PROGRAM,
    "node": OWN_PROGRAM,
}
SLEEP = """\
echo "$1" >>"{folder}/waits"
exec curl -sS -o /dev/null \\
  -H "Content-Type: application/json" \\
  --data '{{"seconds": '"$1"'}}' \\
  "{url}/_emulator/clock/advance"
"""
EARLIER_REQUEST = """\
curl -sS -o answer.json \\
  -H 'Authorization: Bearer iwe_demo_revoked' \\
  {url}/v1/team
"""
"""A request for pages that look at one and make none."""
TEST_FILE = """\
from urllib.request import Request, urlopen


def test_the_team_is_read(image_workflow):
    headers = {"Authorization": f"Bearer {image_workflow.api_key}"}
    request = Request(f"{image_workflow.base_url}/team", headers=headers)
    urlopen(request)
"""
END_OF_STEP = "\036"
PAGES = {
    path.relative_to(ROOT).as_posix(): fences(path)
    for path in (*DOCUMENTATION, ROOT / ".github/SECURITY.md")
}


def commands(text: str) -> str:
    """Return the lines of a block that are run, with some words replaced."""
    kept: list[str] = []
    for line in text.replace("\\\n", " ").splitlines():
        program, _, _ = line.partition(" ")
        if program not in NOT_RUN:
            kept.append(f"{line}\n")
    script = "".join(kept)
    for words, replacement in AS_RUN.items():
        script = script.replace(words, replacement)
    return script


def steps(page: str) -> list[tuple[str, str]]:
    """The blocks of a page for a shell as they are run, each with what it must print."""
    blocks: list[tuple[str, str]] = []
    before = ""
    for language, text in PAGES[page]:
        if language in ("bash", "sh"):
            blocks.append((commands(text), ""))
        elif language in ("text", "json") and before == "bash":
            script, _ = blocks.pop()
            blocks.append((script, text.rstrip()))
        before = language
    return blocks


SHELL_PAGES = [
    page
    for page in PAGES
    if page != "docs/tour.md" and any(text for text, _ in steps(page))
]
NEEDS_SHELL = pytest.mark.skipif(
    not (shutil.which("bash") and shutil.which("curl")),
    reason="needs bash and curl",
)


def check_page(
    page: str,
    server: Server,
    folder: Path,
    before: str = "",
) -> Outcome:
    """Run the commands of a page, which must succeed and print what the page says."""
    texts = [f"{text}printf '{END_OF_STEP}'\n" for text, _ in steps(page)]
    promises = [promise for _, promise in steps(page)]
    script = before + "".join(texts)
    path = os.pathsep.join([str(folder / "bin"), os.environ["PATH"]])
    variables = {"PATH": path, "EMULATOR_URL": server.url, "TMPDIR": str(folder)}

    script = script.replace("{url}", server.url)
    outcome = run_bash(script, folder, seconds=180, **variables)

    complaint = rf"^(?:{PROGRAM}|curl|bash): .*"
    complaints = re.findall(complaint, outcome.complaint, re.MULTILINE)
    assert outcome.status == 0, outcome.output[-1000:] + outcome.complaint[-1000:]
    assert complaints == []
    for promise, printed in zip(promises, printed_by_step(outcome), strict=True):
        if promise:
            pattern = pattern_of(promise)
            assert re.fullmatch(pattern, printed.rstrip()), f"{promise}\n{printed}"
    return outcome


def printed_by_step(outcome: Outcome) -> list[str]:
    return outcome.output.split(END_OF_STEP)[:-1]


@pytest.fixture(scope="module")
def served() -> Iterator[Server]:
    with serving("--clock", "manual", "--access-log", "off") as server:
        yield server


@pytest.fixture
def emulator(served: Server) -> Server:
    """An emulator without a trace of another page."""
    client = ServedClient(served.url)
    client.told("DELETE", "/scenario?team=Demo")
    client.told("DELETE", "/scenario")
    client.told("POST", "/reset")
    return served


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder like that of a reader.

    It has programs, a client and its photo, and the files that the pages show.
    """
    for name, text in PROGRAMS.items():
        write_program(tmp_path / "bin" / name, text)
    for page in PAGES.values():
        for language, text in page:
            if language == "yaml" and text.startswith("scenario: "):
                scenario = text.split(maxsplit=2)[1]
                (tmp_path / f"{scenario}.yaml").write_text(text)
    shutil.copy(ROOT / "examples/python/photo.png", tmp_path)
    (tmp_path / "smoke.sh").write_text(OWN_PROGRAM)
    (tmp_path / "test_mine.py").write_text(TEST_FILE)
    return tmp_path


@NEEDS_SHELL
@pytest.mark.parametrize("page", SHELL_PAGES)
def test_the_commands_of_a_page_run_and_print_what_it_says(
    page: str,
    emulator: Server,
    folder: Path,
) -> None:
    is_begun = any(language == "bash" for language, _ in PAGES[page])
    check_page(page, emulator, folder, before="" if is_begun else EARLIER_REQUEST)


@NEEDS_SHELL
def test_the_blocks_of_the_readme_work_when_pasted_in_order(
    emulator: Server,
    tmp_path: Path,
) -> None:
    command = tmp_path / ".venv/bin" / PROGRAM
    command.parent.mkdir(parents=True)
    command.symlink_to(Path(sys.executable).parent / PROGRAM)
    start, *blocks = [text for _, text in fences(ROOT / "README.md", "sh", "bash")]
    script = "".join(blocks).replace(DEFAULT_URL, emulator.url)

    outcome = run_bash(
        script,
        tmp_path,
        PATH="/usr/bin:/bin",
        EMULATOR_URL=emulator.url,
    )

    assert start.startswith("make serve ")
    assert len(blocks) > 3
    assert outcome.status == 0, outcome.output + outcome.complaint
    assert "permission_denied" in outcome.output


@NEEDS_SHELL
@pytest.mark.parametrize(
    ("clock", "waited_seconds"),
    [
        ("manual", (1 + 6) + (1 + 5 + 3 * 2)),
        pytest.param("auto", 0, marks=pytest.mark.verify),
    ],
)
def test_the_tour_prints_waits_and_ends_with_pictures_as_it_says(
    clock: str,
    waited_seconds: int,
    folder: Path,
) -> None:
    waits = folder / "waits"
    waits.touch()

    with serving("--clock", clock) as server:
        sleep = SLEEP.format(folder=folder, url=server.url)
        write_program(folder / "bin" / "sleep", sleep)
        outcome = check_page("docs/tour.md", server, folder)
    promises = [promise for _, promise in steps("docs/tour.md")]
    printed = [text.strip() for text in printed_by_step(outcome)]
    seconds = [int(word) for word in waits.read_text().split()]
    pictures = [decode(file.read_bytes()) for file in folder.glob("*/picture-*")]
    assert list(map(bool, printed)) == list(map(bool, promises))
    assert outcome.complaint == ""
    assert sum(seconds) == waited_seconds
    assert [image.format for image in pictures] == ["JPEG"] * 4
    assert [image.size for image in pictures] == [(820, 1024)] * 4


def test_the_tour_begins_where_make_serve_serves() -> None:
    texts = "".join(text for _, text in PAGES["docs/tour.md"])

    assert f"EMULATOR={DEFAULT_URL}\n" in texts


# Python ------------------------------------------------------------------------------

PYTHON: list[tuple[str, str]] = []
"""The blocks of Python with their pages."""
for name, page_blocks in PAGES.items():
    PYTHON += [(name, text) for language, text in page_blocks if language == "python"]
SUITES = [
    (page, text)
    for page, text in PYTHON
    if re.search(r"\bimage_workflow(_emulator)?[,)]", text)
]
"""Blocks that need a fixture of the plugin."""


STRUCK = """\
import pytest


@pytest.fixture(autouse=True)
def a_test_with_a_scenario_meets_it(request):
    marker = request.node.get_closest_marker("image_workflow")
    has_scenario = marker is not None and "scenario" in marker.kwargs
    if not has_scenario or "testing" not in request.path.name:
        yield
        return
    sandbox = request.getfixturevalue("image_workflow")
    yield
    requests = sandbox.requests()
    assert any(request.rule or request.code == "rate_limited" for request in requests)
"""
"""Fails a test of the page on testing whose scenario has done nothing to its requests."""


def test_the_tests_that_are_shown_pass(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(STRUCK)
    for number, (page, text) in enumerate(SUITES):
        file = tmp_path / f"test_{Path(page).stem}_{number}.py"
        file.write_text(f"import pytest\n{text}")
    tests = sum(text.count("def test_") for _, text in SUITES)
    path = f"{ROOT}:{ROOT / 'examples/python'}"

    outcome = run_pytest(tmp_path, "-q", "-W", "error", seconds=180, PYTHONPATH=path)

    assert f"{tests} passed" in outcome.output, outcome.output + outcome.complaint


@pytest.mark.parametrize(
    "text",
    [text for page, text in PYTHON if (page, text) not in SUITES],
)
def test_a_program_that_is_shown_runs(text: str) -> None:
    namespace: dict[str, Any] = {}
    exec(text, namespace)
    test_names = [name for name in namespace if name.startswith("test_")]
    for name in test_names:
        outcome = namespace[name]()
        if inspect.iscoroutine(outcome):
            asyncio.run(outcome)
