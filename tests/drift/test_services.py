"""`drift` with a service: a client is recorded on its way to one, and one is asked by probes. The service is an emulator."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.command import run_command
from tests.support.served import ROOT, Server, serving

CLIENT = """
import json, os, sys, urllib.request
def ask(method, url, body=None, **headers):
    with urllib.request.urlopen(urllib.request.Request(url, body, headers, method=method)) as answer:
        return answer.read()
def call(method, path, body=None):
    url, key = os.environ["IMAGE_WORKFLOW_BASE_URL"] + path, {"Authorization": "Bearer iwe_demo_full"}
    if body is not None:
        key |= {"Content-Type": "application/json", "Idempotency-Key": "order of " + path}
    return json.loads(ask(method, url, None if body is None else json.dumps(body).encode(), **key))
photo = open(sys.argv[1], "rb").read()
session = call("POST", "/uploads", {"content_type": "image/png", "size_bytes": len(photo)})
token = json.loads(ask("POST", session["upload"]["url"], photo, **session["upload"]["headers"]))
asset = call("POST", f"/uploads/{session['id']}/complete", token)
print(ask("GET", asset["url"])[:4], asset["url"].startswith(os.environ["IMAGE_WORKFLOW_BASE_URL"][:-3]))
sys.exit(7)
"""
"""Uploads a photo, fetches it again, and ends with a status of its own."""


@pytest.fixture(scope="module")
def service() -> Iterator[Server]:
    with serving("--clock", "auto") as server:
        yield server


def test_a_client_is_recorded_with_its_bytes_and_without_its_secrets(
    service: Server, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file, command = tmp_path / "session.har", [sys.executable, "-c", CLIENT, str(ROOT / "examples/python/photo.png")]
    recorded = run_command("drift", "record", "--target", f"{service.url}/v1", "--out", str(file), "--", *command)
    assert recorded.status == 7
    assert capfd.readouterr().out == "b'\\x89PNG' True\n"
    exchanges = json.loads(file.read_text())["log"]["entries"]
    assert [201, 200, 201, 200] == [each["response"]["status"] for each in exchanges]
    assert not any(secret in file.read_text() for secret in ("iwe_demo_full", service.url.partition("//")[2]))
    judged = run_command("drift", str(file))
    assert (judged.status, judged.output.splitlines()[0]) == (0, "compared 4 calls")


def test_a_service_is_asked_by_probes_and_told_to_be_as_assumed(service: Server, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    options = ["--base-url", f"{service.url}/v1", "--api-key", "iwe_demo_full", "--spend", "5", "--report", str(report)]
    assert run_command("drift", *options).status == 0
    verdicts = {row["id"]: row["verdict"] for row in json.loads(report.read_text())["decisions"]}
    assert {"assumed", "untold"} == set(verdicts.values())
    assert ["assumed"] * 4 == [verdicts[decision] for decision in ("D02", "D15", "D33", "D35")]
