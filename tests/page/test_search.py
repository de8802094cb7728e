"""The search of the requests: its terms, what it finds, and what it does not take."""

import json
from http.client import HTTPException
from pathlib import Path
from typing import Any

import pytest

from tests.page.browser import Service, Visit, button, expect, field
from tests.support.emulator_client import UPLOAD

pytestmark = pytest.mark.verify
LOST = (OSError, HTTPException)


@pytest.fixture
def rows(visit: Visit, service: Service) -> Any:
    """The rows of three requests."""
    service.get("/team")
    product = {"name": "Linen shirt", "asset_ids": ["ast_unknown"]}
    service.post("/products", product)
    service.get("/nowhere")
    rows = visit.requests("00:00:00")
    expect(rows).to_have_count(3)
    return rows


def search(visit: Visit, text: str) -> None:
    region = visit.region("Requests")
    field(region, "Search").fill(text)


@pytest.mark.parametrize(
    ("text", "operation"),
    [
        pytest.param("linen", "createProduct", id="a word that was sent"),
        pytest.param("subscription_active", "getTeam", id="a word of an answer"),
        pytest.param("method:POST", "createProduct", id="a method"),
        pytest.param("-status:4xx", "getTeam", id="without a status"),
        pytest.param("-linen -nowhere", "getTeam", id="without words"),
    ],
)
def test_a_search_leaves_the_rows_that_match(
    visit: Visit,
    rows: Any,
    text: str,
    operation: str,
) -> None:
    search(visit, text)

    expect(rows).to_contain_text([operation])


def test_an_unknown_term_is_said_with_those_there_are(visit: Visit, rows: Any) -> None:
    search(visit, "foo:bar")

    complaint = "no term foo: status, op, team, code, rule, method"
    expect(visit.region("Requests")).to_contain_text(complaint)
    expect(rows).to_have_count(0)


def test_a_replay_is_said_in_its_row(visit: Visit, service: Service) -> None:
    for _ in range(2):
        service.post("/uploads", UPLOAD, idempotency_key="same")

    replay = visit.requests("createUpload").first

    expect(replay.locator(".tag-fate")).to_have_text("replayed")


def test_a_lost_answer_is_said_in_its_row(visit: Visit, service: Service) -> None:
    service.use("""
        scenario: lossy
        rules:
          - match:
              operation: getTeam
            then:
              network: reset
              at: after_commit
    """)
    with pytest.raises(LOST):
        service.get("/team")

    row = visit.requests("getTeam")

    expect(row.locator(".tag-fate")).to_have_text("lost")


def test_the_list_is_saved_as_an_http_archive(
    visit: Visit,
    service: Service,
    rows: Any,
) -> None:
    search(visit, "status:4xx")
    expect(rows).to_have_count(2)
    save = button(visit.region("Requests"), "Save as HAR")

    with visit.page.expect_download() as coming:
        save.click()

    file = Path(coming.value.path())
    text = file.read_text(encoding="utf-8")
    archive = json.loads(text)
    product, nowhere = archive["log"]["entries"]
    request = product["request"]
    assert request["url"] == f"{service.origin}/v1/products"
    assert '"name":"Linen shirt"' in request["postData"]["text"]
    assert product["response"]["status"] == 422
    assert nowhere["response"]["status"] == 404
