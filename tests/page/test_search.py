"""The search of the requests: its terms, what it finds, and what it does not take."""

import json
from http.client import HTTPException
from pathlib import Path
from typing import Any

import pytest

from tests.page.browser import Service, Visit, expect, rows_with
from tests.support.emulator_client import UPLOAD

pytestmark = pytest.mark.verify
LOST = (OSError, HTTPException)


@pytest.fixture
def rows(visit: Visit, service: Service) -> Any:
    """The rows of three requests."""
    service.get("/team")
    service.post("/products", {"name": "Linen shirt", "asset_ids": ["ast_unknown"]})
    service.get("/nowhere")
    rows = rows_with(visit.region("Requests"), "00:00:00")
    expect(rows).to_have_count(3)
    return rows


def search(visit: Visit, text: str) -> None:
    field = visit.region("Requests").get_by_label("Search", exact=True)
    field.fill(text)


def test_a_word_of_a_body_that_was_sent_is_found(visit: Visit, rows: Any) -> None:
    search(visit, "linen")

    expect(rows).to_contain_text(["createProduct"])


def test_a_word_of_a_body_that_was_answered_is_found(visit: Visit, rows: Any) -> None:
    search(visit, "subscription_active")

    expect(rows).to_contain_text(["getTeam"])


def test_a_term_finds_the_method(visit: Visit, rows: Any) -> None:
    search(visit, "method:POST")

    expect(rows).to_contain_text(["createProduct"])


def test_what_begins_with_a_minus_is_left_out(visit: Visit, rows: Any) -> None:
    search(visit, "-status:4xx")

    expect(rows).to_contain_text(["getTeam"])


def test_a_word_is_left_out_too(visit: Visit, rows: Any) -> None:
    search(visit, "-linen -nowhere")

    expect(rows).to_contain_text(["getTeam"])


def test_an_unknown_term_is_said_with_those_there_are(visit: Visit, rows: Any) -> None:
    search(visit, "foo:bar")

    complaint = "no term foo: status, op, team, code, rule, method"
    expect(visit.region("Requests")).to_contain_text(complaint)
    expect(rows).to_have_count(0)


def test_a_replay_is_said_in_its_row(visit: Visit, service: Service) -> None:
    for _ in range(2):
        service.post("/uploads", UPLOAD, idempotency_key="same")

    replay = rows_with(visit.region("Requests"), "createUpload").first

    expect(replay.locator(".tag-fate")).to_have_text("replayed")


def test_a_lost_answer_is_said_in_its_row(visit: Visit, service: Service) -> None:
    rule = {
        "match": {"operation": "getTeam"},
        "then": {"network": "reset", "at": "after_commit"},
    }
    service.told("PUT", "/scenario", {"scenario": "lossy", "rules": [rule]})
    with pytest.raises(LOST):
        service.get("/team")

    row = rows_with(visit.region("Requests"), "getTeam")

    expect(row.locator(".tag-fate")).to_have_text("lost")


def test_the_list_is_saved_as_an_http_archive(
    visit: Visit,
    service: Service,
    rows: Any,
) -> None:
    search(visit, "status:4xx")
    expect(rows).to_have_count(2)
    save = visit.region("Requests").get_by_role("button", name="Save as HAR")

    with visit.page.expect_download() as coming:
        save.click()

    file = Path(coming.value.path())
    archive = json.loads(file.read_text(encoding="utf-8"))
    product, nowhere = archive["log"]["entries"]
    request = product["request"]
    assert request["url"] == f"{service.origin}/v1/products"
    assert '"name":"Linen shirt"' in request["postData"]["text"]
    assert product["response"]["status"] == 422
    assert nowhere["response"]["status"] == 404
