"""The report of a sweep: its status, its sentence, and what it has for programs."""

from itertools import chain

import pytest
from msgspec import structs

from image_workflow_emulator.report import Report, ReportFinding
from image_workflow_emulator.sweep.gate import Expectation, Gate, Strictness
from image_workflow_emulator.sweep.runs import Run
from image_workflow_emulator.sweep.sweep_report import report_of
from tests.sweep.values import MADE_LESS, finding, run, swept

SURVIVED = run("getTeam#1:internal_error", "survived")
OWN_SCENARIO = "the command's requests went to sandboxes with scenarios of their own"
NOT_STRUCK = run(
    "getTeam#1:cut",
    "not-struck",
    struck=False,
    why=OWN_SCENARIO,
)
LEFT = "createUpload#1:rate_limited"


# What was not tried -----------------------------------------------------------------


def test_a_sweep_that_left_cells_is_incomplete() -> None:
    gate = Gate(least_percent=100.0)
    incomplete = swept(SURVIVED, gate=gate, without_run=LEFT)

    report = report_of(incomplete)

    assert 3 == report.status
    assert not report.ok


def test_a_sweep_that_left_cells_is_complete_where_fewer_suffice() -> None:
    gate = Gate(least_percent=50.0)
    incomplete = swept(SURVIVED, gate=gate, without_run=LEFT)

    report = report_of(incomplete)

    assert 0 == report.status
    assert report.ok


def test_what_was_not_tried_is_listed_with_the_reason() -> None:
    incomplete = swept(SURVIVED, without_run=LEFT)

    report = report_of(incomplete)

    row = {
        "cell": LEFT,
        "test": "",
        "why": "it was stopped",
    }
    assert [row] == report.details["not_run"]
    assert (
        "incomplete: 1 cell not tried, since it was stopped; "
        "50 % of the classes were tried" in report.summary
    )


def test_a_fault_without_a_call_counts_as_not_tried() -> None:
    report = report_of(swept(SURVIVED, NOT_STRUCK))

    counts = report.counts
    (row,) = report.details["not_run"]
    assert 3 == report.status
    assert 1 == counts["not-struck"]
    assert 1 == counts["not_run"]
    assert 1 == counts["survived"]
    assert OWN_SCENARIO == row["why"]


def test_a_failure_that_a_command_hides_does_not_count_as_right() -> None:
    reported = run("getTeam#1:credential_revoked", "failed")
    hidden = structs.replace(reported, status=0)

    report_of_reported = report_of(swept(reported))
    report_of_hidden = report_of(swept(hidden))

    assert "1 failed by faults that no client can mend" in report_of_reported.summary
    assert "that no client can mend" not in report_of_hidden.summary
    (finding,) = report_of_hidden.findings
    assert "failed" == finding.rule


def test_a_sweep_without_any_fault_says_why_and_has_a_status_of_its_own() -> None:
    report = report_of(swept(NOT_STRUCK))

    assert 2 == report.status
    assert 0 == report.counts["survived"]
    assert f"1 cell not tried, since {OWN_SCENARIO}" in report.summary


def test_a_shard_without_any_fault_did_its_part() -> None:
    shard = swept(NOT_STRUCK)
    shard.shard = "1/2"

    report = report_of(shard)

    assert 0 == report.status


# What is printed ----------------------------------------------------------------------


def rows(report: Report) -> list[object]:
    """The rows of all tables."""
    of_tables = [table.rows for table in report.tables]
    return list(chain.from_iterable(of_tables))


def test_the_table_has_only_what_did_not_survive() -> None:
    failed = run("getTeam#1:rate_limited", "failed")

    report = report_of(swept(SURVIVED, failed))

    (row,) = rows(report)
    assert ["getTeam", "failed", "rate_limited"] == row


def test_a_sweep_that_survived_has_no_table() -> None:
    report = report_of(swept(SURVIVED))

    assert [] == rows(report)


def test_failures_that_no_client_can_mend_or_that_last_are_a_count() -> None:
    lasting = run("getTeam#1+:rate_limited", "failed")
    hopeless = run("getTeam#1:credential_revoked", "failed")

    report = report_of(swept(SURVIVED, lasting, hopeless))

    assert [] == rows(report)
    assert "2 failed by faults that no client can mend, or that last" in report.summary


# Conduct ------------------------------------------------------------------------------


GAVE_UP = finding("gave-up-on-retryable", "warning")


def reported_conduct(*runs: Run) -> list[ReportFinding]:
    """The findings that say that a client gave up."""
    report = report_of(swept(*runs))
    return [finding for finding in report.findings if finding.rule == GAVE_UP.rule]


def test_misconduct_in_cells_that_survived_is_a_finding_once() -> None:
    read = run("getTeam#1:rate_limited", "survived", GAVE_UP)
    listing = run("listPoses#1:rate_limited", "survived", GAVE_UP)

    (gave_up,) = reported_conduct(read, listing)

    assert "warning" == gave_up.severity
    assert "getTeam#1:rate_limited, listPoses#1:rate_limited" == gave_up.where


@pytest.mark.parametrize(
    "excused",
    [
        pytest.param(
            run("getTeam#1:rate_limited", "failed", GAVE_UP),
            id="a cause",
        ),
        pytest.param(
            run("getTeam#1+:rate_limited", "survived", GAVE_UP),
            id="lasting",
        ),
        pytest.param(
            run("client:drop-key", "unnoticed", GAVE_UP),
            id="broken client",
        ),
    ],
)
def test_misconduct_is_no_finding_if_a_cause_or_the_fault_explains_it(
    excused: Run,
) -> None:
    findings = reported_conduct(excused)

    assert [] == findings


# Severities -------------------------------------------------------------------------


def test_damage_is_an_error() -> None:
    damaged = run("createProduct#1:cut", "damaged", MADE_LESS)

    report = report_of(swept(damaged))

    (finding,) = report.findings
    assert 1 == report.status
    assert "error" == finding.severity
    assert "createProduct: made-less after cut" == finding.message


@pytest.mark.parametrize(("strict", "status"), [("off", 0), ("all", 1)])
def test_what_no_test_notices_fails_the_strictest_gate_alone(
    strict: Strictness,
    status: int,
) -> None:
    unnoticed = run(
        "client:one-key",
        "unnoticed",
        broken={"createUpload": []},
    )
    ended = swept(unnoticed, gate=Gate(strict))

    report = report_of(ended)

    assert status == report.status


def test_an_expectation_that_did_not_come_true_is_listed() -> None:
    unused = Expectation("getTeam#1:*", "failed", "no retry yet")
    gate = Gate("off", (unused,))
    ended = swept(SURVIVED, gate=gate)

    report = report_of(ended)

    (listed,) = report.details["unused_expectations"]
    assert unused.cell == listed["cell"]


def test_damage_that_needs_no_fault_fails_the_sweep() -> None:
    leak = finding("credential-in-request")
    ended = swept(SURVIVED)
    ended.clean_findings = [leak]

    report = report_of(ended)

    assert 1 == report.status
    assert leak in report.findings
