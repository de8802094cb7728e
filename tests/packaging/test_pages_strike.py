"""The commands of the documentation that make something go wrong.

A reader whose tests have sandboxes pastes them. Each test asserts that the fault was in
the requests of the reader's tests: a page may not teach a command that tests nothing.
"""

import re
import sys
from pathlib import Path

import pytest

from image_workflow_emulator.cli.program import PROGRAM
from tests.packaging.pages import fences, path_with_program, write_program
from tests.packaging.test_pages_run import NEEDS_SHELL
from tests.support.served import ROOT, run_bash, serving
from tests.support.served_client import ServedClient

pytestmark = NEEDS_SHELL

SUITE = '''\
"""The tests of a reader: each has a sandbox of its own."""
import os

from image_workflow_client import ImageWorkflow


def test_a_new_shirt_is_photographed(image_workflow):
    try:
        with ImageWorkflow(image_workflow.base_url, image_workflow.api_key) as client:
            shirt = image_workflow.given.product("Linen shirt")
            client.photoshoot([shirt["id"]])
    finally:
        requests = image_workflow.requests()
        rules = [request.rule["name"] for request in requests if request.rule]
        with open(os.environ["TOLD"], "a") as told:
            print(", ".join(rules), file=told)
'''
SUITE_OF_ONE_CALL = '''\
"""A test with one call, which is tried four times.

A sweep then has few cells, and none takes long.
"""
import json
import os
from http.client import HTTPException
from urllib.error import HTTPError
from urllib.request import Request, urlopen


def read_team(sandbox):
    headers = {"Authorization": f"Bearer {sandbox.api_key}"}
    request = Request(f"{sandbox.base_url}/team", headers=headers)
    for _ in range(4):
        try:
            with urlopen(request, timeout=1) as answer:
                return json.loads(answer.read())
        except HTTPError as error:
            if error.code not in (429, 500, 503):
                raise
        except (OSError, ValueError, HTTPException):
            pass
    raise RuntimeError("no answer")


def test_the_team_is_active(image_workflow):
    try:
        assert read_team(image_workflow)["capabilities"]["subscription_active"]
    finally:
        requests = image_workflow.requests()
        rules = [request.rule["name"] for request in requests if request.rule]
        with open(os.environ["TOLD"], "a") as told:
            print(", ".join(rules), file=told)
'''
IN_JAVASCRIPT = """\
# Stands in for npx: its test makes a sandbox of its own, as the page shows, and has a
# photoshoot there.
import os

from tests.support.served_client import ServedClient

control = ServedClient(os.environ["EMULATOR_URL"])
sandbox = control.told("POST", "/sandboxes", {"clock": "auto"})["id"]
shirt = {"given": [{"product": {"name": "Shirt"}}]}
(product,) = control.told("POST", "/given", shirt, sandbox=sandbox)["data"]
photoshoot = {"given": [{"photoshoot": {"products": [product["id"]]}}]}
control.told("POST", "/given", photoshoot, sandbox=sandbox)
rules = control.told("GET", "/scenario", sandbox=sandbox)["rules"]
with open(os.environ["TOLD"], "a") as told:
    print(", ".join(rule["name"] for rule in rules if rule["fired"]), file=told)
"""

PYTEST = f"""\
export PYTHONPATH="{ROOT}:{ROOT}/examples/python"
export PYTEST_DISABLE_PLUGIN_AUTOLOAD=1
set -- -p image_workflow_emulator.pytest_plugin -p no:cacheprovider "$@"
exec "{sys.executable}" -m pytest "$@"
"""
NPX = f"""\
export PYTHONPATH="{ROOT}"
exec "{sys.executable}" -c '{IN_JAVASCRIPT}'
"""


def commands_of(page: str, pattern: str) -> list[str]:
    """The lines of the shell on a page that match a pattern."""
    blocks = fences(ROOT / page, "sh", "bash")
    lines = "".join(text for _, text in blocks).splitlines()
    return [line for line in lines if re.match(f"{PROGRAM} {pattern}", line)]


def struck_by(
    command: str,
    folder: Path,
    suite: str = SUITE,
) -> list[str]:
    """Paste a command; return the rules that acted in each run of the reader's test."""
    tests = folder / "tests" / "integration"
    tests.mkdir(parents=True)
    (tests / "test_shop.py").write_text(suite)
    write_program(folder / "bin" / "pytest", PYTEST)
    write_program(folder / "bin" / "npx", NPX)
    told = folder / "told.txt"
    outcome = run_bash(
        command,
        folder,
        seconds=180,
        PATH=path_with_program(folder),
        TOLD=str(told),
    )
    assert outcome.status == 0, outcome.output + outcome.complaint
    assert "scenario-missed" not in outcome.complaint
    return told.read_text().splitlines()


WITH_SCENARIOS: list[tuple[str, str]] = []
for taught in ("docs/scenarios.md", "docs/survive.md", "docs/testing.md"):
    lines = commands_of(taught, "exec .*--scenario ")
    WITH_SCENARIOS += [(taught, line) for line in lines]
FIRST, *FURTHER = WITH_SCENARIOS


def test_there_are_commands_to_try() -> None:
    assert len(WITH_SCENARIOS) == 4


@pytest.mark.parametrize(
    ("page", "line"),
    [FIRST, *(pytest.param(*case, marks=pytest.mark.verify) for case in FURTHER)],
)
def test_the_scenario_of_a_command_strikes_the_sandboxes_of_its_tests(
    page: str,
    line: str,
    tmp_path: Path,
) -> None:
    own_files = commands_of("docs/scenarios.md", "scenario show .* > mine.yaml")
    command = "\n".join([*own_files, line])

    (rules,) = struck_by(command, tmp_path)

    assert rules


@pytest.mark.parametrize(
    ("page", "pattern"),
    [
        pytest.param(
            *("docs/survive.md", "sweep --strict recoverable -- "),
            marks=pytest.mark.verify,
        ),
        ("docs/reference/sweep.md", "sweep -- "),
    ],
)
def test_the_faults_of_a_sweep_strike_the_sandboxes_of_its_tests(
    page: str,
    pattern: str,
    tmp_path: Path,
) -> None:
    (line,) = commands_of(page, pattern)

    clean, *struck = struck_by(line, tmp_path, suite=SUITE_OF_ONE_CALL)

    assert clean == ""
    assert len(struck) > 3
    assert all(struck)


def test_the_sandbox_of_the_page_on_control_fails_as_its_scenario_says(
    tmp_path: Path,
) -> None:
    (block,) = [
        text
        for _, text in fences(ROOT / "docs/control.md", "bash")
        if "some-outputs-fail" in text
    ]
    creation, _, _ = block.partition("\ncurl")
    with serving() as server:
        control = ServedClient(server.url)
        run_bash(creation.replace("http://127.0.0.1:8038", server.url), tmp_path)
        product = {"given": [{"product": {"name": "Shirt"}}]}
        answer = control.told("POST", "/given", product, sandbox="checkout")
        (shirt,) = answer["data"]
        photoshoot = {"given": [{"photoshoot": {"products": [shirt["id"]]}}]}
        answer = control.told("POST", "/given", photoshoot, sandbox="checkout")
        (shoot,) = answer["data"]

    statuses = [output["status"] for output in shoot["outputs"]]
    assert statuses == ["completed", "failed", "completed", "failed"]
