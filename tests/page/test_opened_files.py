"""Files that the page saves and opens: states, journals, coverage and sessions."""

import json
import re
from pathlib import Path

import pytest

from tests.page.browser import Service, Visit, button, drawn_width, expect, group

pytestmark = pytest.mark.verify


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        pytest.param("Dear all", "expected JSON", id="no JSON"),
        pytest.param("{}", "expected a session", id="an empty object"),
        pytest.param('{"data": [7]}', "expected a", id="a list of numbers"),
    ],
)
def test_a_file_of_another_kind_is_refused(
    visit: Visit,
    tmp_path: Path,
    text: str,
    complaint: str,
) -> None:
    file = tmp_path / "letter.json"
    file.write_text(text, encoding="utf-8")

    visit.open_file(file)

    expect(visit.alert()).to_contain_text(f"letter.json: {complaint}")


def test_a_state_is_saved_loaded_and_opened(
    visit: Visit,
    service: Service,
    tmp_path: Path,
) -> None:
    service.photoshoot()
    file = tmp_path / "state.zip"
    with visit.page.expect_download() as coming:
        visit.press("Sandboxes", "Save state")
    coming.value.save_as(file)

    service.set_credits(1)
    with (
        visit.page.expect_file_chooser() as choosing,
        visit.page.expect_response("**/state"),
    ):
        visit.press("Sandboxes", "Load state")
        choosing.value.set_files(file)
    team = service.get("/team").json
    assert team["credits"] == 98

    visit.open_file(file)
    visit.page.wait_for_url("**?sandbox=*#work")
    work = visit.work()
    expect(work).to_have_count(1)


def test_a_file_of_a_journal_is_shown_in_requests(
    visit: Visit,
    service: Service,
    tmp_path: Path,
) -> None:
    service.get("/team")
    entries = service.journal()
    file = tmp_path / "journal.json"
    file.write_text(json.dumps({"data": entries * 2}), encoding="utf-8")
    service.reset()

    visit.open_file(file)

    expect(visit.region("Requests")).to_contain_text("2 requests")
    expect(visit.tabs()).to_have_text(["Requests"])


def test_a_file_of_coverage_is_shown_in_coverage(
    visit: Visit,
    service: Service,
    tmp_path: Path,
) -> None:
    service.get("/team")
    coverage = service.told("GET", "/coverage")
    file = tmp_path / "coverage.json"
    file.write_text(json.dumps(coverage), encoding="utf-8")
    service.reset()

    visit.open_file(file)

    summaries = visit.region("Coverage").locator("summary")
    expect(summaries.filter(has_text="getTeam")).to_contain_text("1 of ")


def test_a_session_is_shown_as_it_was_and_cannot_be_changed(
    visit: Visit,
    service: Service,
    tmp_path: Path,
) -> None:
    generation = service.photoshoot()
    service.finish_work()
    service.get(f"/generations/{generation['id']}")
    service.post("/products", {"name": "Shirt"})
    file = tmp_path / "session.json"
    service.save_session(file)
    service.reset()

    visit.open_file(file)
    expect(visit.banner()).to_contain_text("read only")

    request = visit.opened_request("invalid_input")
    expect(request).to_contain_text("Remedy")
    expect(button(request, "Copy as curl")).to_be_visible()
    expect(button(request, "Send again")).to_be_hidden()

    work = visit.work()
    work.get_by_text("Timeline", exact=True).click()
    timeline = group(work, "Timeline")
    expect(timeline).to_contain_text("poll ✓ 200")

    image = work.get_by_role("img").first
    image.scroll_into_view_if_needed()
    expect(image).to_have_attribute("src", re.compile("^blob:"))
    assert drawn_width(image) > 100

    gallery = visit.region("Gallery")
    expect(gallery.get_by_role("listitem")).to_have_count(5)
    expect(button(gallery, "First photoshoot")).to_be_hidden()

    button(visit.page, "Close file").click()
    expect(visit.page.get_by_role("tab", name="Teams")).to_be_visible()
    expect(visit.region("Requests")).to_contain_text("No requests yet")
