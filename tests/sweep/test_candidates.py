"""The cells that a clean run shows, and those that are left out."""

import pytest

from image_workflow_emulator.sweep.candidates import cells_of
from image_workflow_emulator.sweep.journals import Entry
from tests.sweep.values import entry, upload


def reasons(*journal: Entry) -> dict[str, str]:
    """Why each cell is left out, by its text."""
    return {str(cell): why for cell, why in cells_of({"": [journal]})[""].items()}


def test_a_call_that_was_refused_is_not_tried_with_a_later_check() -> None:
    why = reasons(entry("createPose", 422, code="invalid_input"))

    assert "before that is checked" in why["createPose#1:insufficient_credits"]
    assert "" == why["createPose#1:rate_limited"]


@pytest.mark.parametrize(
    ("code", "is_tried"),
    [("invalid_input", False), ("not_found", True)],
)
def test_an_internal_error_is_tried_where_the_call_comes_to_its_operation(
    code: str,
    is_tried: bool,
) -> None:
    why = reasons(entry("createPose", 422, code=code))

    assert is_tried == (not why["createPose#1:internal_error"])


def test_a_read_is_not_tried_with_a_loss_after_its_commit() -> None:
    why = reasons(entry("getTeam"))

    assert "a read commits nothing" in why["getTeam#1:lost-after-commit"]


def test_a_fault_lasts_only_where_a_client_could_recover_from_it_once() -> None:
    why = reasons(entry("getTeam"))

    assert "getTeam#1+:rate_limited" in why
    assert "getTeam#1+:credential_revoked" not in why


@pytest.mark.parametrize(
    ("request_", "possible"),
    [
        (entry("getTeam"), {"drop-authorization"}),
        (entry("listPoses", query="limit=2"), {"drop-authorization", "drop-query"}),
        (upload(), {"drop-authorization", "drop-key", "new-key", "one-key"}),
        (
            entry("getOperation", response_headers={"retry-after": "1"}),
            {"drop-authorization", "ignore-hint"},
        ),
    ],
)
def test_a_broken_client_is_tried_where_its_requests_have_what_is_broken(
    request_: Entry,
    possible: set[str],
) -> None:
    why = reasons(request_)

    tried = {cell for cell in why if cell.startswith("client:") and not why[cell]}
    assert {f"client:{fault}" for fault in possible} == tried
