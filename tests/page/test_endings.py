"""What ends while the page is open: an emulator, a sandbox, a run of the numbers."""

from typing import Any

import pytest

from tests.page.browser import Service, Visit, expect, heading, link
from tests.support.served import serving, unused_port

pytestmark = pytest.mark.verify


def test_an_open_request_is_closed_where_a_restart_gave_its_number_to_another(
    browser: Any,
) -> None:
    context = browser.new_context()
    with unused_port() as port:
        with serving("--port", str(port)) as emulator:
            visit = Visit(context.new_page(), emulator.url).open()
            Service(emulator.base_url).get("/team")
            visit.opened_request("getTeam")
            expect(visit.details()).to_contain_text("GET /v1/team")
        expect(visit.lost()).to_be_visible()

        with serving("--port", str(port)) as emulator:
            Service(emulator.base_url).get("/assets")
            expect(visit.lost()).to_have_count(0)

            expect(visit.details()).to_be_hidden()
            expect(visit.alert()).to_contain_text("Request 1 was closed")
            rows = visit.requests("Demo")
            expect(rows).to_contain_text(["listAssets"])
    context.close()


def test_an_open_request_is_closed_by_a_reset(visit: Visit, service: Service) -> None:
    service.get("/team")
    visit.opened_request("getTeam")
    expect(visit.details()).to_contain_text("GET /v1/team")

    service.reset()

    expect(visit.alert()).to_contain_text("Request 1 was closed: the sandbox was reset")
    expect(visit.details()).to_be_hidden()


def test_a_reset_closes_it_without_leaving_another_tab(
    visit: Visit,
    service: Service,
) -> None:
    service.get("/team")
    visit.opened_request("getTeam")
    expect(visit.details()).to_contain_text("GET /v1/team")
    visit.region("Teams")

    service.reset()

    expect(visit.alert()).to_contain_text("Request 1 was closed")
    teams = visit.page.get_by_role("tab", name="Teams")
    expect(teams).to_have_attribute("aria-selected", "true")
    visit.region("Requests")
    expect(visit.details()).to_be_hidden()


def test_an_open_request_outlives_a_lost_connection(
    visit: Visit,
    service: Service,
) -> None:
    service.get("/team")
    visit.opened_request("getTeam")
    visit.page.context.set_offline(True)
    expect(visit.lost()).to_be_visible()

    visit.page.context.set_offline(False)

    expect(visit.lost()).to_have_count(0)
    expect(visit.details()).to_contain_text("GET /v1/team")
    visit.complaints.clear()  # the browser's own notes of the lost connection


def test_a_sandbox_that_is_deleted_offers_the_way_out_at_once(
    visitor: Any,
    service: Service,
) -> None:
    service.make_sandbox("mine")
    visit = visitor("/_emulator?sandbox=mine")
    expect(visit.region("Requests")).to_contain_text("No requests yet")

    service.told("DELETE", "/sandboxes/mine")

    title = heading(visit.page, "There is no sandbox mine")
    way_out = link(visit.page, "Show the sandbox default")
    expect(title).to_be_visible()
    expect(way_out).to_be_visible()
    visit.complaints.clear()  # the browser's own note of the 404


def test_every_tab_of_a_deleted_sandbox_offers_the_way_out(
    visitor: Any,
    service: Service,
) -> None:
    service.make_sandbox("mine")
    first = visitor("/_emulator?sandbox=mine")
    expect(first.region("Requests")).to_contain_text("No requests yet")
    second = first.new_tab("/_emulator?sandbox=mine")
    expect(second.region("Requests")).to_contain_text("No requests yet")

    service.told("DELETE", "/sandboxes/mine")

    for visit in (first, second):
        title = heading(visit.page, "There is no sandbox mine")
        expect(title).to_be_visible()
    first.complaints.clear()
