"""The conduct of a recorded client."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from image_workflow_emulator.drift.exchanges import RecordedExchange, Recording
from image_workflow_emulator.drift.recognition import recognize
from image_workflow_emulator.drift.recorded_conduct import judge_client
from image_workflow_emulator.drift.recordings import read_recording
from image_workflow_emulator.report import Report
from tests.drift.recorded_service import CONTRACT, KEY, RecordedService
from tests.examiner.rule_examples import EXAMPLES, ExampleClient
from tests.support.emulator_under_test import MakeEmulator


def conduct_in(*exchanges: Sequence[RecordedExchange]) -> Report:
    """Judge the clients of some recordings."""
    recordings = [Recording(of_one) for of_one in exchanges]
    recognized = recognize(recordings, CONTRACT)
    return judge_client(recognized.traffics)


def conduct_in_journal(entries: Sequence[Any]) -> Report:
    """Judge the clients of a journal."""
    content = json.dumps({"data": entries})
    recordings = read_recording(content.encode(), "journal.json")
    recognized = recognize(recordings, CONTRACT)
    return judge_client(recognized.traffics)


def rules_broken_in(*exchanges: Sequence[RecordedExchange]) -> list[str]:
    """Judge the clients of some recordings, and return the rule of each finding."""
    report = conduct_in(*exchanges)
    return [finding.rule for finding in report.findings]


def test_a_write_under_a_new_key_is_a_finding(paid_twice: RecordedService) -> None:
    rules = rules_broken_in(paid_twice.exchanges)

    assert rules == ["write-retried-with-new-key"]


def test_it_is_a_double_spend_once_the_recording_shows_both_works(
    paid_twice: RecordedService,
) -> None:
    paid_twice.call("listGenerations")

    rules = rules_broken_in(paid_twice.exchanges)

    assert rules == ["double-spend"]


def test_a_credential_that_is_sent_with_the_bytes_is_found() -> None:
    service = RecordedService()
    body = {"content_type": "image/png", "size_bytes": 3}
    session = service.call("createUpload", body).json
    service.send(
        method="PUT",
        url=session["upload"]["url"],
        headers={
            "content-type": "image/png",
            "authorization": f"Bearer {KEY}",
        },
        body=b"png",
    )

    rules = rules_broken_in(service.exchanges)

    assert "credential-sent-to-bytes" in rules


def test_clients_of_two_recordings_are_judged_apart() -> None:
    first = RecordedService()
    first.product("Shirt", ["ast_absent"], key="one")
    second = RecordedService()
    second.product("Shirt", ["ast_absent"], key="two")

    rules = rules_broken_in(first.exchanges, second.exchanges)

    rules_of_first = rules_broken_in(first.exchanges)
    rules_of_second = rules_broken_in(second.exchanges)
    assert rules == rules_of_first + rules_of_second


@pytest.mark.parametrize("clock", ["manual", "auto"])
@pytest.mark.parametrize("rule", EXAMPLES)
def test_the_journal_of_a_run_is_judged_as_the_run_was(
    make_emulator: MakeEmulator,
    clock: str,
    rule: str,
) -> None:
    service = make_emulator(clock=clock)
    ExampleClient(service).play(EXAMPLES[rule].breaks)
    live = service.told("GET", "/conduct?ended=true")
    entries = service.told("GET", "/requests?limit=1000")["data"]

    recorded = conduct_in_journal(entries)

    reasons: dict[str, str] = recorded.details["not_checked"]
    hidden = set(reasons) - set(live["not_checked"])
    findings = live["findings"]
    visible = [finding for finding in findings if finding["rule"] not in hidden]
    assert hidden == {"credential-sent-to-bytes"}
    for expected, finding in zip(visible, recorded.findings, strict=True):
        assert finding.rule == expected["rule"]
        assert finding.severity == expected["severity"]
        assert list(finding.requests) == expected["requests"]


@pytest.mark.parametrize(
    "sandboxes",
    [
        pytest.param(["s1", "s2", "s3"], id="several"),
        pytest.param(["s1", "s1", "s1"], id="one that was reset"),
    ],
)
def test_each_sandbox_of_a_journal_is_judged_by_itself(
    sandboxes: Sequence[str],
    make_emulator: MakeEmulator,
) -> None:
    entries = []
    for sandbox in sandboxes:
        service = make_emulator(clock="manual")
        service.get("/assets/none")
        (entry,) = service.told("GET", "/requests")["data"]
        entries.append({**entry, "sandbox": sandbox})

    recorded = conduct_in_journal(entries)

    assert recorded.findings == []
    assert recorded.summary == "3 calls, 0 findings"
