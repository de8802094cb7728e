"""The regions that change what happens: the clock and the scenario."""

import re

import pytest

from tests.page.browser import (
    Service,
    Visit,
    button,
    expect,
    field,
    heading,
    link,
)
from tests.support.emulator_client import UPLOAD

pytestmark = pytest.mark.verify


def test_the_clock_says_what_is_due(visit: Visit, service: Service) -> None:
    region = visit.region("Clock")
    expect(region).to_contain_text("Nothing is due")

    service.photoshoot()
    expect(region).to_contain_text("product photography starts in 1.0 s")

    visit.press("Clock", "Run until idle")
    expect(region).to_contain_text("Nothing is due")


def test_the_clock_moves_by_its_buttons(visit: Visit) -> None:
    time = visit.region("Clock").locator(".clock-time")

    visit.press("Clock", "+10 s")
    expect(time).to_have_text("00:00:10")

    visit.press("Clock", "+1 min")
    expect(time).to_have_text("00:01:10")

    visit.press("Clock", "Next event")
    expect(time).to_have_text("00:01:10")


def test_the_clock_changes_its_mode(visit: Visit, service: Service) -> None:
    region = visit.region("Clock")

    region.get_by_role("combobox").select_option("auto")

    expect(region).to_contain_text("skips every wait")
    clock = service.told("GET", "/clock")
    assert clock["mode"] == "auto"


def test_the_timeline_of_a_scenario_marks_the_present_and_is_named_by_refusals(
    visit: Visit,
    service: Service,
) -> None:
    region = visit.region("Scenario")
    region.get_by_role("combobox").select_option("admission-paused")
    visit.press("Scenario", "Use")
    items = region.locator(".timeline").get_by_role("listitem")
    expect(items.first).to_have_text("now")

    visit.press("Clock", "+1 min")
    expect(items.nth(1)).to_have_text("now")
    expect(items.first).to_contain_text("admission paused")

    service.post("/uploads", UPLOAD)
    causes = visit.opened_request("503").get_by_role("listitem")
    timeline = causes.filter(has_text="Timeline")
    expect(timeline).to_contain_text("admission-paused.yaml, line")


def test_a_photoshoot_that_a_scenario_refuses_is_explained_four_clicks_later(
    visit: Visit,
) -> None:
    scenarios = visit.region("Scenario").get_by_role("combobox")
    scenarios.select_option("every-first-write-fails")
    visit.press("Scenario", "Use")
    visit.press("Gallery", "First photoshoot")
    expect(visit.alert()).to_contain_text("500 internal_error")

    visit.follow("Gallery", "See why in Requests")

    region = visit.region("Requests")
    causes = region.locator(".causes")
    expect(region).to_contain_text("Remedy")
    expect(causes).to_contain_text("every-first-write-fails.yaml, line")
    visit.complaints.clear()  # the browser's own note of the 500


def test_every_place_says_the_same_of_the_running_scenario(
    visit: Visit,
    service: Service,
) -> None:
    region = visit.region("Scenario")
    strip = visit.strip()
    running = region.locator(".running")
    choice = region.get_by_role("combobox")

    visit.press("Scenario", "Edit")
    field(region, "Scenario file").fill("scenario: mine\nrules: []\n")
    visit.press("Scenario", "Use file")
    expect(strip).to_contain_text("mine")
    expect(running).to_contain_text("mine")
    expect(choice).to_have_value("mine")
    expect(button(region, "Use")).to_be_disabled()

    visit.press("Scenario", "Off")
    expect(choice).to_have_value("")
    expect(strip).to_contain_text("No scenario")
    expect(running).to_contain_text("None is running")
    expect(button(region, "Off")).to_be_disabled()

    service.use_shipped("some-outputs-fail")
    description = "Of every Product Photography the second output is rejected"
    expect(choice).to_have_value("some-outputs-fail")
    expect(region).to_contain_text(description)
    expect(strip).to_contain_text("some-outputs-fail")
    expect(running).to_contain_text("some-outputs-fail")


def test_the_counter_of_a_rule_leads_to_its_requests_whose_operation_is_whole(
    visit: Visit,
    service: Service,
) -> None:
    team = service.told("POST", "/teams", {"name": "مجموعة الصور"})
    key = team["credentials"][0]["key"]
    rule = {
        "name": "a rule with a name " + "that is long " * 10,
        "match": {"operation": "getTeam"},
        "then": {"problem": "rate_limited"},
    }
    service.use({"scenario": "long", "rules": [rule]})
    service.get("/team", key)
    service.get("/assets")

    visit.follow("Scenario", "fired 1")

    row = visit.requests("00:00:00")
    expect(row).to_have_count(1)
    expect(row).to_contain_text("rate_limited")
    expect(row.get_by_text("مجموعة الصور")).to_have_css("direction", "rtl")
    operation = row.locator(".operation")
    is_whole = operation.evaluate("name => name.scrollWidth <= name.clientWidth")
    assert is_whole


def test_help_shows_the_documentation_with_its_links(visit: Visit) -> None:
    visit.press("Scenario", "Edit")
    scenario = visit.region("Scenario")
    link(scenario, "Format of scenario files").click()
    region = visit.help()
    title = heading(region, "Scenarios: failures on demand")
    expect(title).to_be_visible()
    expect(region.locator("pre").first).to_contain_text("scenario: busy-team")

    link(region, "All pages").click()
    link(region, "Rules of conduct").click()

    assert "#help/reference/conduct-rules.md" in visit.page.url
    title = heading(region, "Rules of conduct")
    expect(title).to_be_visible()


RULE = """\
scenario: mine
rules:
  - match: {operation: %s}
    then: {problem: rate_limited}
"""


def test_a_shipped_scenario_is_edited_and_saved(visit: Visit) -> None:
    region = visit.region("Scenario")
    region.get_by_role("combobox").select_option("some-outputs-fail")

    visit.press("Scenario", "Edit")
    editor = field(region, "Scenario file")
    expect(editor).to_have_value(re.compile("scenario: some-outputs-fail"))
    with visit.page.expect_download() as coming:
        visit.press("Scenario", "Save")

    assert coming.value.suggested_filename == "some-outputs-fail.yaml"


def test_the_editor_shows_complaints_and_matches_at_their_lines(
    visit: Visit,
    service: Service,
) -> None:
    service.get("/team")
    region = visit.region("Scenario")
    region.get_by_role("combobox").select_option("some-outputs-fail")
    visit.press("Scenario", "Edit")
    editor = field(region, "Scenario file")
    expect(editor).to_have_value(re.compile("scenario: some-outputs-fail"))

    editor.fill(RULE % "getTeem")
    expect(region.locator(".marks")).to_contain_text("did you mean")
    expect(editor).to_have_attribute("aria-invalid", "true")
    visit.press("Scenario", "Check")
    expect(region.get_by_role("alert")).to_contain_text("mine.yaml:3:")

    editor.fill(RULE % "getTeam")
    matches = region.get_by_role("listitem").filter(
        has_text="recent requests that match: #1"
    )
    expect(matches).to_be_visible()
    expect(region.locator(".marks p")).to_have_count(0)
    visit.press("Scenario", "Check")
    expect(region.get_by_role("alert")).to_have_count(0)
    visit.complaints.clear()  # the browser's own notes of the 422
