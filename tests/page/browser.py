"""The page in a real browser: Chromium without a window, led by Playwright.

Skips where either is missing. Knows how a person finds things on the page: regions,
tabs, buttons and fields by their accessible names.
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from dataclasses import field as default
from pathlib import Path
from typing import Any, Final

import pytest

from image_workflow_emulator.client.control_client import ControlClient
from image_workflow_emulator.client.exports import saved_sandbox
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
PHONE: Final[Any] = {
    "viewport": {"width": 390, "height": 844},
    "has_touch": True,
}
CLIPBOARD: Final[Any] = {"permissions": ["clipboard-read", "clipboard-write"]}
"""Options of a visit that copies."""
on_each_screen = pytest.mark.parametrize(
    "screen",
    [
        pytest.param({}, id="wide"),
        pytest.param(PHONE, id="phone"),
    ],
)
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
        browser = driver.chromium.launch(
            executable_path=executable,
            args=list(FLAGS),
        )
        yield browser
        browser.close()


@dataclass
class Visit:
    """An open page, and what it asked for and complained of."""

    page: Any
    origin: str
    addresses: list[str] = default(default_factory=list)
    complaints: list[str] = default(default_factory=list)

    def __post_init__(self) -> None:
        self.page.set_default_timeout(PATIENCE_MS)
        self.page.on("request", self._note_request)
        self.page.on("console", self._note_message)
        self.page.on("pageerror", self._note_error)

    def _note_request(self, request: Any) -> None:
        self.addresses.append(request.url)

    def _note_message(self, message: Any) -> None:
        if message.type == "error":
            self.complaints.append(message.text)

    def _note_error(self, error: Any) -> None:
        self.complaints.append(str(error))

    def open(self, path: str = "/_emulator") -> "Visit":
        self.page.goto(self.origin + path)
        return self

    def new_tab(self, path: str = "/_emulator") -> "Visit":
        """Open a page in another tab of the same browser."""
        page = self.page.context.new_page()
        return Visit(page, self.origin).open(path)

    def region(self, name: str) -> Any:
        """Return a region, brought to light by its tab where it is behind one."""
        tab = self.page.get_by_role("tab", name=name, exact=True)
        if tab.count():
            tab.click()
        region = self.page.get_by_role("region", name=name, exact=True)
        region.wait_for()
        return region

    def requests(self, words: str) -> Any:
        """Return the rows of the requests that have some words."""
        return rows_with(self.region("Requests"), words)

    def opened_request(self, words: str) -> Any:
        region = self.region("Requests")
        rows_with(region, words).click()
        return region

    def operation(self, tag: str, name: str) -> Any:
        """Return an operation of the reference."""
        words = tag.replace(" ", "_")
        return self.page.locator(f"[id='operations-{words}-{name}']")

    def press(self, region: str, name: str) -> None:
        """Press a button of a region."""
        place = self.region(region)
        button(place, name).click()

    def press_twice(self, region: str, name: str) -> None:
        self.press(region, name)
        self.press(region, f"{name}? Click again")

    def follow(self, region: str, name: str) -> None:
        """Follow a link of a region."""
        place = self.region(region)
        link(place, name).click()

    def open_file(self, file: Path) -> None:
        open_button = button(self.banner(), "Open file")
        with self.page.expect_file_chooser() as choosing:
            open_button.click()
        choosing.value.set_files(file)

    def work(self) -> Any:
        """Return the articles of the region Work: each is an order."""
        return self.region("Work").get_by_role("article")

    def pictures(self) -> Any:
        """Return the pictures of the gallery."""
        return self.region("Gallery").get_by_role("listitem")

    def details(self) -> Any:
        """Return the region that tells all about the open request."""
        name = "Details of the request"
        return self.page.get_by_role("region", name=name)

    def help(self) -> Any:
        return self.page.get_by_role("region", name="Help")

    def strip(self) -> Any:
        """Return the strip with the time, the scenario and other readings."""
        return group(self.page, "Clock and scenario")

    def banner(self) -> Any:
        return self.page.get_by_role("banner")

    def tabs(self) -> Any:
        return self.page.get_by_role("tab")

    def footer(self) -> Any:
        """Return the line of the reference that says what the emulator answered."""
        return self.page.get_by_role("contentinfo")

    def alert(self) -> Any:
        return self.page.get_by_role("alert")

    def about(self, identifier: str) -> Any:
        """Return the region that tells all about an id."""
        name = f"About {identifier}"
        return self.page.get_by_role("region", name=name, exact=True)

    def addresses_with(self, words: str) -> list[str]:
        """Return the addresses of requests that have some words."""
        return [address for address in self.addresses if words in address]

    def addresses_outside(self, start: str) -> list[str]:
        """Return the addresses of requests that do not begin so."""
        return [address for address in self.addresses if not address.startswith(start)]

    def copied(self) -> str:
        """Return the text on the clipboard."""
        return str(self.page.evaluate("navigator.clipboard.readText()"))

    def lost(self) -> Any:
        return self.page.get_by_role("status")


def rows_with(region: Any, text: str) -> Any:
    return region.get_by_role("row").filter(has_text=text)


def button(place: Any, name: str) -> Any:
    return place.get_by_role("button", name=name, exact=True)


def link(place: Any, name: str) -> Any:
    return place.get_by_role("link", name=name, exact=True)


def heading(place: Any, name: str) -> Any:
    return place.get_by_role("heading", name=name, exact=True)


def group(place: Any, name: str) -> Any:
    return place.get_by_role("group", name=name, exact=True)


def field(place: Any, label: str) -> Any:
    return place.get_by_label(label, exact=True)


def enter(field: Any, text: str) -> None:
    """Fill a field, and press Enter."""
    field.fill(text)
    field.press("Enter")


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

    def use_shipped(self, scenario: str) -> None:
        """Use a scenario of the library by its name."""
        self.use({"use": scenario})

    def set_credits(self, amount: int) -> None:
        self.told("PATCH", "/teams/Demo", {"credits": amount})

    def given(self, *seeds: Any) -> list[Any]:
        """Make what seeds describe, and return it."""
        made = self.told("POST", "/given", {"given": list(seeds)})
        return list(made["data"])

    def journal(self, query: str = "") -> list[Any]:
        """Return the entries of the journal that a query selects."""
        journal = self.told("GET", f"/requests{query}")
        return list(journal["data"])

    def photoshoot(self, photo: bytes | None = None) -> Any:
        photos = {
            "content": photo or picture(),
            "headers": {"Content-Type": "image/png"},
        }
        asset = self.told("POST", "/assets", **photos)
        admitted = self.photograph(
            asset_ids=[asset["id"]],
            output_mode="photoshoot",
        )
        return admitted.json

    def save_session(self, file: Path) -> None:
        """Write what the sandbox holds into a file that the page can open."""
        client = ControlClient(self.origin)
        file.write_bytes(saved_sandbox(client, file.name))
