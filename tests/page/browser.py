"""The page in a real browser: Chromium without a window, led by Playwright.

Skips where either is missing. Knows how a person finds things on the page: regions,
tabs, buttons and fields by their accessible names.
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest

from tests.support.pictures import picture
from tests.support.served_client import ServedClient

playwright = pytest.importorskip(
    "playwright.sync_api",
    reason="needs playwright, which `make verify` installs",
)
expect = playwright.expect

FLAGS: Final = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
REGIONS: Final = (
    "Requests",
    "Work",
    "Gallery",
    "Teams",
    "Sandboxes",
    "Clock",
    "Scenario",
    "Conduct",
    "Coverage",
)
PHONE: Final[Any] = {"viewport": {"width": 390, "height": 844}, "has_touch": True}
PATIENCE_MS: Final = 15_000
expect.set_options(timeout=PATIENCE_MS)


@contextmanager
def chromium() -> Iterator[Any]:
    executable = (
        shutil.which("chromium")
        or shutil.which("chromium-browser")
        or shutil.which("google-chrome")
    )
    if executable is None:
        pytest.skip("needs chromium, which this machine does not have")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=executable, args=list(FLAGS))
        yield browser
        browser.close()


@dataclass
class Visit:
    """An open page, and what it asked for and complained of."""

    page: Any
    origin: str
    addresses: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.set_default_timeout(PATIENCE_MS)
        self.page.on("request", lambda request: self.addresses.append(request.url))
        self.page.on("console", self._hear)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def _hear(self, message: Any) -> None:
        if message.type == "error":
            self.complaints.append(message.text)

    def open(self, path: str = "/_emulator") -> "Visit":
        self.page.goto(self.origin + path)
        return self

    def region(self, name: str) -> Any:
        """Return a region, brought to light by its tab where it is behind one."""
        tab = self.page.get_by_role("tab", name=name, exact=True)
        if tab.count():
            tab.click()
        region = self.page.get_by_role("region", name=name, exact=True)
        region.wait_for()
        return region

    def opened_request(self, words: str) -> Any:
        region = self.region("Requests")
        region.get_by_role("row").filter(has_text=words).click()
        return region

    def operation(self, tag: str, name: str) -> Any:
        """Return an operation of the reference."""
        return self.page.locator(f"[id='operations-{tag.replace(' ', '_')}-{name}']")

    def press(self, region: str, button: str) -> None:
        self.region(region).get_by_role("button", name=button, exact=True).click()

    def press_twice(self, region: str, button: str) -> None:
        self.press(region, button)
        self.press(region, f"{button}? Click again")

    def open_file(self, file: Path) -> None:
        banner = self.page.get_by_role("banner")
        with self.page.expect_file_chooser() as choosing:
            banner.get_by_role("button", name="Open file").click()
        choosing.value.set_files(file)

    def alert(self) -> Any:
        return self.page.get_by_role("alert")

    def about(self, identifier: str) -> Any:
        """Return the region that tells all about an id."""
        name = f"About {identifier}"
        return self.page.get_by_role("region", name=name, exact=True)

    def copied(self) -> str:
        """Return the text on the clipboard."""
        return str(self.page.evaluate("navigator.clipboard.readText()"))

    def lost(self) -> Any:
        return self.page.get_by_role("status")


def rows_with(region: Any, text: str) -> Any:
    return region.get_by_role("row").filter(has_text=text)


def button(region: Any, name: str) -> Any:
    return region.get_by_role("button", name=name, exact=True)


def drawn_width(image: Any) -> int:
    """Return the width in pixels of a picture, once the browser has decoded it."""
    width = image.evaluate("image => image.decode().then(() => image.naturalWidth)")
    return int(width)


class Service(ServedClient):
    """The emulator as its clients speak to it."""

    @property
    def origin(self) -> str:
        return f"http://{self.address}"

    def finish_work(self) -> None:
        self.told("POST", "/clock/advance", {"until_idle": True})

    def photoshoot(self, photo: bytes | None = None) -> Any:
        photos = {
            "content": photo or picture(),
            "headers": {"Content-Type": "image/png"},
        }
        asset = self.told("POST", "/assets", **photos)
        return self.photograph(asset_ids=[asset["id"]], output_mode="photoshoot").json
