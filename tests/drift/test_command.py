"""The command `drift`: its statuses, and what its reports do not tell."""

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from image_workflow_emulator.drift.recordings import RecordedExchange
from tests.cli.command import run_command
from tests.drift.recorded import KEY, tour, written

CANARY = "canary"


def foreign(path: str, status: int, answer: Any) -> RecordedExchange:
    headers = {"content-type": "application/json", "request-id": "req_1"}
    url = f"https://api.example.com/v1/{path}"
    return RecordedExchange("one", 0, 1.0, "GET", url, {}, None, status, headers, json.dumps(answer).encode())


FOREIGN = [
    foreign("users", 200, [{"id": 7}]),
    foreign("products", 200, {"items": [{"id": 7, "title": "Linen shirt"}], "total": 1}),
    foreign("products/7", 404, {"error": {"code": "not_found", "message": "no such product"}}),
    foreign("assets", 401, {"message": "Unauthorized"}),
]
"""Another API, which has some of the paths too."""


@pytest.mark.parametrize("command", ["drift", "conduct"])
@pytest.mark.parametrize("exchanges", [FOREIGN[:1], FOREIGN], ids=["other paths", "some of the same paths"])
def test_another_service_has_nothing_to_compare(
    command: str, exchanges: list[RecordedExchange], tmp_path: Path
) -> None:
    outcome = run_command(command, written(exchanges, tmp_path / "other.har"))
    assert outcome.status == 2
    assert "other.har: " in outcome.complaint


def test_the_status_is_1_with_another_reading_until_it_is_pinned(tmp_path: Path) -> None:
    assert run_command("drift", written(tour(), tmp_path / "plain.har")).status == 0
    file, pinned = written(tour("D26=always-a-cursor,D66=silent"), tmp_path / "other.har"), str(tmp_path / "known.yaml")
    assert run_command("drift", file, "--fail-on", "breach,bug").status == 0
    assert run_command("drift", file, "--pin", pinned).status == 1
    assert run_command("drift", file, "--readings", pinned).status == 0


def spoiled(exchange: RecordedExchange) -> RecordedExchange:
    """Put secrets where clients and services have them."""
    sent = exchange.request_headers
    authorization = {"authorization": f"Bearer {CANARY}-key"} if "authorization" in sent else {}
    return structs.replace(
        exchange,
        request_headers={**sent, **authorization, "cookie": f"session={CANARY}", "x-api-key": CANARY},
        response_headers={**exchange.response_headers, "set-cookie": f"session={CANARY}", "x-trace": CANARY},
        request_body=(exchange.request_body or b"").replace(b'"Probe"', f'"{CANARY} name"'.encode()),
        response_body=(exchange.response_body or b"").replace(b'"Probe"', f'"{CANARY} name"'.encode()),
    )


def test_no_secret_of_a_recording_is_in_a_report(tmp_path: Path) -> None:
    exchanges = [spoiled(exchange) for exchange in tour("other")]
    file = written(exchanges, tmp_path / "session.har")
    reports = [tmp_path / name for name in ("report.json", "report.html", "report.xml", "known.yaml")]
    json_report, page, junit, pinned = map(str, reports)
    outcomes = [
        run_command("drift", file, "--report", json_report, "--report", junit, "--pin", pinned),
        run_command("drift", file, "--report", page, "--format", "json"),
        run_command("conduct", file, "--format", "json"),
        run_command("conduct", file),
    ]
    texts = [outcome.output + outcome.complaint for outcome in outcomes] + [report.read_text() for report in reports]
    assert all(len(text) > 100 for text in texts)
    assert not [text for text in texts if CANARY in text or KEY in text]


def test_a_breach_is_in_the_json_with_its_sentence_and_place(tmp_path: Path) -> None:
    bare = [structs.replace(one, response_headers={}) for one in tour()[:1]]
    report = tmp_path / "report.json"
    run_command("drift", written(bare, tmp_path / "a.har"), "--report", str(report), written(bare, tmp_path / "b.har"))
    told = json.loads(report.read_text())
    breaches = [(one["sentence"], one["exchange"], one["times"]) for one in told["breaches"]]
    assert [("Every response carries a Request-Id (section 4)", "a.har, entry 1", 2)] == breaches
    assert (2, []) == (told["compared"], told["bugs"])


def test_an_unknown_reading_is_answered_with_those_of_its_decision(tmp_path: Path) -> None:
    outcome = run_command("drift", written(tour()[:9], tmp_path / "a.har"), "--readings", "D02=no-such-reading")
    assert (2, True) == (outcome.status, "expected one of D02=clamps, D02=plain" in outcome.complaint)


@pytest.mark.parametrize("words", [["record"], ["--base-url", "https://x/v1"], ["a.har", "--spend", "5"]])
def test_what_is_gone_is_answered_with_what_serves_instead(words: list[str]) -> None:
    outcome = run_command("drift", *words)
    assert outcome.status == 2
    assert "record with mitmproxy, VCR.py or a browser: docs/drift.md" in outcome.complaint
