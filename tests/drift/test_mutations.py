"""A tampered recording is noticed; one that differs in what has no meaning is not; and any gets a verdict."""

import json
import re
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import cache, reduce
from operator import getitem
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import yaml
from msgspec.structs import replace

from image_workflow_emulator.cli.output import _EMITTERS
from image_workflow_emulator.domain.readings import chosen, parse_readings
from image_workflow_emulator.drift.judgement import drift
from image_workflow_emulator.drift.recorded_conduct import conduct
from image_workflow_emulator.drift.recordings import RecordedExchange, read_recording
from image_workflow_emulator.drift.traffic import RecordedCall, Traffic
from image_workflow_emulator.kernel.seed import Seed
from image_workflow_emulator.kernel.timestamps import DAY_MS
from image_workflow_emulator.settings import UsageError
from tests.drift.recorded import (
    CONTRACT,
    ORDER,
    SHOOT,
    RecordedService,
    as_har,
    found,
    judged,
    tour,
)

Change = Callable[[RecordedExchange], RecordedExchange]
Spot = Callable[[RecordedCall], bool]


@cache
def recording() -> tuple[RecordedExchange, ...]:
    return tuple(tour())


@cache
def calls() -> dict[str, RecordedCall]:
    """The recorded calls by the place where they were recorded."""
    return {call.where: call for call in Traffic(recording(), CONTRACT).calls}


def body(change: Callable[[Any], object]) -> Change:
    """Return a change of the JSON of an answer, made in place."""

    def changed(exchange: RecordedExchange) -> RecordedExchange:
        value = json.loads(exchange.response_body or b"null")
        change(value)
        return replace(exchange, response_body=json.dumps(value).encode())

    return changed


def members(*steps: str | int, **values: object) -> Change:
    """Return a change that sets members of the answer, or of what is at a place in it."""
    return body(lambda answer: reduce(getitem, steps, answer).update(values))


def without(*steps: str | int) -> Change:
    """Return a change that removes what is at a place in the answer."""
    return body(
        lambda answer: reduce(getitem, steps[:-1], answer).__delitem__(steps[-1])
    )


def headers(**values: str | None) -> Change:
    """Return a change that sets headers of the answer, or removes them."""

    def changed(exchange: RecordedExchange) -> RecordedExchange:
        found = {
            **exchange.response_headers,
            **{name.replace("_", "-"): value for name, value in values.items()},
        }
        return replace(
            exchange,
            response_headers={
                name: value for name, value in found.items() if value is not None
            },
        )

    return changed


def status(number: int) -> Change:
    return lambda exchange: replace(exchange, status=number)


def succeeded(operation: str, /, **shown: object) -> Spot:
    return lambda call: (
        call.name == operation
        and call.is_success
        and shown.items() <= call.answer.items()
    )


def refused(code: str) -> Spot:
    return lambda call: call.code == code


def tampered(spot: Spot, change: Change) -> list[RecordedExchange]:
    """Return the recording with a change of the last exchange that fits."""
    place = [where for where, call in calls().items() if spot(call)][-1]
    return [
        change(exchange) if exchange.where == place else exchange
        for exchange in recording()
    ]


finished = succeeded(
    "getGeneration", status="completed", workflow="product_photography"
)
made = succeeded("getOperation", status="completed")
error = {"code": "processing_failed", "message": "x", "retryable": True}
ORDER_ID, LATE = "createProductPhotographyGeneration", "2027-01-01T00:00:00.000Z"
PLANTED: Mapping[str, tuple[Spot, Change]] = {
    "an answer without Request-Id": (succeeded("getTeam"), headers(request_id=None)),
    "an Asset without Location": (succeeded("completeUpload"), headers(location=None)),
    "an Operation without Location": (succeeded("createPose"), headers(location=None)),
    "a problem as plain JSON": (
        refused("invalid_input"),
        headers(content_type="application/json"),
    ),
    "a problem with another request_id": (
        refused("invalid_input"),
        members(request_id="req_other"),
    ),
    "an unknown code": (refused("invalid_input"), members(code="bad_thing")),
    "a code with another status": (refused("invalid_input"), status(400)),
    "a problem without a code": (refused("invalid_input"), without("code")),
    "an unknown reference that is taken": (refused("invalid_reference"), status(409)),
    "a pause with another status": (refused("service_unavailable"), status(500)),
    "a success with another status": (succeeded("createProduct"), status(200)),
    "a Team without credits": (succeeded("getTeam"), without("credits")),
    "Credits as text": (succeeded("getTeam"), members(credits="100")),
    "Credits that nothing explains": (succeeded("getTeam"), members(credits=7)),
    "an unknown profile": (
        succeeded("getTeam"),
        members("credential", profile="owner"),
    ),
    "an unknown kind of resource": (succeeded("createProduct"), members(object="item")),
    "another name of a Product": (succeeded("createProduct"), members(name="Another")),
    "another primary photo": (
        succeeded("createProduct"),
        members(primary_asset_id="ast_other"),
    ),
    "a photo too few": (
        succeeded("createProduct", name="Probe"),
        without("asset_ids", -1),
    ),
    "a time that is none": (
        succeeded("createProduct"),
        members(created_at="yesterday"),
    ),
    "an Asset of an unknown source": (succeeded("getAsset"), members(source="camera")),
    "an Asset of another source": (succeeded("getAsset"), members(source="upload")),
    "an Asset of another Generation": (
        succeeded("getAsset"),
        members(source_generation_id="gen_other"),
    ),
    "an Asset of odd size": (succeeded("getAsset"), members(width=1001)),
    "an Asset without a size": (succeeded("getAsset"), without("width")),
    "an Asset without an address": (succeeded("getAsset"), without("url")),
    "an unknown status of work": (finished, members(status="done")),
    "work that failed though its outputs did not": (finished, members(status="failed")),
    "work without outputs": (finished, members(outputs=[])),
    "an output too few": (finished, without("outputs", -1)),
    "an output with an unknown status": (
        finished,
        members("outputs", 0, status="ready"),
    ),
    "a completed output without an Asset": (
        finished,
        members("outputs", -1, asset=None),
    ),
    "a failed output without an error": (finished, members("outputs", 0, error=None)),
    "a charge that nothing explains": (finished, members("credits", charged=9)),
    "a price that nothing explains": (
        succeeded("createUpscaleGeneration"),
        members("credits", reserved=1),
    ),
    "an echo of something else": (
        succeeded(ORDER_ID),
        members("request", resolution="4k"),
    ),
    "a default page of 30": (
        succeeded("listProducts"),
        body(lambda page: page.update(data=page["data"] * 30)),
    ),
    "an Asset whose size changes": (
        succeeded("listAssets"),
        members("data", 0, size_bytes=5),
    ),
    "finished work without its end": (finished, members(finished_at=None)),
    "another workflow": (finished, members(workflow="upscale")),
    "an Operation of another type": (
        succeeded("createPose"),
        members(type="pose.update"),
    ),
    "an Operation of an unknown type": (
        succeeded("createPose"),
        members(type="pose.paint"),
    ),
    "a finished Operation without a result": (made, members(result=None)),
    "a finished Operation with an error": (made, members(error=error)),
    "a list without page": (succeeded("listProducts"), without("page")),
    "a list in another order": (
        lambda call: call.name == "listProducts" and len(call.answer["data"]) > 1,
        body(lambda page: page["data"].reverse()),
    ),
    "a list that says there is more": (
        succeeded("listProducts"),
        members("page", has_more=True),
    ),
    "a listed Asset of another source": (
        succeeded("listAssets"),
        members("data", 0, source="camera"),
    ),
    "a session without an address": (
        succeeded("createUpload"),
        without("upload", "url"),
    ),
    "a session in another state": (succeeded("createUpload"), members(status=7)),
    "a session with a window that no reading has": (
        succeeded("createUpload"),
        members("upload", expires_at=LATE),
    ),
    "bytes that are refused": (lambda call: call.name == "upload", status(422)),
    "a file that is not found": (lambda call: call.name == "download", status(404)),
}


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_change_is_noticed(name: str) -> None:
    assert found(tampered(*PLANTED[name]))


def everywhere(change: Change) -> list[RecordedExchange]:
    return [change(exchange) for exchange in recording()]


def renamed(pattern: str, replacement: str) -> list[RecordedExchange]:
    """Return the recording with every text that fits changed, such as all ids of a kind."""
    return read_recording(
        re.sub(pattern, replacement, json.dumps(as_har(recording()))).encode(),
        "renamed.har",
    )


def when_json(change: Callable[[Any], object]) -> Change:
    return lambda exchange: (
        body(change)(exchange)
        if (exchange.response_body or b"")[:1] == b"{"
        else exchange
    )


def _add_to_all(value: Any) -> None:
    if isinstance(value, dict):
        for name, inner in list(value.items()):
            if name != "headers":  # which is a mapping, and no resource
                _add_to_all(inner)
        value["not_in_the_contract"] = [1, None, "x"]
    elif isinstance(value, list):
        for inner in value:
            _add_to_all(inner)


def _reword(value: dict[str, Any]) -> None:
    if "code" in value:
        value |= {
            "title": "Anders",
            "detail": "Auch anders",
            "type": "https://errors.example.com/x",
            "trace": "1",
        }


def keyless(exchange: RecordedExchange) -> RecordedExchange:
    kept = {
        name: value
        for name, value in exchange.request_headers.items()
        if name != "authorization"
    }
    return replace(exchange, request_headers=kept)


HARMLESS: Mapping[str, Callable[[], list[RecordedExchange]]] = {
    "ids of Assets": lambda: renamed(r"\bast_0000(\w+)", r"asset-\1"),
    "ids of Products": lambda: renamed(r"\bprd_0000(\w+)", r"p\1"),
    "ids of Operations": lambda: renamed(r"\bop_0000(\w+)", r"operation_\1"),
    "ids of Generations": lambda: renamed(r"\bgen_0000(\w+)", r"\1"),
    "ids of uploads": lambda: renamed(r"\bupl_0000(\w+)", r"u-\1"),
    "Request-Ids": lambda: renamed(r"\breq_(\w+)", r"\1-\1"),
    "host": lambda: renamed(r"http://testserver", "https://api.example.com"),
    "path before /v1": lambda: renamed(
        r"http://testserver/v1", "https://example.com/images/api/v1"
    ),
    "upload tokens": lambda: renamed(r"\bupt_(\w+)", r"token.\1"),
    "a client whose clock is a year late": lambda: everywhere(
        lambda one: replace(one, at=(one.at or 0) - 365 * DAY_MS)
    ),
    "more members everywhere": lambda: everywhere(when_json(_add_to_all)),
    "other words in problems": lambda: everywhere(when_json(_reword)),
    "more headers": lambda: everywhere(
        headers(server="cloud", x_cache="HIT", date="Mon, 02 Mar 2026 10:00:00 GMT")
    ),
    "slower answers": lambda: everywhere(lambda one: replace(one, took_ms=4_000.0)),
    "no Authorization": lambda: everywhere(keyless),
}


@pytest.mark.parametrize("name", HARMLESS)
def test_a_change_without_meaning_is_not_noticed(name: str) -> None:
    assert [] == found(HARMLESS[name]())


# Once, and nothing else -----------------------------------------------------------------------------------------------


def dearer(work: Any) -> None:
    if work.get("workflow") and work["credits"]["reserved"] == 1:
        work["credits"]["reserved"] = 2


def answered(number: int, marks: bytes) -> Change:
    """Return a change of the status of the answers whose body has some bytes."""
    return lambda exchange: (
        replace(exchange, status=number)
        if marks in (exchange.response_body or b"")
        else exchange
    )


@pytest.mark.parametrize(
    ("change", "findings"),
    [
        (headers(request_id=None), ["breach Request-Id"]),
        (answered(200, b'{"object":"product"'), ["breach status"]),
        (answered(409, b'"invalid_reference"'), ["breach /code"]),
        (when_json(dearer), ["D29=None", "neither /credits/reserved"]),
    ],
)
def test_a_difference_is_reported_once_with_its_number(
    change: Change, findings: list[str]
) -> None:
    assert findings == found(everywhere(change))
    assert judged(everywhere(change)).findings[-1].message.endswith(" times")


@pytest.mark.parametrize("readings", ["plain", "stingy"])
def test_times_in_whole_seconds_are_no_evidence_for_waits(readings: str) -> None:
    exchanges = [
        replace(one, at=(one.at or 0) // 1_000 * 1_000, is_coarse=True)
        for one in tour(readings)
    ]
    assert [
        name for name in chosen(parse_readings(readings)) if name != "D74=lag"
    ] == found(exchanges)


@pytest.mark.parametrize("readings", [[], ["D10=binds-refusals"]])
def test_a_corrected_body_under_the_same_key_shows_what_a_refusal_does_to_it(
    readings: list[str],
) -> None:
    service = RecordedService(",".join(readings) or "plain")
    (photo,) = service.photos(1)
    for asset in ("ast_absent", photo):
        service.product("Shirt", [asset], key="corrected")
    assert readings == found(service.exchanges)


# Any recording gets a verdict -----------------------------------------------------------------------------------------

STRANGE: list[Any] = [
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


@cache
def recordings() -> tuple[str, str]:
    """A short HAR with every kind of resource, and the journal of the same requests, as text."""
    service = RecordedService()
    service.control(
        "PATCH", f"/teams/{service.call('getTeam').json['id']}", {"credits": 500}
    )
    photos = service.photos(2)
    service.product("Fuzz", photos)
    service.call("listProducts")
    service.finished(
        service.call(
            "createPhotographyStyle", {"name": "Fuzz", "asset_ids": service.photos(3)}
        )
    )
    service.call("getTeam")
    service.order(SHOOT)
    service.order({**ORDER, "image_count": 2})
    service.product("Fuzz", ["ast_absent"])
    return json.dumps(as_har(service.exchanges)), service.control(
        "GET", "/requests?limit=1000"
    ).decode()


def holders(value: Any) -> Iterator[tuple[Any, Any]]:
    """Iterate over every place in some JSON: what holds it, and its name or number there."""
    for name in (
        value
        if isinstance(value, dict)
        else range(len(value))
        if isinstance(value, list)
        else ()
    ):
        yield value, name
        yield from holders(value[name])


def changed_document(number: int) -> Any:
    """Change one to three values of a recording: of the file itself, or within a body."""
    seed, document = Seed(number), json.loads(recordings()[number % 4 == 0])
    entries = document["data"] if "data" in document else document["log"]["entries"]

    def draw(what: str, most: int) -> int:
        return seed.number("fuzz", what) % most

    for step in range(1 + draw("steps", 3)):
        entry = entries[draw(f"entry {step}", len(entries))]
        part = ("postData", "content", "file")[draw(f"part {step}", 3)]
        holder, target = None, entry
        with suppress(
            KeyError, TypeError, ValueError, AttributeError
        ):  # changed before
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
            sent = {
                "method": request["method"],
                "uri": request["url"],
                "body": request.get("postData", {}).get("text"),
            }
            headers = {one["name"]: [one["value"]] for one in response["headers"]}
            got = {
                "status": {"code": response["status"]},
                "body": {"string": response["content"]["text"]},
            }
            interactions.append(
                {"request": sent, "response": {**got, "headers": headers}}
            )
        except (KeyError, TypeError, AttributeError):
            interactions.append(entry)
    return yaml.safe_dump({"interactions": interactions})


def check(number: int, folder: Path) -> None:
    """Judge a changed recording by both commands: each reports in every form, or refuses in words."""
    document = changed_document(number)
    file = folder / "fuzz.har"
    is_cassette = number % 5 == 0 and "log" in document
    file.write_text(
        as_cassette(document) if is_cassette else json.dumps(document), errors="replace"
    )
    options = Namespace(
        files=[str(file)],
        readings=None,
        pin=str(folder / "pin.yaml"),
        ignore=[],
        fail_on=None,
    )
    for command in (drift, conduct):
        try:
            report = command(options, {})
        except UsageError:
            continue
        written = {suffix: emit(report) for suffix, emit in _EMITTERS.items()}
        json.loads(written[".json"])
        ET.fromstring(written[".xml"])


@pytest.mark.parametrize(
    "batch",
    [0, *(pytest.param(batch, marks=pytest.mark.verify) for batch in range(1, 100))],
)
def test_a_changed_recording_gets_a_verdict(batch: int, tmp_path: Path) -> None:
    for number in range(40 * batch, 40 * (batch + 1)):
        check(number, tmp_path)
