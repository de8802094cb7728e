"""A session on the page: it shows what the file holds, and nothing of the emulator."""

from pathlib import Path
from typing import Any

import pytest

from tests.page.browser import Service, Visit, button, expect, field, group

pytestmark = pytest.mark.verify
HELD = [
    "Requests",
    "Work",
    "Gallery",
    "Teams",
    "Clock",
    "Scenario",
    "Conduct",
    "Coverage",
]


@pytest.fixture
def session(service: Service, tmp_path: Path) -> Path:
    """The file of a sandbox in which a scenario ran an hour after its start."""
    service.use_shipped("some-outputs-fail")
    service.photoshoot()
    service.advance(3600)
    file = tmp_path / "session.json"
    service.save_session(file)
    service.reset()
    service.without_scenario()
    return file


def strip(visit: Visit) -> Any:
    return visit.strip()


def test_the_clock_is_that_of_the_file(visit: Visit, session: Path) -> None:
    expect(strip(visit)).to_contain_text("2026-01-01 00:00:00")

    visit.open_file(session)

    expect(strip(visit)).to_contain_text("2026-01-01 01:00:00")
    expect(visit.region("Clock")).to_contain_text("01:00:00")


def test_the_scenario_is_that_of_the_file_with_its_counters(
    visit: Visit,
    session: Path,
) -> None:
    visit.open_file(session)

    region = visit.region("Scenario")

    expect(region.get_by_role("listitem")).to_contain_text("fired 1")
    expect(strip(visit)).to_contain_text("some-outputs-fail")


def test_the_text_of_the_scenario_is_in_the_file(visit: Visit, session: Path) -> None:
    visit.open_file(session)
    region = visit.region("Scenario")

    region.locator("summary").filter(has_text="Text").click()

    text = group(region, "Text of the scenario")
    expect(text).to_contain_text("outputs: {2: content_rejected, 4: timed_out}")


def test_the_ledger_of_a_team_is_in_the_file(visit: Visit, session: Path) -> None:
    visit.open_file(session)

    visit.follow("Teams", "Demo")

    table = visit.page.get_by_role("table", name="Changes")
    expect(table).to_contain_text("released")


BESIDE_THE_TABS = ("Clock", "Scenario")
"""Regions that a wide screen always shows."""
BEHIND_TABS = [name for name in HELD if name not in BESIDE_THE_TABS]


@pytest.mark.parametrize("opened_from", ["requests", "sandboxes", "help", "teams"])
@pytest.mark.parametrize(
    ("width", "tab_names"),
    [
        pytest.param(1280, BEHIND_TABS, id="wide"),
        pytest.param(800, HELD, id="narrow"),
    ],
)
def test_tabs_that_it_has_not_are_gone(
    visit: Visit,
    session: Path,
    opened_from: str,
    width: int,
    tab_names: list[str],
) -> None:
    visit.page.set_viewport_size({"width": width, "height": 800})
    visit.open(f"/_emulator#{opened_from}")

    visit.open_file(session)

    sandboxes = visit.page.get_by_role("region", name="Sandboxes")
    expect(visit.tabs()).to_have_text(tab_names)
    expect(sandboxes).to_have_count(0)


def test_nothing_can_be_changed(visit: Visit, session: Path) -> None:
    visit.open_file(session)

    region = visit.region("Teams")

    expect(field(region, "Credits").first).to_be_disabled()
    for name in ("Pause admission", "Revoke", "+10 s", "Use", "Clear"):
        expect(button(visit.page, name)).to_have_count(0)


def test_it_asks_the_emulator_for_nothing(visit: Visit, session: Path) -> None:
    visit.open_file(session)
    expect(visit.banner()).to_contain_text("read only")
    visit.addresses.clear()

    for name in HELD:
        expect(visit.region(name)).to_be_visible()

    foreign = [address for address in visit.addresses if not is_part_of_page(address)]
    assert foreign == []


def is_part_of_page(address: str) -> bool:
    """Whether an address has a file of the page, the contract, or bytes in memory."""
    if address.startswith("blob:"):
        return True
    return "/page/" in address or "/contract.json" in address


def test_a_request_that_was_open_is_closed(
    visit: Visit,
    service: Service,
    session: Path,
) -> None:
    service.get("/team")
    visit.opened_request("getTeam")

    visit.open_file(session)

    details = visit.details()
    expect(details).to_be_hidden()
