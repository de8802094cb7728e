"""Coverage: what of the contract is covered, what closes each gap, and how files of it are merged, shown and held to a
threshold.
"""

import contextlib
import json
from pathlib import Path
from typing import Any

import pytest

from image_workflow_emulator.contract import load_contract
from image_workflow_emulator.examiner.points import BYTES
from image_workflow_emulator.scenario.format import parse_scenario
from image_workflow_emulator.scenario.library import ScenarioLibrary
from tests.cli.command import reading, run_command
from tests.playing_scenarios.player import upscale_call
from tests.support.emulator_client import Call, EmulatorUnderTest

CONTRACT = load_contract()


def coverage(service: EmulatorUnderTest) -> dict[str, Any]:
    return dict(service.told("GET", "/coverage"))


def covered(service: EmulatorUnderTest, operation: str) -> set[str]:
    return {point["point"] for point in coverage(service)["operations"][operation]["points"] if point["covered"]}


def test_every_status_and_code_of_the_contract_is_a_point(service: EmulatorUnderTest) -> None:
    shown = coverage(service)
    assert [*CONTRACT.operations, *BYTES] == list(shown["operations"])
    assert 0 == shown["percent"]
    for name, operation in CONTRACT.operations.items():
        points = " ".join(point["point"] for point in shown["operations"][name]["points"])
        assert all(code in points for code in operation.all_codes)
        assert all(str(status) in points for status in operation.statuses)


def test_a_walk_through_the_service_meets_its_points(service: EmulatorUnderTest) -> None:
    asset = service.assets(1)[0]
    service.rule({"work": "upscale"}, {"outputs": {1: "timed_out"}}, {"nth": 2})
    for key in ("one", "one", "two"):
        service.wait_for(service.send(upscale_call(asset, key)).json)
    service.get(service.get(f"/assets/{asset}").json["url"], key=None)
    ends = {"work completed", "work failed", "output completed", "output failed with timed_out"}
    assert {"202", "replay", *ends} == covered(service, "createUpscaleGeneration")
    assert {"201"} == covered(service, "createUpload")
    assert {"200"} == covered(service, "upload") == covered(service, "download")
    service.get("/assets/none")
    assert {"200", "404 asset_not_found"} == covered(service, "getAsset")


def test_the_operations_that_are_used_are_counted_apart_and_their_gaps_told(service: EmulatorUnderTest) -> None:
    service.get("/team")
    service.rule({"operation": "getTeam"}, {"problem": "rate_limited"})
    assert 429 == service.get("/team").status
    shown = coverage(service)
    points = shown["operations"]["getTeam"]["points"]
    assert int(2000 / len(points)) / 10 == shown["percent_of_used"]
    assert shown["percent"] < shown["percent_of_used"]
    assert [("getTeam", "500 internal_error"), ("getTeam", "lost"), ("getTeam", "401 credential_revoked")] == [
        (gap["operation"], gap["point"]) for gap in shown["next_gaps"]
    ]


def test_a_status_that_comes_by_replay_is_covered(service: EmulatorUnderTest) -> None:
    service.rule({"operation": "createUpscaleGeneration"}, {"network": "reset", "at": "after_commit"}, {"nth": 1})
    call = upscale_call(service.assets(1)[0], "k")
    with contextlib.suppress(ConnectionError):
        service.send(call)
    assert 202 == service.send(call).status
    assert {"202", "replay", "lost after commit"} == covered(service, "createUpscaleGeneration")


def gaps(service: EmulatorUnderTest) -> list[tuple[str, str, Any]]:
    operations = coverage(service)["operations"].items()
    return [(name, point["point"], point["closed_by"]) for name, found in operations for point in found["points"]]


def test_every_gap_names_a_scenario_of_the_library_or_a_rule_that_can_be_run(service: EmulatorUnderTest) -> None:
    names = ScenarioLibrary(CONTRACT).names()
    for name, point, closed_by in gaps(service):
        ((kind, what),) = closed_by.items()
        assert kind in ("scenario", "rule", "request", "call"), (name, point)
        if kind == "scenario":
            assert what in names
        elif kind == "rule":
            parse_scenario(json.dumps({"scenario": "gap", "rules": [what]}), "gap.json", CONTRACT)
        elif kind == "request":
            assert name in BYTES
        else:
            assert what is True
            assert point[0] == "2" or point == "work completed" or point == "output completed"


def test_what_no_rule_makes_of_a_plain_request_for_bytes_is_said_in_words(service: EmulatorUnderTest) -> None:
    session, late, asset = service.open_upload(3), service.open_upload(3), service.assets(1)[0]
    url, last = service.get(f"/assets/{asset}").json["url"], session["upload"]["url"]
    forged = {"upload": {**session["upload"], "url": last[:-1] + "!"}}
    for upload, content in ((session, b"12"), (session, b"123"), (session, b"abc"), (forged, b"123")):
        service.send_bytes(upload, content)
    service.advance(3600)
    service.send_bytes(late, b"123")
    tag = service.fetch(url).headers["etag"]
    for headers in ({"Range": "bytes=0-1"}, {"If-None-Match": tag}, {"Range": "bytes=99999999-"}):
        service.fetch(url, headers=headers)
    service.delete(f"/assets/{asset}")
    service.fetch(url)
    said = [(name, point) for name, point, closed_by in gaps(service) if "request" in closed_by]
    assert 8 == len(said)
    assert [] == [(name, point) for name, point in said if point not in covered(service, name)]


@pytest.mark.parametrize(
    "point", ["500 internal_error", "422 invalid_input", "lost before commit", "lost after commit"]
)
def test_the_rule_that_a_gap_shows_closes_it(service: EmulatorUnderTest, point: str) -> None:
    closed_by = {one: closing for name, one, closing in gaps(service) if name == "updateProduct"}[point]
    rule = {"scenario": "gap", "rules": [closed_by["rule"]]} if "rule" in closed_by else None
    product = service.product(*service.assets(1))
    service.use(rule or {"use": closed_by["scenario"]})
    with contextlib.suppress(ConnectionError):  # that is the point
        service.send(Call("PATCH", f"/products/{product['id']}", {"name": "Other"}))
    assert point in covered(service, "updateProduct")


# Files ----------------------------------------------------------------------------------------------------------------


def run(folder: Path, file: str, *paths: str, least: str = "0") -> int:
    options = ("--coverage", str(folder / file), "--coverage-fail-under", least, "--quiet")
    return run_command("exec", *options, "--", *reading(*paths)).status


def test_shards_are_merged_shown_and_held_to_a_threshold(tmp_path: Path) -> None:
    assert [0, 0] == [run(tmp_path, "one.json", "/v1/team"), run(tmp_path, "two.json", "/v1/team", "/v1/assets")]
    assert 1 == run(tmp_path, "page.html", "/v1/team", least="50")
    assert (tmp_path / "page.html").read_text().startswith("<!doctype html>")
    files = [str(tmp_path / "one.json"), str(tmp_path / "two.json")]
    shown = run_command("coverage", *files, "--report", str(tmp_path / "both.html"))
    assert 0 == shown.status
    assert "getTeam" in shown.output
    assert "% of the contract" in shown.output
    both = json.loads(run_command("coverage", *files, "--format", "json", "--all").output)
    assert [2, 1] == [both["operations"][name]["points"][0]["covered"] for name in ("getTeam", "listAssets")]
    assert 1 == run_command("coverage", *files, "--fail-under", "99").status
    refused = run_command("coverage", *files, "--report", str(tmp_path / "no" / "both.html"))
    assert (2, "") == (refused.status, refused.output)
    assert "--report: cannot write" in refused.complaint
    page = (tmp_path / "both.html").read_text()
    assert "http" not in page.replace("http-equiv", "")
    assert "<script" not in page


@pytest.mark.parametrize(
    "text", [None, "", "[", "[]", '{"operations": {"getTeam": 1}}', '{"operations": {"a": {"points": [{}]}}}']
)
def test_a_file_that_is_not_there_or_no_coverage_is_bad_usage(tmp_path: Path, text: str | None) -> None:
    file = tmp_path / "bad.json"
    if text is not None:
        file.write_text(text)
    refused = run_command("coverage", str(file))
    assert (2, True) == (refused.status, str(file) in refused.complaint), refused
