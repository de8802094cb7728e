"""Work and Gallery as somebody reads them.

What a thing is called, how it ended, and that it holds still.
"""

import re
from typing import Any

import pytest

from tests.page.browser import (
    Service,
    Visit,
    button,
    expect,
    heading,
    link,
    on_each_screen,
)

pytestmark = pytest.mark.verify


def photoshoot_of_a_product(service: Service) -> None:
    service.given(
        {"product": {"name": "Linen shirt"}},
        {"photoshoot": {"products": ["Linen shirt"]}},
    )


def test_work_holds_still_under_the_pointer(visit: Visit, service: Service) -> None:
    service.photoshoot()
    region = visit.region("Work")
    articles = region.get_by_role("article")
    articles.first.hover()

    service.photoshoot()

    one_new = button(region, "1 new")
    expect(one_new).to_be_visible()
    expect(articles).to_have_count(1)
    one_new.click()
    expect(articles).to_have_count(2)


def test_work_that_came_is_shown_once_the_pointer_leaves(
    visit: Visit,
    service: Service,
) -> None:
    service.photoshoot()
    region = visit.region("Work")
    region.get_by_role("article").first.hover()
    service.photoshoot()
    expect(button(region, "1 new")).to_be_visible()

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

    expect(button(region, "4 new")).to_be_visible()
    expect(pictures).to_have_count(1)


def test_a_picture_is_a_button_that_opens_it(visit: Visit, service: Service) -> None:
    service.photoshoot()
    picture = visit.pictures().first

    button(picture, "Open").click()

    expect(visit.page.get_by_role("dialog")).to_be_visible()


@on_each_screen
def test_the_acts_of_a_picture_are_in_one_line_below_it(
    visitor: Any,
    service: Service,
    screen: Any,
) -> None:
    service.photoshoot()
    visit = visitor(**screen)
    picture = visit.pictures().first
    expect(picture.get_by_role("img")).to_be_visible()

    frame = button(picture, "Open").bounding_box()
    download = button(picture, "Download").bounding_box()
    copy = button(picture, "Copy id").bounding_box()

    assert download["y"] == copy["y"]
    assert download["y"] >= frame["y"] + frame["height"]


def test_a_slot_says_when_it_is_done(visit: Visit, service: Service) -> None:
    service.photoshoot()

    work = visit.work()

    expect(work).to_contain_text("done in 6.0 s")
    expect(work).not_to_contain_text("pending in")


def test_a_set_with_failed_slots_says_how_many(visit: Visit, service: Service) -> None:
    service.use_shipped("some-outputs-fail")
    service.photoshoot()
    service.finish_work()

    work = visit.work()

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
    service.given({"pose": {"name": "Arms crossed"}})

    facts = visit.work().locator(".order div")

    expect(facts.first).to_have_text(re.compile("^Name ?Arms crossed$"))


def test_about_a_product_its_name_is_the_title(visit: Visit, service: Service) -> None:
    photoshoot_of_a_product(service)
    work = visit.work().first

    link(work, "Linen shirt").click()

    title = heading(visit.page, "About Linen shirt")
    expect(title).to_be_visible()


def test_polls_are_marked_on_the_lane_of_a_slot(visit: Visit, service: Service) -> None:
    generation = service.photoshoot()
    service.advance(3)
    service.get(f"/generations/{generation['id']}")

    lane = visit.region("Work").get_by_role("progressbar").first

    expect(lane.locator(".lane-poll")).to_have_attribute(
        "style",
        re.compile(r"--at:\s?0\.500"),
    )
