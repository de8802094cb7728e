"""The region Help: the documentation as it holds for this emulator."""

import pytest

from tests.page.browser import CLIPBOARD, PHONE, Service, Visit, button, expect, heading

pytestmark = pytest.mark.verify
COVERED = """
block => {
  const button = block.querySelector("button").getBoundingClientRect();
  const words = document.createRange();
  words.selectNodeContents(block.querySelector("pre"));
  const lines = [...words.getClientRects()];
  return lines.some((line) => line.right > button.left && line.top < button.bottom);
}
"""
"""Whether words of a block are under its button."""


def test_examples_have_the_address_of_this_emulator(
    visit: Visit,
    service: Service,
) -> None:
    visit.open("/_emulator#help/page.md")

    region = visit.help()

    expect(region).to_contain_text(f"{service.origin}/_emulator/requests?status=402")
    expect(region).not_to_contain_text("8038")


def test_a_block_is_copied(visitor: object) -> None:
    visit = visitor(  # type: ignore[operator]
        "/_emulator#help/page.md",
        **CLIPBOARD,
    )
    region = visit.help()

    button(region, "Copy the block").first.click()

    expect(region.locator(".is-done")).to_be_visible()
    copied = visit.page.evaluate("navigator.clipboard.readText()")

    assert copied.startswith("curl ")


def test_the_button_of_a_block_covers_no_words(visitor: object) -> None:
    visit = visitor("/_emulator#help/scenarios.md", **PHONE)  # type: ignore[operator]
    block = visit.page.locator(".body").filter(has_text="scenario check busy-team")

    is_covered = block.evaluate(COVERED)

    assert not is_covered


@pytest.mark.parametrize("place", ["help/scenarios", "help/scenarios.md"])
def test_a_page_is_found_with_and_without_its_ending(visit: Visit, place: str) -> None:
    visit.open(f"/_emulator#{place}")

    title = heading(visit.page, "Scenarios: failures on demand")

    expect(title).to_be_visible()
