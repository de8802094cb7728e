"""Commands that speak to a running emulator.

`wait`, `clock`, `reset`, `state` and `requests show --format curl`.
"""

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

from tests.cli.command import ask, run_command, run_writing_to, told
from tests.support.emulator_client import FULL, JSON, START, UPLOAD, Call, Json
from tests.support.pictures import noise
from tests.support.served import PATIENCE_SECONDS, Outcome, Server, run_program, serving
from tests.support.served_client import ServedClient


def run(server: Server, *arguments: str) -> Outcome:
    return run_command(*arguments, EMULATOR_URL=server.url)


def test_wait_returns_once_it_is_ready_and_takes_no_proxy(server: Server) -> None:
    proxy = "http://127.0.0.1:1"

    output = told(server, "wait --timeout 5", http_proxy=proxy)

    assert output == ""


# The clock and reset -----------------------------------------------------------------


def clock_row(server: Server, line: str) -> dict[str, str]:
    """Run a command of the clock, and return the columns of its table."""
    heads, row = told(server, line).replace("NEXT EVENT AT", "NEXT").splitlines()
    return dict(zip(heads.lower().split(), row.split(), strict=True))


def test_the_clock_is_shown(server: Server) -> None:
    assert clock_row(server, "clock") == {
        "now": START,
        "mode": "manual",
        "pending": "0",
        "next": "-",
        "fired": "-",
        "stalled": "-",
    }


def test_the_clock_shows_what_is_to_come(server: Server) -> None:
    ask(server, "/v1/uploads", body=UPLOAD, method="POST")

    row = clock_row(server, "clock show")

    assert row["pending"] == "1"
    assert row["next"] == "2026-01-01T00:15:00.000Z"


@pytest.mark.parametrize(
    ("line", "now"),
    [
        ("clock advance 90s", "2026-01-01T00:01:30.000Z"),
        ("clock to 2026-01-01T01:05:00+01:00", "2026-01-01T00:05:00.000Z"),
        ("clock next", START),
        ("clock idle", START),
    ],
)
def test_the_clock_is_moved(
    server: Server,
    line: str,
    now: str,
) -> None:
    row = clock_row(server, line)

    assert row["now"] == now
    assert row["fired"] == "0"
    assert row["stalled"] == "0"


def test_the_address_may_be_an_option_within_a_command(server: Server) -> None:
    instant = "2026-01-01T00:05:00.000Z"

    outcome = run_command("clock", "to", "--url", server.url, instant)

    assert outcome.status == 0
    assert instant in outcome.output


@pytest.mark.parametrize("mode", ["x60", "auto"])
def test_the_mode_of_the_clock_is_set(server: Server, mode: str) -> None:
    assert clock_row(server, f"clock mode {mode}")["mode"] == mode


def test_the_clock_is_told_as_the_control_plane_does(server: Server) -> None:
    text = told(server, "clock --format json")

    assert json.loads(text) == ask(server, "/_emulator/clock")


def test_the_emulator_is_reset(server: Server) -> None:
    told(server, "clock advance 90s")

    output = told(server, "reset")

    assert output == "done\n"
    assert clock_row(server, "clock")["now"] == START


# The control token -------------------------------------------------------------------


@pytest.fixture(scope="module")
def closed_server() -> Iterator[Server]:
    """A server whose control plane asks for a token."""
    with serving("--control-token", "open sesame") as server:
        yield server


def test_without_the_control_token_a_command_is_refused(closed_server: Server) -> None:
    outcome = run(closed_server, "clock")

    assert outcome.status == 1
    assert outcome.output == ""
    assert outcome.complaint.endswith("expected `Bearer` and the control token\n")


def test_the_control_token_is_an_option(closed_server: Server) -> None:
    outcome = run(closed_server, "clock", "--control-token", "open sesame")

    assert outcome.status == 0


def test_the_control_token_is_a_variable(closed_server: Server) -> None:
    told(closed_server, "clock", EMULATOR_CONTROL_TOKEN="open sesame")


def test_wait_needs_no_control_token(closed_server: Server) -> None:
    told(closed_server, "wait --timeout 5")


# Others ------------------------------------------------------------------------------


@contextmanager
def something_else(answer: bytes) -> Iterator[str]:
    """A server that is no emulator: it answers any one request with these bytes."""
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
    "command",
    ["clock", "clock next", "reset", "state save {folder}/state.zip"],
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
    answer: bytes,
    command: str,
    tmp_path: Path,
) -> None:
    with something_else(answer) as url:
        outcome = run_command(*command.format(folder=tmp_path).split(), "--url", url)

    complaint = f"image-workflow-emulator: no emulator answers at {url} ("
    assert outcome.status == 1
    assert outcome.output == ""
    assert outcome.complaint.startswith(complaint)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("command", "status"), [("wait", 0), ("clock", 1)])
def test_a_reader_that_has_left_is_a_failure_without_a_word_where_there_is_output(
    server: Server,
    command: str,
    status: int,
) -> None:
    reader, writer = os.pipe()
    os.close(reader)

    with os.fdopen(writer, "w") as unread:
        returned, complaint = run_writing_to(unread, command, "--url", server.url)

    assert returned == status
    assert complaint == ""


# State -------------------------------------------------------------------------------


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "state.zip"


def test_a_saved_state_is_told_with_its_size(server: Server, file: Path) -> None:
    output = told(server, f"state save {file}")

    assert output == f"saved {file} ({file.stat().st_size} bytes)\n"


def test_a_saved_state_can_be_loaded_again(server: Server, file: Path) -> None:
    told(server, f"state save {file}")
    told(server, "clock advance 1h")

    output = told(server, f"state load {file}")

    assert output == f"loaded {file}\n"
    assert clock_row(server, "clock")["now"] == START


@pytest.mark.parametrize("verb", ["save", "load"])
def test_a_sandbox_that_does_not_exist_is_neither_saved_nor_loaded(
    server: Server,
    file: Path,
    verb: str,
) -> None:
    told(server, f"state save {file}")
    before = file.read_bytes()

    outcome = run(server, "state", verb, "--sandbox", "none", str(file))

    assert outcome.status == 1
    assert outcome.output == ""
    assert "there is no such sandbox" in outcome.complaint
    assert list(file.parent.iterdir()) == [file]
    assert file.read_bytes() == before


def test_a_link_is_written_through(server: Server, file: Path) -> None:
    link = file.with_name("link.zip")
    link.symlink_to(file)

    told(server, f"state save {link}")

    assert link.is_symlink()
    assert file.stat().st_size > 1_000


def test_a_device_is_written_to_as_it_is(server: Server) -> None:
    told(server, f"state save {os.devnull}")

    assert not Path(os.devnull).is_file()


@pytest.mark.parametrize("is_large", [False, True])
def test_a_full_disk_is_told(server: Server, is_large: bool) -> None:
    if is_large:  # more than is buffered
        png = {"Content-Type": "image/png"}
        client = ServedClient(server.url)
        client.told("POST", "/assets", content=noise(), headers=png)

    outcome = run(server, "state", "save", "/dev/full")

    reason = "cannot write /dev/full: no space left on device"
    assert outcome.status == 2
    assert outcome.complaint == f"image-workflow-emulator: {reason}\n"


def test_a_file_that_is_larger_than_any_state_is_not_read(
    server: Server,
    file: Path,
) -> None:
    with file.open("wb") as sparse:
        sparse.truncate(5 * 2**30)

    outcome = run(server, "state", "load", str(file))

    complaint = "found 5368709120 bytes; expected at most 4294967296"
    assert outcome.status == 2
    assert complaint in outcome.complaint


# A request as curl sends it again ----------------------------------------------------

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


def recorded(server: Server, number: int) -> Json:
    """What of a request curl repeats, and how it was answered."""
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
    call = Call(
        method,
        target,
        content=body,
        idempotency_key=None,
        headers=headers,
    )
    ServedClient(server.url).send(call)

    command = told(server, "requests show last --format curl")
    outcome = run_program("bash", "-c", command, IMAGE_WORKFLOW_API_KEY=FULL)

    assert command.replace("\n", "").isprintable()
    assert not command.startswith("#")
    assert outcome.status == 0
    assert recorded(server, 2) == recorded(server, 1)


LARGE = b'{"name": "%s"}' % (b"x" * 65_536)


def comment_of(
    server: Server,
    target: str,
    **options: Any,
) -> tuple[str, list[str]]:
    """Send a request; return the comment above its curl command, and the command."""
    ServedClient(server.url).post(target, idempotency_key=None, **options)
    lines = told(server, "requests show last --format curl").splitlines()
    return lines[0], lines[1:]


@pytest.mark.parametrize(
    ("target", "body", "size"),
    [
        ("/v1/products", LARGE, " of 65548 bytes"),
        ("/v1/products", b"x" * 2**20 + b"x", " of 1048577 bytes"),
        ("/v1/products", b"\0", " of 1 byte"),
        ("/elsewhere", b"{}", ""),
    ],
    ids=["not kept", "too large", "no argument", "another path"],
)
def test_a_file_stands_for_a_body_that_it_cannot_repeat(
    server: Server,
    target: str,
    body: bytes,
    size: str,
) -> None:
    comment, command = comment_of(server, target, content=body, headers=JSON)

    reason = "which the journal does not keep or no argument can hold"
    assert comment == f"# FILE stands for the body{size}, {reason}"
    assert "  --data-binary @FILE \\" in command


def test_a_comment_says_that_a_key_in_the_request_is_not_repeated(
    server: Server,
) -> None:
    target = f"/v1/products?key={FULL}"

    comment, command = comment_of(server, target, content=b"{}", headers=JSON)

    assert comment == (
        "# where the request held a key, only its beginning is shown: "
        "the journal shows no keys"
    )
    assert "  --data-binary @FILE \\" not in command


def test_a_comment_says_that_the_key_is_unknown(server: Server) -> None:
    headers = {"Authorization": "Bearer nobody"}

    comment, command = comment_of(server, "/v1/products", headers=headers)

    assert comment == (
        "# without a key: none came, or one that belongs to no Team, "
        "which the journal does not keep"
    )
    assert "  --data-binary @FILE \\" not in command
