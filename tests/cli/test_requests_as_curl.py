"""`requests show --format curl`: run by a shell, it sends the same request; what it cannot repeat, it says."""

import shutil
from typing import Any

import pytest

from tests.cli.command import ask, run_command
from tests.support.emulator_client import FULL, JSON, Call
from tests.support.served import Server, run_program
from tests.support.served_client import ServedClient

KEY = {"Idempotency-Key": "it's $1 caf\xe9"}
SENT = (
    "method", "path", "query", "content_type", "emulator_fault", "idempotency_key", "request_body", "status", "code",
)  # fmt: skip


def recorded(server: Server, number: int) -> dict[str, Any]:
    entry = ask(server, f"/_emulator/requests/{number}")
    return {name: entry[name] for name in SENT}


def as_curl(server: Server) -> str:
    return run_command("requests", "show", "last", "--format", "curl", EMULATOR_URL=server.url).output


@pytest.mark.skipif(not (shutil.which("curl") and shutil.which("bash")), reason="curl and bash are not installed")
@pytest.mark.parametrize(("method", "target", "headers", "body"), [
    ("GET", "/v1/products?limit=y&cursor=z", {}, None),
    ("GET", "/v1/products?filter[a]={b}&c='%20+%C3%A9", {}, None),
    ("GET", "/v1/products/%2e%2e/x%20y%2Fz%3f%0a%1b%5b31m", {}, None),
    ("HEAD", "/v1/team", {}, None),
    ("GET", "/v1/team", {"Emulator-Fault": "rate_limited"}, None),
    ("GET", "/v1/team", JSON, b'{"a": 1}'),
    ("POST", "/v1/products", {**KEY, **JSON}, b'{"name": "It\'s", "name": "\xe2\x80\xae"}'),
    ("POST", "/v1/products", {**KEY, **JSON}, b"{'name\n\\': \xff\x1b"),
    ("POST", "/v1/products", {**KEY, "Content-Type": "text/plain"}, b"@name=x"),
    ("POST", "/v1/products", KEY, b"{}"),
    ("POST", "/v1/products", KEY, None),
])  # fmt: skip
def test_the_command_sends_the_same_request(
    server: Server, method: str, target: str, headers: dict[str, str], body: bytes | None
) -> None:
    ServedClient(server.url).send(Call(method, target, content=body, idempotency_key=None, headers=headers))
    command = as_curl(server)
    assert command.replace("\n", "").isprintable()
    assert not command.startswith("#")
    assert run_program("bash", "-c", command, IMAGE_WORKFLOW_API_KEY=FULL).status == 0
    first, again = recorded(server, 1), recorded(server, 2)
    if first["status"] == 201:  # the second is its replay
        first["status"] = again["status"]
    assert first == again


FILE = "FILE stands for the body%s, which the journal does not keep or no argument can hold"


@pytest.mark.parametrize(("target", "headers", "body", "missing"), [
    ("/v1/products", JSON, b'{"name": "%s"}' % (b"x" * 65_536), FILE % " of 65548 bytes"),
    ("/v1/products", JSON, b"x" * 2**20 + b"x", FILE % " of 1048577 bytes"),
    ("/v1/products", JSON, b"\0", FILE % " of 1 byte"),
    ("/elsewhere", JSON, b"{}", FILE % ""),
    (f"/v1/products?key={FULL}", JSON, b"{}", "where the request held a key, only its beginning is shown: the journal shows no keys"),
    ("/v1/products", {"Authorization": "Bearer nobody"}, None, "without a key: none came, or one that belongs to no Team, which the journal does not keep"),
])  # fmt: skip
def test_a_comment_says_what_it_cannot_repeat(
    server: Server, target: str, headers: dict[str, str], body: bytes | None, missing: str
) -> None:
    ServedClient(server.url).post(target, content=body, idempotency_key=None, headers=headers)
    comment, *command = as_curl(server).splitlines()
    assert f"# {missing}" == comment
    assert ("  --data-binary @FILE \\" in command) == missing.startswith("FILE")
