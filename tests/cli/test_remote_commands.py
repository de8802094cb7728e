"""`wait`, `clock`, `reset`, `state` and `requests show --format curl`: commands that speak to a running emulator."""

import json
import os
import shutil
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import ask, run_command, run_writing_to
from tests.support.emulator_client import FULL, JSON, START, UPLOAD, Call
from tests.support.pictures import noise
from tests.support.served import PATIENCE_SECONDS, Outcome, Server, run_program, serving
from tests.support.served_client import ServedClient


def run(server: Server, *arguments: str) -> Outcome:
    return run_command(*arguments, EMULATOR_URL=server.url)


def shown(outcome: Outcome) -> dict[str, str]:
    """Return the columns of a clock's table."""
    assert (outcome.status, outcome.complaint) == (0, "")
    heads, row = outcome.output.replace("NEXT EVENT AT", "NEXT").splitlines()
    return dict(zip(heads.lower().split(), row.split(), strict=True))


def test_wait_returns_once_it_is_ready_and_takes_no_proxy(server: Server) -> None:
    outcome = run_command(
        "wait",
        "--timeout",
        "5",
        EMULATOR_URL=server.url,
        http_proxy="http://127.0.0.1:1",
    )
    assert (outcome.status, outcome.output, outcome.complaint) == (0, "", "")


def test_the_clock_is_shown_moved_and_reset(server: Server) -> None:
    still = {
        "mode": "manual",
        "pending": "0",
        "next": "-",
        "fired": "-",
        "stalled": "-",
    }
    assert shown(run(server, "clock")) == {"now": START, **still}
    still |= {"fired": "0", "stalled": "0"}
    assert shown(run(server, "clock", "advance", "90s")) == {
        "now": "2026-01-01T00:01:30.000Z",
        **still,
    }
    moved = shown(
        run_command("clock", "to", "--url", server.url, "2026-01-01T01:05:00+01:00")
    )
    assert moved == {"now": "2026-01-01T00:05:00.000Z", **still}
    assert shown(run(server, "clock", "next"))["fired"] == "0"
    assert shown(run(server, "clock", "idle"))["fired"] == "0"
    assert run(server, "reset").output == "done\n"
    assert shown(run(server, "clock", "show"))["now"] == START
    ask(server, "/v1/uploads", body=UPLOAD, method="POST")
    clock = shown(run(server, "clock"))
    assert (clock["pending"], clock["next"]) == ("1", "2026-01-01T00:15:00.000Z")
    assert ["x60", "auto"] == [
        shown(run(server, "clock", "mode", mode))["mode"] for mode in ("x60", "auto")
    ]
    assert ask(server, "/_emulator/clock") == json.loads(
        run(server, "clock", "--format", "json").output
    )


def test_without_the_control_token_nothing_but_health_is_told() -> None:
    with serving("--control-token", "open sesame") as server:
        refused = run(server, "clock")
        assert (refused.status, refused.output) == (1, "")
        assert refused.complaint.endswith("expected `Bearer` and the control token\n")
        assert run(server, "clock", "--control-token", "open sesame").status == 0
        assert (
            run_command(
                "clock", EMULATOR_URL=server.url, EMULATOR_CONTROL_TOKEN="open sesame"
            ).status
            == 0
        )
        assert run(server, "wait", "--timeout", "5").status == 0


@contextmanager
def something_else(answer: bytes) -> Iterator[str]:
    """A server that is no emulator: it answers one request, whatever it is, with these bytes."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        thread.join(PATIENCE_SECONDS)


@pytest.mark.parametrize(
    "command", ["clock", "clock next", "reset", "state save {folder}/state.zip"]
)
@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\n\r\nhello",
        b'HTTP/1.1 200 OK\r\n\r\n{"now": 1}',
        b"HTTP/1.1 404 Not Found\r\n\r\nhello",
        b"hello\r\n",
    ],
)
def test_something_else_that_answers_is_no_emulator(
    answer: bytes, command: str, tmp_path: Path
) -> None:
    with something_else(answer) as url:
        outcome = run_command(*command.format(folder=tmp_path).split(), "--url", url)
    assert [] == list(tmp_path.iterdir())
    assert (outcome.status, outcome.output) == (1, "")
    assert outcome.complaint.startswith(
        f"image-workflow-emulator: no emulator answers at {url} ("
    )


def test_a_reader_that_has_left_is_a_failure_without_a_word(server: Server) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as unread:
        assert run_writing_to(unread, "wait", "--url", server.url) == (
            0,
            "",
        )  # it has nothing to say
        assert run_writing_to(unread, "clock", "--url", server.url) == (1, "")


def test_a_saved_state_can_be_loaded_again(server: Server, tmp_path: Path) -> None:
    file = tmp_path / "state.zip"
    saved = run(server, "state", "save", str(file))
    assert (saved.status, saved.output) == (
        0,
        f"saved {file} ({file.stat().st_size} bytes)\n",
    )
    assert shown(run(server, "clock", "advance", "1h"))["now"] != START
    loaded = run(server, "state", "load", str(file))
    assert (loaded.status, loaded.output) == (0, f"loaded {file}\n")
    assert shown(run(server, "clock"))["now"] == START


def test_a_sandbox_that_does_not_exist_is_neither_saved_nor_loaded(
    server: Server, tmp_path: Path
) -> None:
    file = tmp_path / "state.zip"
    run(server, "state", "save", str(file))
    before = file.read_bytes()
    for verb in ("save", "load"):
        outcome = run(server, "state", verb, "--sandbox", "none", str(file))
        assert (outcome.status, outcome.output) == (1, "")
        assert "there is no such sandbox" in outcome.complaint
    assert [file] == [*tmp_path.iterdir()]
    assert file.read_bytes() == before


def test_what_is_no_file_is_written_to_as_it_is(server: Server, tmp_path: Path) -> None:
    link = tmp_path / "link.zip"
    link.symlink_to(tmp_path / "state.zip")
    assert run(server, "state", "save", str(link)).status == 0
    assert link.is_symlink()
    assert (tmp_path / "state.zip").stat().st_size > 1_000
    device = Path(os.devnull)
    assert run(server, "state", "save", str(device)).status == 0
    assert not device.is_file()


@pytest.mark.parametrize("is_large", [False, True])
def test_a_full_disk_is_told(server: Server, is_large: bool) -> None:
    if is_large:  # more than is buffered
        ServedClient(server.url).told(
            "POST", "/assets", content=noise(), headers={"Content-Type": "image/png"}
        )
    outcome = run(server, "state", "save", "/dev/full")
    assert (outcome.status, outcome.complaint) == (
        2,
        "image-workflow-emulator: cannot write /dev/full: no space left on device\n",
    )


def test_a_file_that_is_larger_than_any_state_is_not_read(
    server: Server, tmp_path: Path
) -> None:
    file = tmp_path / "huge.zip"
    with file.open("wb") as sparse:
        sparse.truncate(5 * 2**30)
    refused = run(server, "state", "load", str(file))
    assert (2, True) == (
        refused.status,
        "found 5368709120 bytes; expected at most 4294967296" in refused.complaint,
    )


# A request as curl sends it again: run by a shell; what the command cannot repeat, it says ----------------------------

KEY = {"Idempotency-Key": "it's $1 caf\xe9"}
SENT = (
    "method",
    "path",
    "query",
    "content_type",
    "emulator_fault",
    "idempotency_key",
    "request_body",
    "status",
    "code",
)


def recorded(server: Server, number: int) -> dict[str, Any]:
    entry = ask(server, f"/_emulator/requests/{number}")
    return {name: entry[name] for name in SENT}


@pytest.mark.skipif(
    not (shutil.which("curl") and shutil.which("bash")),
    reason="curl and bash are not installed",
)
@pytest.mark.parametrize(
    ("method", "target", "headers", "body"),
    [
        ("GET", "/v1/products?limit=y&cursor=z", {}, None),
        ("GET", "/v1/products?filter[a]={b}&c='%20+%C3%A9", {}, None),
        ("GET", "/v1/products/%2e%2e/x%20y%2Fz%3f%0a%1b%5b31m", {}, None),
        ("HEAD", "/v1/team", {}, None),
        ("GET", "/v1/team", {"Emulator-Fault": "rate_limited"}, None),
        ("GET", "/v1/team", JSON, b'{"a": 1}'),
        (
            "POST",
            "/v1/products",
            {**KEY, **JSON},
            b'{"name": "It\'s", "name": "\xe2\x80\xae"}',
        ),
        ("POST", "/v1/products", {**KEY, **JSON}, b"{'name\n\\': \xff\x1b"),
        ("POST", "/v1/products", {**KEY, "Content-Type": "text/plain"}, b"@name=x"),
        ("POST", "/v1/products", KEY, b"{}"),
        ("POST", "/v1/products", KEY, None),
    ],
)
def test_the_command_sends_the_same_request(
    server: Server,
    method: str,
    target: str,
    headers: dict[str, str],
    body: bytes | None,
) -> None:
    ServedClient(server.url).send(
        Call(method, target, content=body, idempotency_key=None, headers=headers)
    )
    command = run(server, "requests", "show", "last", "--format", "curl").output
    assert command.replace("\n", "").isprintable()
    assert not command.startswith("#")
    assert run_program("bash", "-c", command, IMAGE_WORKFLOW_API_KEY=FULL).status == 0
    first, again = recorded(server, 1), recorded(server, 2)
    if first["status"] == 201:  # the second is its replay
        first["status"] = again["status"]
    assert first == again


FILE = "FILE stands for the body%s, which the journal does not keep or no argument can hold"


@pytest.mark.parametrize(
    ("target", "headers", "body", "missing"),
    [
        (
            "/v1/products",
            JSON,
            b'{"name": "%s"}' % (b"x" * 65_536),
            FILE % " of 65548 bytes",
        ),
        ("/v1/products", JSON, b"x" * 2**20 + b"x", FILE % " of 1048577 bytes"),
        ("/v1/products", JSON, b"\0", FILE % " of 1 byte"),
        ("/elsewhere", JSON, b"{}", FILE % ""),
        (
            f"/v1/products?key={FULL}",
            JSON,
            b"{}",
            "where the request held a key, only its beginning is shown: the journal shows no keys",
        ),
        (
            "/v1/products",
            {"Authorization": "Bearer nobody"},
            None,
            "without a key: none came, or one that belongs to no Team, which the journal does not keep",
        ),
    ],
)
def test_a_comment_says_what_it_cannot_repeat(
    server: Server,
    target: str,
    headers: dict[str, str],
    body: bytes | None,
    missing: str,
) -> None:
    ServedClient(server.url).post(
        target, content=body, idempotency_key=None, headers=headers
    )
    comment, *command = run(
        server, "requests", "show", "last", "--format", "curl"
    ).output.splitlines()
    assert f"# {missing}" == comment
    assert ("  --data-binary @FILE \\" in command) == missing.startswith("FILE")
