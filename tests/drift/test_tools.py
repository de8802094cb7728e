"""Recordings of one service by the tools of the field: `tools` writes as they do,
`recordings` holds files that were written by hand.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from image_workflow_emulator.client.exports import journal_as_har
from image_workflow_emulator.drift.exchanges import RecordedExchange
from image_workflow_emulator.drift.recognition import recognize
from image_workflow_emulator.drift.recorded_conduct import judge_client
from image_workflow_emulator.drift.recordings import read_recording, read_recordings
from image_workflow_emulator.kernel.timestamps import parse_timestamp
from tests.drift import tools
from tests.drift.judging import differences_in, judged
from tests.drift.recorded_service import CONTRACT, RecordedService
from tests.drift.tour import STOPS, tour

RECORDINGS = Path(__file__).parent / "recordings"
Write = Callable[[Sequence[RecordedExchange]], bytes]


def exchanges_in(content: bytes) -> Sequence[RecordedExchange]:
    (recording,) = read_recording(content, "recorded")
    return recording.exchanges


def exchanges_in_json(document: Mapping[str, Any]) -> Sequence[RecordedExchange]:
    content = json.dumps(document)
    return exchanges_in(content.encode())


def exchanges_of(file: str) -> Sequence[RecordedExchange]:
    """The exchanges of a file that was written by hand."""
    content = (RECORDINGS / file).read_bytes()
    return exchanges_in(content)


@pytest.mark.parametrize(
    "write",
    [
        tools.chrome,
        tools.playwright,
        tools.mitmproxy,
        tools.vcr,
    ],
)
def test_a_tools_recording_of_an_identical_service_has_no_difference(
    write: Write,
) -> None:
    recorded = tour()
    written = exchanges_in(write(recorded))

    report = judged(written)

    assert report.findings == []
    assert report.details["compared"] == len(recorded)


@pytest.mark.parametrize(
    ("write", "not_told"),
    [
        # A HAR has no bytes of uploads: it does not tell how large a photo was.
        (tools.chrome, {"D57=small"}),
        (tools.playwright, {"D57=small"}),
        (tools.mitmproxy, {"D57=small"}),
        # Whole seconds do not tell when a list is up to date.
        (tools.vcr, {"D74=lag"}),
    ],
)
def test_a_tools_recording_tells_the_same_readings(
    write: Write,
    not_told: set[str],
) -> None:
    recorded = tour("other")
    written = exchanges_in(write(recorded))

    differences = differences_in(written)

    expected = set(differences_in(recorded))
    assert set(differences) == expected - not_told


def journal_of_stops() -> dict[str, Any]:
    service = RecordedService()
    for stop in STOPS:
        stop(service)
        service.wait(60)
    answer = service.control("GET", "/requests?limit=1000", {})
    journal: dict[str, Any] = json.loads(answer)
    return journal


def test_the_journal_of_an_identical_service_has_no_difference() -> None:
    recorded = exchanges_in_json(journal_of_stops())

    differences = differences_in(recorded)

    assert differences == []


def test_the_journal_as_har_of_an_identical_service_has_no_difference() -> None:
    entries = journal_of_stops()["data"]
    har = journal_as_har(entries, "http://127.0.0.1:8038")
    recorded = exchanges_in_json(har)

    differences = differences_in(recorded)

    assert differences == []


def test_what_only_a_journal_knows_is_read_from_its_har() -> None:
    entry = journal_of_stops()["data"][0]
    har = journal_as_har([entry], "http://127.0.0.1:8038")
    (har_entry,) = har["log"]["entries"]
    har_entry["_journal"] = {**entry, "sandbox": "checkout"}

    (exchange,) = exchanges_in_json(har)

    assert exchange.sandbox == "checkout"
    assert exchange.sequence == entry["sequence"]
    assert exchange.arrived_at == parse_timestamp(entry["arrived_at"])


@pytest.mark.parametrize("address", ["http://127.0.0.1:8038", "https://ci.test/emu"])
def test_a_har_with_what_only_a_journal_knows_has_no_difference(address: str) -> None:
    entries = journal_of_stops()["data"]
    har = journal_as_har(entries, address)
    har_entries = har["log"]["entries"]
    for entry, har_entry in zip(entries, har_entries, strict=True):
        har_entry["_journal"] = entry
    recorded = exchanges_in_json(har)

    report = judged(recorded)

    assert report.findings == []
    assert report.details["noise"] == 1  # a download: journals hide links


def test_a_recording_of_an_emulator_whose_clock_skips_waits_has_no_difference() -> None:
    """The tools write the host's time: all within a second."""
    recorded = tour()
    begun = recorded[0].at or 0
    at_host_times = [
        replace(exchange, at=begun + 5 * number)
        for number, exchange in enumerate(recorded)
    ]

    differences = differences_in(at_host_times)

    assert differences == []


# Cassettes ----------------------------------------------------------------------------


def cassette_of_a_replaced_pose(*, with_poll: bool) -> Sequence[RecordedExchange]:
    """Replace the photo of a Pose twice within a second."""
    service = RecordedService()
    (photo,) = service.photos(1)
    body = {"name": "Probe", "asset_id": photo}
    admitted = service.call("createPose", body)
    work = service.finished(admitted)
    pose = work["result"]["id"]
    service.wait(60)
    rule = {
        "match": {"work": "pose.update"},
        "then": {"duration": "100ms"},
    }
    service.control("PUT", "/clock", {"mode": "manual"})
    service.play(rule)
    replacement = {"asset_id": photo}
    for _ in range(2):
        admitted = service.call("updatePose", replacement, pose_id=pose)
        service.wait(3)
        if with_poll:
            operation = admitted.json["id"]
            service.call("getOperation", operation_id=operation)
    whole_minute = [tools.at_the_minute(exchange) for exchange in service.exchanges]
    return exchanges_in(tools.vcr(whole_minute))


@pytest.mark.parametrize("with_poll", [True, False])
def test_work_that_ended_within_a_second_of_a_cassette_blocks_nothing(
    *, with_poll: bool
) -> None:
    cassette = cassette_of_a_replaced_pose(with_poll=with_poll)

    differences = differences_in(cassette)

    assert differences == []


def test_a_cassette_of_httpx_before_version_6_is_read() -> None:
    content = (RECORDINGS / "cassette.yaml").read_bytes()
    old = content.replace(
        b"status: {code: 200, message: OK}",
        b"status_code: 200",
    )

    exchanges = exchanges_in(old)

    assert exchanges[0].status == 200


def test_a_compressed_answer_of_a_cassette_is_decompressed() -> None:
    recorded = tour()[:20]
    compressed = [tools.compressed(exchange) for exchange in recorded]
    cassette = exchanges_in(tools.vcr(compressed))

    differences = differences_in(cassette)

    assert differences == []


# Files that were written by hand ------------------------------------------------------


def test_a_browsers_har_is_put_into_the_order_of_its_requests() -> None:
    exchanges = exchanges_of("browser.har")

    urls = [exchange.url for exchange in exchanges]
    assert urls == [
        "https://api.example.com/v1/products?limit=100",
        "https://api.example.com/v1/products",
        "https://fonts.example.net/v1/roboto.woff2",
        "https://api.example.com/v1/team",
    ]


def test_what_a_browser_did_not_record_is_missing() -> None:
    exchanges = exchanges_of("browser.har")

    _, _, font, unanswered = exchanges
    assert font.response_body is None
    assert unanswered.status is None


@pytest.mark.parametrize(
    ("file", "readings"),
    [
        (
            "browser.har",
            [
                "D22=unordered",
                "D26=always-a-cursor",
                "D70=relative",
                "D72=charset",
            ],
        ),
        ("cassette.yaml", ["D02=clamps", "D27=target-at-once"]),
        ("journal.json", ["D66=silent"]),
    ],
)
def test_a_recording_of_each_format_tells_its_readings(
    file: str,
    readings: list[str],
) -> None:
    exchanges = exchanges_of(file)

    differences = differences_in(exchanges)

    assert differences == readings


@pytest.mark.parametrize(
    ("file", "noise"),
    [
        ("browser.har", 2),  # a font, and a request without an answer
        ("cassette.yaml", 0),
        ("journal.json", 0),
    ],
)
def test_what_is_not_compared_in_a_recording_is_counted(file: str, noise: int) -> None:
    exchanges = exchanges_of(file)

    report = judged(exchanges)

    assert report.details["compared"] == 2
    assert report.details["noise"] == noise


@pytest.mark.parametrize(
    ("file", "has_times"),
    [
        ("browser.har", True),
        ("cassette.yaml", False),
        ("journal.json", True),
    ],
)
def test_waits_are_checked_where_a_recording_has_times(
    file: str,
    has_times: bool,
) -> None:
    recordings = read_recordings([str(RECORDINGS / file)])
    recognized = recognize(recordings, CONTRACT)

    conduct = judge_client(recognized.traffics)

    is_checked = "poll-before-retry-after" not in conduct.details["not_checked"]
    assert conduct.ok
    assert is_checked == has_times


# Bodies -------------------------------------------------------------------------------


def recorded_with(content: dict[str, Any]) -> Sequence[RecordedExchange]:
    """Return the exchanges of the browser, of which one answer has another content."""
    har = json.loads((RECORDINGS / "browser.har").read_text())
    entry = har["log"]["entries"][0]
    entry["response"]["content"] = content
    return exchanges_in_json(har)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(
            {"text": '{"object":"product"', "size": 400},
            id="longer",
        ),
        pytest.param(
            {"text": "eyJvYmplY3QiOiJ", "encoding": "base64"},
            id="half of base64",
        ),
        pytest.param(
            {"text": '{"object":"product"}', "mimeType": "application/octet-stream"},
            id="not JSON",
        ),
        pytest.param({}, id="none"),
    ],
)
def test_a_body_that_an_exporter_cut_off_is_evidence_for_the_status_alone(
    content: dict[str, Any],
) -> None:
    cut = recorded_with(content)

    differences = differences_in(cut)

    assert differences == ["D26=always-a-cursor", "D70=relative", "D72=charset"]


@pytest.mark.parametrize("depth", [480, 1_000])
def test_a_body_that_is_nested_too_deep_counts_as_none(depth: int) -> None:
    arrays = "[" * depth + "]" * depth
    deep = recorded_with({"text": f'{{"object":"product","deep":{arrays}}}'})

    report = judged(deep)

    breaches = report.details["breaches"]
    places = {breach.exchange for breach in breaches}
    assert places == {"recorded, entry 1"}
