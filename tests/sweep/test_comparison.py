"""What a run shows beside the clean run."""

from typing import Any

import pytest
from msgspec import structs

from image_workflow_emulator.sweep.comparison import (
    failed_in_vain,
    made_less,
    made_twice,
    outputs_not_taken,
    unrepeated,
)
from image_workflow_emulator.sweep.journals import Entry
from tests.sweep.values import download, entry, product, refused, upload

CELL = "createProduct#1:service_unavailable"
TIMED_OUT = "createPose#1:fail-timed_out"
LOST = product(lost=True, rule={"name": "createProduct#1:lost-after-commit"})
REPLAYED = product(replayed=True, committed=False)
SECOND = product(idempotency_key="b")
DELETED = entry(
    "deleteProduct",
    204,
    method="DELETE",
    committed=True,
)


def generation(**members: Any) -> Entry:
    """A request that orders a Generation."""
    values = {
        "path": "/v1/generations/upscale",
        "committed": True,
        "work": "gen_1",
        **members,
    }
    return entry("createUpscaleGeneration", 202, **values)


def pose(rule: str) -> Entry:
    """A request that orders a pose, to which a rule applied."""
    return entry(
        "createPose",
        202,
        committed=True,
        work="op_1",
        rule={"name": rule},
    )


# More -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "run",
    [
        pytest.param([LOST, SECOND], id="made with a new key"),
        pytest.param([product(), pose("own")], id="more work"),
    ],
)
def test_more_than_the_clean_run_made_is_made_twice(run: list[Entry]) -> None:
    clean = [product()]

    findings = list(made_twice([clean], [run]))

    assert findings


@pytest.mark.parametrize(
    "run",
    [
        pytest.param([LOST, REPLAYED], id="replayed"),
        pytest.param([LOST, SECOND, DELETED], id="deleted again"),
        pytest.param([product(), pose(TIMED_OUT)], id="work in vain"),
    ],
)
def test_what_is_replayed_or_deleted_or_in_vain_is_not_made_twice(
    run: list[Entry],
) -> None:
    clean = [product()]

    findings = list(made_twice([clean], [run]))

    assert [] == findings


def test_tests_that_share_sandboxes_in_another_way_are_not_compared() -> None:
    clean = [[product()], [product()]]
    run = [[product(), product()]]

    findings = list(made_twice(clean, run))

    assert [] == findings


# Less -------------------------------------------------------------------------------


def test_less_than_the_clean_run_made_is_reported_with_the_call_that_is_missing() -> (
    None
):
    clean = [product()]
    run = [refused(product(), CELL)]

    (less,) = made_less([clean], [run], CELL)

    assert "error" == less.severity
    assert "1 Product less than without the fault" in less.message
    assert less.message.endswith(
        "createProduct was answered 503 service_unavailable and never came again"
    )


@pytest.mark.parametrize(
    ("made", "noun"),
    [
        (upload(), "Upload Session"),
        (entry("completeUpload", committed=True), "Asset"),
        (generation(), "Generation"),
        (pose("own"), "Operation"),
    ],
)
def test_less_of_each_kind_is_called_by_its_name(made: Entry, noun: str) -> None:
    clean = [made]
    run: list[Entry] = []

    (less,) = made_less([clean], [run], CELL)

    assert f"1 {noun} less" in less.message


CUT = structs.replace(download(1), lost=True, rule={"name": "download#1:cut"})
RESUMED = structs.replace(download(1), status=206)


def test_a_picture_that_was_cut_off_and_never_fetched_again_is_less() -> None:
    clean = [download(1), download(2)]
    run = [CUT, download(2)]

    (less,) = made_less([clean], [run], "download#1:cut")

    assert "1 download less" in less.message


@pytest.mark.parametrize(
    "later",
    [
        pytest.param(download(1), id="fetched again"),
        pytest.param(RESUMED, id="resumed"),
    ],
)
def test_a_picture_that_was_cut_off_and_came_whole_later_is_there(
    later: Entry,
) -> None:
    clean = [download(1)]
    run = [CUT, later]

    findings = list(made_less([clean], [run], "download#1:cut"))

    assert [] == findings


def test_work_whose_answer_a_fault_replaced_is_there() -> None:
    cell = "createUpscaleGeneration#1:internal_error-after-commit"
    failed = generation(
        code="internal_error",
        response_body={"code": "internal_error"},
        rule={"name": cell},
    )
    replayed = generation(committed=False, replayed=True)
    clean = [generation()]
    run = [failed, replayed]

    findings = list(made_less([clean], [run], cell))

    assert [] == findings


def test_a_product_that_the_clean_run_deletes_is_not_less() -> None:
    clean = [product(), DELETED]
    run = [refused(product(), CELL)]

    findings = list(made_less([clean], [run], CELL))

    assert [] == findings


def test_a_replay_makes_nothing() -> None:
    clean = [product(), product(replayed=True)]
    run = [product()]

    findings = list(made_less([clean], [run], CELL))

    assert [] == findings


# Never again ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "later",
    [
        pytest.param(product(), id="same key"),
        pytest.param(product(idempotency_key="b", request_body={}), id="same body"),
        pytest.param(entry("listProducts", path="/v1/products"), id="listed"),
        pytest.param(entry("getProduct", path="/v1/products/prd_1"), id="read"),
    ],
)
def test_a_post_that_is_sent_again_or_looked_up_is_repeated(later: Entry) -> None:
    clean = [product()]
    failed = refused(product(request_body={}), CELL)
    run = [failed, later]

    given_up = list(unrepeated([clean], [run], CELL))

    assert [] == given_up


def test_a_post_that_is_followed_by_another_is_not_repeated() -> None:
    failed = refused(product(request_body={"name": "Shirt"}), CELL)
    another = product(request_body={"name": "Hat"}, idempotency_key="b")
    clean = [product(), product()]
    run = [failed, another]

    given_up = list(unrepeated([clean], [run], CELL))

    assert [failed] == given_up


def test_a_completion_of_another_upload_session_is_a_repetition() -> None:
    cell = "completeUpload#1:upload_expired"
    first = entry("completeUpload", request_body={"upload_token": "a"})
    second = entry("completeUpload", request_body={"upload_token": "b"})
    clean = [first]
    failed = refused(first, cell, "upload_expired")
    run = [failed, second]

    given_up = list(unrepeated([clean], [run], cell))

    assert [] == given_up


def test_a_post_that_was_answered_late_needs_no_repetition() -> None:
    cell = "createProduct#1:slow"
    clean = [product()]
    slow = product(rule={"name": cell})
    run = [slow]

    given_up = list(unrepeated([clean], [run], cell))

    assert [] == given_up


# Work that failed -------------------------------------------------------------------

COMPLETED = entry("getOperation", response_body={"id": "op_1", "status": "completed"})


def test_work_that_failed_and_that_the_clean_run_saw_completed_failed_in_vain() -> None:
    clean = [pose("own"), COMPLETED]
    failed = pose(TIMED_OUT)
    run = [failed]

    in_vain = list(failed_in_vain([clean], [run], TIMED_OUT))

    assert [failed] == in_vain


@pytest.mark.parametrize(
    ("clean", "later"),
    [
        pytest.param([pose("own")], [], id="not awaited"),
        pytest.param([pose("own"), COMPLETED], [pose("own")], id="ordered again"),
    ],
)
def test_work_that_nobody_awaits_or_that_is_ordered_again_did_not_fail_in_vain(
    clean: list[Entry],
    later: list[Entry],
) -> None:
    run = [pose(TIMED_OUT), *later]

    in_vain = list(failed_in_vain([clean], [run], TIMED_OUT))

    assert [] == in_vain


# Outputs and pages --------------------------------------------------------------------


def downloads(count: int) -> list[Entry]:
    return [download(number) for number in range(count)]


@pytest.mark.parametrize("taken", [0, 2])
def test_outputs_that_are_left_where_another_fails_are_reported(taken: int) -> None:
    clean = downloads(4)
    run = downloads(taken)

    findings = list(outputs_not_taken([clean], [run]))

    assert findings


def test_one_output_less_than_in_the_clean_run_is_the_one_that_fails() -> None:
    clean = downloads(4)
    run = downloads(3)

    findings = list(outputs_not_taken([clean], [run]))

    assert [] == findings


def test_a_client_that_downloads_one_picture_leaves_none() -> None:
    clean = downloads(1)
    run = downloads(0)

    findings = list(outputs_not_taken([clean], [run]))

    assert [] == findings
