"""The page as a whole.

It is live and honest about its connection, closed to strangers, usable by everyone, and
quick.
"""

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.page.axe import Axe
from tests.page.browser import (
    PHONE,
    REGIONS,
    Service,
    Visit,
    button,
    drawn_width,
    enter,
    expect,
    field,
    heading,
    on_each_screen,
    rows_with,
)
from tests.support.served import serving, unused_port

pytestmark = pytest.mark.verify
TOKEN = "control-secret"
BURST = 1_000


# The connection -----------------------------------------------------------------------


def test_a_lost_connection_is_said_and_mended_with_what_was_missed(
    visit: Visit,
    service: Service,
) -> None:
    expect(visit.region("Requests")).to_contain_text("No requests yet")
    expect(visit.lost()).to_have_count(0)

    visit.page.context.set_offline(True)
    expect(visit.lost()).to_contain_text("Connection lost")

    service.get("/team")
    visit.page.context.set_offline(False)
    expect(visit.lost()).to_have_count(0)
    expect(visit.requests("getTeam")).to_be_visible()
    visit.complaints.clear()


def abort_reads(route: Any) -> None:
    """Let the page load, but none of the answers that it shows."""
    if route.request.resource_type == "fetch":
        route.abort()
    else:
        route.continue_()


def test_what_could_not_be_read_at_first_is_read_once_the_connection_is_there(
    visitor: Any,
) -> None:
    visit = visitor("/_emulator/health")
    visit.page.route("**/_emulator/**", abort_reads)
    visit.open()
    expect(visit.lost()).to_contain_text("Connection lost")

    visit.page.unroute_all()

    expect(visit.lost()).to_have_count(0)
    clock = visit.strip()
    expect(clock).to_contain_text("00:00:00")
    visit.complaints.clear()


def test_what_has_not_been_read_is_not_said_to_be_empty(visitor: Any) -> None:
    visit = visitor("/_emulator/health")
    visit.page.route("**/_emulator/**", abort_reads)

    visit.open()
    expect(visit.lost()).to_contain_text("Connection lost")

    text = visit.page.locator("body").text_content()
    assert "No requests yet" not in text
    assert "No work yet" not in text
    assert "No pictures yet" not in text
    assert "Nothing is due" not in text
    assert "No scenario" not in text
    assert "Admission is open" not in text
    expect(visit.region("Clock").get_by_label("Mode")).to_have_value("")
    visit.complaints.clear()


def test_an_emulator_that_was_started_again_is_found_again_with_nothing_of_the_old_one(
    browser: Any,
) -> None:
    context = browser.new_context()
    with unused_port() as port:
        with serving("--port", str(port)) as emulator:
            visit = Visit(context.new_page(), emulator.url).open()
            region = visit.region("Requests")
            for _ in range(3):
                Service(emulator.base_url).get("/team")
            expect(rows_with(region, "getTeam")).to_have_count(3)

        expect(visit.lost()).to_be_visible()

        with serving("--port", str(port)) as emulator:
            expect(visit.lost()).to_have_count(0)
            Service(emulator.base_url).get("/assets")
            rows = visit.requests("Demo")
            expect(rows).to_have_count(1)
            expect(rows).to_contain_text("listAssets")
    context.close()


def eight_tabs(visit: Visit) -> list[Visit]:
    """A visit, and seven more tabs beside it."""
    more = [visit.new_tab() for _ in range(7)]
    return [visit, *more]


def test_eight_tabs_share_one_stream_and_the_next_one_takes_it_over(
    visit: Visit,
    service: Service,
) -> None:
    tabs = eight_tabs(visit)

    service.get("/team")
    addresses: list[str] = []
    for tab in tabs:
        expect(tab.requests("getTeam")).to_be_visible()
        addresses += tab.addresses
    streams = [address for address in addresses if address.endswith("/events")]
    assert len(streams) == 1

    tabs[-1].press("Clock", "+10 s")
    strip = tabs[1].strip()
    expect(strip).to_contain_text("00:00:10")

    visit.page.close()
    service.get("/assets")
    for tab in tabs[1:]:
        expect(tab.requests("listAssets")).to_be_visible()
    for tab in tabs:
        assert tab.complaints == []


WITHOUT_LOCKS = """
Object.defineProperty(navigator, "locks", {value: undefined});
Object.defineProperty(document, "hidden", {get: () => window.isHidden === true});
window.see = (isSeen) => {
    window.isHidden = !isSeen;
    document.dispatchEvent(new Event("visibilitychange"));
};
"""
"""A browser that has no locks, and a tab that is hidden and seen by a call."""


def test_without_locks_a_tab_that_is_not_seen_gives_its_stream_up(
    visitor: Any,
    service: Service,
) -> None:
    visit = visitor("/_emulator/health")
    visit.page.add_init_script(WITHOUT_LOCKS)
    visit.open()
    service.get("/team")
    rows = visit.requests("00:00:00")
    expect(rows).to_have_count(1)

    with visit.page.expect_event(
        "requestfailed",
        lambda request: request.url.endswith("/events"),
    ):
        visit.page.evaluate("see(false)")
    service.get("/assets")
    visit.page.evaluate("see(true)")

    expect(rows).to_have_count(2)


# Where the page is --------------------------------------------------------------------


def test_an_unknown_sandbox_offers_a_way_out(visitor: Any, service: Service) -> None:
    visit = visitor("/_emulator?sandbox=gone")
    title = heading(visit.page, "There is no sandbox gone")
    expect(title).to_be_visible()

    button(visit.page, "Create gone").click()

    expect(visit.region("Requests")).to_contain_text("No requests yet")
    sandbox = service.told("GET", "/sandboxes/gone")
    assert sandbox["id"] == "gone"
    visit.complaints.clear()  # the browser's own notes of the 404


def test_looking_asks_nobody_else_complains_of_nothing_and_leaves_no_trace(
    visit: Visit,
    service: Service,
) -> None:
    service.photoshoot()
    service.finish_work()
    entries_before = service.journal()

    for name in REGIONS:
        expect(visit.region(name)).to_be_visible()
    visit.open("/_emulator/reference")
    expect(visit.operation("Team", "getTeam")).to_be_visible()

    own = f"{visit.origin}/_emulator"
    foreign = visit.addresses_outside(own)
    entries = service.journal()
    assert visit.complaints == []
    assert foreign == []
    assert len(entries) == len(entries_before)


DROP = """
() => {
    const drop = new DragEvent("drop", {bubbles: true, cancelable: true});
    return !document.body.dispatchEvent(drop);
}
"""
"""Drops something on the page; returns whether the browser may not open it."""


def test_a_file_that_is_dropped_beside_the_gallery_does_not_replace_the_page(
    visit: Visit,
) -> None:
    is_prevented = visit.page.evaluate(DROP)

    assert is_prevented


@pytest.mark.served("--clock", "manual", "--readings", "D26=always-a-cursor")
def test_the_strip_shows_time_scenario_and_other_readings_on_a_phone_too(
    visitor: Any,
    service: Service,
) -> None:
    visit = visitor(**PHONE)
    strip = visit.strip()
    expect(strip).to_contain_text("2026-01-01 00:00:00")
    expect(strip).to_contain_text("No scenario")
    expect(strip).to_contain_text("1 other reading")

    service.use_shipped("some-outputs-fail")
    service.advance(9)

    expect(strip).to_contain_text("some-outputs-fail")
    expect(strip).to_contain_text("2026-01-01 00:00:09")


# The control token --------------------------------------------------------------------


@pytest.mark.served("--clock", "manual", "--control-token", TOKEN)
def test_a_wrong_control_token_is_refused(visit: Visit) -> None:
    token = field(visit.page, "Control token")
    expect(token).to_be_visible()
    expect(visit.tabs()).to_have_count(0)
    assert visit.complaints == []

    enter(token, "wrong")

    refusal = visit.page.get_by_text("This is not the emulator's control token")
    expect(refusal).to_be_visible()
    visit.complaints.clear()  # the browser's own note of the 401


@pytest.mark.served("--clock", "manual", "--control-token", TOKEN)
def test_a_tab_without_the_control_token_does_not_hold_up_another(
    visit: Visit,
    service: Service,
) -> None:
    expect(field(visit.page, "Control token")).to_be_visible()
    other = visit.new_tab()

    token = field(other.page, "Control token")
    enter(token, TOKEN)
    service.get("/team")

    expect(other.requests("getTeam")).to_be_visible()


@pytest.mark.served("--clock", "manual", "--control-token", TOKEN)
def test_the_control_token_is_asked_for_once_and_kept_for_the_tab(
    visit: Visit,
) -> None:
    token = field(visit.page, "Control token")
    enter(token, TOKEN)
    expect(visit.region("Teams")).to_contain_text("iwe_demo_full")

    visit.press("Gallery", "First photoshoot")
    image = visit.region("Gallery").get_by_role("img").first
    expect(image).to_have_attribute("src", re.compile("^blob:"))
    assert drawn_width(image) > 100

    visit.page.reload()
    expect(visit.region("Teams")).to_contain_text("iwe_demo_full")
    expect(token).to_have_count(0)

    visit.page.goto(f"{visit.origin}/_emulator/reference")
    expect(visit.operation("Team", "getTeam")).to_be_visible()
    assert visit.addresses_with(TOKEN) == []
    assert visit.complaints == []


def forward_without_prefix(route: Any) -> None:
    """Do what a proxy does that has the emulator below /inner."""
    url = route.request.url.replace("/inner", "")
    route.fulfill(response=route.fetch(url=url))


def test_it_works_behind_another_address(visitor: Any, service: Service) -> None:
    """A proxy may put the emulator below a path: nothing is named from the root."""
    visit = visitor("/_emulator/health")
    visit.page.route(re.compile("/inner/_emulator"), forward_without_prefix)
    visit.page.route("**/events", lambda route: route.abort())
    visit.addresses.clear()

    visit.open("/inner/_emulator")
    expect(visit.region("Teams")).to_contain_text("iwe_demo_full")
    visit.press("Gallery", "First photoshoot")

    image = visit.region("Gallery").get_by_role("img").first
    outside = [address for address in visit.addresses if "/inner/" not in address]
    assert drawn_width(image) > 100
    assert outside == []
    visit.complaints.clear()


# For everyone -------------------------------------------------------------------------


@pytest.mark.parametrize("colours", ["light", "dark"])
@on_each_screen
def test_axe_finds_nothing_moderate(
    visitor: Any,
    service: Service,
    node: Path,
    colours: str,
    screen: Any,
) -> None:
    service.use_shipped("some-outputs-fail")
    service.photoshoot()
    service.advance(9)
    service.post("/products", {"name": "Shirt"})
    team_id = service.team()["id"]
    visit = visitor(color_scheme=colours, **screen)
    axe = Axe(visit, node)
    content_of = {
        "scenario/edit": field(visit.page, "Scenario file"),
        "requests/2": visit.page.get_by_text("Remedy"),
        f"/{team_id}": visit.about(team_id).get_by_text("reserved").first,
        "help/page.md": heading(visit.page, "The page, and why a request was refused"),
    }

    for name in REGIONS:
        visit.region(name)
        visit.page.wait_for_load_state("load")
        axe.examine(name)
    for place, content in content_of.items():
        visit.open(f"/_emulator#{place}")
        expect(content).to_be_visible()
        axe.examine(place)

    assert axe.findings == []


def scroll_width(visit: Visit) -> Any:
    return visit.page.evaluate("document.documentElement.scrollWidth")


def scroll_height(visit: Visit) -> Any:
    return visit.page.evaluate("document.documentElement.scrollHeight")


def test_on_a_narrow_screen_nothing_is_wider_than_it(
    visitor: Any,
    service: Service,
) -> None:
    service.photoshoot()
    visit = visitor(viewport={"width": 320, "height": 640})

    for name in REGIONS:
        visit.region(name)
        assert scroll_width(visit) == 320, name

    service.post("/products", {"name": "Shirt"})
    expect(visit.opened_request("invalid_input")).to_contain_text("decided")
    details = visit.page.locator(".details")
    fits = details.evaluate("details => details.scrollWidth <= details.clientWidth")
    assert fits


@pytest.mark.parametrize(
    ("place", "button_name"),
    [("teams", "Pause admission"), ("scenario/edit", "Check")],
)
def test_on_a_usual_screen_a_region_is_no_higher_than_it(
    visitor: Any,
    place: str,
    button_name: str,
) -> None:
    visit = visitor(viewport={"width": 1024, "height": 768})

    visit.open(f"/_emulator#{place}")

    expect(button(visit.page, button_name)).to_be_visible()
    assert scroll_height(visit) == 768


ROWS_THAT_FIT = (
    "view => view.clientHeight / view.querySelector('[role=row]').clientHeight"
)


def test_on_a_low_screen_there_is_room_for_six_rows(
    visitor: Any,
    service: Service,
) -> None:
    service.get("/team")
    visit = visitor(viewport={"width": 720, "height": 450})
    region = visit.region("Requests")
    expect(rows_with(region, "getTeam")).to_be_visible()

    rows = region.locator(".grid-view").evaluate(ROWS_THAT_FIT)

    assert rows >= 6


def test_the_banner_names_the_address_and_the_sandbox(
    visitor: Any,
    service: Service,
) -> None:
    visit = visitor(viewport={"width": 720, "height": 450})
    banner = visit.banner()
    expect(banner.get_by_text(f"{service.origin}/v1")).to_be_visible()

    service.make_sandbox("checkout")
    visit.open("/_emulator?sandbox=checkout")

    expect(banner.get_by_text("Sandbox checkout")).to_be_visible()


# Many requests ------------------------------------------------------------------------

WATCH_FRAMES = """
() => {
    let last = performance.now();
    window.longest = 0;
    const look = (now) => {
        window.longest = Math.max(window.longest, now - last);
        last = now;
        requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
}
"""
"""Notes the longest time between two frames, in milliseconds."""
SCROLL_TO_THE_END = """
async (view) => {
    for (let top = 0; top < view.scrollHeight; top += 20_000) {
        view.scrollTop = top;
        await new Promise(requestAnimationFrame);
        await new Promise(requestAnimationFrame);
    }
    view.scrollTop = view.scrollHeight;
}
"""


def send_many(service: Service, count: int) -> None:
    with ThreadPoolExecutor(8) as threads:
        answers = threads.map(lambda _: service.get("/team"), range(count))
        list(answers)


@pytest.mark.served("--clock", "manual", "--rate-limits", "off")
def test_many_requests_neither_freeze_the_page_nor_fill_it_with_rows(
    visit: Visit,
    service: Service,
) -> None:
    region = visit.region("Requests")
    expect(region).to_contain_text("No requests yet")
    visit.page.evaluate(WATCH_FRAMES)

    send_many(service, BURST)
    expect(region).to_contain_text(f"{BURST:,} requests")
    longest_frame_ms = visit.page.evaluate("window.longest")
    assert longest_frame_ms < 500

    send_many(service, 10_000 - BURST)
    expect(region).to_contain_text("10,000 requests")
    region.locator(".grid-view").evaluate(SCROLL_TO_THE_END)
    oldest_row = region.locator("[data-key='1']")
    rows = visit.page.get_by_role("row")
    expect(oldest_row).to_be_visible()
    assert rows.count() < 100
