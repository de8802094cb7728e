"""Which cells are tried, in which order, and in which test."""

from collections.abc import Mapping

from image_workflow_emulator.sweep.cells import Cell
from image_workflow_emulator.sweep.planning import Plan, choose
from tests.sweep.values import cells

READS = cells("getTeam#1", "getTeam#2")
WRITES = cells("createPose#1", "createPose#2")
HOPELESS = cells(
    "getTeam#1",
    "createPose#1",
    fault="credential_expired",
)


def chosen(cells_of_a_test: Mapping[Cell, str], only: str | None = None) -> Plan:
    """Choose among the cells of one test."""
    return choose({"": cells_of_a_test}, only, ())


def tried(plan: Plan) -> list[str]:
    """The cells of a plan as text, in their order."""
    return [str(cell) for cell in plan.cells]


def test_the_first_cell_of_each_class_is_tried_the_one_that_costs_most_first() -> None:
    plan = chosen(READS | WRITES)

    assert [
        "createPose#1:rate_limited",
        "getTeam#1:rate_limited",
    ] == tried(plan)
    assert list(READS) == plan.classes["getTeam:rate_limited"]


def test_what_no_client_recovers_from_is_tried_once() -> None:
    plan = chosen(HOPELESS)

    reasons = set(plan.left_out.values())
    assert ["createPose#1:credential_expired"] == tried(plan)
    assert {"a similar call is tried"} == reasons


def test_all_faults_are_tried_at_all_calls_if_that_is_asked_for() -> None:
    every = READS | WRITES | HOPELESS

    plan = choose({"": every}, None, ("all",))

    assert len(every) == len(plan.cells)


def test_a_glob_selects_the_cells() -> None:
    plan = chosen(READS | WRITES, "getTeam#2:rate*")

    assert ["getTeam#2:rate_limited"] == tried(plan)


def test_a_cell_that_is_left_out_is_tried_if_it_is_named_in_full() -> None:
    cell = "getTeam#1:lost-after-commit"
    left_out = {Cell.read(cell): "a read commits nothing"}

    by_glob = chosen(left_out, "getTeam#1:lost-*")
    by_name = chosen(left_out, cell)

    assert [] == tried(by_glob)
    assert [cell] == tried(by_name)


def test_each_fault_that_lasts_is_tried_at_one_call_and_one_at_each_operation() -> None:
    limited = cells("createPose#1+", "getTeam#1+")
    failing = cells("createPose#1+", "getTeam#1+", fault="internal_error")

    plan = chosen(limited | failing)

    assert {
        "createPose#1+:rate_limited",
        "getTeam#1+:rate_limited",
        "createPose#1+:internal_error",
    } == set(tried(plan))


def test_each_failure_of_work_is_tried_once_and_one_at_each_operation() -> None:
    calls = ("createPose#1", "createBackground#1")
    late = cells(*calls, fault="fail-timed_out")
    broken = cells(*calls, fault="fail-processing_failed")

    plan = chosen(late | broken)

    first_failure = [cell for cell in tried(plan) if cell.endswith("timed_out")]
    assert {
        "createBackground#1:fail-timed_out",
        "createPose#1:fail-timed_out",
    } == set(first_failure)
    assert 3 == len(plan.cells)


def test_each_class_goes_to_the_test_that_has_fewest() -> None:
    limited = cells("getTeam#1")
    failing = cells("getTeam#1", fault="internal_error")
    cells_by_test = {
        "a": limited | failing,
        "b": limited,
        "c": limited,
    }

    plan = choose(cells_by_test, None, ())

    test_by_fault = {trial.fault: trial.test for trial in plan.cells}
    assert {"internal_error": "a", "rate_limited": "b"} == test_by_fault


def test_a_cell_that_a_glob_selects_is_tried_in_every_test() -> None:
    cells_by_test = {"a": READS, "b": READS}

    plan = choose(cells_by_test, "getTeam#1:*", ())

    tests = [trial.test for trial in plan.cells]
    assert ["a", "b"] == tests
