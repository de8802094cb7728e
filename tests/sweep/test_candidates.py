"""The cells that a clean run shows, and those that are left out."""

import pytest

from image_workflow_emulator.sweep.candidates import cells_of
from image_workflow_emulator.sweep.journals import Entry
from tests.sweep.values import entry, upload


def reasons(*journal: Entry) -> dict[str, str]:
    """Why each cell is left out, by its text."""
    cells = cells_of({"": [journal]})[""]
    return {str(cell): why for cell, why in cells.items()}


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

    reason_to_leave_out = why["createPose#1:internal_error"]
    assert is_tried == (reason_to_leave_out == "")


OWN_RULE = {"name": "first session has other bytes"}


@pytest.mark.parametrize(
    "failed",
    [
        pytest.param(
            entry("createUpload", 503, code="service_unavailable", rule=OWN_RULE),
            id="refused",
        ),
        pytest.param(
            entry("createUpload", 201, lost=True, rule=OWN_RULE),
            id="lost",
        ),
        pytest.param(entry("createUpload", None, rule=OWN_RULE), id="unanswered"),
    ],
)
def test_no_fault_takes_the_place_of_a_failure_of_the_tests_own_scenario(
    failed: Entry,
) -> None:
    why = reasons(failed, upload())

    assert "own scenario" in why["createUpload#1:rate_limited"]
    assert "own scenario" in why["createUpload#1:lost-after-commit"]
    assert "own scenario" in why["createUpload#1+:rate_limited"]
    assert why["createUpload#2:rate_limited"] == ""


def test_a_call_that_a_rule_of_the_tests_own_scenario_lets_succeed_is_tried() -> None:
    why = reasons(entry("createUpload", 201, rule=OWN_RULE))

    assert why["createUpload#1:rate_limited"] == ""


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
        pytest.param(
            entry("getTeam"),
            {"client:drop-authorization"},
            id="plain read",
        ),
        pytest.param(
            entry("listPoses", query="limit=2"),
            {"client:drop-authorization", "client:drop-query"},
            id="query",
        ),
        pytest.param(
            upload(),
            {
                "client:drop-authorization",
                "client:drop-key",
                "client:new-key",
                "client:one-key",
            },
            id="key",
        ),
        pytest.param(
            entry("getOperation", response_headers={"retry-after": "1"}),
            {"client:drop-authorization", "client:ignore-hint"},
            id="hint",
        ),
    ],
)
def test_a_broken_client_is_tried_where_its_requests_have_what_is_broken(
    request_: Entry,
    possible: set[str],
) -> None:
    why = reasons(request_)

    tried = [cell for cell, reason in why.items() if reason == ""]
    broken_clients = {cell for cell in tried if cell.startswith("client:")}
    assert possible == broken_clients
