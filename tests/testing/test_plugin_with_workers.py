"""The pytest plugin with workers of pytest-xdist, each in a process of its own."""

import json
from pathlib import Path

from image_workflow_emulator.testing import Emulator
from tests.support.served import run_pytest
from tests.testing.conftest import CONTROL_TOKEN, SUITE_HEAD

WORKERS = ("-p", "xdist", "-n", "2")


def test_each_worker_has_an_emulator_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text(f"""{SUITE_HEAD}
def test_it(image_workflow):
    assert ask(image_workflow) == 200
    assert image_workflow.id == "sandbox-1"
""")

    outcome = run_pytest(tmp_path, "-W", "error", *WORKERS, "--dist", "each")

    assert "2 passed in " in outcome.output


def test_the_coverage_of_all_sandboxes_is_written_as_one(
    server: Emulator,
    tmp_path: Path,
) -> None:
    (tmp_path / "test_mine.py").write_text(f"""{SUITE_HEAD}
def test_answered(image_workflow):
    assert ask(image_workflow) == 200

def test_refused(image_workflow):
    assert ask(image_workflow, image_workflow.key("iwe_demo_revoked")) == 401
""")

    outcome = run_pytest(
        tmp_path,
        "-W",
        "error",
        *WORKERS,
        "--image-workflow-url",
        server.url,
        "--image-workflow-coverage",
        "coverage.json",
        EMULATOR_CONTROL_TOKEN=CONTROL_TOKEN,
    )

    report = json.loads((tmp_path / "coverage.json").read_text())
    points = report["operations"]["getTeam"]["points"]
    covered = {point["point"]: point["covered"] for point in points if point["covered"]}

    assert "2 passed" in outcome.output
    assert covered == {"200": 1, "401 credential_revoked": 1}
