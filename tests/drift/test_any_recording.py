"""Any recording gets a verdict, or is refused in words: never a traceback."""

import json
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import yaml

from image_workflow_emulator.console.report_files import EMITTERS
from image_workflow_emulator.drift.judgement import DriftOptions, judge_recordings
from image_workflow_emulator.drift.recorded_conduct import judge_conduct
from image_workflow_emulator.kernel.seed import Seed
from image_workflow_emulator.settings import UsageError
from tests.drift.recorded_service import ORDER, SHOOT, RecordedService
from tests.drift.tools import as_har, vcr

STRANGE: Sequence[Any] = [
    None,
    True,
    0,
    -1,
    7,
    200,
    404,
    10**18,
    1e300,
    "",
    "x",
    "completed",
    "failed",
    "asset",
    "team",
    "operation",
    "generation",
    "\x00\x1b[31m",
    "😀\ud83d",
    "2026-01-01T00:00:00.000Z",
    "2026-01-01T00:00:00Z",
    "9999-12-31T23:59:59.999Z",
    "1970-01-01T00:00:00.000Z",
    [],
    {},
    [[]],
    [None],
    [{}],
    {"id": []},
    {"id": {}},
    [1, "a"],
    {"code": 5},
    {"reserved": "x", "charged": []},
    "9" * 5_000,
]
MORE_BATCHES = [
    pytest.param(batch, marks=pytest.mark.verify) for batch in range(1, 100)
]
"""Those that `make verify` tries."""
BATCH_SIZE = 40


@cache
def recorded() -> RecordedService:
    """A short recording with every kind of resource."""
    service = RecordedService()
    service.call("getTeam")
    service.set_credits(500)
    photos = service.photos(2)
    service.product("Fuzz", photos)
    service.call("listProducts")
    style = {"name": "Fuzz", "asset_ids": service.photos(3)}
    admitted = service.call("createPhotographyStyle", style)
    service.finished(admitted)
    service.call("getTeam")
    service.order(SHOOT)
    service.order({**ORDER, "image_count": 2})
    service.product("Fuzz", ["ast_absent"])
    return service


@cache
def har_text() -> str:
    har = as_har(recorded().exchanges)
    return json.dumps(har)


@cache
def cassette_text() -> str:
    """The same as a cassette; JSON is YAML too."""
    cassette = yaml.safe_load(vcr(without_bytes()))
    return json.dumps(cassette)


def without_bytes() -> Sequence[Any]:
    """The exchanges whose bodies are texts, which JSON can hold."""
    return [
        exchange
        for exchange in recorded().exchanges
        if b"\0" not in (exchange.request_body or b"")
    ]


@cache
def journal_text() -> str:
    journal = recorded().control("GET", "/requests?limit=1000", {})
    return journal.decode()


def places_in(value: Any) -> Iterator[tuple[Any, Any]]:
    """Iterate over every place in some JSON: what holds it, and its name or index."""
    names: Sequence[Any] = ()
    if isinstance(value, dict):
        names = list(value)
    elif isinstance(value, list):
        names = range(len(value))
    for name in names:
        yield value, name
        yield from places_in(value[name])


TEXTS = {
    "har": har_text,
    "cassette": cassette_text,
    "journal": journal_text,
}
KINDS = ("har", "cassette", "journal", "har")


class Mutation:
    """Changes one to three values of a recording: of the file itself, or in a body."""

    def __init__(self, number: int) -> None:
        self._seed = Seed(number)
        self._kind = KINDS[number % len(KINDS)]
        text_of_kind = TEXTS[self._kind]
        self._document = json.loads(text_of_kind())

    @property
    def content(self) -> bytes:
        """The changed file."""
        for step in range(1 + self._draw("steps", 3)):
            entry = self._choose(f"entry {step}", self._entries)
            self._change(entry, step)
        text = json.dumps(self._document)
        if self._kind == "cassette":
            text = yaml.safe_dump(json.loads(text))
        return text.encode(errors="replace")

    @property
    def _entries(self) -> Any:
        if self._kind == "har":
            return self._document["log"]["entries"]
        if self._kind == "cassette":
            return self._document["interactions"]
        return self._document["data"]

    def _draw(self, subject: str, below: int) -> int:
        return self._seed.number("fuzz", subject) % below

    def _choose(self, subject: str, items: Sequence[Any]) -> Any:
        return items[self._draw(subject, len(items))]

    def _change(self, entry: Any, step: int) -> None:
        bodies = [holder for holder in places_in(entry) if _is_body(*holder)]
        if bodies and self._draw(f"part {step}", 3) > 0:
            holder, name = self._choose(f"body {step}", bodies)
            body = json.loads(holder[name])
            self._change_one(body, step)
            holder[name] = json.dumps(body)
        else:
            self._change_one(entry, step)

    def _change_one(self, value: Any, step: int) -> None:
        places = list(places_in(value))
        if not places:
            return
        holder, name = self._choose(f"place {step}", places)
        if self._draw(f"removed {step}", 8) == 0:
            del holder[name]
        else:
            holder[name] = self._choose(f"value {step}", STRANGE)


def _is_body(holder: Any, name: Any) -> bool:
    """Whether at a place is a text that is a JSON object."""
    value = holder[name]
    if not isinstance(value, str) or not value.startswith("{"):
        return False
    try:
        return isinstance(json.loads(value), dict)
    except ValueError:
        return False


def refusal_of(file: Path) -> str | None:
    """Judge a file by both commands, and write each report in every form.

    Returns the words of a refusal; None if both commands report.
    """
    options = DriftOptions(pin=file.with_name("pin.yaml"))
    try:
        reports = [
            judge_recordings([str(file)], options),
            judge_conduct([str(file)]),
        ]
    except UsageError as refusal:
        return str(refusal)
    for report in reports:
        texts = {suffix: emit(report) for suffix, emit in EMITTERS.items()}
        json.loads(texts[".json"])
        ET.fromstring(texts[".xml"])
    return None


@pytest.mark.parametrize("batch", [0, *MORE_BATCHES])
def test_a_changed_recording_gets_a_verdict(batch: int, tmp_path: Path) -> None:
    file = tmp_path / "fuzz.har"
    first = BATCH_SIZE * batch
    refusals: list[str] = []
    for number in range(first, first + BATCH_SIZE):
        file.write_bytes(Mutation(number).content)
        refusal = refusal_of(file)
        if refusal is not None:
            refusals.append(refusal)

    # The types of a recording refuse about half of the changes.
    assert len(refusals) < BATCH_SIZE * 3 / 4
    assert all(refusal.startswith("fuzz.har") for refusal in refusals)
