"""Coverage: what of the contract is covered, what closes each gap, and files that are merged and compared."""

import contextlib
import json
from pathlib import Path
from typing import Any

import pytest

from image_workflow_emulator.contract import load_contract
from image_workflow_emulator.examiner.declared_points import BYTES
from image_workflow_emulator.scenario.library import ScenarioLibrary
from image_workflow_emulator.scenario.scenario import parse_scenario
from tests.cli.command import reading, run_command
from tests.support.emulator_client import Call, EmulatorUnderTest
from tests.support.every_operation import upscale_call

CONTRACT = load_contract()


def coverage(emulator: EmulatorUnderTest) -> dict[str, Any]:
    return dict(emulator.told("GET", "/coverage"))


def covered(emulator: EmulatorUnderTest, operation: str) -> set[str]:
    return {
        point["point"]
        for point in coverage(emulator)["operations"][operation]["points"]
        if point["covered"]
    }


def test_every_status_and_code_of_the_contract_is_a_point(
    emulator: EmulatorUnderTest,
) -> None:
    shown = coverage(emulator)
    assert [*CONTRACT.operations, *BYTES] == list(shown["operations"])
    assert 0 == shown["percent"]
    for name, operation in CONTRACT.operations.items():
        points = " ".join(
            point["point"] for point in shown["operations"][name]["points"]
        )
        assert all(code in points for code in operation.all_codes)
        assert all(str(status) in points for status in operation.statuses)


def test_a_walk_through_the_service_meets_its_points(
    emulator: EmulatorUnderTest,
) -> None:
    asset = emulator.assets(1)[0]
    emulator.rule({"work": "upscale"}, {"outputs": {1: "timed_out"}}, {"nth": 2})
    for key in ("one", "one", "two"):
        emulator.wait_for(emulator.send(upscale_call(asset, key)).json)
    emulator.get(emulator.get(f"/assets/{asset}").json["url"], key=None)
    ends = {
        "work completed",
        "work failed",
        "output completed",
        "output failed with timed_out",
    }
    assert {"202", "replay", *ends} == covered(emulator, "createUpscaleGeneration")
    assert {"201"} == covered(emulator, "createUpload")
    assert {"200"} == covered(emulator, "upload") == covered(emulator, "download")
    emulator.get("/assets/none")
    assert {"200", "404 asset_not_found"} == covered(emulator, "getAsset")


def test_the_operations_that_are_used_are_counted_apart_and_their_gaps_told(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.get("/team")
    emulator.rule({"operation": "getTeam"}, {"problem": "rate_limited"})
    assert 429 == emulator.get("/team").status
    shown = coverage(emulator)
    points = shown["operations"]["getTeam"]["points"]
    assert int(2000 / len(points)) / 10 == shown["percent_of_used"]
    assert shown["percent"] < shown["percent_of_used"]
    assert [
        ("getTeam", "500 internal_error"),
        ("getTeam", "lost"),
        ("getTeam", "401 credential_revoked"),
    ] == [(gap["operation"], gap["point"]) for gap in shown["next_gaps"]]


def test_a_status_that_comes_by_replay_is_covered(emulator: EmulatorUnderTest) -> None:
    emulator.rule(
        {"operation": "createUpscaleGeneration"},
        {"network": "reset", "at": "after_commit"},
        {"nth": 1},
    )
    call = upscale_call(emulator.assets(1)[0], "k")
    with contextlib.suppress(ConnectionError):
        emulator.send(call)
    assert 202 == emulator.send(call).status
    assert {"202", "replay", "lost after commit"} == covered(
        emulator, "createUpscaleGeneration"
    )


def gaps(emulator: EmulatorUnderTest) -> list[tuple[str, str, Any]]:
    operations = coverage(emulator)["operations"].items()
    return [
        (name, point["point"], point["closed_by"])
        for name, found in operations
        for point in found["points"]
    ]


def test_every_gap_names_a_scenario_of_the_library_or_a_rule_that_can_be_run(
    emulator: EmulatorUnderTest,
) -> None:
    names = ScenarioLibrary(CONTRACT).names()
    for name, point, closed_by in gaps(emulator):
        ((kind, what),) = closed_by.items()
        assert kind in ("scenario", "rule", "request", "call"), (name, point)
        if kind == "scenario":
            assert what in names
        elif kind == "rule":
            parse_scenario(
                json.dumps({"scenario": "gap", "rules": [what]}), "gap.json", CONTRACT
            )
        elif kind == "request":
            assert name in BYTES
        else:
            assert what is True
            assert (
                point[0] == "2"
                or point == "work completed"
                or point == "output completed"
            )


def test_what_no_rule_makes_of_a_plain_request_for_bytes_is_said_in_words(
    emulator: EmulatorUnderTest,
) -> None:
    session, late, asset = (
        emulator.open_upload(3),
        emulator.open_upload(3),
        emulator.assets(1)[0],
    )
    url, last = emulator.get(f"/assets/{asset}").json["url"], session["upload"]["url"]
    forged = {"upload": {**session["upload"], "url": last[:-1] + "!"}}
    for upload, content in (
        (session, b"12"),
        (session, b"123"),
        (session, b"abc"),
        (forged, b"123"),
    ):
        emulator.send_bytes(upload, content)
    emulator.advance(3600)
    emulator.send_bytes(late, b"123")
    tag = emulator.fetch(url).headers["etag"]
    for headers in (
        {"Range": "bytes=0-1"},
        {"If-None-Match": tag},
        {"Range": "bytes=99999999-"},
    ):
        emulator.fetch(url, headers=headers)
    emulator.delete(f"/assets/{asset}")
    emulator.fetch(url)
    said = [
        (name, point)
        for name, point, closed_by in gaps(emulator)
        if "request" in closed_by
    ]
    assert 8 == len(said)
    assert [] == [
        (name, point) for name, point in said if point not in covered(emulator, name)
    ]


@pytest.mark.parametrize(
    "point",
    [
        "500 internal_error",
        "422 invalid_input",
        "lost before commit",
        "lost after commit",
    ],
)
def test_the_rule_that_a_gap_shows_closes_it(
    emulator: EmulatorUnderTest, point: str
) -> None:
    closed_by = {
        one: closing for name, one, closing in gaps(emulator) if name == "updateProduct"
    }[point]
    rule = (
        {"scenario": "gap", "rules": [closed_by["rule"]]}
        if "rule" in closed_by
        else None
    )
    product = emulator.product(*emulator.assets(1))
    emulator.use(rule or {"use": closed_by["scenario"]})
    with contextlib.suppress(ConnectionError):  # that is the point
        emulator.send(Call("PATCH", f"/products/{product['id']}", {"name": "Other"}))
    assert point in covered(emulator, "updateProduct")


def run(folder: Path, file: str, *paths: str, least: str = "0") -> int:
    options = (
        "--coverage",
        str(folder / file),
        "--coverage-fail-under",
        least,
        "--quiet",
    )
    return run_command("exec", *options, "--", *reading(*paths)).status


def test_shards_are_merged_shown_and_held_to_a_threshold(tmp_path: Path) -> None:
    assert [0, 0] == [
        run(tmp_path, "one.json", "/v1/team"),
        run(tmp_path, "two.json", "/v1/team", "/v1/assets"),
    ]
    assert 1 == run(tmp_path, "page.html", "/v1/team", least="50")
    assert (tmp_path / "page.html").read_text().startswith("<!doctype html>")
    files = [str(tmp_path / "one.json"), str(tmp_path / "two.json")]
    shown = run_command("coverage", *files)
    assert (0, True, True) == (
        shown.status,
        "getTeam" in shown.output,
        "% of the contract" in shown.output,
    )
    both = json.loads(
        run_command("coverage", *files, "--format", "json", "--all").output
    )
    assert [2, 1] == [
        both["operations"][name]["points"][0]["covered"]
        for name in ("getTeam", "listAssets")
    ]
    assert 1 == run_command("coverage", *files, "--fail-under", "99").status


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        "[",
        "[]",
        '{"operations": {"getTeam": 1}}',
        '{"operations": {"a": {"points": [{}]}}}',
    ],
)
def test_a_file_that_is_not_there_or_no_coverage_is_bad_usage(
    tmp_path: Path, text: str | None
) -> None:
    file = tmp_path / "bad.json"
    if text is not None:
        file.write_text(text)
    refused = run_command("coverage", str(file))
    assert (2, True) == (refused.status, str(file) in refused.complaint), refused
