"""The editor of scenarios: what it opens, writes and keeps."""

import re
from typing import Any

import pytest

from tests.page.browser import Service, Visit, button, expect, field

pytestmark = pytest.mark.verify
RUNNING = "scenario: mine\ndescription: My own.\nrules: []\n"


def editor(visit: Visit) -> Any:
    return field(visit.page, "Scenario file")


def test_it_opens_the_text_of_the_running_scenario(
    visit: Visit,
    service: Service,
) -> None:
    headers = {"Content-Type": "application/yaml"}
    service.told("PUT", "/scenario", content=RUNNING.encode(), headers=headers)
    expect(visit.region("Scenario")).to_contain_text("My own.")

    visit.press("Scenario", "Edit")

    expect(editor(visit)).to_have_value(RUNNING)


def test_its_text_outlives_a_reload(visit: Visit) -> None:
    visit.press("Scenario", "Edit")
    editor(visit).fill("scenario: half-written\n")

    visit.page.reload()

    expect(editor(visit)).to_have_value("scenario: half-written\n")


def test_a_rule_of_a_request_is_written_in_blocks(
    visit: Visit,
    service: Service,
) -> None:
    service.post("/products", {"name": "Linen shirt"})
    details = visit.opened_request("invalid_input")

    button(details, "Make a rule").click()

    rule = (
        "  - name: as request 1\n"
        "    match:\n"
        "      operation: createProduct\n"
        "      team: Demo\n"
        "      body:\n"
        "        name: Linen shirt\n"
        "    when:\n"
        "      nth: 1\n"
        "    then:\n"
        "      problem: invalid_input\n"
    )
    expect(editor(visit)).to_have_value(re.compile(re.escape(rule)))
    expect(visit.page.locator(".matches")).to_contain_text("is valid")


def test_there_is_one_main_button(visit: Visit) -> None:
    primary = visit.region("Scenario").locator("button.primary:visible")
    expect(primary).to_have_text(["Use"])

    visit.press("Scenario", "Edit")

    expect(primary).to_have_text(["Use file"])


def test_complaints_name_fields_and_not_pointers(visit: Visit) -> None:
    visit.press("Scenario", "Edit")
    editor(visit).fill("scenario: mine\nrules:\n  - match: {operation: getTeem}\n")

    visit.press("Scenario", "Check")

    alert = visit.region("Scenario").get_by_role("alert")
    expect(alert).to_contain_text("mine.yaml:3:")
    expect(alert).not_to_contain_text("/rules/0")
    visit.complaints.clear()  # the browser's own note of the 422
