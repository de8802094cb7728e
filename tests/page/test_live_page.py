"""The page as a whole.

It is live and honest about its connection, closed to strangers, usable by everyone, and
quick.
"""

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.page.browser import PHONE, REGIONS, Service, Visit, expect
from tests.support.served import serving, unused_port

pytestmark = pytest.mark.verify
TOKEN = "control-secret"
BURST = 1_000


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
    expect(
        visit.region("Requests").get_by_role("row").filter(has_text="getTeam")
    ).to_be_visible()
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
    clock = visit.page.get_by_role("group", name="Clock and scenario")
    expect(clock).to_contain_text("00:00:00")
    visit.complaints.clear()


def test_an_emulator_that_was_started_again_is_found_again_with_nothing_of_the_old_one(
    browser: Any,
) -> None:
    context = browser.new_context()
    with unused_port() as port:
        with serving("--port", str(port)) as emulator:
            visit = Visit(context.new_page(), emulator.url).open()
            for _ in range(3):
                Service(emulator.base_url).get("/team")
            expect(
                visit.region("Requests").get_by_role("row").filter(has_text="getTeam")
            ).to_have_count(3)
        expect(visit.lost()).to_be_visible()
        with serving("--port", str(port)) as emulator:
            expect(visit.lost()).to_have_count(0)
            Service(emulator.base_url).get("/assets")
            rows = visit.region("Requests").get_by_role("row").filter(has_text="Demo")
            expect(rows).to_have_count(1)
            expect(rows).to_contain_text("listAssets")
    context.close()


def test_eight_tabs_share_one_stream_and_the_next_one_takes_it_over(
    visit: Visit,
    service: Service,
) -> None:
    tabs = [
        visit,
        *(Visit(visit.page.context.new_page(), visit.origin).open() for _ in range(7)),
    ]
    service.get("/team")
    for tab in tabs:
        expect(
            tab.region("Requests").get_by_role("row").filter(has_text="getTeam")
        ).to_be_visible()
    addresses: list[str] = []
    for tab in tabs:
        addresses += tab.addresses
    streams = [address for address in addresses if address.endswith("/events")]
    assert len(streams) == 1
    tabs[-1].press("Clock", "+10 s")
    expect(
        tabs[1].page.get_by_role("group", name="Clock and scenario")
    ).to_contain_text("00:00:10")
    visit.page.close()
    service.get("/assets")
    for tab in tabs[1:]:
        expect(
            tab.region("Requests").get_by_role("row").filter(has_text="listAssets")
        ).to_be_visible()
    assert [tab.complaints for tab in tabs if tab.complaints] == []


def test_without_locks_a_tab_that_is_not_seen_gives_its_stream_up(
    visitor: Any,
    service: Service,
) -> None:
    visit = visitor("/_emulator/health")
    visit.page.add_init_script(
        """Object.defineProperty(navigator, "locks", {value: undefined});
        Object.defineProperty(document, "hidden", {get: () => window.isHidden === true});
        window.see = (isSeen) => { window.isHidden = !isSeen; document.dispatchEvent(new Event("visibilitychange")); };"""
    )
    visit.open()
    service.get("/team")
    rows = visit.region("Requests").get_by_role("row").filter(has_text="00:00:00")
    expect(rows).to_have_count(1)
    with visit.page.expect_event(
        "requestfailed",
        lambda request: request.url.endswith("/events"),
    ):
        visit.page.evaluate("see(false)")
    service.get("/assets")
    visit.page.evaluate("see(true)")
    expect(rows).to_have_count(2)


def test_an_unknown_sandbox_offers_a_way_out(visitor: Any, service: Service) -> None:
    visit = visitor("/_emulator?sandbox=gone")
    expect(
        visit.page.get_by_role("heading", name="There is no sandbox gone")
    ).to_be_visible()
    visit.page.get_by_role("button", name="Create gone").click()
    expect(visit.region("Requests")).to_contain_text("No requests yet")

    assert service.told("GET", "/sandboxes/gone")["id"] == "gone"
    visit.complaints.clear()  # the browser's own notes of the 404


def test_looking_asks_nobody_else_complains_of_nothing_and_leaves_no_trace(
    visit: Visit,
    service: Service,
) -> None:
    service.photoshoot()
    service.told("POST", "/clock/advance", {"until_idle": True})
    before = len(service.told("GET", "/requests")["data"])
    for name in REGIONS:
        expect(visit.region(name)).to_be_visible()
    visit.open("/_emulator/reference")
    expect(visit.operation("Team", "getTeam")).to_be_visible()

    assert visit.complaints == []
    assert [
        address
        for address in visit.addresses
        if not address.startswith(f"{visit.origin}/_emulator")
    ] == []
    assert len(service.told("GET", "/requests")["data"]) == before


def test_a_file_that_is_dropped_beside_the_gallery_does_not_replace_the_page(
    visit: Visit,
) -> None:
    dropped = "() => !document.body.dispatchEvent(new DragEvent('drop', {bubbles: true, cancelable: true}))"

    assert visit.page.evaluate(dropped)


@pytest.mark.served("--clock", "manual", "--readings", "D26=always-a-cursor")
def test_the_strip_shows_time_scenario_and_other_readings_on_a_phone_too(
    visitor: Any,
    service: Service,
) -> None:
    visit = visitor(**PHONE)
    strip = visit.page.get_by_role("group", name="Clock and scenario", exact=True)
    expect(strip).to_contain_text("2026-01-01 00:00:00")
    expect(strip).to_contain_text("No scenario")
    expect(strip).to_contain_text("1 other reading")
    service.told("PUT", "/scenario", {"use": "some-outputs-fail"})
    service.told("POST", "/clock/advance", {"seconds": 9})
    expect(strip).to_contain_text("some-outputs-fail")
    expect(strip).to_contain_text("2026-01-01 00:00:09")


@pytest.mark.served("--clock", "manual", "--control-token", TOKEN)
def test_the_control_token_is_asked_for_once_and_kept_for_the_tab(
    visit: Visit,
    service: Service,
) -> None:
    field = visit.page.get_by_label("Control token", exact=True)
    expect(field).to_be_visible()
    expect(visit.page.get_by_role("tab")).to_have_count(0)

    assert visit.complaints == []
    field.fill("wrong")
    field.press("Enter")
    expect(
        visit.page.get_by_text("This is not the emulator's control token")
    ).to_be_visible()
    other = Visit(
        visit.page.context.new_page(),
        visit.origin,
    ).open()  # which the first one does not hold up
    other.page.get_by_label("Control token", exact=True).fill(TOKEN)
    other.page.get_by_label("Control token", exact=True).press("Enter")
    service.get("/team")
    expect(
        other.region("Requests").get_by_role("row").filter(has_text="getTeam")
    ).to_be_visible()
    field.fill(TOKEN)
    field.press("Enter")
    expect(visit.region("Teams")).to_contain_text("iwe_demo_full")
    visit.complaints.clear()  # the browser's own notes of the 401
    visit.press("Gallery", "First photoshoot")
    picture = visit.region("Gallery").get_by_role("img").first
    expect(picture).to_have_attribute("src", re.compile("^blob:"))
    assert (
        picture.evaluate("image => image.decode().then(() => image.naturalWidth)") > 100
    )
    visit.page.reload()
    expect(visit.region("Teams")).to_contain_text("iwe_demo_full")
    expect(field).to_have_count(0)
    visit.page.goto(f"{visit.origin}/_emulator/reference")
    expect(visit.operation("Team", "getTeam")).to_be_visible()
    assert [address for address in visit.addresses if TOKEN in address] == []
    assert visit.complaints == []


def test_it_works_behind_another_address(visitor: Any, service: Service) -> None:
    """A proxy may put the emulator below a path: nothing is named from the root."""
    visit = visitor("/_emulator/health")
    visit.page.route(
        re.compile("/inner/_emulator"),
        lambda route: route.fulfill(
            response=route.fetch(url=route.request.url.replace("/inner", ""))
        ),
    )
    visit.page.route("**/events", lambda route: route.abort())
    visit.addresses.clear()
    visit.open("/inner/_emulator")
    expect(visit.region("Teams")).to_contain_text("iwe_demo_full")
    visit.press("Gallery", "First photoshoot")
    picture = visit.region("Gallery").get_by_role("img").first

    assert (
        picture.evaluate("image => image.decode().then(() => image.naturalWidth)") > 100
    )
    assert {address for address in visit.addresses if "/inner/" not in address} == set()
    visit.complaints.clear()


@pytest.mark.parametrize("colours", ["light", "dark"])
@pytest.mark.parametrize("screen", [{}, PHONE], ids=["wide", "phone"])
def test_axe_finds_nothing_moderate(
    visitor: Any,
    service: Service,
    node: Path,
    colours: str,
    screen: Any,
) -> None:
    service.told("PUT", "/scenario", {"use": "some-outputs-fail"})
    service.photoshoot()
    service.told("POST", "/clock/advance", {"seconds": 9})
    service.post("/products", {"name": "Shirt"})
    axe = (node / "node_modules/axe-core/axe.min.js").read_text(encoding="utf-8")
    visit = visitor(color_scheme=colours, **screen)
    found = []

    def examine(where: str) -> None:
        visit.page.evaluate(axe)
        violations = visit.page.evaluate("axe.run().then(result => result.violations)")
        for violation in violations:
            if violation["impact"] in ("moderate", "serious", "critical"):
                nodes = [each["html"][:160] for each in violation["nodes"][:3]]
                found.append((where, violation["id"], violation["help"], nodes))

    for name in REGIONS:
        visit.region(name)
        visit.page.wait_for_load_state("load")
        examine(name)
    team = service.team()["id"]
    for place, shown in (
        ("scenario/edit", visit.page.get_by_label("Scenario file", exact=True)),
        ("requests/2", visit.page.get_by_text("Remedy")),
        (
            f"/{team}",
            visit.page.get_by_role("region", name=f"About {team}")
            .get_by_text("reserved")
            .first,
        ),
        ("help/page.md", visit.page.get_by_role("heading", name="The page")),
    ):
        visit.open(f"/_emulator#{place}")
        expect(shown).to_be_visible()
        examine(place)
    assert found == []


def test_on_a_narrow_screen_nothing_is_wider_than_it_and_the_sandbox_is_named(
    visitor: Any,
    service: Service,
) -> None:
    service.photoshoot()
    visit = visitor(viewport={"width": 320, "height": 640})
    for name in REGIONS:
        visit.region(name)

        width = visit.page.evaluate("document.documentElement.scrollWidth")

        assert width == 320, name
    service.post("/products", {"name": "Shirt"})
    expect(visit.opened_request("invalid_input")).to_contain_text("decided")

    assert visit.page.locator(".details").evaluate(
        "details => details.scrollWidth <= details.clientWidth"
    )
    visit.page.set_viewport_size({"width": 1024, "height": 768})
    for place in ("teams", "scenario/edit"):
        visit.open(f"/_emulator#{place}")
        expect(
            visit.page.get_by_role(
                "button",
                name="Check" if "edit" in place else "Pause admission",
            )
        ).to_be_visible()
        assert visit.page.evaluate("document.documentElement.scrollHeight") == 768
    visit.page.set_viewport_size({"width": 720, "height": 450})
    view = visit.region("Requests").locator(".grid-view")
    visit.page.keyboard.press("Escape")
    assert (
        view.evaluate(
            "view => view.clientHeight / view.querySelector('[role=row]').clientHeight"
        )
        >= 6
    )
    expect(
        visit.page.get_by_role("banner").get_by_text(f"{service.origin}/v1")
    ).to_be_visible()
    service.told("POST", "/sandboxes", {"id": "checkout"})
    visit.open("/_emulator?sandbox=checkout")
    expect(
        visit.page.get_by_role("banner").get_by_text("Sandbox checkout")
    ).to_be_visible()


@pytest.mark.served("--clock", "manual", "--rate-limits", "off")
def test_many_requests_neither_freeze_the_page_nor_fill_it_with_rows(
    visit: Visit,
    service: Service,
) -> None:
    region = visit.region("Requests")
    expect(region).to_contain_text("No requests yet")
    visit.page.evaluate(
        """() => {
            let last = performance.now();
            window.longest = 0;
            const look = (now) => { window.longest = Math.max(window.longest, now - last); last = now; requestAnimationFrame(look); };
            requestAnimationFrame(look);
        }"""
    )
    with ThreadPoolExecutor(8) as many:
        list(many.map(lambda _: service.get("/team"), range(BURST)))
        expect(region).to_contain_text(f"{BURST:,} requests")
        assert visit.page.evaluate("window.longest") < 500
        list(many.map(lambda _: service.get("/team"), range(10_000 - BURST)))
    expect(region).to_contain_text("10,000 requests")
    region.locator(".grid-view").evaluate(
        """async (view) => {
            for (let top = 0; top < view.scrollHeight; top += 20_000) {
                view.scrollTop = top;
                await new Promise(requestAnimationFrame);
                await new Promise(requestAnimationFrame);
            }
            view.scrollTop = view.scrollHeight;
        }"""
    )
    expect(region.locator("[data-key='1']")).to_be_visible()

    assert visit.page.get_by_role("row").count() < 100
