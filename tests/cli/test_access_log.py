"""The lines that `serve` writes about requests, and what it says of variables that mean nothing."""

import asyncio
import json
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress

import pytest

from image_workflow_emulator.cli.serving import AccessLog
from tests.cli.command import ask, run_command
from tests.support.emulator_client import EmulatorUnderTest
from tests.support.served import serving
from tests.support.served_client import ServedClient


def test_each_request_is_a_line_with_the_remedy_of_what_was_refused() -> None:
    with serving() as server:
        for key in ("iwe_demo_full", "iwe_demo_expired"):
            ask(server, "/v1/team", key)
        first, second = server.stop().complaint.splitlines()
    assert ["200", "getTeam"] == first.split()[1:3]
    assert "Demo" == first.split()[-1]
    assert ["401", "getTeam", "credential_expired"] == second.split()[1:4]
    assert second.endswith("  Demo  -> use the Team's credential 'Full'")


def test_the_lines_are_json_where_the_log_is() -> None:
    with serving("--log-format", "json") as server:
        ask(server, "/v1/team", "iwe_demo_revoked")
        line = json.loads(server.stop().complaint)
    refused = {"status": 401, "operation": "getTeam", "code": "credential_revoked"}
    assert {**refused, "team": "Demo", "sandbox": "default"}.items() <= line.items()


def test_the_signature_of_a_link_is_not_in_its_line() -> None:
    with serving() as server:
        head = f"GET /files/default/ast_1-{'0' * 32}.png HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        server.converse(head.encode())
        assert "  404  GET /files/default/ast_1-….png  not_found  " in server.stop().complaint


def test_what_a_terminal_would_obey_is_escaped_wherever_a_request_is_shown() -> None:
    path = "/v1/%1b%5b31mRED%0aFAKE%20200%20ok%e2%80%ae%c2%9b"
    shown = r"POST /v1/\u001b[31mRED\nFAKE 200 ok\u202e\u009b  "
    with serving() as server:
        assert (
            ServedClient(server.url).post(path, {"name": "\u202e"}, headers={"Idempotency-Key": "\x9b31m\xad"}).status
            == 404
        )
        listed = run_command("requests", EMULATOR_URL=server.url).output
        as_json = run_command("requests", "--format", "json", EMULATOR_URL=server.url).output
        explained = run_command("requests", "show", "last", EMULATOR_URL=server.url).output
        log = server.stop().complaint
    assert all(line.isprintable() for text in (log, listed, as_json, explained) for line in text.split("\n"))
    assert [True, True, True] == [shown.rstrip() in text for text in (log, listed, explained)]
    assert "/v1/\x1b[31mRED\nFAKE 200 ok\u202e\x9b" == json.loads(as_json)["data"][0]["path"]


@contextmanager
def full_pipe() -> Iterator[tuple[int, int]]:
    """The ends of a pipe to which nothing more can be written, until somebody reads."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    with suppress(BlockingIOError):
        while True:
            os.write(writer, b"." * 4096)
    os.set_blocking(writer, True)
    try:
        yield reader, writer
    finally:
        os.close(reader)
        os.close(writer)


def test_who_does_not_read_the_lines_holds_nothing_up() -> None:
    with ExitStack() as server_ends_last, full_pipe() as (_, unread):
        server = server_ends_last.enter_context(serving(stderr=unread))
        for _ in range(3):
            assert "Demo" == ask(server, "/v1/team")["name"]


def test_lines_that_are_not_read_in_time_are_counted(
    emulator: EmulatorUnderTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    with full_pipe() as (reader, writer), open(writer, "w", closefd=False) as unread:
        monkeypatch.setattr(sys, "stderr", unread)
        log = AccessLog(as_json=False, max_waiting=60)  # a line has 50 bytes
        emulator.get("/team")
        record = emulator.sandbox.journal.completed()[-1]

        async def note_five_and_read() -> str:
            for _ in range(5):
                log.note(emulator.sandbox, record)
            os.read(reader, 2**20)
            return await asyncio.to_thread(lambda: "".join(iter(lambda: os.read(reader, 1).decode(), ")")))

        written = asyncio.run(note_five_and_read())
    assert 2 == written.count("getTeam")
    assert written.endswith("(3 more requests are not listed: the log was not read in time")


def test_a_variable_that_means_nothing_is_a_warning() -> None:
    with serving(EMULATOR_CLOK="auto", EMULATOR_FOO="1", EMULATOR_SANDBOX="default") as server:
        misspelled, unlike_any = server.stop().complaint.splitlines()
    assert misspelled.endswith(" unknown variable EMULATOR_CLOK")
    assert unlike_any.endswith(" unknown variable EMULATOR_FOO")
