"""Recordings of one service by the tools of the field: `tools` writes as they do,
`recordings` holds files that were written by hand.
"""

import json
from collections.abc import Callable, Sequence
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


@pytest.mark.parametrize(
    "write",
    [tools.chrome, tools.playwright, tools.mitmproxy, tools.vcr],
)
def test_a_tools_recording_of_an_identical_service_has_no_difference(
    write: Write,
) -> None:
    recorded = tour()

    report = judged(exchanges_in(write(recorded)))

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

    differences = differences_in(exchanges_in(write(recorded)))

    assert set(differences) == set(differences_in(recorded)) - not_told


def journal_of_stops() -> dict[str, Any]:
    service = RecordedService()
    for stop in STOPS:
        stop(service)
        service.wait(60)
    journal: dict[str, Any] = json.loads(
        service.control("GET", "/requests?limit=1000", {})
    )
    return journal


def test_the_journal_of_an_identical_service_has_no_difference() -> None:
    journal = json.dumps(journal_of_stops()).encode()

    differences = differences_in(exchanges_in(journal))

    assert differences == []


def test_the_journal_as_har_of_an_identical_service_has_no_difference() -> None:
    entries = journal_of_stops()["data"]
    har = json.dumps(journal_as_har(entries, "http://127.0.0.1:8038")).encode()

    differences = differences_in(exchanges_in(har))

    assert differences == []


def test_what_only_a_journal_knows_is_read_from_its_har() -> None:
    entry = journal_of_stops()["data"][0]
    har = journal_as_har([entry], "http://127.0.0.1:8038")
    har["log"]["entries"][0]["_journal"] = {**entry, "sandbox": "checkout"}

    (exchange,) = exchanges_in(json.dumps(har).encode())

    assert exchange.sandbox == "checkout"
    assert exchange.sequence == entry["sequence"]
    assert exchange.arrived_at == parse_timestamp(entry["arrived_at"])


@pytest.mark.parametrize("address", ["http://127.0.0.1:8038", "https://ci.test/emu"])
def test_a_har_with_what_only_a_journal_knows_has_no_difference(address: str) -> None:
    entries = journal_of_stops()["data"]
    har = journal_as_har(entries, address)
    for entry, har_entry in zip(entries, har["log"]["entries"], strict=True):
        har_entry["_journal"] = entry

    report = judged(exchanges_in(json.dumps(har).encode()))

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
    pose = service.finished(service.call("createPose", body))["result"]["id"]
    service.wait(60)
    rule = {"match": {"work": "pose.update"}, "then": {"duration": "100ms"}}
    service.control("PUT", "/clock", {"mode": "manual"})
    service.play(rule)
    for _ in range(2):
        admitted = service.call("updatePose", {"asset_id": photo}, pose_id=pose)
        service.wait(3)
        if with_poll:
            service.call("getOperation", operation_id=admitted.json["id"])
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
    old = content.replace(b"status: {code: 200, message: OK}", b"status_code: 200")

    exchanges = exchanges_in(old)

    assert exchanges[0].status == 200


def test_a_compressed_answer_of_a_cassette_is_decompressed() -> None:
    recorded = tour()[:20]
    compressed = [tools.compressed(exchange) for exchange in recorded]

    differences = differences_in(exchanges_in(tools.vcr(compressed)))

    assert differences == []


# Files that were written by hand ------------------------------------------------------


def test_a_browsers_har_is_put_into_the_order_of_its_requests() -> None:
    (recording,) = read_recordings([str(RECORDINGS / "browser.har")])

    paths = [exchange.url.split("/", 3)[3] for exchange in recording.exchanges]
    assert paths == [
        "v1/products?limit=100",
        "v1/products",
        "v1/roboto.woff2",
        "v1/team",
    ]


def test_what_a_browser_did_not_record_is_missing() -> None:
    (recording,) = read_recordings([str(RECORDINGS / "browser.har")])

    font, unanswered = recording.exchanges[2:]
    assert font.response_body is None
    assert unanswered.status is None


@pytest.mark.parametrize(
    ("file", "readings"),
    [
        (
            "browser.har",
            ["D22=unordered", "D26=always-a-cursor", "D70=relative", "D72=charset"],
        ),
        ("cassette.yaml", ["D02=clamps", "D27=target-at-once"]),
        ("journal.json", ["D66=silent"]),
    ],
)
def test_a_recording_of_each_format_tells_its_readings(
    file: str,
    readings: list[str],
) -> None:
    content = (RECORDINGS / file).read_bytes()

    differences = differences_in(exchanges_in(content))

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
    content = (RECORDINGS / file).read_bytes()

    report = judged(exchanges_in(content))

    assert report.details["compared"] == 2
    assert report.details["noise"] == noise


@pytest.mark.parametrize(
    ("file", "has_times"),
    [("browser.har", True), ("cassette.yaml", False), ("journal.json", True)],
)
def test_waits_are_checked_where_a_recording_has_times(
    file: str,
    has_times: bool,
) -> None:
    recordings = read_recordings([str(RECORDINGS / file)])

    conduct = judge_client(recognize(recordings, CONTRACT).traffics)

    is_checked = "poll-before-retry-after" not in conduct.details["not_checked"]
    assert conduct.ok
    assert is_checked == has_times


# Bodies -------------------------------------------------------------------------------


def recorded_with(content: dict[str, Any]) -> Sequence[RecordedExchange]:
    """Return the exchanges of the browser, of which one answer has another content."""
    document = json.loads((RECORDINGS / "browser.har").read_text())
    document["log"]["entries"][0]["response"]["content"] = content
    return exchanges_in(json.dumps(document).encode())


@pytest.mark.parametrize(
    "content",
    [
        {"text": '{"object":"product"', "size": 400},
        {"text": "eyJvYmplY3QiOiJ", "encoding": "base64"},
        {"text": '{"object":"product"}', "mimeType": "application/octet-stream"},
        {},
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

    places = {breach.exchange for breach in report.details["breaches"]}
    assert places == {"recorded, entry 1"}
