"""What is to be fixed, each thing once."""

import pytest
from msgspec import structs

from image_workflow_emulator.domain.problems import CATALOGUE
from image_workflow_emulator.sweep.runs import Run
from tests.sweep.values import MADE_LESS, MADE_TWICE, finding, run, swept

NOT_TAKEN = finding("outputs-not-taken", "warning")
DELETIONS = [
    run(f"deleteProduct#1:{fault}", "failed", test="a")
    for fault in ("lost-after-commit", "internal_error", "cut")
]


def test_the_cells_of_an_operation_that_lack_one_habit_are_one_cause() -> None:
    (cause,) = swept(*DELETIONS).causes

    cells = [deletion.cell for deletion in DELETIONS]
    faults = "lost-after-commit, internal_error, cut"
    assert f"deleteProduct: no recovery from {faults}" == cause.summary
    assert cells == cause.cells
    assert ["a"] == cause.tests


def test_a_cause_has_the_command_that_repeats_its_first_cell() -> None:
    (cause,) = swept(*DELETIONS).causes

    assert (
        "image-workflow-emulator sweep --only 'deleteProduct#1:lost-after-commit' "
        "--test a -- pytest"
    ) == cause.command


def test_a_deletion_has_its_own_remedy() -> None:
    (cause,) = swept(*DELETIONS).causes

    assert cause.remedy.endswith("a DELETE that is repeated and finds 404 is done")


LEAK = finding("credential-in-request")
EARLY = finding("retry-before-retry-after")
BROKEN = finding("broken-id")
IN_VAIN = structs.replace(run("createPose#1:fail-timed_out", "failed"), status=0)


@pytest.mark.parametrize(
    ("trial", "sections"),
    [
        (run("createProduct#1:cut", "damaged", MADE_TWICE), "section 1"),
        (run("getTeam#1:cut", "damaged", BROKEN), "section 2"),
        (run("getTeam#1:cut", "failed"), "sections 2 to 4"),
        (run("getTeam#1:cut", "damaged", EARLY), "section 4"),
        (run("createProduct#1:cut", "damaged", MADE_LESS), "section 5"),
        (run("getTeam#1+:rate_limited", "hung"), "section 5"),
        (run("getTeam#1:stall", "hung"), "section 6"),
        (run("createPose#1:fail-timed_out", "hung"), "section 7"),
        (IN_VAIN, "section 7"),
        (run("createPose#1:output-1-timed_out", "failed", NOT_TAKEN), "section 8"),
        (run("updatePose#1:resource_operation_in_progress", "failed"), "section 9"),
        (run("completeUpload#1:upload_expired", "failed"), "section 11"),
        (run("getTeam#1:cut", "damaged", LEAK), "section 12"),
    ],
)
def test_a_cause_names_the_section_of_the_habit_that_is_missing(
    trial: Run,
    sections: str,
) -> None:
    (cause,) = swept(trial).causes

    assert f"docs/survive.md, {sections}" == cause.section


def test_damage_of_two_kinds_at_an_operation_is_two_causes() -> None:
    leaked = run("createProduct#1:cut", "damaged", LEAK)
    twice = run("createProduct#1:lost-after-commit", "damaged", MADE_TWICE)

    first, second = swept(leaked, twice).causes

    assert "createProduct: credential-in-request after cut" == first.summary
    assert "createProduct: made-twice after lost-after-commit" == second.summary


def test_a_cause_says_why_a_success_was_none() -> None:
    success = run("createProduct#1:cut", "failed", why="the command ended with 0")
    success = structs.replace(success, status=0)

    (cause,) = swept(success).causes

    assert "createProduct: the command ended with 0, after cut" == cause.summary


def test_a_remedy_is_in_the_words_of_the_finding_or_of_the_catalogue() -> None:
    twice = run("createProduct#1:cut", "damaged", MADE_TWICE)
    expired = run("completeUpload#1:upload_expired", "failed")

    first, second = swept(twice, expired).causes

    assert "same key" == first.remedy
    assert CATALOGUE["upload_expired"].recovery == second.remedy


def test_the_worst_cause_is_first_and_of_equal_ones_the_most_frequent() -> None:
    ended = swept(
        run("getTeam#1:cut", "failed"),
        *DELETIONS,
        run("getTeam#1:stall", "hung"),
        run("createProduct#1:cut", "damaged", MADE_TWICE),
    )

    first_cells = [cause.cells[0] for cause in ended.causes]
    assert [
        "createProduct#1:cut",
        "getTeam#1:stall",
        "deleteProduct#1:lost-after-commit",
        "getTeam#1:cut",
    ] == first_cells


def test_less_and_a_failure_that_a_command_does_not_report_are_one_cause() -> None:
    less = run("createUpload#1:rate_limited", "damaged", MADE_LESS)
    unreported = run("createUpload#1:cut", "failed")
    unreported = structs.replace(unreported, status=0)

    (cause,) = swept(less, unreported).causes

    habits = "made-less after rate_limited; no recovery from cut"
    assert f"createUpload: {habits}" == cause.summary


def test_a_fault_that_lasts_is_left_out_where_once_is_as_bad() -> None:
    once = run("getTeam#1:stall", "hung")
    lasting = run("getTeam#1+:stall", "hung")

    (cause,) = swept(once, lasting).causes

    assert [once.cell] == cause.cells


def test_a_client_that_never_tries_again_does_not_lack_the_wait_too() -> None:
    never_again = run("updatePose#1:internal_error", "failed")
    not_later = run("updatePose#1:resource_operation_in_progress", "failed")

    (cause,) = swept(never_again, not_later).causes

    assert "docs/survive.md, sections 2 to 4" == cause.section


STALLED = [
    run(f"{operation}#1:stall", "hung")
    for operation in ("getTeam", "listPoses", "createUpload", "getAsset")
]


def test_a_habit_that_three_operations_lack_is_one_cause() -> None:
    (cause,) = swept(*STALLED[:3]).causes

    assert "getTeam, listPoses, createUpload: no end after stall" == cause.summary
    assert 3 == len(cause.cells)


def test_a_joined_cause_names_three_of_its_operations() -> None:
    (cause,) = swept(*STALLED).causes

    assert cause.summary.startswith("getTeam, listPoses, createUpload and 1 more: ")


def test_a_habit_that_two_operations_lack_is_two_causes() -> None:
    causes = swept(*STALLED[:2]).causes

    assert 2 == len(causes)


def test_one_habit_with_several_remedies_is_several_causes() -> None:
    product = run("createProduct#1:cut", "damaged", MADE_TWICE)
    pose = run("createPose#1:cut", "damaged", MADE_TWICE)
    double_spend = structs.replace(finding("double-spend"), remedy="one order")
    spent = run("createUpscaleGeneration#1:cut", "damaged", double_spend)

    causes = swept(product, pose, spent).causes

    assert 3 == len(causes)


# A broken client ----------------------------------------------------------------------


def unnoticed(
    fault: str,
    test: str,
    **broken: list[str],
) -> Run:
    return run(f"client:{fault}", "unnoticed", test=test, broken=broken)


def test_a_finding_about_a_dropped_query_names_operation_and_parameters() -> None:
    without_one = unnoticed("drop-query", "a", listProducts=["limit"])
    without_two = unnoticed("drop-query", "b", listProducts=["after", "limit"])

    (cause,) = swept(without_one, without_two).causes

    assert "listProducts: nobody would notice without limit and after" == cause.summary


def test_an_operation_that_some_test_notices_is_not_named() -> None:
    by_a = run(
        "client:drop-query",
        "noticed",
        test="a",
        broken={"listPoses": []},
    )
    not_by_b = unnoticed(
        "drop-query",
        "b",
        listPoses=["after"],
        listProducts=["limit"],
    )

    (cause,) = swept(by_a, not_by_b).causes

    assert "listProducts: nobody would notice without limit" == cause.summary


def test_a_finding_says_which_tests_alone_can_notice_a_new_key() -> None:
    new_key = unnoticed("new-key", "a", createUpload=[])

    (cause,) = swept(new_key).causes

    assert cause.summary.startswith("createUpload: no test of yours would notice if")
    assert cause.summary.endswith(
        "only a test in which a write is sent again can notice it"
    )


def test_a_client_that_was_not_broken_is_no_cause() -> None:
    untouched = run("client:drop-query", "not-struck", struck=False)

    causes = swept(untouched).causes

    assert [] == causes
