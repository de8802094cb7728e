"""Work and Gallery as somebody reads them.

What a thing is called, how it ended, and that it holds still.
"""

import re
from typing import Any

import pytest

from tests.page.browser import PHONE, Service, Visit, expect

pytestmark = pytest.mark.verify


def photoshoot_of_a_product(service: Service) -> None:
    seeds = [
        {"product": {"name": "Linen shirt"}},
        {"photoshoot": {"products": ["Linen shirt"]}},
    ]
    service.told("POST", "/given", {"given": seeds})


def test_work_holds_still_under_the_pointer(visit: Visit, service: Service) -> None:
    service.photoshoot()
    region = visit.region("Work")
    articles = region.get_by_role("article")
    articles.first.hover()

    service.photoshoot()

    button = region.get_by_role("button", name="1 new", exact=True)
    expect(button).to_be_visible()
    expect(articles).to_have_count(1)
    button.click()
    expect(articles).to_have_count(2)


def test_work_that_came_is_shown_once_the_pointer_leaves(
    visit: Visit,
    service: Service,
) -> None:
    service.photoshoot()
    region = visit.region("Work")
    region.get_by_role("article").first.hover()
    service.photoshoot()
    expect(region.get_by_role("button", name="1 new", exact=True)).to_be_visible()

    visit.page.mouse.move(5, 5)

    expect(region.get_by_role("article")).to_have_count(2)


def test_the_gallery_holds_still_under_the_pointer(
    visit: Visit,
    service: Service,
) -> None:
    service.photoshoot()
    region = visit.region("Gallery")
    pictures = region.get_by_role("listitem")
    pictures.first.hover()

    service.finish_work()

    expect(region.get_by_role("button", name="4 new", exact=True)).to_be_visible()
    expect(pictures).to_have_count(1)


def test_a_picture_is_a_button_that_opens_it(visit: Visit, service: Service) -> None:
    service.photoshoot()
    picture = visit.region("Gallery").get_by_role("listitem").first

    picture.get_by_role("button", name="Open", exact=True).click()

    expect(visit.page.get_by_role("dialog")).to_be_visible()


@pytest.mark.parametrize("screen", [{}, PHONE], ids=["wide", "phone"])
def test_the_acts_of_a_picture_are_in_one_line_below_it(
    visitor: Any,
    service: Service,
    screen: Any,
) -> None:
    service.photoshoot()
    picture = visitor(**screen).region("Gallery").get_by_role("listitem").first
    expect(picture.get_by_role("img")).to_be_visible()

    frame = picture.get_by_role("button", name="Open", exact=True).bounding_box()
    download = picture.get_by_role("button", name="Download").bounding_box()
    copy = picture.get_by_role("button", name="Copy id").bounding_box()

    assert download["y"] == copy["y"]
    assert download["y"] >= frame["y"] + frame["height"]


def test_a_slot_says_when_it_is_done(visit: Visit, service: Service) -> None:
    service.photoshoot()

    work = visit.region("Work").get_by_role("article")

    expect(work).to_contain_text("done in 6.0 s")
    expect(work).not_to_contain_text("pending in")


def test_a_set_with_failed_slots_says_how_many(visit: Visit, service: Service) -> None:
    service.told("PUT", "/scenario", {"use": "some-outputs-fail"})
    service.photoshoot()
    service.finish_work()

    work = visit.region("Work").get_by_role("article")

    expect(work).to_contain_text("2 of 4 failed")


@pytest.mark.parametrize("region", ["Work", "Gallery"])
def test_an_order_is_called_by_its_product(
    visit: Visit,
    service: Service,
    region: str,
) -> None:
    photoshoot_of_a_product(service)

    headings = visit.region(region).get_by_role("heading", level=3)

    expect(headings.filter(has_text="Linen shirt").first).to_be_visible()


def test_the_facts_of_an_order_begin_with_its_name(
    visit: Visit,
    service: Service,
) -> None:
    given = {"given": [{"pose": {"name": "Arms crossed"}}]}
    service.told("POST", "/given", given)

    facts = visit.region("Work").get_by_role("article").locator(".order div")

    expect(facts.first).to_have_text(re.compile("^Name ?Arms crossed$"))


def test_about_a_product_its_name_is_the_title(visit: Visit, service: Service) -> None:
    photoshoot_of_a_product(service)
    work = visit.region("Work").get_by_role("article").first

    work.get_by_role("link", name="Linen shirt").click()

    title = visit.page.get_by_role("heading", name="About Linen shirt")
    expect(title).to_be_visible()


def test_polls_are_marked_on_the_lane_of_a_slot(visit: Visit, service: Service) -> None:
    generation = service.photoshoot()
    service.told("POST", "/clock/advance", {"seconds": 3})
    service.get(f"/generations/{generation['id']}")

    lane = visit.region("Work").get_by_role("progressbar").first

    expect(lane.locator(".lane-poll")).to_have_attribute(
        "style",
        re.compile(r"--at:\s?0\.500"),
    )
