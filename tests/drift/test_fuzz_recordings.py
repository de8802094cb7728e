"""Any recording gets a verdict: thousands of changed ones, of which none causes a traceback or a report that cannot be
read.
"""

import json
from argparse import Namespace
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import yaml

from image_workflow_emulator.cli.output import _EMITTERS
from image_workflow_emulator.drift.judgement import drift
from image_workflow_emulator.drift.recorded_conduct import conduct
from image_workflow_emulator.kernel.seed import Seed
from image_workflow_emulator.settings import UsageError
from tests.drift.recorded import ORDER, SHOOT, RecordedService, as_har

STRANGE: list[Any] = [
    None, True, 0, -1, 7, 200, 404, 10**18, 1e300, "", "x", "completed", "failed", "asset", "team", "operation", "generation",
    "\x00\x1b[31m", "😀\ud83d", "2026-01-01T00:00:00.000Z", "9999-12-31T23:59:59.999Z", "1970-01-01T00:00:00.000Z",
    [], {}, [[]], [None], [{}], {"id": []}, {"id": {}}, [1, "a"], {"code": 5}, {"reserved": "x", "charged": []}, "9" * 5_000,
]  # fmt: skip


@cache
def recordings() -> tuple[str, str]:
    """A short HAR with every kind of resource, and the journal of the same requests, as text."""
    service = RecordedService()
    service.control("PATCH", f"/teams/{service.call('getTeam').json['id']}", {"credits": 500})
    photos = service.photos(2)
    service.product("Fuzz", photos)
    service.call("listProducts")
    service.finished(service.call("createPhotographyStyle", {"name": "Fuzz", "asset_ids": service.photos(3)}))
    service.call("getTeam")
    service.order(SHOOT)
    service.order({**ORDER, "image_count": 2})
    service.product("Fuzz", ["ast_absent"])
    return json.dumps(as_har(service.exchanges)), service.control("GET", "/requests?limit=1000").decode()


def holders(value: Any) -> Iterator[tuple[Any, Any]]:
    """Iterate over every place in some JSON: what holds it, and its name or number there."""
    for name in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield value, name
        yield from holders(value[name])


def changed(number: int) -> Any:
    """Change one to three values of a recording: of the file itself, or within a body."""
    seed, document = Seed(number), json.loads(recordings()[number % 4 == 0])
    entries = document["data"] if "data" in document else document["log"]["entries"]

    def draw(what: str, most: int) -> int:
        return seed.number("fuzz", what) % most

    for step in range(1 + draw("steps", 3)):
        entry = entries[draw(f"entry {step}", len(entries))]
        part = ("postData", "content", "file")[draw(f"part {step}", 3)]
        holder, target = None, entry
        with suppress(KeyError, TypeError, ValueError, AttributeError):  # changed before
            holder = entry["request"].get(part) or entry["response"].get(part)
            target = json.loads(holder["text"]) if holder else entry
        if places := list(holders(target)):
            inner, name = places[draw(f"place {step}", len(places))]
            inner[name] = STRANGE[draw(f"value {step}", len(STRANGE))]
            if draw(f"removed {step}", 8) == 0:
                del inner[name]
        if holder and target is not entry:
            holder["text"] = json.dumps(target)
    return document


def as_cassette(document: Any) -> str:
    """Write the same as a cassette of VCR.py; what is no exchange any more stays as it is."""
    interactions: list[Any] = []
    for entry in document["log"]["entries"]:
        try:
            request, response = entry["request"], entry["response"]
            sent = {"method": request["method"], "uri": request["url"], "body": request.get("postData", {}).get("text")}
            headers = {one["name"]: [one["value"]] for one in response["headers"]}
            got = {"status": {"code": response["status"]}, "body": {"string": response["content"]["text"]}}
            interactions.append({"request": sent, "response": {**got, "headers": headers}})
        except (KeyError, TypeError, AttributeError):
            interactions.append(entry)
    return yaml.safe_dump({"interactions": interactions})


def check(number: int, folder: Path) -> None:
    """Judge a changed recording by both commands: there is a report that can be read in every form, or a refusal in
    words.
    """
    document = changed(number)
    file = folder / "fuzz.har"
    is_cassette = number % 5 == 0 and "log" in document
    file.write_text(as_cassette(document) if is_cassette else json.dumps(document), errors="replace")
    options = Namespace(files=[str(file)], readings=None, pin=str(folder / "pin.yaml"), ignore=[], fail_on=None)
    for command in (drift, conduct):
        try:
            report = command(options, {})
        except UsageError:
            continue
        written = {suffix: emit(report) for suffix, emit in _EMITTERS.items()}
        json.loads(written[".json"])
        ET.fromstring(written[".xml"])


@pytest.mark.parametrize("batch", [0, *(pytest.param(batch, marks=pytest.mark.verify) for batch in range(1, 100))])
def test_a_changed_recording_gets_a_verdict(batch: int, tmp_path: Path) -> None:
    for number in range(40 * batch, 40 * (batch + 1)):
        check(number, tmp_path)
