"""`exec`: its report, and the files that it keeps."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import asking, run_exec
from tests.support.emulator_client import UPLOAD

NO_REQUEST = ": no-request: the command sent no request to its emulator"


@pytest.mark.parametrize(
    ("options", "status"),
    [
        ([], 0),
        (["--conduct", "fail"], 1),
        (["--quiet", "--conduct", "fail"], 1),
    ],
    ids=str,
)
def test_a_command_without_requests_is_told_and_fails_where_conduct_does(
    options: list[str],
    status: int,
) -> None:
    outcome = run_exec(options, ["true"])

    complaint = " ".join(outcome.complaint.split())
    assert outcome.status == status
    assert complaint.count(NO_REQUEST) == 1


# Every sandbox -----------------------------------------------------------------------

HALF = """\
scenario: half
rules:
  - name: the second upload
    match: {operation: createUpload}
    when: {nth: 2}
    then: {problem: service_unavailable}
  - name: the third upload
    match: {operation: createUpload}
    when: {nth: 3}
    then: {problem: service_unavailable}
  - name: any Product
    match: {operation: createProduct}
    then: {problem: service_unavailable}
"""
MANUAL = {"id": "other", "clock": {"mode": "manual"}}
RESET_CLEAR_AND_DELETE = asking(
    ("GET", "/v1/team", None),
    ("POST", "/_emulator/reset", {}),
    ("GET", "/v1/team", None),
    ("DELETE", "/_emulator/requests", None),
    ("POST", "/_emulator/clock/advance", {"seconds": 60}),
    ("POST", "/_emulator/sandboxes", MANUAL),
    ("POST", "/_emulator/sandboxes/other/clock/advance", {"seconds": 30}),
    ("DELETE", "/_emulator/sandboxes/other", None),
    ("POST", "/v1/uploads", UPLOAD),
    ("POST", "/v1/uploads?", {**UPLOAD, "size_bytes": 6}),
    ("DELETE", "/_emulator/scenario", None),
    ("GET", "/v1/team", None),
)
"""A command that resets and deletes sandboxes, and forgets one read of the Team."""


def run_half(folder: Path, journal: str) -> None:
    """Run the command with a report and a journal in a folder."""
    scenario = folder / "half.yaml"
    scenario.write_text(HALF)
    options = [
        "--clock=manual",
        f"--scenario={scenario}",
        f"--report={folder / 'report.json'}",
        f"--journal={folder / journal}",
    ]
    outcome = run_exec(options, RESET_CLEAR_AND_DELETE)
    assert outcome.status == 0, outcome.complaint


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run that kept its report and its journal as JSON."""
    folder = tmp_path_factory.mktemp("kept")
    run_half(folder, "journal.json")
    return folder


@pytest.fixture
def report(kept: Path) -> Any:
    return json.loads((kept / "report.json").read_text())


def test_a_report_counts_requests_before_a_reset_and_none_that_were_cleared(
    report: Any,
) -> None:
    requests = dict(report["tables"][0]["rows"])

    assert requests["getTeam"] == "200: 2"
    assert requests["createUpload"] == "201: 1  503 service_unavailable: 1"


def test_a_report_adds_up_the_time_of_all_sandboxes(report: Any) -> None:
    assert report["counts"]["emulator_time_ms"] == 90_000


def test_a_report_names_rules_that_never_fired(report: Any) -> None:
    assert report["data"]["rules_never_fired"] == [
        "half: the third upload",
        "half: any Product",
    ]


def test_a_journal_has_requests_before_a_reset_and_none_that_were_cleared(
    kept: Path,
) -> None:
    journal = json.loads((kept / "journal.json").read_text())

    entries = journal["data"]
    answers = [f"{entry['operation']} {entry['status']}" for entry in entries]
    sandboxes = {entry["sandbox"] for entry in entries}
    assert answers == [
        "getTeam 200",
        "createUpload 201",
        "createUpload 503",
        "getTeam 200",
    ]
    assert sandboxes == {"default"}


def test_a_journal_is_kept_as_har(tmp_path: Path) -> None:
    run_half(tmp_path, "journal.har")

    har = json.loads((tmp_path / "journal.har").read_text())
    log = har["log"]
    answers = [entry["response"] for entry in log["entries"]]
    statuses = [answer["status"] for answer in answers]
    assert log["version"] == "1.2"
    assert statuses == [200, 201, 503, 200]
    assert answers[2]["content"]["mimeType"] == "application/problem+json"


# A session ---------------------------------------------------------------------------


def test_a_session_at_the_end_shows_what_was_asked_and_hides_the_keys_and_the_token(
    tmp_path: Path,
) -> None:
    file = tmp_path / "end.json"
    command = asking(("POST", "/v1/products", {"name": "iwe_demo_full"}))
    options = ["--quiet", "--control-token", "secret", "--save-state", str(file)]

    outcome = run_exec(options, command)

    text = file.read_text()
    journal = json.loads(text)["answers"]["requests"]
    (entry,) = journal["data"]
    assert outcome.status == 0
    assert entry["explanation"]["remedy"].startswith("add /asset_ids")
    assert "iwe_demo_full" not in text
    assert "iwe_other_full" not in text
    assert '"secret"' not in text
