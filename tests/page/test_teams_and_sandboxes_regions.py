"""The regions of Teams, with their credentials and admission, and of sandboxes."""

from typing import Any

import pytest

from tests.page.browser import (
    CLIPBOARD,
    Service,
    Visit,
    button,
    enter,
    expect,
    field,
    rows_with,
)
from tests.support.emulator_client import UPLOAD

pytestmark = pytest.mark.verify


def test_credits_are_set_with_enter_or_refused_with_an_alert(
    visit: Visit,
    service: Service,
) -> None:
    region = visit.region("Teams")
    balance = field(region, "Credits").first

    enter(balance, "-1")
    expect(visit.alert()).to_contain_text("Credits: found -1")
    expect(balance).to_have_value("100")

    enter(balance, "3")
    expect(visit.alert()).to_have_count(0)
    expect(balance).not_to_have_class("is-changed")

    service.set_credits(7)
    expect(balance).to_have_value("7")
    visit.complaints.clear()  # the browser's own note of the 400


def test_a_key_is_copied(visitor: Any) -> None:
    visit = visitor(**CLIPBOARD)
    row = rows_with(visit.region("Teams"), "iwe_demo_full")

    button(row, "Copy").click()

    expect(row.locator(".is-done")).to_be_visible()
    assert visit.copied() == "iwe_demo_full"


def test_a_credential_is_revoked_and_restored(visit: Visit, service: Service) -> None:
    row = rows_with(visit.region("Teams"), "iwe_demo_full")
    restore = button(row, "Restore")

    button(row, "Revoke").click()

    expect(row).to_contain_text("revoked")
    refusal = service.get("/team")
    assert refusal.json["code"] == "credential_revoked"
    expect(restore).to_be_focused()

    restore.click()

    expect(row).to_contain_text("active")


def test_admission_is_paused_and_opened(visit: Visit, service: Service) -> None:
    visit.press("Teams", "Pause admission")

    expect(visit.region("Teams")).to_contain_text("Admission is paused")
    refusal = service.post("/uploads", UPLOAD)
    assert refusal.json["code"] == "service_unavailable"

    visit.press("Teams", "Open admission")

    expect(visit.region("Teams")).to_contain_text("Admission is open")
    upload = service.post("/uploads", UPLOAD)
    assert upload.json["object"] == "upload"


def test_sandboxes_are_made_chosen_and_deleted(visit: Visit, service: Service) -> None:
    region = visit.region("Sandboxes")

    field(region, "New sandbox").fill("checkout")
    visit.press("Sandboxes", "Create")
    visit.page.wait_for_url("**?sandbox=checkout*")
    expect(region.get_by_role("combobox")).to_have_value("checkout")

    visit.press("Sandboxes", "Delete")
    confirmation = button(region, "Delete? Click again")
    expect(confirmation).to_be_visible()
    checkout = service.told("GET", "/sandboxes/checkout")
    assert checkout["id"] == "checkout"

    visit.press("Sandboxes", "Delete? Click again")
    visit.page.wait_for_url(lambda url: "sandbox=" not in url)
    sandboxes = service.told("GET", "/sandboxes")["data"]
    sandbox_ids = [sandbox["id"] for sandbox in sandboxes]
    assert sandbox_ids == ["default"]


def test_the_default_sandbox_is_not_deleted_and_the_alert_goes_with_its_region(
    visit: Visit,
) -> None:
    visit.press_twice("Sandboxes", "Delete")
    expect(visit.alert()).to_contain_text("default")

    visit.region("Work")

    expect(visit.alert()).to_have_count(0)
    visit.complaints.clear()  # the browser's own note of the refusal


def test_a_sandbox_made_elsewhere_is_listed(visit: Visit, service: Service) -> None:
    region = visit.region("Sandboxes")
    expect(rows_with(region, "default")).to_be_visible()

    service.make_sandbox("first")
    region.get_by_role("combobox").focus()
    expect(region.get_by_role("option", name="first")).to_be_attached()

    visit.region("Requests")
    service.make_sandbox("second")
    visit.region("Sandboxes")
    expect(region.get_by_role("option", name="second")).to_be_attached()


def test_a_sandbox_is_shown_by_its_address(visit: Visit, service: Service) -> None:
    sandbox = service.make_sandbox("second")

    visit.open("/_emulator?sandbox=second")
    service.get("/team")
    service.get("/assets", sandbox["env"]["IMAGE_WORKFLOW_API_KEY"])

    rows = visit.requests("Demo")
    expect(rows).to_contain_text(["listAssets"])


@pytest.mark.parametrize("act", ["reset", "clear", "clear elsewhere"])
def test_a_reset_and_a_cleared_journal_empty_what_is_shown(
    visit: Visit,
    service: Service,
    act: str,
) -> None:
    for _ in range(30):
        service.get("/team")
    region = visit.region("Requests")
    rows = rows_with(region, "getTeam")
    expect(region).to_contain_text("30 requests")
    rows.first.press("End")
    expect(region.locator("[data-key='1']")).to_be_focused()

    if act == "reset":
        visit.press_twice("Sandboxes", "Reset")
    elif act == "clear":
        visit.press_twice("Requests", "Clear")
    else:
        service.told("DELETE", "/requests")

    expect(visit.region("Requests")).to_contain_text("No requests yet")
    expect(rows).to_have_count(0)
    journal = service.told("GET", "/requests")
    assert journal["data"] == []
