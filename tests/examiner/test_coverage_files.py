"""Files of coverage: written by a run, merged, shown and held to a threshold."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import reading, run_command
from tests.support.served import Outcome


def run(
    file: Path,
    *paths: str,
    least: str = "0",
) -> Outcome:
    """Write the coverage of a command that reads some paths."""
    command = reading(*paths)
    return run_command(
        "exec",
        "--coverage",
        str(file),
        "--coverage-fail-under",
        least,
        "--quiet",
        "--",
        *command,
    )


def coverage_of(*files: str) -> Any:
    """Print the coverage of some files as JSON, with every point."""
    outcome = run_command(
        "coverage",
        *files,
        "--format",
        "json",
        "--all",
    )
    return json.loads(outcome.output)


def first_point(coverage: Any, operation: str) -> Any:
    """The first point of an operation."""
    points = coverage["operations"][operation]["points"]
    return points[0]


@pytest.fixture(scope="module")
def shards(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The coverage of two runs."""
    folder = tmp_path_factory.mktemp("shards")
    first = folder / "one.json"
    second = folder / "two.json"
    run(first, "/v1/team")
    run(second, "/v1/team", "/v1/assets")
    return [str(first), str(second)]


def test_shards_are_shown_together(shards: list[str]) -> None:
    outcome = run_command("coverage", *shards)

    assert outcome.status == 0
    assert "getTeam" in outcome.output
    assert "listAssets" in outcome.output
    assert "% of the contract" in outcome.output


def test_the_counts_of_shards_are_added(shards: list[str]) -> None:
    coverage = coverage_of(*shards)

    reading_the_team = first_point(coverage, "getTeam")
    listing_assets = first_point(coverage, "listAssets")
    assert reading_the_team["covered"] == 2
    assert listing_assets["covered"] == 1


def test_shards_together_are_held_to_a_threshold(shards: list[str]) -> None:
    outcome = run_command("coverage", *shards, "--fail-under", "99")

    assert outcome.status == 1


def test_a_run_is_held_to_a_threshold(tmp_path: Path) -> None:
    outcome = run(tmp_path / "coverage.json", "/v1/team", least="50")

    assert outcome.status == 1


def test_a_file_with_the_suffix_of_a_page_is_one(tmp_path: Path) -> None:
    file = tmp_path / "page.html"

    run(file, "/v1/team")

    page = file.read_text()
    assert page.startswith("<!doctype html>")


def test_a_file_of_an_earlier_version_can_be_merged(
    shards: list[str],
    tmp_path: Path,
) -> None:
    first_shard = Path(shards[0])
    document = json.loads(first_shard.read_text())
    for operation in document["operations"].values():
        for point in operation["points"]:
            point["met"] = point["covered"]
    earlier = tmp_path / "earlier.json"
    earlier.write_text(json.dumps(document))

    coverage = coverage_of(str(earlier))

    point = first_point(coverage, "getTeam")
    assert point == {
        "point": "200",
        "covered": 1,
        "closed_by": {"call": True},
    }


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param("[", id="no JSON"),
        pytest.param("[]", id="a list"),
        pytest.param('{"operations": {"getTeam": 1}}', id="no points"),
        pytest.param('{"operations": {"a": {"points": [{}]}}}', id="an empty point"),
    ],
)
def test_a_file_that_is_no_coverage_is_bad_usage(tmp_path: Path, text: str) -> None:
    file = tmp_path / "bad.json"
    file.write_text(text)

    outcome = run_command("coverage", str(file))

    assert outcome.status == 2
    assert str(file) in outcome.complaint


def test_a_file_that_is_not_there_is_bad_usage(tmp_path: Path) -> None:
    file = tmp_path / "missing.json"

    outcome = run_command("coverage", str(file))

    assert outcome.status == 2
    assert str(file) in outcome.complaint
