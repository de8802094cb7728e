"""The commands `drift` and `conduct` over recordings: what they read, their statuses, and what they do not tell.

`recordings` holds one of each format, written by hand as the tools write them.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from image_workflow_emulator.drift.recorded_conduct import judge_client
from image_workflow_emulator.drift.recordings import (
    RecordedExchange,
    read_recording,
    read_recordings,
)
from image_workflow_emulator.settings import UsageError
from tests.cli.command import run_command
from tests.drift.recorded import (
    CONTRACT,
    KEY,
    RecordedService,
    found,
    judged,
    photoshoot_of,
    tour,
    written,
)
from tests.examiner.rule_examples import EXAMPLES, ExampleClient
from tests.support.emulator_client import MakeEmulator

CANARY = "canary"
RECORDINGS = Path(__file__).parent / "recordings"


def foreign(path: str, status: int, answer: Any) -> RecordedExchange:
    headers = {"content-type": "application/json", "request-id": "req_1"}
    url = f"https://api.example.com/v1/{path}"
    return RecordedExchange(
        "one",
        0,
        1.0,
        "GET",
        url,
        {},
        None,
        status,
        headers,
        json.dumps(answer).encode(),
    )


FOREIGN = [
    foreign("users", 200, [{"id": 7}]),
    foreign(
        "products", 200, {"items": [{"id": 7, "title": "Linen shirt"}], "total": 1}
    ),
    foreign(
        "products/7",
        404,
        {"error": {"code": "not_found", "message": "no such product"}},
    ),
    foreign("assets", 401, {"message": "Unauthorized"}),
]
"""Another API, which has some of the paths too."""


@pytest.mark.parametrize("command", ["drift", "conduct"])
@pytest.mark.parametrize(
    "exchanges", [FOREIGN[:1], FOREIGN], ids=["other paths", "some of the same paths"]
)
def test_another_service_has_nothing_to_compare(
    command: str, exchanges: list[RecordedExchange], tmp_path: Path
) -> None:
    outcome = run_command(command, written(exchanges, tmp_path / "other.har"))
    assert outcome.status == 2
    assert "other.har: " in outcome.complaint


def test_the_status_is_1_with_another_reading_until_it_is_pinned(
    tmp_path: Path,
) -> None:
    assert run_command("drift", written(tour(), tmp_path / "plain.har")).status == 0
    file, pinned = (
        written(tour("D26=always-a-cursor,D66=silent"), tmp_path / "other.har"),
        str(tmp_path / "known.yaml"),
    )
    assert run_command("drift", file, "--fail-on", "breach,bug").status == 0
    assert run_command("drift", file, "--pin", pinned).status == 1
    assert run_command("drift", file, "--readings", pinned).status == 0


def spoiled(exchange: RecordedExchange) -> RecordedExchange:
    """Put secrets where clients and services have them."""
    sent = exchange.request_headers
    authorization = (
        {"authorization": f"Bearer {CANARY}-key"} if "authorization" in sent else {}
    )
    return structs.replace(
        exchange,
        request_headers={
            **sent,
            **authorization,
            "cookie": f"session={CANARY}",
            "x-api-key": CANARY,
        },
        response_headers={
            **exchange.response_headers,
            "set-cookie": f"session={CANARY}",
            "x-trace": CANARY,
        },
        request_body=(exchange.request_body or b"").replace(
            b'"Probe"', f'"{CANARY} name"'.encode()
        ),
        response_body=(exchange.response_body or b"").replace(
            b'"Probe"', f'"{CANARY} name"'.encode()
        ),
    )


def test_no_secret_of_a_recording_is_in_a_report(tmp_path: Path) -> None:
    exchanges = [spoiled(exchange) for exchange in tour("other")]
    file = written(exchanges, tmp_path / "session.har")
    reports = [
        tmp_path / name
        for name in ("report.json", "report.html", "report.xml", "known.yaml")
    ]
    json_report, page, junit, pinned = map(str, reports)
    outcomes = [
        run_command(
            "drift", file, "--report", json_report, "--report", junit, "--pin", pinned
        ),
        run_command("drift", file, "--report", page, "--format", "json"),
        run_command("conduct", file, "--format", "json"),
        run_command("conduct", file),
    ]
    texts = [outcome.output + outcome.complaint for outcome in outcomes] + [
        report.read_text() for report in reports
    ]
    assert all(len(text) > 100 for text in texts)
    assert not [text for text in texts if CANARY in text or KEY in text]


def test_a_breach_is_in_the_json_with_its_sentence_and_place(tmp_path: Path) -> None:
    bare = [structs.replace(one, response_headers={}) for one in tour()[:1]]
    report = tmp_path / "report.json"
    run_command(
        "drift",
        written(bare, tmp_path / "a.har"),
        "--report",
        str(report),
        written(bare, tmp_path / "b.har"),
    )
    told = json.loads(report.read_text())
    breaches = [
        (one["sentence"], one["exchange"], one["times"]) for one in told["breaches"]
    ]
    assert [
        ("Every response carries a Request-Id (section 4)", "a.har, entry 1", 2)
    ] == breaches
    assert (2, []) == (told["compared"], told["bugs"])


def test_an_unknown_reading_is_answered_with_those_of_its_decision(
    tmp_path: Path,
) -> None:
    outcome = run_command(
        "drift",
        written(tour()[:9], tmp_path / "a.har"),
        "--readings",
        "D02=no-such-reading",
    )
    assert (2, True) == (
        outcome.status,
        "expected one of D02=clamps, D02=plain" in outcome.complaint,
    )


@pytest.mark.parametrize(
    "words", [["record"], ["--base-url", "https://x/v1"], ["a.har", "--spend", "5"]]
)
def test_what_is_gone_is_answered_with_what_serves_instead(words: list[str]) -> None:
    outcome = run_command("drift", *words)
    assert outcome.status == 2
    assert (
        "record with mitmproxy, VCR.py or a browser: docs/drift.md" in outcome.complaint
    )


# The formats of recordings --------------------------------------------------------------------------------------------


def test_a_browsers_har_is_put_into_the_order_of_its_requests() -> None:
    exchanges = read_recordings([str(RECORDINGS / "browser.har")])
    assert [
        "/v1/products?limit=100",
        "/v1/products",
        "/v1/roboto.woff2",
        "/v1/team",
    ] == [
        exchange.url.partition(".com")[2] or exchange.url.partition(".net")[2]
        for exchange in exchanges
    ]
    assert exchanges[2].response_body is None
    assert exchanges[3].status is None


@pytest.mark.parametrize(
    ("file", "noise", "has_times", "readings"),
    [
        # Left aside: a font, and a request without an answer.
        (
            "browser.har",
            2,
            True,
            ["D22=unordered", "D26=always-a-cursor", "D70=relative", "D72=charset"],
        ),
        ("cassette.yaml", 0, False, ["D02=clamps", "D27=target-at-once"]),
        ("journal.json", 0, True, ["D66=silent"]),
    ],
)
def test_a_recording_of_each_format_is_judged(
    file: str, noise: int, has_times: bool, readings: list[str]
) -> None:
    exchanges = read_recordings([str(RECORDINGS / file)])
    assert readings == found(exchanges)
    report, conduct = judged(exchanges), judge_client(exchanges, CONTRACT)
    assert (2, noise) == (report.details["compared"], report.details["noise"])
    assert conduct.ok
    assert has_times == (
        "poll-before-retry-after" not in conduct.details["not_checked"]
    )


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "neither a HAR"),
        (b'{"log": {}}', "neither a HAR"),
        (b'{"log": {"entries": [{"request": {}}]}}', "not an exchange of this format"),
        (b'{"log": {"entries": [', "not complete JSON"),
        (b"interactions: [}", "r.har:1:"),
        (b"a: &a [1]\nb: *a\n", "aliases"),
        (b"interactions: " + b"[" * 5_000, "levels"),
        (b"interactions: 3", "neither a HAR"),
        (b"\xff\xfe\x00", "neither JSON nor YAML"),
    ],
)
def test_what_is_no_recording_is_refused_with_its_name_and_a_reason(
    content: bytes, words: str, tmp_path: Path
) -> None:
    file = tmp_path / "r.har"
    file.write_bytes(content)
    with pytest.raises(UsageError, match=r"r\.har") as raised:
        read_recordings([str(file)])
    assert words in str(raised.value)


def recorded_with(content: dict[str, Any], file: Path) -> list[RecordedExchange]:
    """Return the exchanges of the browser, the first with another content."""
    document = json.loads((RECORDINGS / "browser.har").read_text())
    document["log"]["entries"][0]["response"]["content"] = content
    file.write_text(json.dumps(document))
    return read_recordings([str(file)])


def test_a_body_that_an_exporter_cut_off_is_evidence_for_the_status_alone(
    tmp_path: Path,
) -> None:
    cut = recorded_with(
        {"text": '{"object":"product"', "size": 400}, tmp_path / "cut.har"
    )
    assert ["D26=always-a-cursor", "D70=relative", "D72=charset"] == found(cut)


@pytest.mark.parametrize("depth", [480, 1_000])
def test_a_body_that_is_nested_too_deep_is_taken_for_none(
    depth: int, tmp_path: Path
) -> None:
    text = '{"object":"product","deep":' + "[" * depth + "]" * depth + "}"
    deep = judged(recorded_with({"text": text}, tmp_path / "deep.har"))
    assert {"deep.har, entry 1"} == {
        breach.exchange for breach in deep.details["breaches"]
    }


# The conduct of a recorded client -------------------------------------------------------------------------------------

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
    service.control(
        "PUT", "/scenario", {"scenario": "hidden-once", "rules": [HIDDEN_ONCE]}
    )
    service.call(ORDER, order, key="one")
    service.finished(service.call(ORDER, order, key="two"))


def test_a_write_under_a_new_key_is_a_double_spend_once_the_recording_shows_both_works(
    service: RecordedService,
) -> None:
    pays_twice(service)
    assert ["write-retried-with-new-key"] == rules_of(service.exchanges)
    service.call("listGenerations")
    assert ["double-spend"] == rules_of(service.exchanges)


def test_a_credential_that_is_sent_with_the_bytes_is_found(
    service: RecordedService,
) -> None:
    session = service.call(
        "createUpload", {"content_type": "image/png", "size_bytes": 3}
    ).json
    headers = {"content-type": "image/png", "authorization": f"Bearer {KEY}"}
    service.send("PUT", session["upload"]["url"], headers, b"png")
    assert "credential-sent-to-bytes" in rules_of(service.exchanges)


def test_conduct_exits_with_1_on_an_error_and_names_the_places(
    service: RecordedService, tmp_path: Path
) -> None:
    pays_twice(service)
    service.call("listGenerations")
    outcome = run_command(
        "conduct",
        written(service.exchanges, tmp_path / "session.har"),
        "--format",
        "json",
    )
    report = json.loads(outcome.output)
    assert (1, False) == (outcome.status, report["ok"])
    assert report["checked"]["double-spend"] == 1
    finding = report["findings"][0]
    assert ("double-spend", "error") == (finding["rule"], finding["severity"])
    assert finding["where"] == "session.har, entry 4; session.har, entry 5"


def test_what_a_recording_cannot_show_is_not_checked(
    service: RecordedService, tmp_path: Path
) -> None:
    service.finished(service.call(ORDER, order_of(service)))
    keyless = [structs.replace(one, request_headers={}) for one in service.exchanges]
    outcome = run_command("conduct", written(keyless, tmp_path / "session.har"))
    assert outcome.status == 0
    assert (
        "credential-sent-to-bytes  the recording has no Authorization headers"
        in outcome.output
    )


@pytest.mark.parametrize("clock", ["manual", "auto"])
@pytest.mark.parametrize("rule", EXAMPLES)
def test_the_journal_of_a_run_is_judged_as_the_run_was(
    make_emulator: MakeEmulator, clock: str, rule: str
) -> None:
    service = make_emulator(clock=clock)
    ExampleClient(service).play(EXAMPLES[rule][0])
    running = service.told("GET", "/conduct?ended=true")
    journal = service.told("GET", "/requests?limit=1000")
    recorded = judge_client(
        read_recording(json.dumps(journal).encode(), "journal.json"), CONTRACT
    )
    hidden = set(recorded.details["not_checked"]) - set(running["not_checked"])
    assert {"credential-sent-to-bytes"} == hidden
    seen = [
        (finding.rule, finding.severity, finding.requests)
        for finding in recorded.findings
    ]
    assert [
        (finding["rule"], finding["severity"], finding["requests"])
        for finding in running["findings"]
        if finding["rule"] not in hidden
    ] == seen


@pytest.mark.parametrize(
    "names",
    [("s1", "s2", "s3"), ("s1", "s1", "s1")],
    ids=["several", "one that was reset"],
)
def test_each_sandbox_of_a_journal_is_judged_by_itself(
    names: Sequence[str], make_emulator: MakeEmulator
) -> None:
    entries = []
    for name in names:
        service = make_emulator(clock="manual")
        service.get("/assets/none")
        entries += [
            {**entry, "sandbox": name}
            for entry in service.told("GET", "/requests")["data"]
        ]
    recorded = judge_client(
        read_recording(json.dumps({"data": entries}).encode(), "journal.json"), CONTRACT
    )
    assert ([], "3 calls, 0 findings") == (recorded.findings, recorded.summary)
