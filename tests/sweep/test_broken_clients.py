"""`sweep --faults client`: what the tests of a suite notice of a broken client."""

from pathlib import Path

import pytest

from tests.sweep.commands import Report, report_of, suite, sweep, written

SUITE = """
def test_reads(image_workflow):
    get(image_workflow)

def test_writes(image_workflow):
    post(image_workflow)

def test_lists(image_workflow):
    send(image_workflow, "/poses?limit=2")
"""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    folder = tmp_path_factory.mktemp("broken")
    command = suite(written(folder, SUITE))
    return report_of(folder, ["--faults", "client"], command)


def test_a_client_without_keys_or_credential_is_noticed(report: Report) -> None:
    noticed = set()
    for (cell, _), outcome in report.outcomes_by_test.items():
        if outcome == "noticed":
            noticed.add(cell)

    assert {"client:drop-key", "client:drop-authorization"} == noticed


def test_other_defects_are_warnings_that_name_the_operation(report: Report) -> None:
    messages = {row["where"]: row["message"] for row in report.content["findings"]}

    assert 0 == report.status
    assert (
        "listPoses: nobody would notice without limit" in messages["client:drop-query"]
    )
    assert messages["client:new-key"].startswith("createUpload: ")
    assert messages["client:one-key"].startswith("createUpload: ")


def test_a_test_is_not_blamed_for_what_its_requests_do_not_have(report: Report) -> None:
    of_reads = {cell for cell, test in report.outcomes_by_test if test == "test_reads"}

    assert {"client:drop-authorization"} == of_reads
    assert "not-struck" not in report.outcomes_by_test.values()


def test_what_no_test_notices_fails_the_strictest_gate(tmp_path: Path) -> None:
    options = ["--only", "client:one-key", "--strict", "all"]

    outcome = sweep(options, suite(written(tmp_path, SUITE)))

    assert 1 == outcome.status


def test_a_test_that_sends_a_write_again_notices_a_new_key(tmp_path: Path) -> None:
    again = """
def test_again(image_workflow):
    first = post(image_workflow)
    second = post(image_workflow)
    assert first["id"] == second["id"]
"""
    options = ["--only", "client:new-key"]

    report = report_of(tmp_path, options, suite(written(tmp_path, again)))

    assert {"client:new-key": "noticed"} == report.outcomes
