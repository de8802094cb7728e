"""The regions that show what came of requests: work, pictures, findings, coverage."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.page.browser import (
    CLIPBOARD,
    Service,
    Visit,
    button,
    drawn_width,
    expect,
    field,
    group,
    link,
)
from tests.support.emulator_client import UPLOAD
from tests.support.pictures import picture

pytestmark = pytest.mark.verify


# Work ---------------------------------------------------------------------------------


def test_work_fills_slot_by_slot(visit: Visit, service: Service) -> None:
    generation = service.photoshoot()
    service.get(f"/generations/{generation['id']}")
    work = visit.work().filter(has_text=generation["id"])
    images = work.get_by_role("img")
    expect(work).to_contain_text("product_photography")
    expect(work).to_contain_text("reserved 2")
    expect(work).to_contain_text("charged 0")
    expect(images).to_have_count(0)

    visit.press("Clock", "+10 s")
    visit.region("Work")
    title = "Output 1 of 4: Product photography: photoshoot, Demo"
    expect(images.first).to_have_attribute("alt", title)
    assert drawn_width(images.first) > 100

    visit.press("Clock", "Run until idle")
    visit.region("Work")
    timeline = group(work, "Timeline")
    expect(images).to_have_count(4)
    expect(work).to_contain_text("charged 2")
    expect(work).to_contain_text("Aspect ratio")
    expect(timeline).to_contain_text("Retry-After")
    expect(timeline).to_contain_text("2 Credits reserved")


def test_work_is_filtered_by_its_state(visit: Visit, service: Service) -> None:
    service.photoshoot()
    service.finish_work()
    region = visit.region("Work")
    work = region.get_by_role("article")
    expect(work).to_have_count(1)

    field(region, "State").select_option("failed")

    expect(work).to_have_count(0)
    assert visit.page.url.endswith("#work?state=failed")

    button(region, "Remove the filter state failed").click()

    expect(work).to_have_count(1)


def test_work_leads_to_its_request_and_back(visit: Visit, service: Service) -> None:
    service.photoshoot()
    work = visit.work()

    link(work, "Request").click()

    requests = visit.region("Requests")
    expect(requests).to_contain_text("createProductPhotographyGeneration")

    link(requests, "Show the work").click()

    expect(visit.work()).to_have_count(1)


def test_a_failed_slot_says_why_and_whose_rule_it_was(
    visit: Visit,
    service: Service,
) -> None:
    service.use_shipped("some-outputs-fail")
    service.photoshoot()

    visit.press("Clock", "Run until idle")

    work = visit.work().first
    expect(work).to_contain_text("content_rejected")
    expect(work).to_contain_text("timed_out")
    expect(work).to_contain_text("some-outputs-fail.yaml, line")


# Gallery ------------------------------------------------------------------------------

DROPPED_PNG = """
bytes => {
    const transfer = new DataTransfer();
    const file = new File([new Uint8Array(bytes)], "photo.png", {type: "image/png"});
    transfer.items.add(file);
    return transfer;
}
"""


def test_a_picture_is_uploaded_by_the_field(visit: Visit, tmp_path: Path) -> None:
    photo = tmp_path / "photo.png"
    photo.write_bytes(picture(size=(40, 30)))
    region = visit.region("Gallery")

    field(region, "Upload").set_input_files(photo)

    item = region.get_by_role("listitem")
    expect(item).to_contain_text("PNG 40 × 30")
    assert drawn_width(item.get_by_role("img")) == 40


def test_a_picture_is_uploaded_by_dropping_it(visit: Visit) -> None:
    region = visit.region("Gallery")
    data = list(picture(size=(40, 30)))
    transfer = visit.page.evaluate_handle(DROPPED_PNG, data)

    region.dispatch_event("dragover", {"dataTransfer": transfer})
    region.dispatch_event("drop", {"dataTransfer": transfer})

    item = region.get_by_role("listitem")
    expect(item).to_have_count(1)
    expect(item).to_contain_text("PNG 40 × 30")


def test_an_uploaded_file_that_is_no_picture_is_refused(
    visit: Visit,
    tmp_path: Path,
) -> None:
    letter = tmp_path / "letter.png"
    letter.write_bytes(b"Dear all")
    region = visit.region("Gallery")

    field(region, "Upload").set_input_files(letter)

    expect(visit.alert()).to_contain_text("letter.png:")
    visit.complaints.clear()  # the browser's own note of the refusal


def test_a_picture_says_what_was_ordered_and_copies_its_id(
    visitor: Any,
    service: Service,
) -> None:
    visit = visitor(**CLIPBOARD)
    service.photoshoot()
    service.finish_work()
    cards = visit.region("Gallery").get_by_role("article")
    card = cards.filter(has_text="Product photography: photoshoot")
    images = card.get_by_role("listitem")
    expect(card).to_contain_text("1:1 · 1k · png")
    expect(images).to_have_count(4)

    images.first.hover()
    button(images.first, "Copy id").click()

    expect(images.first.locator(".is-done")).to_be_visible()
    assert visit.copied() in images.first.inner_text()


def test_the_large_picture_goes_on_to_the_next_one_and_is_downloaded(
    visit: Visit,
    service: Service,
) -> None:
    service.photoshoot()
    service.finish_work()
    card = visit.region("Gallery").get_by_role("article").first
    card.get_by_role("listitem").first.hover()
    button(card, "Open").first.click()
    dialog = visit.page.get_by_role("dialog")
    link = dialog.get_by_role("link")
    first_id = link.inner_text()

    button(dialog, "Next").click()
    expect(link).not_to_have_text(first_id)

    visit.page.keyboard.press("ArrowLeft")
    expect(link).to_have_text(first_id)

    with visit.page.expect_download() as coming:
        button(dialog, "Download").click()
    assert coming.value.suggested_filename == f"{first_id}.png"


def test_a_first_photoshoot_is_of_the_chosen_team_by_a_key_that_is_active(
    visit: Visit,
    service: Service,
) -> None:
    service.photoshoot()  # of a picture of Demo
    second = service.told("POST", "/teams", {"name": "Second"})
    first_credential = second["credentials"][0]["id"]
    service.told("PATCH", f"/credentials/{first_credential}", {"state": "revoked"})
    service.told("POST", f"/teams/{second['id']}/credentials", {"profile": "full"})
    gallery = visit.region("Gallery")

    field(gallery, "Team").select_option(second["id"])
    visit.press("Gallery", "First photoshoot")
    link(gallery, "Watch them in Work").click()

    newest_work = service.told("GET", "/work")["data"][0]
    assert newest_work["team"]["id"] == second["id"]


# Findings and coverage ----------------------------------------------------------------


def test_a_fault_of_a_client_is_reported_with_its_remedy_and_its_requests(
    visit: Visit,
    service: Service,
) -> None:
    region = visit.region("Conduct")
    expect(region).to_contain_text("Nothing found")

    for size in (5, 20, 30):
        service.post(
            "/uploads",
            UPLOAD | {"size_bytes": size},
            idempotency_key="same",
            headers={"User-Agent": "shop/1"},
        )

    finding = region.get_by_role("article", name="key-reused")
    expect(finding).to_contain_text("warning")
    expect(finding).to_contain_text("Demo, Full · shop/1")
    expect(finding).to_contain_text("Remedy")

    link(finding, "#2").click()

    expect(visit.region("Requests")).to_contain_text("idempotency_key_reused")


def test_coverage_says_what_is_covered_and_what_comes_next(
    visit: Visit,
    service: Service,
) -> None:
    service.get("/team")
    coverage = service.told("GET", "/coverage")
    percent = coverage["percent_of_used"]
    next_gaps = [
        f"{gap['operation']} {gap['point']}: " for gap in coverage["next_gaps"]
    ]

    region = visit.region("Coverage")

    following = region.get_by_text("Close next").locator("..").get_by_role("listitem")
    share = f"{percent} % of what the operations that were used declare"
    expect(region).to_contain_text(share)
    expect(following).to_contain_text(next_gaps)
    expect(region.locator(".dots").first).to_have_attribute("aria-hidden", "true")


def test_the_coverage_of_an_operation_grows_while_it_is_open(
    visit: Visit,
    service: Service,
) -> None:
    service.get("/team")
    region = visit.region("Coverage")
    summary = region.locator("summary").filter(has_text="getTeam")
    points = region.locator("details").get_by_role("listitem")
    successes = points.filter(has_text="200")

    summary.click()
    expect(successes).to_contain_text("covered 1 time")

    service.get("/team")
    expect(successes).to_contain_text("covered 2 times")
    expect(summary).to_be_focused()


def test_a_gap_of_coverage_has_what_closes_it(visit: Visit, service: Service) -> None:
    service.get("/team")
    region = visit.region("Coverage")
    summaries = region.locator("summary")
    points = region.locator("details").get_by_role("listitem")

    summaries.filter(has_text="getTeam").click()
    button(points, "Use problem:rate_limited").click()
    strip = visit.strip()
    expect(strip).to_contain_text("problem:rate_limited")
    refusal = service.get("/team")
    assert refusal.code == "rate_limited"

    button(points, "Open in the editor").first.click()
    editor = field(visit.page, "Scenario file")
    matches = visit.page.locator(".matches")
    expect(editor).to_have_value(re.compile("operation: getTeam"))
    expect(matches).to_contain_text("recent requests that match")

    visit.region("Coverage")
    summaries.filter(has_text="createProduct").first.click()
    link(region, "Try it").first.click()
    visit.page.wait_for_url("**/_emulator/reference#/Products/createProduct")
