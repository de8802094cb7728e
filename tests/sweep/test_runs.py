"""What two runs of a trial are together, and which need no second one."""

import pytest

from image_workflow_emulator.sweep.runs import Outcome, Run, agreed, is_sure
from tests.sweep.values import MADE_LESS, MADE_TWICE, finding, run

LIMITED = "getTeam#1:rate_limited"
FAILED = run(LIMITED, "failed")


@pytest.mark.parametrize(
    ("again", "is_flaky"),
    [
        (run(LIMITED, "survived"), True),
        (run(LIMITED, "failed"), False),
        (run(LIMITED, "failed", struck=False), True),
        (run(LIMITED, "damaged", MADE_TWICE), False),
        (run(LIMITED, "not-struck", struck=False), True),
    ],
)
def test_a_failure_is_flaky_if_its_repetition_does_not_fail_by_the_fault(
    again: Run,
    is_flaky: bool,
) -> None:
    assert is_flaky == agreed(FAILED, again).is_flaky


def test_a_fault_that_had_a_call_at_the_second_attempt_counts() -> None:
    first = run(LIMITED, "not-struck", struck=False)
    second = run(LIMITED, "survived")

    assert second is agreed(first, second)


@pytest.mark.parametrize("outcome", ["survived", "failed"])
def test_a_failure_after_others_of_its_process_is_as_its_repetition(
    outcome: Outcome,
) -> None:
    second = run(LIMITED, outcome)

    assert second is agreed(None, second)


@pytest.mark.parametrize(
    "unsure",
    [
        FAILED,
        run("getTeam#1:cut", "hung"),
        run("createProduct#1:cut", "damaged", MADE_TWICE),
        run("createProduct#1:rate_limited", "damaged", MADE_LESS),
        run("getTeam#1:credential_expired", "failed", struck=False),
    ],
)
def test_what_chance_can_cause_is_tried_again(unsure: Run) -> None:
    assert not is_sure(unsure)


@pytest.mark.parametrize(
    "sure",
    [
        run(LIMITED, "survived"),
        run("getTeam#1:credential_expired", "failed"),
        run("getTeam#1:stall", "hung"),
        run(LIMITED, "damaged", finding("double-spend")),
    ],
)
def test_what_chance_cannot_cause_is_not_tried_again(sure: Run) -> None:
    assert is_sure(sure)
