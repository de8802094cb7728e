"""What SIGTERM means to requests that only a scenario keeps waiting: `serve` does not wait for them."""

import json
import sys
import time
from pathlib import Path

import pytest

from tests.cli.command import read_answer, serving

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGTERM to be sent")

PROMPT_SECONDS = 4
"""Half of the grace that requests in flight have."""

PATIENCE = """\
scenario: patience
rules:
  - match: {operation: getTeam}
    then: {network: stall}
  - match: {operation: listProducts}
    then: {network: {latency: 1h}, at: after_commit}
  - match: {operation: listAssets}
    then: {network: {latency: 1h}}
  - match: {operation: createUpload}
    then: {hold: 1h}
"""
UPLOAD = json.dumps({"content_type": "image/png", "size_bytes": 5})


@pytest.mark.parametrize(
    ("request_line", "body", "answer"),
    [
        ("GET /v1/team", "", b""),
        ("GET /v1/products", "", b"HTTP/1.1 200 "),
        ("GET /v1/assets", "", b"HTTP/1.1 200 "),
        ("POST /v1/uploads", UPLOAD, b"HTTP/1.1 201 "),
    ],
    ids=["stalled", "late", "delayed", "held"],
)
def test_what_a_scenario_keeps_waiting_does_not_delay_the_stop(
    request_line: str, body: str, answer: bytes, tmp_path: Path
) -> None:
    scenario = tmp_path / "patience.yaml"
    scenario.write_text(PATIENCE)
    with serving("--scenario", str(scenario)) as server, server.connect() as connection, server.connect() as other:
        head = "Host: x\r\nAuthorization: Bearer iwe_demo_full\r\nIdempotency-Key: k\r\nContent-Type: application/json"
        connection.sendall(f"{request_line} HTTP/1.1\r\n{head}\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())
        # An answer that comes after it says that it has arrived.
        other.sendall(f"GET /v1/poses HTTP/1.1\r\n{head}\r\nConnection: close\r\n\r\n".encode())
        assert read_answer(other).startswith(b"HTTP/1.1 200 ")
        began_at = time.monotonic()
        outcome = server.stop()
        took_seconds = time.monotonic() - began_at
        seen = read_answer(connection)
    assert took_seconds < PROMPT_SECONDS
    assert (outcome.status, outcome.complaint) == (0, "")
    assert seen.startswith(answer)
    assert bool(seen) == bool(answer)
