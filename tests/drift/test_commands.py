"""The commands `drift` and `conduct FILE`: their statuses, options and reports."""

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from image_workflow_emulator.drift.exchanges import RecordedExchange
from tests.cli.command import run_command
from tests.drift.recorded_service import KEY, RecordedService
from tests.drift.test_recognition import elsewhere, working_service
from tests.drift.tools import write_har
from tests.drift.tour import tour

CANARY = "canary"
HIDDEN = "D26=always-a-cursor,D66=silent"


def report_of(file: str, *options: str) -> Any:
    """Run `drift`, and return its report with every decision."""
    outcome = run_command(
        "drift",
        file,
        "--format",
        "json",
        "--all",
        *options,
    )
    return json.loads(outcome.output)


@pytest.mark.parametrize("command", ["drift", "conduct"])
def test_another_service_has_nothing_to_compare(command: str, tmp_path: Path) -> None:
    exchanges = elsewhere("https://shop.example.com")
    file = write_har(exchanges, tmp_path / "other.har")

    outcome = run_command(command, file)

    assert outcome.status == 2
    assert "other.har: no exchange is a call of the Image" in outcome.complaint


@pytest.mark.parametrize("command", ["drift", "conduct"])
def test_a_file_that_cannot_be_read_ends_the_command_with_2(command: str) -> None:
    outcome = run_command(command, "no/such.har")

    assert outcome.status == 2
    assert "no/such.har" in outcome.complaint


def test_the_status_is_0_without_a_difference(tmp_path: Path) -> None:
    file = write_har(tour(), tmp_path / "plain.har")

    outcome = run_command("drift", file)

    assert outcome.status == 0


def test_the_status_is_1_with_another_reading_until_it_is_pinned(
    tmp_path: Path,
) -> None:
    file = write_har(tour(HIDDEN), tmp_path / "other.har")
    pinned = str(tmp_path / "known.yaml")

    first = run_command("drift", file, "--pin", pinned)
    second = run_command("drift", file, "--readings", pinned)

    assert first.status == 1
    assert second.status == 0


def test_fail_on_says_which_verdicts_make_the_status_1(tmp_path: Path) -> None:
    file = write_har(tour(HIDDEN), tmp_path / "other.har")

    outcome = run_command("drift", file, "--fail-on", "breach,bug")

    assert outcome.status == 0


def test_an_unknown_verdict_is_answered_with_all(tmp_path: Path) -> None:
    file = write_har(tour()[:9], tmp_path / "a.har")

    outcome = run_command("drift", file, "--fail-on", "breach,everything")

    assert outcome.status == 2
    assert "some of other, neither, breach, bug" in outcome.complaint


def test_an_ignored_decision_is_in_no_report(tmp_path: Path) -> None:
    exchanges = tour("D26=always-a-cursor")
    file = write_har(exchanges, tmp_path / "other.har")

    report = report_of(file, "--ignore", "D26")

    decisions = {row["id"] for row in report["decisions"]}
    assert "D26" not in decisions
    assert "D27" in decisions


def test_an_unknown_reading_is_answered_with_those_of_its_decision(
    tmp_path: Path,
) -> None:
    file = write_har(tour()[:9], tmp_path / "a.har")

    outcome = run_command("drift", file, "--readings", "D02=no-such-reading")

    assert outcome.status == 2
    assert "expected one of D02=clamps, D02=plain" in outcome.complaint


# Reports ------------------------------------------------------------------------------


def test_the_calls_that_were_left_out_are_named(tmp_path: Path) -> None:
    shop = elsewhere("https://shop.example.com:8443")
    exchanges = [*working_service().exchanges, *shop]
    file = write_har(exchanges, tmp_path / "a.har")

    report = report_of(file)

    others = {
        "address": "shop.example.com:8443",
        "calls": 3,
    }
    assert "3 calls to shop.example.com:8443 left out" in report["summary"]
    assert report["left_out"] == [others]


def test_a_breach_is_in_the_json_with_its_sentence_and_place(tmp_path: Path) -> None:
    first = tour()[0]
    bare = replace(first, response_headers={})
    files = [
        write_har([bare], tmp_path / "a.har"),
        write_har([bare], tmp_path / "b.har"),
    ]
    file = tmp_path / "report.json"

    run_command("drift", *files, "--report", str(file))

    report = json.loads(file.read_text())
    (breach,) = report["breaches"]
    assert breach["sentence"] == "Every response carries a Request-Id (section 4)"
    assert breach["exchange"] == "a.har, entry 1"
    assert breach["times"] == 2
    assert report["compared"] == 2
    assert report["bugs"] == []


def spoiled(exchange: RecordedExchange) -> RecordedExchange:
    """Put secrets where clients and services have them."""
    sent = {
        **exchange.request_headers,
        "cookie": f"session={CANARY}",
        "x-api-key": CANARY,
    }
    if "authorization" in sent:
        sent["authorization"] = f"Bearer {CANARY}-key"
    answered = {
        **exchange.response_headers,
        "set-cookie": f"session={CANARY}",
        "x-trace": CANARY,
    }
    return replace(
        exchange,
        request_headers=sent,
        response_headers=answered,
        request_body=with_secret_name(exchange.request_body),
        response_body=with_secret_name(exchange.response_body),
    )


def with_secret_name(body: bytes | None) -> bytes:
    secret_name = f'"{CANARY} name"'
    content = body or b""
    return content.replace(b'"Probe"', secret_name.encode())


def check_without_secrets(text: str) -> None:
    assert text
    assert CANARY not in text
    assert KEY not in text


def test_no_secret_of_a_recording_is_in_a_report(tmp_path: Path) -> None:
    exchanges = [spoiled(exchange) for exchange in tour("other")]
    recording = write_har(exchanges, tmp_path / "session.har")
    reports = [
        tmp_path / "report.json",
        tmp_path / "report.html",
        tmp_path / "report.xml",
    ]
    options: list[str] = []
    for report in reports:
        options += ["--report", str(report)]
    pin = tmp_path / "known.yaml"

    outcome = run_command("drift", recording, "--pin", str(pin), *options)

    assert outcome.status == 1
    check_without_secrets(outcome.output)
    for file in (pin, *reports):
        check_without_secrets(file.read_text())


# Conduct ------------------------------------------------------------------------------


def test_conduct_exits_with_1_on_an_error_and_names_the_places(
    paid_twice: RecordedService,
    tmp_path: Path,
) -> None:
    paid_twice.call("listGenerations")
    file = write_har(paid_twice.exchanges, tmp_path / "session.har")

    outcome = run_command("conduct", file, "--format", "json")

    report = json.loads(outcome.output)
    (finding,) = report["findings"]
    assert outcome.status == 1
    assert not report["ok"]
    assert report["checked"]["double-spend"] == 1
    assert finding["rule"] == "double-spend"
    assert finding["severity"] == "error"
    assert finding["where"] == "session.har, entry 4; session.har, entry 5"


def test_conduct_names_what_a_recording_cannot_show(tmp_path: Path) -> None:
    exchanges = working_service().exchanges
    keyless = [replace(exchange, request_headers={}) for exchange in exchanges]
    file = write_har(keyless, tmp_path / "session.har")

    outcome = run_command("conduct", file)

    reason = "the recording has no Authorization headers"
    assert outcome.status == 0
    assert f"credential-sent-to-bytes  {reason}" in outcome.output
