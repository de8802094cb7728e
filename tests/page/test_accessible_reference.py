"""The reference for people who use a keyboard or a screen reader, or who see little."""

from pathlib import Path
from typing import Any

import pytest

from tests.page.browser import PHONE, Visit, expect

pytestmark = pytest.mark.verify
PATIENCE_MS = 90_000
"""Swagger UI has much to do before it shows anything, on a busy machine for long."""
GRAVE = ("moderate", "serious", "critical")


@pytest.fixture
def examine(node: Path) -> Any:
    """Return what axe finds on a page: the rule and the first element of each violation."""
    axe = (node / "node_modules/axe-core/axe.min.js").read_text(encoding="utf-8")

    def grave_violations(visit: Visit) -> list[tuple[str, str]]:
        visit.page.evaluate(axe)
        violations = visit.page.evaluate("axe.run().then(result => result.violations)")
        grave: list[tuple[str, str]] = []
        for violation in violations:
            if violation["impact"] in GRAVE:
                first_element = violation["nodes"][0]["html"]
                grave.append((violation["id"], first_element[:160]))
        return grave

    return grave_violations


@pytest.fixture
def opened(visitor: Any) -> Any:
    """Open the reference at an operation, and send a request that is refused."""

    def open_and_execute(**options: Any) -> Visit:
        visit: Visit = visitor(
            "/_emulator/reference#/Products/createProduct",
            bypass_csp=True,
            **options,
        )
        operation = visit.operation("Products", "createProduct")
        execute = operation.get_by_role("button", name="Execute")
        execute.click(timeout=PATIENCE_MS)
        answer = visit.page.get_by_role("contentinfo")
        expect(answer).to_contain_text("createProduct: 422", timeout=PATIENCE_MS)
        visit.complaints.clear()  # the browser's own note of the 422
        return visit

    return open_and_execute


@pytest.mark.parametrize("colours", ["light", "dark"])
@pytest.mark.parametrize("screen", [{}, PHONE], ids=["wide", "phone"])
def test_axe_finds_nothing_in_the_reference(
    opened: Any,
    examine: Any,
    colours: str,
    screen: Any,
) -> None:
    visit = opened(color_scheme=colours, **screen)

    violations = examine(visit)

    assert violations == []


def test_axe_finds_nothing_in_the_dialog_for_keys(opened: Any, examine: Any) -> None:
    visit = opened()
    visit.page.get_by_role("button", name="Authorize").first.click()
    expect(visit.page.get_by_role("button", name="Close").first).to_be_visible()

    violations = examine(visit)

    assert violations == []


def test_a_field_has_the_name_of_its_parameter(opened: Any) -> None:
    visit = opened()

    fault = visit.page.get_by_role("combobox", name="Emulator-Fault", exact=True)

    expect(fault.first).to_be_visible()


def test_an_operation_is_opened_by_its_button(visitor: Any) -> None:
    visit = visitor("/_emulator/reference")
    operation = visit.operation("Team", "getTeam")
    button = operation.get_by_role("button", name="/team").first

    button.press("Enter", timeout=PATIENCE_MS)

    expect(operation.get_by_role("button", name="Execute")).to_be_visible()
    assert visit.page.url.endswith("#/Team/getTeam")
