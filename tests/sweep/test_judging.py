"""The outcome of a trial, from what happened in its place."""

import pytest
from msgspec import structs

from image_workflow_emulator.sweep.cells import Cell
from image_workflow_emulator.sweep.evidence import Place
from image_workflow_emulator.sweep.journals import Entry
from image_workflow_emulator.sweep.judging import Judge
from image_workflow_emulator.sweep.runs import Run
from tests.sweep.values import download, entry, finding, place, refused, upload

UNAVAILABLE = "createUpload#1:service_unavailable"
REVOKED = "createUpload#1:credential_revoked"
LOST = "createUpload#1:lost-after-commit"
REFUSED = refused(upload(), UNAVAILABLE)
AGAIN = upload(sequence=3)
LOST_ANSWER = upload(lost=True, rule={"name": LOST})
REVOKED_ANSWER = refused(upload(), REVOKED, "credential_revoked")


def judged(
    cell: str,
    after: Place,
    *,
    test: str = "test_it",
    clean: Place | None = None,
) -> Run:
    """Judge a cell; without another clean run, that one opened one Upload Session."""
    if clean is None:
        clean = place([upload()])
    judge = Judge({test: clean}, ["hedged"])
    status = None
    if after.tests:
        status = after.status
    return judge.judge(Cell.read(cell, test), after, status, 0.1)


def test_a_test_that_passes_with_all_made_survived() -> None:
    after = place([REFUSED, AGAIN])

    run = judged(UNAVAILABLE, after)

    assert "survived" == run.outcome


def test_a_test_that_fails_failed() -> None:
    after = place([REFUSED], status=1)

    run = judged(UNAVAILABLE, after)

    assert "failed" == run.outcome


def test_what_did_not_end_in_time_hung() -> None:
    after = Place(journals=[[REFUSED]], is_recorded=True)

    run = judged(UNAVAILABLE, after)

    assert "hung" == run.outcome


def test_misconduct_with_an_error_is_damage() -> None:
    after = place([REFUSED, AGAIN])
    after.findings.append(finding("double-spend"))

    run = judged(UNAVAILABLE, after)

    assert "damaged" == run.outcome


def test_a_rule_that_is_ignored_is_no_damage() -> None:
    after = place([REFUSED, AGAIN])
    after.findings.append(finding("hedged"))

    run = judged(UNAVAILABLE, after)

    assert "survived" == run.outcome


def with_finding(rule: str, *requests: Entry) -> Place:
    """A place where a test passed, and in which a rule was broken with damage."""
    leaking = place([*requests])
    leaking.findings.append(finding(rule))
    return leaking


def test_misconduct_that_needs_no_fault_is_not_of_the_cell() -> None:
    clean = with_finding("credential-in-request", upload())
    after = with_finding("credential-in-request", REFUSED, AGAIN)

    run = judged(UNAVAILABLE, after, clean=clean)

    assert "survived" == run.outcome
    assert [] == run.findings


def test_misconduct_that_needs_no_fault_hides_no_damage() -> None:
    clean = with_finding("credential-in-request", upload())
    after = with_finding("credential-in-request", REFUSED)

    run = judged(UNAVAILABLE, after, clean=clean)

    assert ["made-less"] == run.errors


# No call ----------------------------------------------------------------------------


def test_a_fault_without_its_call_has_not_survived() -> None:
    after = place([upload()])

    run = judged("createUpload#2:service_unavailable", after)

    assert "not-struck" == run.outcome
    assert not run.struck
    assert "the command did not make the call this time" == run.why


def test_a_call_without_its_fault_went_to_a_sandbox_with_a_scenario_of_its_own() -> (
    None
):
    after = place([upload()])

    run = judged(UNAVAILABLE, after)

    assert "not-struck" == run.outcome
    assert run.why.endswith("went to sandboxes with scenarios of their own")


def test_a_test_that_fails_without_the_fault_is_flaky() -> None:
    after = place([], status=1)

    run = judged(UNAVAILABLE, after)

    assert "failed" == run.outcome
    assert run.is_flaky


def test_a_fault_is_taken_to_have_happened_where_no_journal_is_left() -> None:
    run = judged("createUpload#1:stall", Place())

    assert "hung" == run.outcome
    assert run.struck


# Less -------------------------------------------------------------------------------


def test_a_test_that_passes_with_less_is_damage() -> None:
    after = place([REFUSED])

    run = judged(UNAVAILABLE, after)

    assert "damaged" == run.outcome
    assert run.is_made_less


def test_less_is_no_damage_where_no_client_recovers() -> None:
    after = place([REVOKED_ANSWER])

    run = judged(REVOKED, after)

    assert "survived" == run.outcome


def test_less_is_no_damage_where_the_fault_lasts() -> None:
    lasting = "createUpload#1+:service_unavailable"
    after = place([refused(upload(), lasting)])

    run = judged(lasting, after)

    assert "survived" == run.outcome


def test_less_is_no_damage_where_the_clean_run_did_not_await_a_write() -> None:
    clean = place([upload(abandoned=True), upload()])
    after = place([REFUSED, AGAIN])

    run = judged(UNAVAILABLE, after, clean=clean)

    assert "survived" == run.outcome


def test_less_is_accounted_for_by_an_error() -> None:
    after = place([REFUSED])
    after.findings.append(finding("double-spend"))

    run = judged(UNAVAILABLE, after)

    assert ["double-spend"] == run.errors


@pytest.mark.parametrize(
    ("cell", "failed"),
    [
        pytest.param(REVOKED, REVOKED_ANSWER, id="revoked"),
        pytest.param(LOST, LOST_ANSWER, id="lost"),
    ],
)
def test_a_command_that_ends_with_0_and_never_sends_a_failed_post_again_failed(
    cell: str,
    failed: Entry,
) -> None:
    after = place([failed])

    run = judged(cell, after, test="")

    assert "failed" == run.outcome
    assert "the command ended with 0, and createUpload never came again" == run.why


@pytest.mark.parametrize(
    ("test", "success"),
    [
        pytest.param("", "the command ended with 0", id="command"),
        pytest.param("test_it", "the test passed", id="test"),
    ],
)
def test_a_success_though_the_work_failed_that_was_awaited_is_a_failure(
    test: str,
    success: str,
) -> None:
    cell = "createPose#1:fail-timed_out"
    pose = entry(
        "createPose",
        202,
        committed=True,
        work="op_1",
    )
    failed_pose = structs.replace(pose, rule={"name": cell})
    completed = {"id": "op_1", "status": "completed"}
    end = entry("getOperation", response_body=completed)
    clean = place([pose, end])
    after = place([failed_pose])

    run = judged(cell, after, test=test, clean=clean)

    assert "failed" == run.outcome
    assert f"{success}, though the work of createPose failed" == run.why


# Outputs ----------------------------------------------------------------------------

FAILED_OUTPUT = "createPose#1:output-1-timed_out"
PICTURES = [download(number) for number in range(4)]


@pytest.mark.parametrize(
    ("error", "is_reported"),
    [("KeyError", True), ("AssertionError", False)],
)
def test_a_client_that_crashes_at_a_failed_output_leaves_the_others(
    error: str,
    is_reported: bool,
) -> None:
    admitted = entry("createPose", 202, rule={"name": FAILED_OUTPUT})
    clean = place(PICTURES)
    after = place([admitted], status=1, error=error)

    run = judged(FAILED_OUTPUT, after, clean=clean)

    assert is_reported == run.leaves_outputs


# A broken client ----------------------------------------------------------------------


def test_a_broken_client_that_no_test_notices_lost_its_parameters_unnoticed() -> None:
    cell = "client:drop-query"
    listed = entry(
        "listPoses",
        query="limit=2&after=c",
        rule={"name": cell},
    )
    after = place([listed])

    run = judged(cell, after)

    assert "unnoticed" == run.outcome
    assert {"listPoses": ["after", "limit"]} == run.broken


def test_a_broken_client_that_fails_a_test_is_noticed() -> None:
    cell = "client:drop-key"
    keyless = upload(rule={"name": cell})
    after = place([keyless], status=1)

    run = judged(cell, after)

    assert "noticed" == run.outcome


def test_a_client_that_was_not_broken_is_not_unnoticed() -> None:
    after = place([entry("getTeam")])

    run = judged("client:drop-query", after)

    assert "not-struck" == run.outcome
    assert "no request had what the fault breaks" == run.why
