"""`requests`: recorded requests as a list, followed, and explained."""

import json
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import ask, run_command, table, told
from tests.support.emulator_client import UPLOAD
from tests.support.served import (
    EMULATOR,
    PATIENCE_SECONDS,
    Server,
    next_line,
    started,
)


@pytest.fixture
def two_requests(server: Server) -> Server:
    """A server that has answered one request, and refused another."""
    ask(server, "/v1/team")
    ask(server, "/v1/team?a=%20&b", "iwe_demo_expired")
    return server


# The list -----------------------------------------------------------------------------


def test_requests_are_rows_of_a_table(two_requests: Server) -> None:
    _, first, second = table(told(two_requests, "requests"))

    assert [first[0], *first[2:4]] == ["1", "200", "getTeam"]
    assert [second[0], *second[2:5]] == ["2", "401", "getTeam", "credential_expired"]


@pytest.mark.parametrize(
    ("filters", "numbers"),
    [
        ("--status 401", ["2"]),
        ("--status 4xx", ["2"]),
        ("--code credential_expired", ["2"]),
        ("--operation getTeam", ["1", "2"]),
        ("--operation getPose", []),
        ("--team Demo --limit 5", ["1", "2"]),
        ("--team Other", []),
    ],
)
def test_requests_are_filtered(
    two_requests: Server,
    filters: str,
    numbers: list[str],
) -> None:
    _, *rows = table(told(two_requests, f"requests list {filters}"))

    assert [row[0] for row in rows] == numbers


def test_a_limited_list_says_how_many_are_missing(two_requests: Server) -> None:
    outcome = run_command("requests", "--limit", "1", EMULATOR_URL=two_requests.url)

    _, row = table(outcome.output)
    assert row[0] == "2"
    missing = "1 earlier request not shown (--limit N, up to 1000)\n"
    assert outcome.complaint == missing


def test_requests_are_told_as_the_control_plane_does(two_requests: Server) -> None:
    text = told(two_requests, "requests --code credential_expired --format json")
    path = "/_emulator/requests?code=credential_expired"

    assert json.loads(text) == ask(two_requests, path)


def test_requests_are_told_as_har(two_requests: Server) -> None:
    text = told(two_requests, "requests --status 401 --format har")

    (entry,) = json.loads(text)["log"]["entries"]
    assert entry["response"]["status"] == 401
    assert entry["request"]["method"] == "GET"
    assert entry["request"]["url"] == f"{two_requests.url}/v1/team?a=%20&b"
    query = [{"name": "a", "value": " "}, {"name": "b", "value": ""}]
    assert entry["request"]["queryString"] == query
    content = entry["response"]["content"]
    assert json.loads(content["text"])["code"] == "credential_expired"
    headers = {
        header["name"]: header["value"] for header in entry["response"]["headers"]
    }
    assert headers["content-length"] == str(content["size"])


def test_a_replayed_answer_is_named(server: Server) -> None:
    for _ in range(2):
        ask(server, "/v1/uploads", body=UPLOAD, method="POST")
    _, first, second = table(told(server, "requests"))

    assert "replayed" not in first
    assert second[2:5] == ["201", "createUpload", "replayed"]


def test_requests_are_forgotten(two_requests: Server) -> None:
    assert told(two_requests, "requests clear") == "done\n"
    assert len(table(told(two_requests, "requests"))) == 1


# Explained ----------------------------------------------------------------------------


def test_the_checks_of_a_request_are_shown(server: Server) -> None:
    ask(server, "/v1/team")

    assert "  ✓ credential: passed\n" in told(server, "requests show last")


def test_an_explanation_is_told_as_the_control_plane_does(server: Server) -> None:
    ask(server, "/v1/team")
    explained = json.loads(told(server, "requests show 1 --format json"))

    assert explained.items() >= ask(server, "/_emulator/requests/1").items()


def test_the_rule_that_acted_is_named_with_its_place(
    server: Server,
    tmp_path: Path,
) -> None:
    file = tmp_path / "broken.yaml"
    file.write_text(
        "scenario: s\nrules:\n"
        "  - name: broken\n"
        "    match: {operation: getTeam}\n"
        "    then: {problem: internal_error}\n"
    )
    told(server, f"scenario use {file}")
    ask(server, "/v1/team")

    explanation = told(server, "requests show last")

    assert re.search(r"^rule  broken \(.+, line 3\): ", explanation, re.MULTILINE)


def test_the_request_that_is_repeated_is_named(server: Server) -> None:
    for _ in range(2):
        ask(server, "/v1/uploads", body=UPLOAD, method="POST")
    explanation = told(server, "requests show last")

    assert re.search(r"^related  request 1: ", explanation, re.MULTILINE)


# Followed -----------------------------------------------------------------------------


def followed(process: "subprocess.Popen[str]") -> dict[str, Any]:
    """The next request that a follower prints."""
    return dict(json.loads(next_line(process)))


@contextmanager
def following(server: Server, *filters: str) -> Iterator["subprocess.Popen[str]"]:
    """Follow requests; at the end, press Ctrl-C."""
    options = ("--follow", "--format", "json", "--url", server.url, *filters)
    with started(*EMULATOR, "requests", *options) as process:
        yield process
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE_SECONDS) == 130
        assert process.communicate()[1] == ""


def test_requests_are_followed_as_they_are_answered(server: Server) -> None:
    ask(server, "/v1/team")
    with following(server) as follower:
        assert followed(follower)["operation"] == "getTeam"
        ask(server, "/v1/products")
        assert followed(follower)["operation"] == "listProducts"


def test_requests_are_followed_through_a_reset(server: Server) -> None:
    ask(server, "/v1/team")
    with following(server) as follower:
        followed(follower)
        ask(server, "/v1/products")
        followed(follower)
        ask(server, "/_emulator/reset", None, method="POST")
        ask(server, "/v1/poses")
        entry = followed(follower)

    assert entry["sequence"] == 1
    assert entry["operation"] == "listPoses"


@pytest.mark.parametrize(
    "filters",
    [("--status", "401"), ("--team", "Other", "--operation", "getTeam")],
)
def test_what_is_followed_is_filtered_as_a_list_is(
    server: Server,
    filters: tuple[str, ...],
) -> None:
    keys = ("iwe_demo_full", "iwe_demo_revoked", "iwe_other_full")
    for key in keys:
        ask(server, "/v1/team", key)
    text = told(server, f"requests --format json {' '.join(filters)}")
    (listed,) = json.loads(text)["data"]

    with following(server, *filters) as follower:
        assert followed(follower) == listed
        for key in keys:
            ask(server, "/v1/team", key)
        assert followed(follower)["sequence"] == listed["sequence"] + len(keys)
