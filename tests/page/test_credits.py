"""Credits on the page: the ledger of a Team, and the way out of a 402."""

import re
from typing import Any

import pytest

from tests.page.browser import Service, Visit, button, expect, field, group

pytestmark = pytest.mark.verify


@pytest.fixture
def refused(visit: Visit, service: Service) -> Any:
    """The details of a request that two Credits could not pay for."""
    service.set_credits(2)
    (product,) = service.given({"product": {"name": "Shirt"}})
    order = {
        "product_ids": [product["id"]],
        "output_mode": "single_shots",
        "image_count": 6,
    }
    path = "/generations/product-photography"
    service.post(path, order, idempotency_key="first")
    return visit.opened_request("insufficient_credits")


def about_team(visit: Visit) -> Any:
    visit.follow("Teams", "Demo")
    return visit.page.get_by_role("region", name=re.compile("^About team_"))


def changes(about: Any) -> Any:
    """Return the rows of a Team's ledger."""
    table = about.get_by_role("table", name="Changes")
    return table.get_by_role("row")


def test_the_ledger_of_a_team_is_printed_as_the_emulator_keeps_it(
    visit: Visit,
    service: Service,
) -> None:
    service.photoshoot()
    service.set_credits(50)
    service.finish_work()

    rows = changes(about_team(visit))

    expect(rows).to_have_text(
        [
            re.compile("Time"),
            re.compile(r"charged gen_\w+0500$"),
            re.compile(r"set by hand\s*−48502"),
            re.compile(r"reserved gen_\w+−2982"),
            re.compile(r"Credits at its start\s*\+1001000"),
        ]
    )


def test_no_balance_appears_that_never_was(visit: Visit, service: Service) -> None:
    service.photoshoot()
    service.set_credits(50)

    curve = about_team(visit).get_by_role("img", name="Available Credits")

    expect(curve).to_have_accessible_name("Available Credits, from 100 to 50")


def test_a_long_ledger_is_read_page_by_page(visit: Visit, service: Service) -> None:
    for amount in range(101):
        service.set_credits(amount)
    about = about_team(visit)
    rows = changes(about)
    expect(rows).to_have_count(101)

    button(about, "Older").click()

    expect(rows).to_have_count(103)


def test_a_402_says_how_many_credits_to_add_and_what_to_do_then(refused: Any) -> None:
    expect(refused).to_contain_text(
        "add 4 Credits, then send it with a new Idempotency-Key"
    )


def test_the_missing_credits_are_added_by_a_button(
    refused: Any,
    service: Service,
) -> None:
    add = button(refused, "Add 4 Credits")

    add.click()

    expect(add).not_to_have_attribute("aria-busy", "true")
    assert service.credits() == 6


def test_a_402_is_sent_again_with_a_new_key(refused: Any) -> None:
    button(refused, "Add 4 Credits").click()
    button(refused, "Send again").click()
    expect(field(refused, "Idempotency-Key")).to_have_value(
        re.compile("^[0-9a-f]{16}$")
    )
    key = field(refused, "Credential")
    expect(key).to_have_value("iwe_demo_full")

    button(refused, "Send").click()

    expect(group(refused, "New answer")).to_contain_text("202")
