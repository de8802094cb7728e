"""Every region of the page, its fields and its buttons, as a person uses them."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from image_workflow_emulator.client.control_client import ControlClient
from image_workflow_emulator.client.exports import saved_sandbox
from tests.page.browser import PHONE, Service, Visit, expect
from tests.support.emulator_client import UPLOAD
from tests.support.pictures import picture

pytestmark = pytest.mark.verify


def test_a_request_opens_with_its_reason_and_remedy_and_leads_to_the_reference(
    visit: Visit,
    service: Service,
) -> None:
    service.post("/products", {"name": "Shirt"})
    region = visit.region("Requests")
    row = region.get_by_role("row").filter(has_text="createProduct")
    expect(row).to_contain_text("422")
    expect(row).to_contain_text("invalid_input")
    expect(row).to_contain_text("Demo")
    row.click()
    expect(region).to_contain_text("Remedy")
    expect(region).to_contain_text("Asset ids: found nothing")
    expect(region.locator(".check-decided")).to_contain_text("decided")
    expect(region.get_by_role("group", name="Request body")).to_contain_text(
        '"name": "Shirt"'
    )
    region.get_by_role("link", name="In the reference").click()
    visit.page.wait_for_url("**/_emulator/reference#/Products/createProduct")


@pytest.mark.parametrize("screen", [{}, PHONE], ids=["wide", "phone"])
def test_rows_are_reached_opened_and_closed_by_keyboard(
    visitor: Any,
    service: Service,
    screen: Any,
) -> None:
    visit = visitor(**screen)
    for _ in range(3):
        service.get("/team")
    region = visit.region("Requests")
    keyboard = visit.page.keyboard
    details = region.get_by_role("region", name="Details of the request")
    expect(region.get_by_role("row").filter(has_text="getTeam")).to_have_count(3)
    region.locator("[data-key='3']").focus()
    keyboard.press("ArrowDown")
    keyboard.press("Enter")
    expect(details).to_contain_text("GET /v1/team")

    assert visit.page.url.endswith("#requests/2")
    keyboard.press("Escape")
    expect(details).to_be_hidden()
    expect(region.locator("[data-key='2']")).to_be_focused()


def test_arrow_keys_move_what_is_open_and_enter_leads_into_the_details(
    visit: Visit,
    service: Service,
) -> None:
    for _ in range(2):
        service.get("/team")
    region = visit.region("Requests")
    details = region.get_by_role("region", name="Details of the request")
    region.locator("[data-key='2']").click()
    expect(details).to_be_visible()
    visit.page.keyboard.press("ArrowDown")
    expect(region.locator("[data-key='1']")).to_have_attribute("aria-selected", "true")
    visit.page.keyboard.press("Enter")
    expect(details).to_be_focused()
    expect(details.get_by_role("link", name="Full (iwe_de…)")).to_have_attribute(
        "href",
        "#teams",
    )


def test_an_empty_journal_shows_a_first_request_with_a_key_that_is_active(
    visit: Visit,
    service: Service,
) -> None:
    region = visit.region("Requests")
    expect(region).to_contain_text("curl -H 'Authorization: Bearer iwe_demo_full'")
    team = service.team()
    added = service.told(
        "POST",
        f"/teams/{team['id']}/credentials",
        {"profile": "full"},
    )
    service.told(
        "PATCH",
        f"/credentials/{team['credentials'][0]['id']}",
        {"state": "revoked"},
    )
    visit.press_twice("Requests", "Clear")
    expect(region).to_contain_text(f"curl -H 'Authorization: Bearer {added['key']}'")


def test_a_search_narrows_the_list_and_lives_in_the_address_and_the_title_tells_of_failures(
    visit: Visit,
    service: Service,
) -> None:
    expect(visit.page).to_have_title("Image Workflow Emulator")
    service.get("/team")
    service.post("/products", {})
    service.get("/nowhere")
    region = visit.region("Requests")
    rows = region.get_by_role("row").filter(has_text="00:00:00")
    field = region.get_by_label("Search", exact=True)
    for text, expected in (
        ("status:422", ["createProduct"]),
        ("op:getTeam team:Demo", ["getTeam"]),
        ("nowhere", ["GET /v1/nowhere"]),
        ("op:team status:4xx", []),
        ("", ["GET /v1/nowhere", "createProduct", "getTeam"]),
        ("status:4xx", ["GET /v1/nowhere", "createProduct"]),
    ):
        field.fill(text)
        expect(rows).to_contain_text(expected)
        expect(rows).to_have_count(len(expected))
    expect(visit.page).to_have_title("(2) Image Workflow Emulator")
    expect(visit.page.locator("#icon")).to_have_attribute(
        "href",
        re.compile("icon-failures.svg$"),
    )
    visit.page.reload()
    expect(field).to_have_value("status:4xx")
    expect(rows).to_have_count(2)
    region.get_by_role("button", name="Remove the filter status 4xx").click()
    expect(rows).to_have_count(3)
    field.fill("status:abc")
    expect(region).to_contain_text("status:abc: expected a status such as 402")
    visit.page.get_by_role("tab", name="Work").click()
    visit.page.keyboard.press("/")
    expect(field).to_be_focused()


def test_rows_hold_still_while_one_is_pointed_at_or_open(
    visit: Visit,
    service: Service,
) -> None:
    service.get("/team")
    region = visit.region("Requests")
    rows = region.get_by_role("row").filter(has_text="00:00:00")
    rows.first.hover()
    for _ in range(12):
        service.get("/assets")
    expect(region.get_by_role("button", name="12 new", exact=True)).to_be_visible()
    expect(rows).to_have_count(1)
    region.get_by_role("button", name="12 new", exact=True).click()
    expect(rows).to_have_count(13)
    rows.first.click()
    visit.page.mouse.move(5, 5)
    service.get("/poses")
    expect(region.get_by_role("button", name="1 new", exact=True)).to_be_visible()
    expect(rows).to_have_count(13)
    region.get_by_role("button", name="Close").click()
    visit.page.mouse.move(5, 5)
    expect(region.get_by_role("row").filter(has_text="listPoses")).to_be_visible()


def test_an_id_that_was_sent_in_a_body_is_found_and_leads_to_all_about_it(
    visit: Visit,
    service: Service,
) -> None:
    generation = service.photoshoot()
    asset = service.told("GET", "/assets")["data"][0]["id"]
    region = visit.region("Requests")
    region.get_by_label("Search", exact=True).fill(asset)
    expect(
        region.get_by_role("row").filter(has_text="createProductPhotography")
    ).to_be_visible()
    region.get_by_role("link", name=asset).click()
    about = visit.page.get_by_role("region", name=f"About {asset}", exact=True)
    expect(about.get_by_role("img").first).to_be_visible()
    expect(
        about.get_by_role("row").filter(has_text="createProductPhotography")
    ).to_be_visible()
    about.get_by_role("article").get_by_role("link", name=generation["id"]).click()
    about = visit.page.get_by_role(
        "region",
        name=f"About {generation['id']}",
        exact=True,
    )
    expect(about).to_contain_text("reserved 2")
    visit.page.reload()
    expect(about).to_contain_text("photoshoot")
    expect(
        about.get_by_role("row").filter(has_text="createProductPhotography")
    ).to_be_visible()


def test_a_replay_leads_to_its_original(visit: Visit, service: Service) -> None:
    for _ in range(2):
        service.post("/uploads", UPLOAD, idempotency_key="same")
    visit.opened_request("replayed").get_by_role(
        "link",
        name="Original",
        exact=True,
    ).click()
    visit.page.wait_for_url("**#requests/1")


def test_work_fills_slot_by_slot_is_filtered_and_leads_to_its_request_and_back(
    visit: Visit,
    service: Service,
) -> None:
    generation = service.photoshoot()
    service.get(f"/generations/{generation['id']}")
    region = visit.region("Work")
    work = region.get_by_role("article").filter(has_text=generation["id"])
    expect(work).to_contain_text("product_photography")
    expect(work).to_contain_text("reserved 2")
    expect(work).to_contain_text("charged 0")
    expect(work.get_by_role("img")).to_have_count(0)
    visit.press("Clock", "+10 s")
    visit.region("Work")
    expect(work.get_by_role("img").first).to_have_attribute(
        "alt",
        "Output 1 of 4: Product photography: photoshoot, Demo",
    )

    assert (
        work.get_by_role("img").first.evaluate(
            "image => image.decode().then(() => image.naturalWidth)"
        )
        > 100
    )
    visit.press("Clock", "Run until idle")
    visit.region("Work")
    expect(work.get_by_role("img")).to_have_count(4)
    expect(work).to_contain_text("charged 2")
    expect(work).to_contain_text("Aspect ratio")
    timeline = work.get_by_role("group", name="Timeline")
    expect(timeline).to_contain_text("Retry-After")
    expect(timeline).to_contain_text("2 Credits reserved")
    region.get_by_label("State").select_option("failed")
    expect(work).to_have_count(0)
    assert visit.page.url.endswith("#work?state=failed")
    region.get_by_role("button", name="Remove the filter state failed").click()
    work.get_by_role("link", name="Request", exact=True).click()
    requests = visit.region("Requests")
    expect(requests).to_contain_text("createProductPhotographyGeneration")
    requests.get_by_role("link", name="Show the work").click()
    expect(visit.region("Work").get_by_role("article")).to_have_count(1)


def test_a_failed_slot_says_why_and_whose_rule_it_was(
    visit: Visit,
    service: Service,
) -> None:
    service.told("PUT", "/scenario", {"use": "some-outputs-fail"})
    service.photoshoot()
    visit.press("Clock", "Run until idle")
    work = visit.region("Work").get_by_role("article").first
    expect(work).to_contain_text("content_rejected")
    expect(work).to_contain_text("timed_out")
    expect(work).to_contain_text("some-outputs-fail.yaml, line")


def test_the_clock_moves_by_its_buttons_and_changes_its_mode(
    visit: Visit,
    service: Service,
) -> None:
    region = visit.region("Clock")
    expect(region).to_contain_text("Nothing is due")
    service.photoshoot()
    expect(region).to_contain_text("product photography starts in 1.0 s")
    visit.press("Clock", "Run until idle")
    expect(region).to_contain_text("Nothing is due")
    service.told("POST", "/reset")
    for button, shown in (
        ("+10 s", "00:00:10"),
        ("+1 min", "00:01:10"),
        ("Next event", "00:01:10"),
    ):
        visit.press("Clock", button)
        expect(region.locator(".clock-time")).to_have_text(shown)
    region.get_by_role("combobox").select_option("auto")
    expect(region).to_contain_text("skips every wait")

    assert service.told("GET", "/clock")["mode"] == "auto"


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
    causes = (
        visit.opened_request("503").get_by_role("listitem").filter(has_text="Timeline")
    )
    expect(causes).to_contain_text("admission-paused.yaml, line")


def test_credits_are_set_with_enter_or_refused_with_an_alert(
    visit: Visit,
    service: Service,
) -> None:
    field = visit.region("Teams").get_by_label("Credits", exact=True).first
    field.fill("-1")
    field.press("Enter")
    expect(visit.alert()).to_contain_text("Credits: found -1")
    expect(field).to_have_value("100")
    field.fill("3")
    field.press("Enter")
    expect(visit.alert()).to_have_count(0)
    expect(field).not_to_have_class("is-changed")
    service.told("PATCH", "/teams/Demo", {"credits": 7})
    expect(field).to_have_value("7")
    visit.complaints.clear()  # the browser's own note of the 400


def test_a_credential_is_copied_revoked_and_restored(
    visitor: Any,
    service: Service,
) -> None:
    visit = visitor(permissions=["clipboard-read", "clipboard-write"])
    row = visit.region("Teams").get_by_role("row").filter(has_text="iwe_demo_full")
    row.get_by_role("button", name="Copy").click()
    expect(row.locator(".is-done")).to_be_visible()

    assert visit.page.evaluate("navigator.clipboard.readText()") == "iwe_demo_full"
    row.get_by_role("button", name="Revoke").click()
    expect(row).to_contain_text("revoked")
    assert service.get("/team").json["code"] == "credential_revoked"
    expect(row.get_by_role("button", name="Restore")).to_be_focused()
    row.get_by_role("button", name="Restore").click()
    expect(row).to_contain_text("active")


def test_admission_is_paused_and_opened(visit: Visit, service: Service) -> None:
    visit.press("Teams", "Pause admission")
    expect(visit.region("Teams")).to_contain_text("Admission is paused")

    assert service.post("/uploads", UPLOAD).json["code"] == "service_unavailable"
    visit.press("Teams", "Open admission")
    expect(visit.region("Teams")).to_contain_text("Admission is open")
    assert service.post("/uploads", UPLOAD).json["object"] == "upload"


def test_a_picture_is_uploaded_by_the_field_or_dropped_and_another_file_refused(
    visit: Visit,
    tmp_path: Path,
) -> None:
    photo = tmp_path / "photo.png"
    letter = tmp_path / "letter.png"
    photo.write_bytes(picture(size=(40, 30)))
    letter.write_bytes(b"Dear all")
    region = visit.region("Gallery")
    region.get_by_label("Upload", exact=True).set_input_files(photo)
    shown = region.get_by_role("listitem")
    expect(shown).to_contain_text("PNG 40 × 30")

    assert (
        shown.get_by_role("img").evaluate(
            "image => image.decode().then(() => image.naturalWidth)"
        )
        == 40
    )
    dropped = """bytes => {
        const transfer = new DataTransfer();
        transfer.items.add(new File([new Uint8Array(bytes)], "photo.png", {type: "image/png"}));
        return transfer;
    }"""
    transfer = visit.page.evaluate_handle(dropped, list(picture(size=(40, 30))))
    region.dispatch_event("dragover", {"dataTransfer": transfer})
    region.dispatch_event("drop", {"dataTransfer": transfer})
    expect(shown).to_have_count(2)
    region.get_by_label("Upload", exact=True).set_input_files(letter)
    expect(visit.alert()).to_contain_text("letter.png:")
    visit.complaints.clear()


def test_a_picture_says_what_was_ordered_and_copies_its_id(
    visitor: Any,
    service: Service,
) -> None:
    visit = visitor(permissions=["clipboard-read", "clipboard-write"])
    service.photoshoot()
    service.told("POST", "/clock/advance", {"until_idle": True})
    card = (
        visit.region("Gallery")
        .get_by_role("article")
        .filter(has_text="Product photography: photoshoot")
    )
    expect(card).to_contain_text("1:1 · 1k · png")
    expect(card.get_by_role("listitem")).to_have_count(4)
    made = card.get_by_role("listitem").first
    made.hover()
    made.get_by_role("button", name="Copy id").click()
    expect(made.locator(".is-done")).to_be_visible()

    assert visit.page.evaluate("navigator.clipboard.readText()") in made.inner_text()


def test_the_large_picture_goes_on_to_the_next_one_and_is_downloaded(
    visit: Visit,
    service: Service,
) -> None:
    service.photoshoot()
    service.told("POST", "/clock/advance", {"until_idle": True})
    card = visit.region("Gallery").get_by_role("article").first
    card.get_by_role("listitem").first.hover()
    card.get_by_role("button", name="Open", exact=True).first.click()
    dialog = visit.page.get_by_role("dialog")
    first = dialog.get_by_role("link").inner_text()
    dialog.get_by_role("button", name="Next").click()
    expect(dialog.get_by_role("link")).not_to_have_text(first)
    visit.page.keyboard.press("ArrowLeft")
    expect(dialog.get_by_role("link")).to_have_text(first)
    with visit.page.expect_download() as coming:
        dialog.get_by_role("button", name="Download").click()

    assert coming.value.suggested_filename == f"{first}.png"


def test_sandboxes_are_made_chosen_and_deleted(visit: Visit, service: Service) -> None:
    region = visit.region("Sandboxes")
    region.get_by_label("New sandbox").fill("checkout")
    visit.press("Sandboxes", "Create")
    visit.page.wait_for_url("**?sandbox=checkout*")
    expect(region.get_by_role("combobox")).to_have_value("checkout")
    visit.press("Sandboxes", "Delete")
    expect(region.get_by_role("button", name="Delete? Click again")).to_be_visible()

    assert service.told("GET", "/sandboxes/checkout")["id"] == "checkout"
    visit.press("Sandboxes", "Delete? Click again")
    visit.page.wait_for_url(lambda url: "sandbox=" not in url)
    assert [one["id"] for one in service.told("GET", "/sandboxes")["data"]] == [
        "default"
    ]
    visit.press_twice("Sandboxes", "Delete")
    expect(visit.alert()).to_contain_text("default")
    visit.region("Work")
    expect(visit.alert()).to_have_count(0)
    visit.complaints.clear()


def test_a_sandbox_made_elsewhere_is_listed_and_shown_by_its_address(
    visit: Visit,
    service: Service,
) -> None:
    region = visit.region("Sandboxes")
    expect(region.get_by_role("row").filter(has_text="default")).to_be_visible()
    service.told("POST", "/sandboxes", {"id": "first"})
    region.get_by_role("combobox").focus()
    expect(region.get_by_role("option", name="first")).to_be_attached()
    visit.region("Requests")
    made = service.told("POST", "/sandboxes", {"id": "second"})
    visit.region("Sandboxes")
    expect(region.get_by_role("option", name="second")).to_be_attached()
    visit.open("/_emulator?sandbox=second")
    service.get("/team")
    service.get("/assets", made["env"]["IMAGE_WORKFLOW_API_KEY"])
    expect(
        visit.region("Requests").get_by_role("row").filter(has_text="Demo")
    ).to_contain_text(["listAssets"])


@pytest.mark.parametrize("act", ["reset", "clear", "clear elsewhere"])
def test_a_reset_and_a_cleared_journal_empty_what_is_shown(
    visit: Visit,
    service: Service,
    act: str,
) -> None:
    for _ in range(30):
        service.get("/team")
    region = visit.region("Requests")
    expect(region).to_contain_text("30 requests")
    region.get_by_role("row").filter(has_text="getTeam").first.press("End")
    expect(region.locator("[data-key='1']")).to_be_focused()
    if act == "reset":
        visit.press_twice("Sandboxes", "Reset")
    elif act == "clear":
        visit.press_twice("Requests", "Clear")
    else:
        service.told("DELETE", "/requests")
    expect(visit.region("Requests")).to_contain_text("No requests yet")
    expect(region.get_by_role("row").filter(has_text="getTeam")).to_have_count(0)

    assert service.told("GET", "/requests")["data"] == []


def test_a_photoshoot_that_a_scenario_refuses_is_explained_four_clicks_later(
    visit: Visit,
) -> None:
    visit.region("Scenario").get_by_role("combobox").select_option(
        "every-first-write-fails"
    )
    visit.press("Scenario", "Use")
    visit.press("Gallery", "First photoshoot")
    expect(visit.alert()).to_contain_text("500 internal_error")
    visit.region("Gallery").get_by_role("link", name="See why in Requests").click()
    region = visit.region("Requests")
    expect(region).to_contain_text("Remedy")
    expect(region.locator(".causes")).to_contain_text(
        "every-first-write-fails.yaml, line"
    )
    visit.complaints.clear()  # the browser's own note of the 500


def test_a_first_photoshoot_is_of_the_chosen_team_by_a_key_that_is_active(
    visit: Visit,
    service: Service,
) -> None:
    service.photoshoot()  # of a picture of Demo
    other = service.told("POST", "/teams", {"name": "Second"})
    service.told(
        "PATCH",
        f"/credentials/{other['credentials'][0]['id']}",
        {"state": "revoked"},
    )
    service.told("POST", f"/teams/{other['id']}/credentials", {"profile": "full"})
    visit.region("Gallery").get_by_label("Team").select_option(other["id"])
    visit.press("Gallery", "First photoshoot")
    visit.region("Gallery").get_by_role("link", name="Watch them in Work").click()

    assert service.told("GET", "/work")["data"][0]["team"]["id"] == other["id"]


def test_a_request_is_sent_again_changed_by_another_credential_or_as_a_replay(
    visit: Visit,
    service: Service,
) -> None:
    service.post("/uploads", UPLOAD, idempotency_key="first")
    region = visit.opened_request("createUpload")
    region.get_by_role("button", name="Send again").click()
    key = region.get_by_label("Idempotency-Key", exact=True)
    new = region.get_by_role("group", name="New answer")
    expect(key).to_have_value("first")
    region.get_by_label("Credential", exact=True).select_option("iwe_demo_full")
    region.get_by_role("button", name="Send", exact=True).click()
    expect(new).to_contain_text("a replay")
    region.get_by_label("Body", exact=True).fill("{}")
    expect(key).not_to_have_value("first")
    region.get_by_label("Credential", exact=True).select_option("iwe_demo_read")
    region.get_by_role("button", name="Send", exact=True).click()
    expect(new.locator("mark").filter(has_text="permission_denied")).to_be_visible()
    expect(new).not_to_contain_text("a replay")
    expect(region.get_by_role("group", name="First answer")).to_contain_text("201")
    visit.complaints.clear()  # the browser's own note of the 403


def test_two_requests_are_compared_with_their_differences_marked(
    visit: Visit,
    service: Service,
) -> None:
    service.post("/uploads", UPLOAD, idempotency_key="first")
    service.post("/uploads", UPLOAD | {"size_bytes": 9}, idempotency_key="first")
    service.get("/team")
    region = visit.opened_request("idempotency_key_reused")
    region.get_by_role("button", name="Compare").click()
    other = region.get_by_role("group", name="Request 1", exact=True)
    expect(other.locator("mark").filter(has_text='"size_bytes": 5')).to_be_visible()
    expect(
        other.locator("mark").filter(has_text="Idempotency-Key: first")
    ).to_have_count(0)
    region.get_by_label("With", exact=True).select_option("3")
    expect(region.get_by_role("group", name="Request 3", exact=True)).to_contain_text(
        "GET /v1/team"
    )


def test_every_place_says_the_same_of_the_running_scenario(
    visit: Visit,
    service: Service,
) -> None:
    region = visit.region("Scenario")
    strip = visit.page.get_by_role("group", name="Clock and scenario")
    visit.press("Scenario", "Edit")
    region.get_by_label("Scenario file", exact=True).fill("scenario: mine\nrules: []\n")
    visit.press("Scenario", "Use file")
    for place in (strip, region.locator(".running")):
        expect(place).to_contain_text("mine")
    expect(region.get_by_role("combobox")).to_have_value("mine")
    expect(region.get_by_role("button", name="Use", exact=True)).to_be_disabled()
    visit.press("Scenario", "Off")
    expect(region.get_by_role("combobox")).to_have_value("")
    expect(strip).to_contain_text("No scenario")
    expect(region.locator(".running")).to_contain_text("None is running")
    expect(region.get_by_role("button", name="Off")).to_be_disabled()
    service.told("PUT", "/scenario", {"use": "some-outputs-fail"})
    expect(region.get_by_role("combobox")).to_have_value("some-outputs-fail")
    expect(region).to_contain_text(
        "Of every Product Photography the second output is rejected"
    )
    for place in (strip, region.locator(".running")):
        expect(place).to_contain_text("some-outputs-fail")


def test_the_counter_of_a_rule_leads_to_its_requests_whose_operation_is_whole(
    visit: Visit,
    service: Service,
) -> None:
    key = service.told("POST", "/teams", {"name": "مجموعة الصور"})["credentials"][0][
        "key"
    ]
    long = {
        "name": "a rule with a name " + "that is long " * 10,
        "match": {"operation": "getTeam"},
    }
    service.use(
        {"scenario": "long", "rules": [long | {"then": {"problem": "rate_limited"}}]}
    )
    service.get("/team", key)
    service.get("/assets")
    visit.region("Scenario").get_by_role("link", name="fired 1").click()
    row = visit.region("Requests").get_by_role("row").filter(has_text="00:00:00")
    expect(row).to_have_count(1)
    expect(row).to_contain_text("rate_limited")

    assert row.locator(".operation").evaluate(
        "name => name.scrollWidth <= name.clientWidth"
    )
    expect(row.get_by_text("مجموعة الصور")).to_have_css("direction", "rtl")


def test_help_shows_the_documentation_with_its_links(visit: Visit) -> None:
    visit.press("Scenario", "Edit")
    visit.region("Scenario").get_by_role(
        "link",
        name="Format of scenario files",
    ).click()
    region = visit.page.get_by_role("region", name="Help")
    expect(
        region.get_by_role("heading", name="Scenarios: failures on demand")
    ).to_be_visible()
    expect(region.locator("pre").first).to_contain_text("scenario: busy-team")
    region.get_by_role("link", name="All pages").click()
    region.get_by_role("link", name="Rules of conduct").click()

    assert "#help/reference/conduct-rules.md" in visit.page.url
    expect(region.get_by_role("heading", name="Rules of conduct")).to_be_visible()


def test_a_scenario_is_edited_with_complaints_and_matches_at_their_lines(
    visit: Visit,
    service: Service,
) -> None:
    service.get("/team")
    region = visit.region("Scenario")
    region.get_by_role("combobox").select_option("some-outputs-fail")
    visit.press("Scenario", "Edit")
    field = region.get_by_label("Scenario file", exact=True)
    expect(field).to_have_value(re.compile("scenario: some-outputs-fail"))
    with visit.page.expect_download() as coming:
        visit.press("Scenario", "Save")

    assert coming.value.suggested_filename == "some-outputs-fail.yaml"
    rule = (
        "scenario: mine\n"
        "rules:\n"
        "  - match: {operation: %s}\n"
        "    then: {problem: rate_limited}\n"
    )
    field.fill(rule % "getTeem")
    expect(region.locator(".marks")).to_contain_text("did you mean")
    expect(field).to_have_attribute("aria-invalid", "true")
    visit.press("Scenario", "Check")
    expect(region.get_by_role("alert")).to_contain_text("mine.yaml:3:")
    field.fill(rule % "getTeam")
    expect(
        region.get_by_role("listitem").filter(has_text="recent requests that match: #1")
    ).to_be_visible()
    expect(region.locator(".marks p")).to_have_count(0)
    visit.press("Scenario", "Check")
    expect(region.get_by_role("alert")).to_have_count(0)
    visit.complaints.clear()  # the browser's own notes of the 422


def test_a_state_is_saved_loaded_and_opened_and_another_file_refused(
    visit: Visit,
    service: Service,
    tmp_path: Path,
) -> None:
    for text, complaint in (
        ("Dear all", "expected JSON"),
        ("{}", "expected a session"),
        ('{"data": [7]}', "expected a"),
    ):
        (tmp_path / "letter.json").write_text(text, encoding="utf-8")
        visit.open_file(tmp_path / "letter.json")
        expect(visit.alert()).to_contain_text(f"letter.json: {complaint}")
    service.photoshoot()
    file = tmp_path / "state.zip"
    with visit.page.expect_download() as coming:
        visit.press("Sandboxes", "Save state")
    coming.value.save_as(file)
    service.told("PATCH", "/teams/Demo", {"credits": 1})
    with (
        visit.page.expect_file_chooser() as choosing,
        visit.page.expect_response("**/state"),
    ):
        visit.press("Sandboxes", "Load state")
        choosing.value.set_files(file)

    assert service.get("/team").json["credits"] == 98
    visit.open_file(file)
    visit.page.wait_for_url("**?sandbox=*#work")
    expect(visit.region("Work").get_by_role("article")).to_have_count(1)


def test_files_of_a_journal_and_of_coverage_are_shown_by_their_regions(
    visit: Visit,
    service: Service,
    tmp_path: Path,
) -> None:
    service.get("/team")
    entries = service.told("GET", "/requests")["data"]
    (tmp_path / "journal.json").write_text(
        json.dumps({"data": entries * 2}),
        encoding="utf-8",
    )
    (tmp_path / "coverage.json").write_text(
        json.dumps(service.told("GET", "/coverage")),
        encoding="utf-8",
    )
    service.told("POST", "/reset")
    visit.open_file(tmp_path / "journal.json")
    expect(visit.region("Requests")).to_contain_text("2 requests")
    expect(visit.page.get_by_role("tab")).to_have_text(["Requests"])
    visit.open_file(tmp_path / "coverage.json")
    expect(
        visit.region("Coverage").locator("summary").filter(has_text="getTeam")
    ).to_contain_text("1 of ")


def test_a_session_is_shown_as_it_was_and_cannot_be_changed(
    visit: Visit,
    service: Service,
    tmp_path: Path,
) -> None:
    generation = service.photoshoot()
    service.told("POST", "/clock/advance", {"until_idle": True})
    service.get(f"/generations/{generation['id']}")
    service.post("/products", {"name": "Shirt"})
    (tmp_path / "session.json").write_bytes(
        saved_sandbox(ControlClient(service.origin), "session.json")
    )
    service.told("POST", "/reset")
    visit.open_file(tmp_path / "session.json")
    expect(visit.page.get_by_role("banner")).to_contain_text("read only")
    region = visit.opened_request("invalid_input")
    expect(region).to_contain_text("Remedy")
    expect(region.get_by_role("button", name="Copy as curl")).to_be_visible()
    expect(region.get_by_role("button", name="Send again")).to_be_hidden()
    work = visit.region("Work").get_by_role("article")
    work.get_by_text("Timeline", exact=True).click()
    expect(work.get_by_role("group", name="Timeline")).to_contain_text("poll ✓ 200")
    picture = work.get_by_role("img").first
    picture.scroll_into_view_if_needed()
    expect(picture).to_have_attribute("src", re.compile("^blob:"))

    assert (
        picture.evaluate("image => image.decode().then(() => image.naturalWidth)") > 100
    )
    expect(visit.region("Gallery").get_by_role("listitem")).to_have_count(5)
    expect(
        visit.region("Gallery").get_by_role("button", name="First photoshoot")
    ).to_be_hidden()
    visit.page.get_by_role("button", name="Close file").click()
    expect(visit.page.get_by_role("tab", name="Teams")).to_be_visible()
    expect(visit.region("Requests")).to_contain_text("No requests yet")


def test_what_a_client_does_wrong_is_told_with_its_remedy_and_its_requests(
    visit: Visit,
    service: Service,
) -> None:
    region = visit.region("Conduct")
    expect(region).to_contain_text("Nothing found")
    for body in (UPLOAD, UPLOAD | {"size_bytes": 20}, UPLOAD | {"size_bytes": 30}):
        service.post(
            "/uploads",
            body,
            idempotency_key="same",
            headers={"User-Agent": "shop/1"},
        )
    finding = region.get_by_role("article", name="key-reused")
    expect(finding).to_contain_text("warning")
    expect(finding).to_contain_text("Demo, Full · shop/1")
    expect(finding).to_contain_text("Remedy")
    finding.get_by_role("link", name="#2").click()
    expect(visit.region("Requests")).to_contain_text("idempotency_key_reused")


def test_coverage_tells_what_is_covered_and_has_what_closes_each_gap(
    visit: Visit,
    service: Service,
) -> None:
    service.get("/team")
    region = visit.region("Coverage")
    gaps = service.told("GET", "/coverage")
    expect(region).to_contain_text(
        f"{gaps['percent_of_used']} % of what the operations that were used declare"
    )
    following = region.get_by_text("Close next").locator("..").get_by_role("listitem")
    expect(following).to_contain_text(
        [f"{gap['operation']} {gap['point']}: " for gap in gaps["next_gaps"]]
    )
    region.locator("summary").filter(has_text="getTeam").click()
    points = region.locator("details").get_by_role("listitem")
    expect(points.filter(has_text="200")).to_contain_text("covered 1 time")
    expect(region.locator(".dots").first).to_have_attribute("aria-hidden", "true")
    service.get("/team")
    expect(points.filter(has_text="200")).to_contain_text("covered 2 times")
    expect(region.locator("summary").filter(has_text="getTeam")).to_be_focused()
    points.get_by_role("button", name="Use problem:rate_limited").click()
    expect(visit.page.get_by_role("group", name="Clock and scenario")).to_contain_text(
        "problem:rate_limited"
    )

    assert service.get("/team").code == "rate_limited"
    points.get_by_role("button", name="Open in the editor").first.click()
    field = visit.page.get_by_label("Scenario file", exact=True)
    expect(field).to_have_value(re.compile("operation: getTeam"))
    expect(visit.page.locator(".matches")).to_contain_text("recent requests that match")
    region = visit.region("Coverage")
    region.locator("summary").filter(has_text="createProduct").first.click()
    region.get_by_role("link", name="Try it").first.click()
    visit.page.wait_for_url("**/_emulator/reference#/Products/createProduct")
