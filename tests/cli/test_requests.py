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
    text = told(two_requests, "requests")

    _, first, second = table(text)
    assert first[0] == "1"
    assert first[2:4] == ["200", "getTeam"]
    assert second[0] == "2"
    assert second[2:5] == ["401", "getTeam", "credential_expired"]


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
    text = told(two_requests, f"requests list {filters}")

    _, *rows = table(text)
    listed = [row[0] for row in rows]
    assert listed == numbers


def test_a_limited_list_says_how_many_are_missing(two_requests: Server) -> None:
    outcome = run_command("requests", "--limit", "1", EMULATOR_URL=two_requests.url)

    _, row = table(outcome.output)
    how_many_are_missing = "1 earlier request not shown (--limit N, up to 1000)\n"
    assert row[0] == "2"
    assert outcome.complaint == how_many_are_missing


def test_requests_are_told_as_the_control_plane_does(two_requests: Server) -> None:
    text = told(two_requests, "requests --code credential_expired --format json")

    printed = json.loads(text)
    answered = ask(two_requests, "/_emulator/requests?code=credential_expired")
    assert printed == answered


def test_requests_are_told_as_har(two_requests: Server) -> None:
    text = told(two_requests, "requests --status 401 --format har")

    (entry,) = json.loads(text)["log"]["entries"]
    request = entry["request"]
    response = entry["response"]
    problem = json.loads(response["content"]["text"])
    headers = {header["name"]: header["value"] for header in response["headers"]}
    assert request["method"] == "GET"
    assert request["url"] == f"{two_requests.url}/v1/team?a=%20&b"
    assert request["queryString"] == [
        {"name": "a", "value": " "},
        {"name": "b", "value": ""},
    ]
    assert response["status"] == 401
    assert problem["code"] == "credential_expired"
    assert headers["content-length"] == str(response["content"]["size"])


def test_a_replayed_answer_is_named(server: Server) -> None:
    for _ in range(2):
        ask(server, "/v1/uploads", body=UPLOAD, method="POST")

    text = told(server, "requests")

    _, first, second = table(text)
    assert "replayed" not in first
    assert second[2:5] == ["201", "createUpload", "replayed"]


def test_requests_are_forgotten(two_requests: Server) -> None:
    text = told(two_requests, "requests clear")

    _, *rows = table(told(two_requests, "requests"))
    assert text == "done\n"
    assert rows == []


# Explained ----------------------------------------------------------------------------


def test_the_checks_of_a_request_are_shown(server: Server) -> None:
    ask(server, "/v1/team")

    explanation = told(server, "requests show last")

    assert "  ✓ credential: passed\n" in explanation


def test_an_explanation_is_told_as_the_control_plane_does(server: Server) -> None:
    ask(server, "/v1/team")

    text = told(server, "requests show 1 --format json")

    printed = json.loads(text)
    answered = ask(server, "/_emulator/requests/1")
    assert printed.items() >= answered.items()


def test_the_rule_that_acted_is_named_with_its_place(
    server: Server,
    tmp_path: Path,
) -> None:
    file = tmp_path / "broken.yaml"
    file.write_text("""\
scenario: s
rules:
  - name: broken
    match: {operation: getTeam}
    then: {problem: internal_error}
""")
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
    [
        pytest.param(["--status", "401"], id="status"),
        pytest.param(["--team", "Other", "--operation", "getTeam"], id="two filters"),
    ],
)
def test_what_is_followed_is_filtered_as_a_list_is(
    server: Server,
    filters: list[str],
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
