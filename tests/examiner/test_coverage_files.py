"""Files of coverage: written by a run, merged, shown and held to a threshold."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import reading, run_command
from tests.support.served import Outcome


def run(file: Path, *paths: str, least: str = "0") -> Outcome:
    """Write the coverage of a command that reads some paths."""
    options = ("--coverage", str(file), "--coverage-fail-under", least, "--quiet")
    return run_command("exec", *options, "--", *reading(*paths))


@pytest.fixture(scope="module")
def shards(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The coverage of two runs."""
    folder = tmp_path_factory.mktemp("shards")
    run(folder / "one.json", "/v1/team")
    run(folder / "two.json", "/v1/team", "/v1/assets")
    return [str(folder / "one.json"), str(folder / "two.json")]


def test_shards_are_shown_together(shards: list[str]) -> None:
    outcome = run_command("coverage", *shards)

    assert outcome.status == 0
    assert "getTeam" in outcome.output
    assert "listAssets" in outcome.output
    assert "% of the contract" in outcome.output


def test_the_counts_of_shards_are_added(shards: list[str]) -> None:
    outcome = run_command("coverage", *shards, "--format", "json", "--all")

    operations = json.loads(outcome.output)["operations"]
    assert operations["getTeam"]["points"][0]["covered"] == 2
    assert operations["listAssets"]["points"][0]["covered"] == 1


def test_shards_together_are_held_to_a_threshold(shards: list[str]) -> None:
    assert run_command("coverage", *shards, "--fail-under", "99").status == 1


def test_a_run_is_held_to_a_threshold(tmp_path: Path) -> None:
    assert run(tmp_path / "coverage.json", "/v1/team", least="50").status == 1


def test_a_file_with_the_suffix_of_a_page_is_one(tmp_path: Path) -> None:
    run(tmp_path / "page.html", "/v1/team")

    assert (tmp_path / "page.html").read_text().startswith("<!doctype html>")


def test_a_file_of_an_earlier_version_can_be_merged(
    shards: list[str],
    tmp_path: Path,
) -> None:
    document = json.loads(Path(shards[0]).read_text())
    for operation in document["operations"].values():
        for point in operation["points"]:
            point["met"] = point["covered"]
    earlier = tmp_path / "earlier.json"
    earlier.write_text(json.dumps(document))

    outcome = run_command("coverage", str(earlier), "--format", "json", "--all")

    point = first_point(outcome, "getTeam")
    assert point == {"point": "200", "covered": 1, "closed_by": {"call": True}}


def first_point(outcome: Outcome, operation: str) -> Any:
    return json.loads(outcome.output)["operations"][operation]["points"][0]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[",
        "[]",
        '{"operations": {"getTeam": 1}}',
        '{"operations": {"a": {"points": [{}]}}}',
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
