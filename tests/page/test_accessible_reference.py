"""The reference for people who use a keyboard or a screen reader, or who see little."""

from pathlib import Path
from typing import Any

import pytest

from tests.page.axe import Axe
from tests.page.browser import Visit, button, expect, on_each_screen

pytestmark = pytest.mark.verify
PATIENCE_MS = 90_000
"""Swagger UI has much to do before it shows anything, on a busy machine for long."""


@pytest.fixture
def examine(node: Path) -> Any:
    """Return what axe finds in a visit."""

    def findings(visit: Visit) -> list[str]:
        axe = Axe(visit, node)
        axe.examine("the reference")
        return axe.findings

    return findings


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
        execute = button(operation, "Execute")
        execute.click(timeout=PATIENCE_MS)
        answer = visit.footer()
        expect(answer).to_contain_text("createProduct: 422", timeout=PATIENCE_MS)
        visit.complaints.clear()  # the browser's own note of the 422
        return visit

    return open_and_execute


@pytest.mark.parametrize("colours", ["light", "dark"])
@on_each_screen
def test_axe_finds_nothing_in_the_reference(
    opened: Any,
    examine: Any,
    colours: str,
    screen: Any,
) -> None:
    visit = opened(color_scheme=colours, **screen)

    findings = examine(visit)

    assert findings == []


def test_axe_finds_nothing_in_the_dialog_for_keys(opened: Any, examine: Any) -> None:
    visit = opened()
    button(visit.page, "Authorize").first.click()
    expect(button(visit.page, "Close").first).to_be_visible()

    findings = examine(visit)

    assert findings == []


def test_a_field_has_the_name_of_its_parameter(opened: Any) -> None:
    visit = opened()

    fault = visit.page.get_by_role("combobox", name="Emulator-Fault", exact=True)

    expect(fault.first).to_be_visible()


def test_an_operation_is_opened_by_its_button(visitor: Any) -> None:
    visit = visitor("/_emulator/reference")
    operation = visit.operation("Team", "getTeam")
    summary = operation.get_by_role("button", name="/team").first

    summary.press("Enter", timeout=PATIENCE_MS)

    expect(button(operation, "Execute")).to_be_visible()
    assert visit.page.url.endswith("#/Team/getTeam")
