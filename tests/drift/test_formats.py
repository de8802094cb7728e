"""Recordings of each format, written by hand as the tools write them, are read, repaired and judged."""

import json
from pathlib import Path
from typing import Any

import pytest

from image_workflow_emulator.drift.recorded_conduct import judge_client
from image_workflow_emulator.drift.recordings import RecordedExchange, read_recordings
from image_workflow_emulator.settings import UsageError
from tests.drift.recorded import CONTRACT, found, judged

RECORDINGS = Path(__file__).parent / "recordings"


def test_a_browsers_har_is_put_into_the_order_of_its_requests() -> None:
    exchanges = read_recordings([str(RECORDINGS / "browser.har")])
    assert ["/v1/products?limit=100", "/v1/products", "/v1/roboto.woff2", "/v1/team"] == [
        exchange.url.partition(".com")[2] or exchange.url.partition(".net")[2] for exchange in exchanges
    ]
    assert exchanges[2].response_body is None
    assert exchanges[3].status is None


@pytest.mark.parametrize(
    ("file", "noise", "has_times", "readings"),
    [
        # Left aside: a font, and a request without an answer.
        ("browser.har", 2, True, ["D22=unordered", "D26=always-a-cursor", "D70=relative", "D72=charset"]),
        ("cassette.yaml", 0, False, ["D02=clamps", "D27=target-at-once"]),
        ("journal.json", 0, True, ["D66=silent"]),
    ],
)
def test_a_recording_of_each_format_is_judged(file: str, noise: int, has_times: bool, readings: list[str]) -> None:
    exchanges = read_recordings([str(RECORDINGS / file)])
    assert readings == found(exchanges)
    report, conduct = judged(exchanges), judge_client(exchanges, CONTRACT)
    assert (2, noise) == (report.details["compared"], report.details["noise"])
    assert conduct.ok
    assert has_times == ("poll-before-retry-after" not in conduct.details["not_checked"])


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
def test_what_is_no_recording_is_refused_with_its_name_and_a_reason(content: bytes, words: str, tmp_path: Path) -> None:
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


def test_a_body_that_an_exporter_cut_off_is_evidence_for_the_status_alone(tmp_path: Path) -> None:
    cut = recorded_with({"text": '{"object":"product"', "size": 400}, tmp_path / "cut.har")
    assert ["D26=always-a-cursor", "D70=relative", "D72=charset"] == found(cut)


@pytest.mark.parametrize("depth", [480, 1_000])
def test_a_body_that_is_nested_too_deep_is_taken_for_none(depth: int, tmp_path: Path) -> None:
    text = '{"object":"product","deep":' + "[" * depth + "]" * depth + "}"
    deep = judged(recorded_with({"text": text}, tmp_path / "deep.har"))
    assert {"deep.har, entry 1"} == {breach.exchange for breach in deep.details["breaches"]}
