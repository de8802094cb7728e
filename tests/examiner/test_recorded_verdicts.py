"""A recorded client is judged as it was while it ran: those of the examples."""

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from image_workflow_emulator.client.exports import journal_as_har
from tests.cli.command import run_command
from tests.examiner.rule_examples import EXAMPLES, ExampleClient
from tests.support.emulator_client import FULL
from tests.support.emulator_under_test import EmulatorUnderTest, MakeEmulator

HIDDEN = "credential-sent-to-bytes"
"""The rule that a journal cannot show: it keeps no headers of requests for bytes."""


class Verdict(Struct, frozen=True):
    rule: str
    severity: str
    message: str
    requests: list[int]


def verdicts(findings: list[dict[str, Any]]) -> list[Verdict]:
    return [
        Verdict(
            rule=finding["rule"],
            severity=finding["severity"],
            message=finding["message"],
            requests=finding["requests"],
        )
        for finding in findings
        if finding["rule"] != HIDDEN
    ]


def live_verdicts(emulator: EmulatorUnderTest) -> list[Verdict]:
    return verdicts(emulator.told("GET", "/conduct?ended=true")["findings"])


def recorded_verdicts(recording: Path, report: Path) -> list[Verdict]:
    run_command("conduct", str(recording), "--report", str(report))
    return verdicts(json.loads(report.read_text())["findings"])


@pytest.mark.parametrize("clock", ["manual", "auto"])
@pytest.mark.parametrize("rule", EXAMPLES)
def test_the_journal_as_har_is_judged_as_the_run_was(
    make_emulator: MakeEmulator,
    rule: str,
    clock: str,
    tmp_path: Path,
) -> None:
    emulator = make_emulator(clock=clock)
    broken = EXAMPLES[rule].breaks
    ExampleClient(emulator).play(broken)
    journal = emulator.told("GET", "/requests?limit=1000")["data"]
    recording = tmp_path / "journal.har"

    recording.write_text(json.dumps(journal_as_har(journal, "http://127.0.0.1:8038")))

    recorded = recorded_verdicts(recording, tmp_path / "report.json")
    assert recorded == live_verdicts(emulator)


def test_a_recording_on_an_auto_clock_keeps_the_order_of_requests(
    make_emulator: MakeEmulator,
    tmp_path: Path,
) -> None:
    emulator = make_emulator(clock="auto")
    for _ in range(3):
        emulator.get("/assets/none")
    newest_first = emulator.told("GET", "/requests")["data"]
    recording = tmp_path / "journal.har"

    recording.write_text(json.dumps(journal_as_har(newest_first, "http://emulator")))

    (verdict,) = recorded_verdicts(recording, tmp_path / "report.json")
    assert verdict.rule == "retry-of-the-hopeless"
    assert verdict.requests == [1, 2, 3]


def test_a_key_in_a_user_agent_is_found_in_a_recording_too(
    emulator: EmulatorUnderTest,
    tmp_path: Path,
) -> None:
    emulator.get("/team", headers={"User-Agent": f"shop/1.0 ({FULL})"})
    journal = emulator.told("GET", "/requests")["data"]
    recording = tmp_path / "journal.har"

    recording.write_text(json.dumps(journal_as_har(journal, "http://emulator")))

    (verdict,) = recorded_verdicts(recording, tmp_path / "report.json")
    assert verdict.rule == "credential-in-request"
    assert FULL not in recording.read_text()
