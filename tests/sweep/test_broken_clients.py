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
    findings = report.content["findings"]
    messages = {finding["where"]: finding["message"] for finding in findings}
    without_query = messages["client:drop-query"]

    assert 0 == report.status
    assert "listPoses: nobody would notice without limit" in without_query
    assert messages["client:new-key"].startswith("createUpload: ")
    assert messages["client:one-key"].startswith("createUpload: ")


def test_a_test_is_not_blamed_for_what_its_requests_do_not_have(report: Report) -> None:
    outcomes = report.outcomes_by_test
    of_reads = {cell for cell, test in outcomes if test == "test_reads"}

    assert {"client:drop-authorization"} == of_reads
    assert "not-struck" not in outcomes.values()


def test_what_no_test_notices_fails_the_strictest_gate(tmp_path: Path) -> None:
    command = suite(written(tmp_path, SUITE))
    options = ["--only", "client:one-key", "--strict", "all"]

    outcome = sweep(options, command)

    assert 1 == outcome.status


def test_a_test_that_sends_a_write_again_notices_a_new_key(tmp_path: Path) -> None:
    again = """
def test_again(image_workflow):
    first = post(image_workflow)
    second = post(image_workflow)
    assert first["id"] == second["id"]
"""
    command = suite(written(tmp_path, again))
    options = ["--only", "client:new-key"]

    report = report_of(tmp_path, options, command)

    assert {"client:new-key": "noticed"} == report.outcomes
