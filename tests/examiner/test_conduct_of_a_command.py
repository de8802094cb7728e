"""Conduct as `exec` reports it: what is found, what fails a run, what is left out."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import reading, run_command
from tests.support.served import Outcome

EARLY = "retry-before-retry-after"
HAMMERING = ["/v1/team"] * 7
"""Two more than the scenario `rate-limited` lets through, the second at once."""


def run(*options: str, paths: list[str] = HAMMERING) -> Outcome:
    command = reading(*paths)
    return run_command(
        "exec",
        "--scenario",
        "rate-limited",
        *options,
        "--",
        *command,
    )


def report_of(file: Path) -> Any:
    return json.loads(file.read_text())


def on_one_line(text: str) -> str:
    return " ".join(text.split())


# What is reported ---------------------------------------------------------------------


def test_the_text_has_the_finding_its_requests_its_source_and_the_remedy() -> None:
    outcome = run()

    parts = (
        "conduct: 1 error",
        f"error: {EARLY}: getTeam",
        "(requests 6, 7, by shop/1.0)",
        "Section 8:",
        "remedy:",
    )
    in_this_order = ".*".join(re.escape(part) for part in parts)
    text = on_one_line(outcome.complaint)
    assert re.search(in_this_order, text)
    assert outcome.status == 0  # a finding fails no run by itself


def test_the_json_has_the_finding_and_how_often_its_rule_was_checked(
    tmp_path: Path,
) -> None:
    file = tmp_path / "report.json"

    run("--report", str(file))

    report = report_of(file)
    (finding,) = report["findings"]
    assert finding["rule"] == EARLY
    assert finding["requests"] == [6, 7]
    assert report["data"]["conduct"] == {"error": 1}
    assert report["checked"][EARLY] == 1


def test_what_two_findings_of_a_rule_have_in_common_is_said_once() -> None:
    outcome = run(paths=[*HAMMERING, "/v1/products", "/v1/products"])

    complaint = outcome.complaint
    assert complaint.count(f"error: {EARLY}: ") == 2
    assert complaint.count("Section 8:") == 1
    assert complaint.count("remedy: wait") == 1


def test_rules_that_an_auto_clock_keeps_from_being_checked_are_named() -> None:
    outcome = run("--clock", "auto")

    not_checked = f"not checked {EARLY}, poll-before-retry-after, no-backoff: an auto"
    assert not_checked in on_one_line(outcome.complaint)


def test_nothing_is_reported_where_conduct_is_off(tmp_path: Path) -> None:
    file = tmp_path / "report.json"

    outcome = run("--conduct", "off", "--report", str(file))

    report = report_of(file)
    assert EARLY not in outcome.complaint
    assert report["data"]["conduct"] == {}


NAMED_BY_ITS_KEY = """
import os
from tests.support.served_client import ServedClient

key = os.environ["IMAGE_WORKFLOW_API_KEY"]
client = ServedClient(os.environ["IMAGE_WORKFLOW_BASE_URL"], key)
client.get("/team", headers={"User-Agent": f"shop/1.0 ({key})"})
"""


def test_the_report_does_not_show_a_key_that_a_user_agent_has() -> None:
    outcome = run_command("exec", "--", sys.executable, "-c", NAMED_BY_ITS_KEY)

    assert "credential-in-request" in outcome.complaint
    assert "by shop/1.0 (iwe_" in on_one_line(outcome.complaint)
    assert "iwe_demo_full" not in outcome.complaint


# What fails a run ---------------------------------------------------------------------


def test_an_error_fails_a_run_where_that_is_asked_for() -> None:
    outcome = run("--conduct", "fail", "--quiet")

    assert outcome.status == 1
    assert f"error: {EARLY}: getTeam" in outcome.complaint


def test_an_ignored_rule_fails_no_run() -> None:
    outcome = run("--conduct", "fail", "--ignore", EARLY)

    assert outcome.status == 0


def test_a_clean_run_says_how_many_rules_had_an_occasion() -> None:
    outcome = run("--conduct", "fail", paths=["/v1/team"])

    assert outcome.status == 0
    occasions = r"conduct: nothing wrong; \d+ of \d+ rules had an occasion"
    assert re.search(occasions, on_one_line(outcome.complaint))


# What belongs to the run --------------------------------------------------------------


def test_the_requests_of_a_state_file_are_not_judged(tmp_path: Path) -> None:
    state = str(tmp_path / "state")
    file = tmp_path / "report.json"
    loop = reading(*["/v1/assets/none"] * 3)
    run_command("exec", "--save-state", state, "--", *loop)
    options = ("--state", state, "--report", str(file))
    command = reading("/v1/team")

    run_command("exec", *options, "--", *command)

    report = report_of(file)
    assert report["findings"] == []
    assert report["checked"]["retry-of-the-hopeless"] == 0


def test_the_requests_of_a_state_file_cover_nothing(tmp_path: Path) -> None:
    state = str(tmp_path / "state")
    file = tmp_path / "coverage.json"
    earlier_command = reading("/v1/assets")
    run_command("exec", "--save-state", state, "--", *earlier_command)
    options = ("--state", state, "--coverage", str(file))
    command = reading("/v1/team")

    run_command("exec", *options, "--", *command)

    operations = report_of(file)["operations"]
    used = []
    for name, operation in operations.items():
        if any(point["covered"] for point in operation["points"]):
            used.append(name)
    assert used == ["getTeam"]


LEAKING = """
import os
from image_workflow_emulator.testing import Emulator
from tests.support.served_client import ServedClient

emulator = Emulator.connect(os.environ["EMULATOR_URL"])
for sandbox in (emulator.default, emulator.sandbox(id="gone")):
    with sandbox:
        client = ServedClient(sandbox.base_url, sandbox.api_key)
        client.get(f"/team?api_key={sandbox.api_key}")
        sandbox.reset()
"""
"""Leaks a key in the default sandbox and in one that is deleted; both are reset."""


def test_what_came_before_a_reset_and_in_a_deleted_sandbox_is_reported(
    tmp_path: Path,
) -> None:
    file = tmp_path / "report.json"

    run_command("exec", "--report", str(file), "--", sys.executable, "-c", LEAKING)

    first, second = report_of(file)["findings"]
    assert first["rule"] == "credential-in-request"
    assert "in the sandbox" not in first["where"]
    assert second["rule"] == "credential-in-request"
    assert second["where"].endswith(", in the sandbox gone")


# What is left undone ------------------------------------------------------------------

ORDERING = """
import os
import signal
import sys
from tests.support.served_client import ServedClient

base_url = os.environ["IMAGE_WORKFLOW_BASE_URL"]
client = ServedClient(base_url, os.environ["IMAGE_WORKFLOW_API_KEY"])
client.get(f"/team?api_key={os.environ['IMAGE_WORKFLOW_API_KEY']}")
client.open_upload(3)
client.admitted_upscale()
"""
"""Leaks a key, and leaves an upload and some work behind."""
LEFT_UNDONE = {"abandoned-upload", "abandoned-work"}
INTERRUPTED_BY_TYPING = """
signal.signal(signal.SIGINT, lambda *_: sys.exit(2))
os.kill(os.getppid(), signal.SIGINT)
signal.pause()
"""


def rules_broken_by(code: str, file: Path) -> set[str]:
    command = (sys.executable, "-c", code)
    options = ("--clock", "manual", "--report", str(file))
    run_command("exec", *options, "--", *command)
    findings = report_of(file)["findings"]
    return {finding["rule"] for finding in findings}


def test_what_a_command_left_undone_is_reported_at_its_end(tmp_path: Path) -> None:
    rules = rules_broken_by(ORDERING, tmp_path / "report.json")

    assert rules == LEFT_UNDONE | {"credential-in-request"}


@pytest.mark.parametrize(
    "ending",
    [
        pytest.param(
            "os.kill(os.getpid(), signal.SIGKILL)",
            id="killed",
        ),
        pytest.param(
            "sys.exit(128 + signal.SIGTERM)",
            id="status of a shell whose command was ended",
        ),
        pytest.param(INTERRUPTED_BY_TYPING, id="Ctrl-C"),
    ],
)
def test_a_command_that_a_signal_ended_has_left_nothing_undone(
    ending: str,
    tmp_path: Path,
) -> None:
    rules = rules_broken_by(ORDERING + ending, tmp_path / "report.json")

    assert rules == {"credential-in-request"}
