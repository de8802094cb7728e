"""The workflows, the action, and the scripts that they run."""

import os
import re
import subprocess
from pathlib import Path

import pytest
import yaml

from image_workflow_emulator import __version__
from tests.packaging.pages import write_program
from tests.support.served import ROOT, run_program, serving

WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
SCRIPTS = sorted((ROOT / ".ci").iterdir())
DOCKER = """\
case "$1" in run) echo container ;; inspect) echo "$HEALTH" ;; port) echo "$ADDRESS" ;; esac
"""
"""Stands in for Docker: the container is an emulator that is served."""


@pytest.mark.parametrize("path", [*WORKFLOWS, ROOT / "setup/action.yml"], ids=lambda path: str(path.name))
def test_every_action_is_pinned_by_its_commit(path: Path) -> None:
    for used in re.findall(r"uses: (\S+)", path.read_text()):
        assert used.startswith("./") or re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", used)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: str(path.name))
def test_a_workflow_may_do_nothing_and_each_of_its_jobs_only_what_it_says(path: Path) -> None:
    workflow = yaml.safe_load(path.read_text())
    assert workflow["permissions"] == {}
    assert all("permissions" in job for job in workflow["jobs"].values())


def test_the_pythons_that_are_tested_are_those_that_are_promised() -> None:
    tested = yaml.safe_load((ROOT / ".github/workflows/test.yml").read_text())["jobs"]["test"]["strategy"]["matrix"]
    assert tested["python"] == ["3.11", "3.12", "3.13", "3.14"]
    assert 'requires-python = ">=3.11"' in (ROOT / "pyproject.toml").read_text()


def test_nothing_is_published_before_the_images_were_run_and_the_tests_have_passed() -> None:
    jobs = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text())["jobs"]
    assert jobs["publish"]["needs"] == ["build", "image"]
    assert jobs["build"]["needs"] == jobs["image"]["needs"] == "test"
    steps = [str(step.get("run")) for step in jobs["image"]["steps"]]
    checked, pushed = (next(i for i, step in enumerate(steps) if word in step) for word in ("check-image", "push"))
    assert checked < pushed


@pytest.mark.parametrize("path", [*WORKFLOWS, ROOT / "setup/action.yml", *SCRIPTS], ids=lambda path: str(path.name))
def test_every_step_is_a_script_that_the_shell_can_read(path: Path) -> None:
    text = path.read_text()
    if path.suffix == ".yml":
        document = yaml.safe_load(text)
        groups = [job.get("steps", ()) for job in document.get("jobs", {}).values()]
        steps = [step for group in groups for step in group] or document.get("runs", {}).get("steps", [])
        text = "\n".join(re.sub(r"\$\{\{.*?\}\}", "x", step["run"]) for step in steps if "run" in step)
    subprocess.run(["bash", "-n"], input=text, text=True, check=True)


@pytest.mark.parametrize(
    ("health", "version", "is_good"),
    [("healthy", __version__, True), ("unhealthy", __version__, False), ("healthy", "9.9.9", False)],
)
def test_an_image_is_good_if_it_is_healthy_and_has_the_version(
    tmp_path: Path, health: str, version: str, is_good: bool
) -> None:
    write_program(tmp_path / "docker", DOCKER)
    path = os.pathsep.join([str(tmp_path), os.environ["PATH"]])
    with serving() as server:
        address = server.url.removeprefix("http://")
        command = (str(ROOT / ".ci/check-image"), "image", version)
        outcome = run_program(*command, PATH=path, HEALTH=health, ADDRESS=address)
    assert (outcome.status == 0) is is_good, outcome.output + outcome.complaint
