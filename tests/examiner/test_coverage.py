"""Coverage as the control plane shows it: what is covered, and what closes each gap."""

import contextlib
import json
from collections.abc import Iterator
from typing import Any

import pytest

from image_workflow_emulator.contract import load_contract
from image_workflow_emulator.examiner.declared_points import BYTES
from image_workflow_emulator.scenario.library import ScenarioLibrary
from image_workflow_emulator.scenario.scenario_reader import parse_scenario
from tests.support.emulator_client import Call, Json
from tests.support.emulator_under_test import EmulatorUnderTest
from tests.support.every_operation import upscale_call

CONTRACT = load_contract()
UPSCALE = "createUpscaleGeneration"


def coverage(emulator: EmulatorUnderTest) -> Json:
    """The coverage so far, as the control plane shows it."""
    return dict(emulator.told("GET", "/coverage"))


def points_of(emulator: EmulatorUnderTest, operation: str) -> list[Json]:
    """The points of an operation, covered or not."""
    operations = coverage(emulator)["operations"]
    return list(operations[operation]["points"])


def covered(emulator: EmulatorUnderTest, operation: str) -> set[str]:
    """Return the points of an operation that are covered."""
    points = points_of(emulator, operation)
    return {point["point"] for point in points if point["covered"]}


def closing_of(
    emulator: EmulatorUnderTest,
    operation: str,
    name: str,
) -> Any:
    """Return what closes the gap at a point."""
    points = points_of(emulator, operation)
    closings = {point["point"]: point["closed_by"] for point in points}
    return closings[name]


# Points -------------------------------------------------------------------------------


def test_the_points_are_those_of_all_operations_and_byte_surfaces(
    emulator: EmulatorUnderTest,
) -> None:
    document = coverage(emulator)

    assert list(document["operations"]) == [*CONTRACT.operations, *BYTES]
    assert document["percent"] == 0


@pytest.mark.parametrize("name", CONTRACT.operations)
def test_every_status_and_code_of_an_operation_is_a_point(
    emulator: EmulatorUnderTest,
    name: str,
) -> None:
    operation = CONTRACT.operations[name]
    statuses = {str(status) for status in operation.statuses}

    points = points_of(emulator, name)

    words: set[str] = set()
    for point in points:
        words.update(point["point"].split())
    assert words >= operation.all_codes
    assert words >= statuses


def test_a_point_has_its_name_a_count_and_what_closes_it(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.get("/team")
    emulator.get("/team")

    first, *_ = points_of(emulator, "getTeam")
    assert first == {
        "point": "200",
        "covered": 2,
        "closed_by": {"call": True},
    }


# What requests cover ------------------------------------------------------------------


def test_an_answer_covers_its_status_and_code(emulator: EmulatorUnderTest) -> None:
    emulator.assets(1)
    emulator.get("/assets/none")

    assert covered(emulator, "createUpload") == {"201"}
    assert covered(emulator, "getAsset") == {"404 asset_not_found"}


def test_bytes_that_are_sent_and_fetched_cover_their_surfaces(
    emulator: EmulatorUnderTest,
) -> None:
    (asset,) = emulator.assets(1)
    url = emulator.get(f"/assets/{asset}").json["url"]

    emulator.fetch(url)

    assert covered(emulator, "upload") == {"200"}
    assert covered(emulator, "download") == {"200"}


def test_a_repeated_key_covers_a_replay(emulator: EmulatorUnderTest) -> None:
    (asset,) = emulator.assets(1)

    emulator.send(upscale_call(asset, "one"))
    emulator.send(upscale_call(asset, "one"))

    assert covered(emulator, UPSCALE) == {"202", "replay"}


def test_a_poll_covers_the_end_of_work_at_what_admitted_it(
    emulator: EmulatorUnderTest,
) -> None:
    (asset,) = emulator.assets(1)
    admitted = emulator.send(upscale_call(asset, "one"))

    emulator.wait_for(admitted.json)

    assert covered(emulator, UPSCALE) == {
        "202",
        "work completed",
        "output completed",
    }


def test_a_poll_covers_the_failure_of_work_and_of_its_outputs(
    emulator: EmulatorUnderTest,
) -> None:
    (asset,) = emulator.assets(1)
    emulator.rule({"work": "upscale"}, {"outputs": {1: "timed_out"}})
    admitted = emulator.send(upscale_call(asset, "one"))

    emulator.wait_for(admitted.json)

    assert covered(emulator, UPSCALE) == {
        "202",
        "work failed",
        "output failed with timed_out",
    }


def test_the_repetition_of_a_lost_answer_covers_its_status_too(
    emulator: EmulatorUnderTest,
) -> None:
    lost = {"network": "reset", "at": "after_commit"}
    emulator.rule({"operation": UPSCALE}, lost, {"nth": 1})
    (asset,) = emulator.assets(1)
    call = upscale_call(asset, "k")

    with contextlib.suppress(ConnectionError):
        emulator.send(call)
    emulator.send(call)

    assert covered(emulator, UPSCALE) == {
        "202",
        "replay",
        "lost after commit",
    }


# Totals -------------------------------------------------------------------------------


def test_the_operations_that_are_used_are_counted_apart(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.get("/team")
    emulator.rule({"operation": "getTeam"}, {"problem": "rate_limited"})
    emulator.get("/team")

    document = coverage(emulator)
    points = document["operations"]["getTeam"]["points"]
    tenths_of_percent = 2 * 1000 // len(points)
    two_points = tenths_of_percent / 10
    assert document["percent_of_used"] == two_points
    assert document["percent"] < document["percent_of_used"]


def test_the_gaps_to_close_first_are_those_that_cost_most(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.get("/team")
    emulator.rule({"operation": "getTeam"}, {"problem": "rate_limited"})
    emulator.get("/team")

    gaps = coverage(emulator)["next_gaps"]
    operations = {gap["operation"] for gap in gaps}
    points = [gap["point"] for gap in gaps]
    assert operations == {"getTeam"}
    assert points == [
        "500 internal_error",
        "lost",
        "401 credential_revoked",
    ]


def test_a_gap_is_named_at_the_operation_that_is_used_most(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.get("/products")
    emulator.get("/products")
    emulator.get("/team")

    gaps = coverage(emulator)["next_gaps"]
    operations = {gap["operation"] for gap in gaps}
    assert operations == {"listProducts"}


# What closes a gap --------------------------------------------------------------------


def all_points(emulator: EmulatorUnderTest) -> Iterator[Json]:
    """Iterate over the points of all operations."""
    operations = coverage(emulator)["operations"]
    for operation in operations.values():
        yield from operation["points"]


def closings(emulator: EmulatorUnderTest, kind: str) -> list[Any]:
    """Return the closings of one kind."""
    all_closings = [point["closed_by"] for point in all_points(emulator)]
    return [closing[kind] for closing in all_closings if kind in closing]


def test_every_gap_is_closed_in_exactly_one_way(emulator: EmulatorUnderTest) -> None:
    for point in all_points(emulator):
        (kind,) = point["closed_by"]
        assert kind in {"scenario", "rule", "request", "call"}


def test_a_scenario_that_closes_a_gap_is_in_the_library(
    emulator: EmulatorUnderTest,
) -> None:
    library = ScenarioLibrary(CONTRACT)

    scenarios = set(closings(emulator, "scenario"))

    assert scenarios
    assert scenarios <= set(library.names())


def test_a_rule_that_closes_a_gap_can_be_written_into_a_file(
    emulator: EmulatorUnderTest,
) -> None:
    rules = closings(emulator, "rule")

    assert rules
    for rule in rules:
        scenario = {"scenario": "gap", "rules": [rule]}
        text = json.dumps(scenario)
        parse_scenario(text, "gap.json", CONTRACT)


def test_the_call_itself_closes_the_gaps_of_success_alone(
    emulator: EmulatorUnderTest,
) -> None:
    points = all_points(emulator)

    by_calls = set()
    for point in points:
        if "call" in point["closed_by"]:
            by_calls.add(point["point"])
    statuses = {"200", "201", "202", "204"}
    ends = {"work completed", "output completed"}
    assert by_calls <= statuses | ends


@pytest.mark.parametrize(
    "point",
    [
        "500 internal_error",
        "422 invalid_input",
        "lost before commit",
        "lost after commit",
    ],
)
def test_the_closing_of_a_gap_closes_it(
    emulator: EmulatorUnderTest,
    point: str,
) -> None:
    closing = closing_of(emulator, "updateProduct", point)
    product = emulator.product(*emulator.assets(1))
    call = Call("PATCH", f"/products/{product['id']}", {"name": "Other"})

    scenario: Json
    if "rule" in closing:
        scenario = {"scenario": "gap", "rules": [closing["rule"]]}
    else:
        scenario = {"use": closing["scenario"]}
    emulator.use(scenario)
    with contextlib.suppress(ConnectionError):  # that is the point
        emulator.send(call)

    assert point in covered(emulator, "updateProduct")


def test_the_requests_that_close_gaps_of_an_upload_close_them(
    emulator: EmulatorUnderTest,
) -> None:
    session = emulator.open_upload(3)
    late = emulator.open_upload(3)
    upload = session["upload"]
    forged_url = upload["url"][:-1] + "!"
    forged = {"upload": {**upload, "url": forged_url}}

    emulator.send_bytes(session, b"12")
    emulator.send_bytes(session, b"123")
    emulator.send_bytes(session, b"abc")
    emulator.send_bytes(forged, b"123")
    emulator.advance(3600)
    emulator.send_bytes(late, b"123")

    requested = requested_points(emulator, "upload")
    assert covered(emulator, "upload") >= requested


def test_the_requests_that_close_gaps_of_a_download_close_them(
    emulator: EmulatorUnderTest,
) -> None:
    (asset,) = emulator.assets(1)
    url = emulator.get(f"/assets/{asset}").json["url"]
    tag = emulator.fetch(url).headers["etag"]

    emulator.fetch(url, headers={"Range": "bytes=0-1"})
    emulator.fetch(url, headers={"If-None-Match": tag})
    emulator.fetch(url, headers={"Range": "bytes=99999999-"})
    emulator.delete(f"/assets/{asset}")
    emulator.fetch(url)

    requested = requested_points(emulator, "download")
    assert covered(emulator, "download") >= requested


def requested_points(emulator: EmulatorUnderTest, surface: str) -> set[str]:
    """Return the points of a byte surface that a request in words closes."""
    points = points_of(emulator, surface)
    requested = {point["point"] for point in points if "request" in point["closed_by"]}
    assert len(requested) == 4
    return requested
