"""What the page says to people: names of fields in place of JSON Pointers, and codes in full."""

from typing import Any

import pytest

from tests.page.browser import Service, Visit, expect, group

pytestmark = pytest.mark.verify
ORDER = "/generations/product-photography"


def test_a_remedy_names_the_field_in_words(visit: Visit, service: Service) -> None:
    service.post("/products", {"name": "Shirt", "colour": "red"})

    details = visit.opened_request("invalid_input")

    expect(details.locator(".callout")).to_have_text(
        "Remedyadd asset ids; remove colour; add primary asset id"
    )


def test_an_explanation_names_an_item_by_its_number(
    visit: Visit,
    service: Service,
) -> None:
    service.photograph(product_ids=["prd_unknown"], output_mode="photoshoot")

    details = visit.opened_request("invalid_reference")

    reason = 'Item 1 of product ids: found "prd_unknown"'
    expect(details.locator(".summary")).to_contain_text(reason)
    expect(details.locator(".check-decided")).to_contain_text(reason)


def test_the_path_in_a_remedy_stays_a_path(visit: Visit, service: Service) -> None:
    service.get("/assets/ast_unknown")

    details = visit.opened_request("asset_not_found")

    expect(details.locator(".callout")).to_contain_text("GET /assets lists")


def test_the_body_that_was_answered_is_shown_as_it_was_sent(
    visit: Visit,
    service: Service,
) -> None:
    service.post("/products", {"name": "Shirt"})

    details = visit.opened_request("invalid_input")

    answer = group(details, "Response body")
    expect(answer).to_contain_text("/asset_ids: found nothing")


def test_a_long_code_is_whole_beside_open_details(
    visitor: Any,
    service: Service,
) -> None:
    header = {"Emulator-Fault": "insufficient_credits"}
    service.post(ORDER, {"output_mode": "single_image"}, headers=header)
    visit = visitor(viewport={"width": 1280, "height": 900})

    region = visit.opened_request("createProductPhotographyGeneration")

    code = region.get_by_role("row").filter(has_text="createProduct").locator(".code")
    expect(visit.details()).to_be_visible()
    assert code.evaluate("code => code.scrollWidth <= code.clientWidth")
    assert code.evaluate(
        "code => code.getBoundingClientRect().bottom"
        " <= code.closest('.grid-row').getBoundingClientRect().bottom"
    )
