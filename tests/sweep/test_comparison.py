"""What a run shows beside the clean run."""

from typing import Any

import pytest

from image_workflow_emulator.sweep.comparison import (
    failed_in_vain,
    made_less,
    made_twice,
    outputs_not_taken,
    unread_pages,
    unrepeated,
)
from image_workflow_emulator.sweep.journals import Entry
from tests.sweep.values import download, entry, product, refused, upload

CELL = "createProduct#1:service_unavailable"
TIMED_OUT = "createPose#1:fail-timed_out"
LOST = product(lost=True, rule={"name": "createProduct#1:lost-after-commit"})
REPLAYED = product(replayed=True, committed=False)
SECOND = product(idempotency_key="b")
DELETED = entry("deleteProduct", 204, method="DELETE", committed=True)


def generation(**members: Any) -> Entry:
    """A request that orders a Generation."""
    path = "/v1/generations/upscale"
    values = {"path": path, "committed": True, "work": "gen_1"}
    return entry("createUpscaleGeneration", 202, **(values | members))


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
    ("journal", "is_more"),
    [
        pytest.param([LOST, REPLAYED], False, id="replayed"),
        pytest.param([LOST, SECOND], True, id="made with a new key"),
        pytest.param([LOST, SECOND, DELETED], False, id="deleted again"),
        pytest.param([product(), pose(TIMED_OUT)], False, id="work in vain"),
        pytest.param([product(), pose("own")], True, id="more work"),
    ],
)
def test_more_than_the_clean_run_made_is_made_twice_unless_deleted_or_in_vain(
    journal: list[Entry],
    is_more: bool,
) -> None:
    findings = list(made_twice([[product()]], [journal]))

    assert is_more == bool(findings)


def test_tests_that_share_sandboxes_in_another_way_are_not_compared() -> None:
    clean = [[product()], [product()]]
    run = [[product(), product()]]

    findings = list(made_twice(clean, run))

    assert [] == findings


# Less -------------------------------------------------------------------------------


def test_less_than_the_clean_run_made_is_reported_with_the_call_that_is_missing() -> (
    None
):
    run = [refused(product(), CELL)]

    (less,) = made_less([[product()]], [run], CELL)

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
        (entry("createPose", 202, committed=True, work="op_1"), "Operation"),
    ],
)
def test_less_of_each_kind_is_called_by_its_name(made: Entry, noun: str) -> None:
    (less,) = made_less([[made]], [[]], CELL)

    assert f"1 {noun} less" in less.message


def test_work_whose_answer_a_fault_replaced_is_there() -> None:
    cell = "createUpscaleGeneration#1:internal_error-after-commit"
    failed = generation(
        code="internal_error",
        response_body={"code": "internal_error"},
        rule={"name": cell},
    )
    replayed = generation(committed=False, replayed=True)
    run = [failed, replayed]

    findings = list(made_less([[generation()]], [run], cell))

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
    run = [refused(product(request_body={}), CELL), later]

    given_up = list(unrepeated([[product()]], [run], CELL))

    assert [] == given_up


def test_a_post_that_is_followed_by_another_is_not_repeated() -> None:
    failed = refused(product(request_body={"name": "Shirt"}), CELL)
    another = product(request_body={"name": "Hat"}, idempotency_key="b")
    clean = [product(), product()]

    given_up = list(unrepeated([clean], [[failed, another]], CELL))

    assert [failed] == given_up


def test_a_completion_of_another_upload_session_is_a_repetition() -> None:
    cell = "completeUpload#1:upload_expired"
    first = entry("completeUpload", request_body={"upload_token": "a"})
    second = entry("completeUpload", request_body={"upload_token": "b"})
    run = [refused(first, cell, "upload_expired"), second]

    given_up = list(unrepeated([[first]], [run], cell))

    assert [] == given_up


def test_a_post_that_was_answered_late_needs_no_repetition() -> None:
    cell = "createProduct#1:slow"
    slow = product(rule={"name": cell})

    given_up = list(unrepeated([[product()]], [[slow]], cell))

    assert [] == given_up


# Work that failed -------------------------------------------------------------------

COMPLETED = entry("getOperation", response_body={"id": "op_1", "status": "completed"})


def test_work_that_failed_and_that_the_clean_run_saw_completed_failed_in_vain() -> None:
    clean = [pose("own"), COMPLETED]
    failed = pose(TIMED_OUT)

    in_vain = list(failed_in_vain([clean], [[failed]], TIMED_OUT))

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


@pytest.mark.parametrize(("taken", "is_reported"), [(3, False), (2, True), (0, True)])
def test_outputs_that_the_clean_run_downloaded_are_downloaded_where_another_fails(
    taken: int,
    is_reported: bool,
) -> None:
    clean = downloads(4)
    run = downloads(taken)

    findings = list(outputs_not_taken([clean], [run]))

    assert is_reported == bool(findings)


def test_a_client_that_downloads_one_picture_leaves_none() -> None:
    findings = list(outputs_not_taken([downloads(1)], [[]]))

    assert [] == findings


HAS_MORE = {"page": {"has_more": True, "next_cursor": "c"}}


def test_a_list_whose_next_page_is_never_read_is_reported() -> None:
    journal = [entry("listPoses", response_body=HAS_MORE)]

    (unread,) = unread_pages([journal], "test_it")

    assert "listPoses" in unread.message
    assert "test_it" == unread.where


def test_a_list_that_is_read_on_is_not_reported() -> None:
    journal = [
        entry("listPoses", response_body=HAS_MORE),
        entry("listPoses", query="after=c", response_body=HAS_MORE),
    ]

    findings = list(unread_pages([journal], "test_it"))

    assert [] == findings
