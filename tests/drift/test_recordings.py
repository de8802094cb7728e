"""What is no recording is refused with its place and a reason."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from image_workflow_emulator.client.local_files import UnusableFileError
from image_workflow_emulator.drift import recordings
from image_workflow_emulator.drift.recordings import read_recording, read_recordings
from image_workflow_emulator.settings import UsageError

RECORDINGS = Path(__file__).parent / "recordings"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "neither a HAR"),
        (b'{"log": {}}', "neither a HAR"),
        (b"interactions: 3", "neither a HAR"),
        (b'{"log": {"entries": [', "not complete JSON"),
        (b'{"log": {"entries": [1e999, NaN]}}', "not complete JSON"),
        (b"interactions: [}", "r.har:1:"),
        (b"a: &a [1]\nb: *a\n", "aliases"),
        (b"interactions: " + b"[" * 5_000, "more than 200 levels"),
        (b"\xff\xfe\x00", "neither JSON nor YAML"),
    ],
)
def test_what_is_no_recording_is_refused_with_its_name_and_a_reason(
    content: bytes,
    words: str,
) -> None:
    with pytest.raises(UsageError, match=r"^r\.har") as raised:
        read_recording(content, "r.har")

    assert words in str(raised.value)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (
            "!!bool maybe",
            'r.yaml:2:12: neither JSON nor YAML ("maybe" is not of the type bool)',
        ),
        ("!!int ''", '"" is not of the type int'),
        ("!!float ''", '"" is not of the type float'),
        ("!!timestamp soon", '"soon" is not of the type timestamp'),
        ("2026-99-99", '"2026-99-99" is not of the type timestamp'),
        ("!!binary é", "r.yaml:2:12: "),
        ("!!python/object:os.system {}", "r.yaml:2:12: "),
        ("{[1]: 2}", "r.yaml:2:13: "),
        ("9" * 5_000, "is not of the type int"),
    ],
)
def test_a_value_that_yaml_cannot_make_is_refused_with_its_place(
    value: str,
    words: str,
) -> None:
    cassette = f"interactions:\n- request: {value}\n".encode()

    with pytest.raises(UsageError) as raised:
        read_recording(cassette, "r.yaml")

    assert words in str(raised.value)


def test_a_yaml_file_with_too_many_values_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(recordings, "_MAX_YAML_VALUES", 1_000)
    cassette = b"interactions:\n" + b"- {}\n" * 1_000

    with pytest.raises(UsageError, match="more than 1,000 values"):
        read_recording(cassette, "r.yaml")


# Entries ------------------------------------------------------------------------------


def set_at(
    document: Any,
    steps: Sequence[str | int],
    value: object,
) -> None:
    *way, last = steps
    for step in way:
        document = document[step]
    document[last] = value


@pytest.mark.parametrize(
    ("steps", "value", "words"),
    [
        (["request"], {}, "missing required field `method`"),
        (["request", "method"], 5, "Expected `str`, got `int` - at `$.request.method`"),
        (["request", "url"], None, "Expected `str`, got `null` - at `$.request.url`"),
        (["request", "headers", 0, "name"], [], "at `$.request.headers[0].name`"),
        (["request", "postData", "text"], {}, "at `$.request.postData.text`"),
        (["response", "status"], "200", "at `$.response.status`"),
        (["response", "status"], 10**300, "`$.response.status`"),
        (["response", "content", "text"], 7, "at `$.response.content.text`"),
        (["response", "content", "size"], "x", "at `$.response.content.size`"),
        (["startedDateTime"], 7, "at `$.startedDateTime`"),
        (["time"], "fast", "at `$.time`"),
    ],
)
def test_an_entry_of_a_har_is_refused_with_the_place_of_what_is_wrong(
    steps: Sequence[str | int],
    value: object,
    words: str,
) -> None:
    document = json.loads((RECORDINGS / "browser.har").read_text())
    set_at(document, ["log", "entries", 0, *steps], value)

    with pytest.raises(UsageError) as raised:
        read_recording(json.dumps(document).encode(), "a.har")

    assert str(raised.value).startswith(
        "a.har, entry 1: not an exchange of this format"
    )
    assert words in str(raised.value)


@pytest.mark.parametrize(
    ("steps", "value", "words"),
    [
        (["request", "method"], [1], "at `$.request.method`"),
        (["request", "uri"], 7, "at `$.request.uri`"),
        (["request", "headers", "Accept"], {"a": "b"}, "at `$.request.headers[...]`"),
        (["request", "headers"], {1: "a"}, "at `key` in `$.request.headers`"),
        (["request", "body"], 5, "request.body: expected a text or bytes, got `int`"),
        (
            ["request", "body"],
            {"string": [1]},
            "request.body: expected a text or bytes",
        ),
        (
            ["response", "body", "string"],
            True,
            "response.body: expected a text or bytes",
        ),
        (["response", "status"], None, "response.status is missing"),
        (["response", "status", "code"], "ok", "at `$.response.status.code`"),
    ],
)
def test_an_interaction_is_refused_with_the_place_of_what_is_wrong(
    steps: Sequence[str | int],
    value: object,
    words: str,
) -> None:
    document = yaml.safe_load((RECORDINGS / "cassette.yaml").read_text())
    set_at(document, ["interactions", 0, *steps], value)

    with pytest.raises(UsageError) as raised:
        read_recording(yaml.safe_dump(document).encode(), "a.yaml")

    assert str(raised.value).startswith("a.yaml, entry 1: not an exchange of this")
    assert words in str(raised.value)


@pytest.mark.parametrize(
    ("field", "value"),
    [("path", 7), ("response_headers", [1]), ("sequence", "one"), ("credential", 5)],
)
def test_an_entry_of_a_journal_is_refused_with_its_place(
    field: str,
    value: object,
) -> None:
    document = json.loads((RECORDINGS / "journal.json").read_text())
    document["data"][1][field] = value

    with pytest.raises(UsageError, match=r"^j\.json, entry 2: "):
        read_recording(json.dumps(document).encode(), "j.json")


def test_a_field_that_an_entry_of_a_journal_lacks_is_named() -> None:
    document = json.loads((RECORDINGS / "journal.json").read_text())
    del document["data"][0]["query"]

    with pytest.raises(UsageError, match="'query' is missing"):
        read_recording(json.dumps(document).encode(), "j.json")


# Bounds -------------------------------------------------------------------------------


def test_a_file_that_is_larger_than_any_recording_is_refused(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(recordings, "MAX_FILE_BYTES", 100)
    file = tmp_path / "large.har"
    file.write_bytes(b" " * 101)

    with pytest.raises(UnusableFileError, match="expected at most 100"):
        read_recordings([str(file)])


def test_a_file_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recordings, "MAX_FILE_BYTES", 100)

    with pytest.raises(UnusableFileError):
        read_recordings(["/dev/zero"])


def test_files_with_too_many_exchanges_together_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(recordings, "MAX_EXCHANGES", 7)
    file = str(RECORDINGS / "browser.har")

    with pytest.raises(UsageError, match="more than 7 exchanges"):
        read_recordings([file, file])


def test_a_recording_may_begin_with_a_byte_order_mark() -> None:
    content = b"\xef\xbb\xbf" + (RECORDINGS / "browser.har").read_bytes()

    (recording,) = read_recording(content, "a.har")

    assert len(recording.exchanges) == 4


def test_half_a_surrogate_pair_is_no_reason_to_refuse_a_recording() -> None:
    text = (RECORDINGS / "browser.har").read_text()
    content = text.replace("WebInspector", "\\ud83d").encode()

    (recording,) = read_recording(content, "a.har")

    assert len(recording.exchanges) == 4
