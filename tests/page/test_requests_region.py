"""The region of requests: its rows, its details, its search and what it sends."""

import re
from typing import Any

import pytest

from tests.page.browser import (
    Service,
    Visit,
    button,
    expect,
    field,
    group,
    link,
    on_each_screen,
    rows_with,
)
from tests.support.emulator_client import UPLOAD

pytestmark = pytest.mark.verify


def test_a_request_opens_with_its_reason_and_remedy(
    visit: Visit,
    service: Service,
) -> None:
    service.post("/products", {"name": "Shirt"})
    region = visit.region("Requests")
    row = rows_with(region, "createProduct")
    expect(row).to_contain_text("422")
    expect(row).to_contain_text("invalid_input")
    expect(row).to_contain_text("Demo")

    row.click()

    body = group(region, "Request body")
    expect(region).to_contain_text("Remedy")
    expect(region).to_contain_text("Asset ids: found nothing")
    expect(region.locator(".check-decided")).to_contain_text("decided")
    expect(body).to_contain_text('"name": "Shirt"')


def test_a_request_leads_to_its_operation_in_the_reference(
    visit: Visit,
    service: Service,
) -> None:
    service.post("/products", {"name": "Shirt"})
    region = visit.opened_request("createProduct")

    link(region, "In the reference").click()

    visit.page.wait_for_url("**/_emulator/reference#/Products/createProduct")


@on_each_screen
def test_rows_are_reached_opened_and_closed_by_keyboard(
    visitor: Any,
    service: Service,
    screen: Any,
) -> None:
    visit = visitor(**screen)
    for _ in range(3):
        service.get("/team")
    region = visit.region("Requests")
    keyboard = visit.page.keyboard
    details = visit.details()
    expect(rows_with(region, "getTeam")).to_have_count(3)

    region.locator("[data-key='3']").focus()
    keyboard.press("ArrowDown")
    keyboard.press("Enter")

    expect(details).to_contain_text("GET /v1/team")
    assert visit.page.url.endswith("#requests/2")

    keyboard.press("Escape")

    expect(details).to_be_hidden()
    expect(region.locator("[data-key='2']")).to_be_focused()


def test_arrow_keys_move_what_is_open_and_enter_leads_into_the_details(
    visit: Visit,
    service: Service,
) -> None:
    for _ in range(2):
        service.get("/team")
    region = visit.region("Requests")
    details = visit.details()
    region.locator("[data-key='2']").click()
    expect(details).to_be_visible()

    visit.page.keyboard.press("ArrowDown")

    older_row = region.locator("[data-key='1']")
    expect(older_row).to_have_attribute("aria-selected", "true")

    visit.page.keyboard.press("Enter")

    credential = link(details, "Full (iwe_de…)")
    expect(details).to_be_focused()
    expect(credential).to_have_attribute("href", "#teams")


def test_an_empty_journal_shows_a_first_request_with_a_key_that_is_active(
    visit: Visit,
    service: Service,
) -> None:
    region = visit.region("Requests")
    expect(region).to_contain_text("curl -H 'Authorization: Bearer iwe_demo_full'")
    team = service.team()
    first = team["credentials"][0]
    second = service.told(
        "POST",
        f"/teams/{team['id']}/credentials",
        {"profile": "full"},
    )

    service.told("PATCH", f"/credentials/{first['id']}", {"state": "revoked"})
    visit.press_twice("Requests", "Clear")

    expect(region).to_contain_text(f"curl -H 'Authorization: Bearer {second['key']}'")


SEARCHES = [
    ("status:422", ["createProduct"]),
    ("op:getTeam team:Demo", ["getTeam"]),
    ("nowhere", ["GET /v1/nowhere"]),
    ("op:team status:4xx", []),
    ("", ["GET /v1/nowhere", "createProduct", "getTeam"]),
    ("status:4xx", ["GET /v1/nowhere", "createProduct"]),
]
"""Texts of the search field, each with the rows that it leaves."""


def test_a_search_narrows_the_list_and_lives_in_the_address(
    visit: Visit,
    service: Service,
) -> None:
    service.get("/team")
    service.post("/products", {})
    service.get("/nowhere")
    region = visit.region("Requests")
    rows = rows_with(region, "00:00:00")
    search = field(region, "Search")

    for text, expected_rows in SEARCHES:
        search.fill(text)
        expect(rows).to_contain_text(expected_rows)
        expect(rows).to_have_count(len(expected_rows))

    visit.page.reload()
    expect(search).to_have_value("status:4xx")
    expect(rows).to_have_count(2)

    button(region, "Remove the filter status 4xx").click()
    expect(rows).to_have_count(3)


def test_a_search_that_cannot_be_read_says_what_is_expected(visit: Visit) -> None:
    region = visit.region("Requests")

    field(region, "Search").fill("status:abc")

    expect(region).to_contain_text("status:abc: expected a status such as 402")


def test_a_slash_leads_to_the_search_from_any_region(visit: Visit) -> None:
    search = field(visit.region("Requests"), "Search")
    visit.page.get_by_role("tab", name="Work").click()

    visit.page.keyboard.press("/")

    expect(search).to_be_focused()


def test_the_title_and_the_icon_tell_of_failures(
    visit: Visit,
    service: Service,
) -> None:
    expect(visit.page).to_have_title("Image Workflow Emulator")

    service.get("/team")
    service.post("/products", {})
    service.get("/nowhere")

    icon = visit.page.locator("#icon")
    expect(visit.page).to_have_title("(2) Image Workflow Emulator")
    expect(icon).to_have_attribute("href", re.compile("icon-failures.svg$"))


def test_rows_hold_still_while_one_is_pointed_at_or_open(
    visit: Visit,
    service: Service,
) -> None:
    service.get("/team")
    region = visit.region("Requests")
    rows = rows_with(region, "00:00:00")
    twelve_new = button(region, "12 new")
    one_new = button(region, "1 new")

    rows.first.hover()
    for _ in range(12):
        service.get("/assets")
    expect(twelve_new).to_be_visible()
    expect(rows).to_have_count(1)
    twelve_new.click()
    expect(rows).to_have_count(13)

    rows.first.click()
    visit.page.mouse.move(5, 5)
    service.get("/poses")
    expect(one_new).to_be_visible()
    expect(rows).to_have_count(13)

    button(region, "Close").click()
    visit.page.mouse.move(5, 5)
    expect(rows_with(region, "listPoses")).to_be_visible()


def test_an_id_that_was_sent_in_a_body_leads_to_all_about_it(
    visit: Visit,
    service: Service,
) -> None:
    generation = service.photoshoot()
    assets = service.told("GET", "/assets")["data"]
    asset_id = assets[0]["id"]
    region = visit.region("Requests")

    field(region, "Search").fill(asset_id)
    expect(rows_with(region, "createProductPhotography")).to_be_visible()
    link(region, asset_id).click()

    about_asset = visit.about(asset_id)
    expect(about_asset.get_by_role("img").first).to_be_visible()
    expect(rows_with(about_asset, "createProductPhotography")).to_be_visible()

    work = about_asset.get_by_role("article")
    link(work, generation["id"]).click()

    about_generation = visit.about(generation["id"])
    expect(about_generation).to_contain_text("reserved 2")

    visit.page.reload()
    expect(about_generation).to_contain_text("photoshoot")
    expect(rows_with(about_generation, "createProductPhotography")).to_be_visible()


def test_a_replay_leads_to_its_original(visit: Visit, service: Service) -> None:
    for _ in range(2):
        service.post("/uploads", UPLOAD, idempotency_key="same")
    replay = visit.opened_request("replayed")

    link(replay, "Original").click()

    visit.page.wait_for_url("**#requests/1")


def test_a_request_is_sent_again_as_a_replay_or_changed(
    visit: Visit,
    service: Service,
) -> None:
    service.post("/uploads", UPLOAD, idempotency_key="first")
    region = visit.opened_request("createUpload")
    button(region, "Send again").click()
    key = field(region, "Idempotency-Key")
    credential = field(region, "Credential")
    first_answer = group(region, "First answer")
    new_answer = group(region, "New answer")
    expect(key).to_have_value("first")

    credential.select_option("iwe_demo_full")
    button(region, "Send").click()
    expect(new_answer).to_contain_text("a replay")

    field(region, "Body").fill("{}")
    expect(key).not_to_have_value("first")
    credential.select_option("iwe_demo_read")
    button(region, "Send").click()
    differences = new_answer.locator("mark")
    expect(differences.filter(has_text="permission_denied")).to_be_visible()
    expect(new_answer).not_to_contain_text("a replay")
    expect(first_answer).to_contain_text("201")
    visit.complaints.clear()  # the browser's own note of the 403


def test_two_requests_are_compared_with_their_differences_marked(
    visit: Visit,
    service: Service,
) -> None:
    service.post("/uploads", UPLOAD, idempotency_key="first")
    service.post("/uploads", UPLOAD | {"size_bytes": 9}, idempotency_key="first")
    service.get("/team")
    region = visit.opened_request("idempotency_key_reused")

    button(region, "Compare").click()

    first_request = group(region, "Request 1")
    differences = first_request.locator("mark")
    expect(differences.filter(has_text='"size_bytes": 5')).to_be_visible()
    same_key = differences.filter(has_text="Idempotency-Key: first")
    expect(same_key).to_have_count(0)

    field(region, "With").select_option("3")

    third_request = group(region, "Request 3")
    expect(third_request).to_contain_text("GET /v1/team")
