"""A planted change of a recording is noticed, and one without meaning is not."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from image_workflow_emulator.drift.exchanges import RecordedExchange
from image_workflow_emulator.drift.recordings import read_recording
from image_workflow_emulator.drift.traffic import RecordedCall
from image_workflow_emulator.kernel.timestamps import DAY_MS
from tests.drift.judging import differences_in
from tests.drift.recorded_service import PHOTOGRAPHY
from tests.drift.tampering import (
    Change,
    Spot,
    body,
    everywhere,
    headers,
    members,
    recording,
    refused,
    status,
    succeeded,
    tampered,
    where_json,
    without,
)
from tests.drift.tools import as_har

Exchanges = Sequence[RecordedExchange]
ERROR = {"code": "processing_failed", "message": "x", "retryable": True}
LATE = "2027-01-01T00:00:00.000Z"
finished = succeeded(
    "getGeneration",
    status="completed",
    workflow="product_photography",
)
made = succeeded("getOperation", status="completed")


def lists_several_products(call: RecordedCall) -> bool:
    return call.name == "listProducts" and len(call.answer["data"]) > 1


def is_upload(call: RecordedCall) -> bool:
    return call.name == "upload"


def is_download(call: RecordedCall) -> bool:
    return call.name == "download"


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
    "a time without milliseconds": (
        succeeded("createProduct"),
        members(created_at="2026-01-01T00:00:00Z"),
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
    "work without its subjects": (finished, without("resolved_asset_ids")),
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
    "a price of another amount": (
        succeeded("createUpscaleGeneration"),
        members("credits", reserved=1),
    ),
    "an echo of something else": (
        succeeded(PHOTOGRAPHY),
        members("request", resolution="4k"),
    ),
    "an echo without a field": (
        succeeded(PHOTOGRAPHY),
        without("request", "output_format"),
    ),
    "an echo without a part of a field": (
        succeeded(PHOTOGRAPHY),
        without("request", "background", "type"),
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
    "another workflow at its admission": (
        succeeded("createUpscaleGeneration"),
        members(workflow="edit_images"),
    ),
    "an Operation of another type": (
        succeeded("createPose"),
        members(type="pose.update"),
    ),
    "an Operation of an unknown type": (
        succeeded("createPose"),
        members(type="pose.paint"),
    ),
    "a finished Operation without a result": (made, members(result=None)),
    "a finished Operation with an error": (made, members(error=ERROR)),
    "a list without page": (succeeded("listProducts"), without("page")),
    "a list in another order": (
        lists_several_products,
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
    "bytes that are refused": (is_upload, status(422)),
    "a file that is not found": (is_download, status(404)),
}


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_change_is_noticed(name: str) -> None:
    exchanges = tampered(*PLANTED[name])

    differences = differences_in(exchanges)

    assert differences != []


# Without meaning ----------------------------------------------------------------------


def renamed(pattern: str, replacement: str) -> Exchanges:
    """Return the recording with every text that fits changed, such as all ids."""
    har = json.dumps(as_har(recording()))
    changed = re.sub(pattern, replacement, har).encode()
    (renamed_recording,) = read_recording(changed, "renamed.har")
    return renamed_recording.exchanges


def more_members_everywhere() -> Exchanges:
    return everywhere(where_json(_add_to_all))


def _add_to_all(value: Any) -> None:
    if isinstance(value, dict):
        for name, inner in list(value.items()):
            if name != "headers":  # which is a mapping, and no resource
                _add_to_all(inner)
        value["not_in_the_contract"] = [1, None, "x"]
    elif isinstance(value, list):
        for inner in value:
            _add_to_all(inner)


def other_words_in_problems() -> Exchanges:
    return everywhere(where_json(_reword))


def _reword(value: dict[str, Any]) -> None:
    if "code" in value:
        value["title"] = "Anders"
        value["detail"] = "Auch anders"
        value["type"] = "https://errors.example.com/x"
        value["trace"] = "1"


def a_clock_that_is_a_year_late() -> Exchanges:
    return everywhere(lambda one: replace(one, at=(one.at or 0) - 365 * DAY_MS))


def more_headers() -> Exchanges:
    date = "Mon, 02 Mar 2026 10:00:00 GMT"
    return everywhere(
        headers(
            server="cloud",
            x_cache="HIT",
            date=date,
        )
    )


def slower_answers() -> Exchanges:
    return everywhere(lambda one: replace(one, took_ms=4_000.0))


def no_authorization() -> Exchanges:
    return everywhere(_without_authorization)


def _without_authorization(exchange: RecordedExchange) -> RecordedExchange:
    kept = dict(exchange.request_headers)
    kept.pop("authorization", None)
    return replace(exchange, request_headers=kept)


def an_echo_of_operations_that_is_empty() -> Exchanges:
    """Section 2 shows no contents of it."""
    return everywhere(where_json(_empty_echo))


def _empty_echo(value: dict[str, Any]) -> None:
    if value.get("object") == "operation":
        value["request"] = {}


API = "https://api.example.com"
HARMLESS: Mapping[str, Callable[[], Exchanges]] = {
    "ids of Assets": lambda: renamed(r"\bast_0000(\w+)", r"asset-\1"),
    "ids of Products": lambda: renamed(r"\bprd_0000(\w+)", r"p\1"),
    "ids of Operations": lambda: renamed(r"\bop_0000(\w+)", r"operation_\1"),
    "ids of Generations": lambda: renamed(r"\bgen_0000(\w+)", r"\1"),
    "ids of uploads": lambda: renamed(r"\bupl_0000(\w+)", r"u-\1"),
    "Request-Ids": lambda: renamed(r"\breq_(\w+)", r"\1-\1"),
    "host": lambda: renamed(r"http://testserver", API),
    "path before /v1": lambda: renamed(r"http://testserver/v1", f"{API}/images/v1"),
    "upload tokens": lambda: renamed(r"\bupt_(\w+)", r"token.\1"),
    "a client whose clock is a year late": a_clock_that_is_a_year_late,
    "more members everywhere": more_members_everywhere,
    "other words in problems": other_words_in_problems,
    "more headers": more_headers,
    "slower answers": slower_answers,
    "no Authorization": no_authorization,
    "an empty echo of Operations": an_echo_of_operations_that_is_empty,
}


@pytest.mark.parametrize("name", HARMLESS)
def test_a_change_without_meaning_is_not_noticed(name: str) -> None:
    exchanges = HARMLESS[name]()

    differences = differences_in(exchanges)

    assert differences == []
