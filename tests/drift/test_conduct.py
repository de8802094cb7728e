"""`conduct FILE...`: the examiner over recordings of the real service, here of an emulator that plays it."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from image_workflow_emulator.drift.recorded_conduct import judge_client
from image_workflow_emulator.drift.recordings import RecordedExchange, read_recording
from tests.cli.command import run_command
from tests.drift.recorded import CONTRACT, KEY, RecordedService, photoshoot_of, written
from tests.examiner.rule_examples import EXAMPLES, ExampleClient
from tests.support.emulator_client import MakeEmulator

ORDER = "createProductPhotographyGeneration"
HIDDEN_ONCE = {
    "match": {"operation": ORDER},
    "when": {"nth": 1},
    "then": {"problem": "internal_error", "at": "after_commit"},
}


@pytest.fixture
def service() -> RecordedService:
    return RecordedService()


def order_of(service: RecordedService) -> dict[str, Any]:
    return photoshoot_of(service.upload().json["id"])


def rules_of(exchanges: list[RecordedExchange]) -> list[str]:
    return [finding.rule for finding in judge_client(exchanges, CONTRACT).findings]


def pays_twice(service: RecordedService) -> None:
    order = order_of(service)
    service.control("PUT", "/scenario", {"scenario": "hidden-once", "rules": [HIDDEN_ONCE]})
    service.call(ORDER, order, key="one")
    service.finished(service.call(ORDER, order, key="two"))


def test_a_client_that_keeps_the_rules_has_no_findings(service: RecordedService) -> None:
    service.finished(service.call(ORDER, order_of(service)))
    assert [] == rules_of(service.exchanges)


def test_a_write_under_a_new_key_is_a_double_spend_once_the_recording_shows_both_works(
    service: RecordedService,
) -> None:
    pays_twice(service)
    assert ["write-retried-with-new-key"] == rules_of(service.exchanges)
    service.call("listGenerations")
    assert ["double-spend"] == rules_of(service.exchanges)


def test_a_credential_that_is_sent_with_the_bytes_is_found(service: RecordedService) -> None:
    session = service.call("createUpload", {"content_type": "image/png", "size_bytes": 3}).json
    headers = {"content-type": "image/png", "authorization": f"Bearer {KEY}"}
    service.send("PUT", session["upload"]["url"], headers, b"png")
    assert "credential-sent-to-bytes" in rules_of(service.exchanges)


# The command ----------------------------------------------------------------------------------------------------------


def test_the_command_exits_with_1_on_an_error_and_names_the_places(service: RecordedService, tmp_path: Path) -> None:
    pays_twice(service)
    service.call("listGenerations")
    outcome = run_command("conduct", written(service.exchanges, tmp_path / "session.har"), "--format", "json")
    report = json.loads(outcome.output)
    assert (1, False) == (outcome.status, report["ok"])
    assert report["checked"]["double-spend"] == 1
    finding = report["findings"][0]
    assert ("double-spend", "error") == (finding["rule"], finding["severity"])
    assert finding["where"] == "session.har, entry 4; session.har, entry 5"


def test_what_a_recording_cannot_show_is_not_checked(service: RecordedService, tmp_path: Path) -> None:
    service.finished(service.call(ORDER, order_of(service)))
    keyless = [structs.replace(one, request_headers={}) for one in service.exchanges]
    outcome = run_command("conduct", written(keyless, tmp_path / "session.har"))
    assert outcome.status == 0
    assert "credential-sent-to-bytes  the recording has no Authorization headers" in outcome.output


@pytest.mark.parametrize("clock", ["manual", "auto"])
@pytest.mark.parametrize("rule", EXAMPLES)
def test_the_journal_of_a_run_is_judged_as_the_run_was(make_emulator: MakeEmulator, clock: str, rule: str) -> None:
    service = make_emulator(clock=clock)
    ExampleClient(service).play(EXAMPLES[rule][0])
    running = service.told("GET", "/conduct?ended=true")
    journal = service.told("GET", "/requests?limit=1000")
    recorded = judge_client(read_recording(json.dumps(journal).encode(), "journal.json"), CONTRACT)
    hidden = set(recorded.details["not_checked"]) - set(running["not_checked"])
    assert {"credential-sent-to-bytes"} == hidden
    seen = [(finding.rule, finding.severity, finding.requests) for finding in recorded.findings]
    assert [
        (finding["rule"], finding["severity"], finding["requests"])
        for finding in running["findings"]
        if finding["rule"] not in hidden
    ] == seen


@pytest.mark.parametrize("names", [("s1", "s2", "s3"), ("s1", "s1", "s1")], ids=["several", "one that was reset"])
def test_each_sandbox_of_a_journal_is_judged_by_itself(names: Sequence[str], make_emulator: MakeEmulator) -> None:
    entries = []
    for name in names:
        service = make_emulator(clock="manual")
        service.get("/assets/none")
        entries += [{**entry, "sandbox": name} for entry in service.told("GET", "/requests")["data"]]
    recorded = judge_client(read_recording(json.dumps({"data": entries}).encode(), "journal.json"), CONTRACT)
    assert ([], "3 calls, 0 findings") == (recorded.findings, recorded.summary)
