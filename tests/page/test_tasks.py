"""Twelve tasks of somebody who sees the page for the first time.

Meanwhile eight requests a second come in.
"""

from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from image_workflow_emulator.client.control_client import ControlClient
from image_workflow_emulator.client.exports import saved_sandbox
from tests.page.browser import PHONE, Service, Visit, expect

pytestmark = [
    pytest.mark.verify,
    pytest.mark.served("--clock", "manual", "--rate-limits", "off"),
]
PAUSE_SECONDS = 1 / 8
MAX_TABS = 30
"""How many steps away everything may be."""


@pytest.fixture
def traffic(origin: str) -> Iterator[None]:
    ended = Event()
    client = Service(f"{origin}/v1")

    def ask() -> None:
        while not ended.wait(PAUSE_SECONDS):
            client.get("/team")

    thread = Thread(target=ask)
    thread.start()
    yield
    ended.set()
    thread.join()


class Person:
    """Does everything by mouse or finger, or by keyboard alone."""

    def __init__(self, visit: Visit, *, by_keyboard: bool) -> None:
        self.visit = visit
        self.page = visit.page
        self.by_keyboard = by_keyboard

    def reach(self, control: Any) -> None:
        """Bring the keyboard to a control.

        By Tab, and within the tabs and the list by the arrow keys.
        """
        for _ in range(MAX_TABS):
            if control.evaluate("one => one === document.activeElement"):
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"the keyboard does not reach {control}")

    def press(self, control: Any) -> None:
        control.wait_for()
        if self.by_keyboard:
            self.reach(control)
            self.page.keyboard.press("Enter")
        else:
            control.click()

    def type(self, field: Any, text: str) -> None:
        if self.by_keyboard:
            self.reach(field)
            self.page.keyboard.press("ControlOrMeta+a")
            self.page.keyboard.type(text)
        else:
            field.fill(text)

    def choose(self, field: Any, option: str) -> None:
        if self.by_keyboard:
            self.reach(field)
            self.page.keyboard.type(option)
        else:
            field.select_option(option)

    def region(self, name: str) -> Any:
        tab = self.page.get_by_role("tab", name=name, exact=True)
        if self.by_keyboard and tab.count():
            self.page.keyboard.press("Escape")
            self.page.keyboard.press("Escape")
            self.reach(self.page.get_by_role("tab", selected=True))
            while not tab.evaluate("one => one === document.activeElement"):
                self.page.keyboard.press("ArrowRight")
            return self.page.get_by_role("region", name=name, exact=True)
        return self.visit.region(name)

    def downloads(self, control: Any) -> str:
        with self.page.expect_download() as coming:
            self.press(control)
        return str(coming.value.suggested_filename)


@pytest.mark.parametrize(
    ("screen", "by_keyboard"),
    [({}, False), (PHONE, False), ({}, True)],
    ids=["by mouse", "on a phone", "by keyboard alone"],
)
@pytest.mark.usefixtures("traffic")
def test_twelve_tasks_are_done(
    visitor: Any,
    service: Service,
    tmp_path: Path,
    screen: Any,
    by_keyboard: bool,
) -> None:
    generation = service.photoshoot()
    service.post("/products", {"name": "Shirt"})
    visit = visitor(permissions=["clipboard-read", "clipboard-write"], **screen)
    person = Person(visit, by_keyboard=by_keyboard)
    page = visit.page

    # 1. Open the last failure. 2. Find out why it was refused.
    requests = person.region("Requests")
    person.type(requests.get_by_label("Search", exact=True), "status:4xx")
    person.press(requests.get_by_role("row").filter(has_text="invalid_input"))
    expect(requests).to_contain_text("add asset ids")

    # 3. Copy it as a command.
    person.press(requests.get_by_role("button", name="Copy as curl"))
    expect(requests.locator(".is-done")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")

    assert copied.startswith("curl --include --path-as-is --globoff --request POST ")
    assert "--header 'Authorization: Bearer iwe_demo_full'" in copied
    assert copied.endswith(f" {service.origin}/v1/products")

    # 4. Send it again with another key.
    person.press(requests.get_by_role("button", name="Send again"))
    person.type(requests.get_by_label("Idempotency-Key", exact=True), "another")
    person.press(requests.get_by_role("button", name="Send", exact=True))
    expect(requests.get_by_role("group", name="New answer")).to_contain_text(
        "invalid_input"
    )
    assert (
        service.told("GET", "/requests?idempotency_key=another")["data"][0]["status"]
        == 422
    )

    # 5. Open the timeline of work, and go to what is due next.
    work = (
        person.region("Work").get_by_role("article").filter(has_text=generation["id"])
    )
    person.press(work.get_by_role("button", name="Go to").first)
    expect(work.get_by_role("group", name="Timeline")).to_contain_text("started")

    # 6. Find all about an id.
    requests = person.region("Requests")
    if requests.get_by_role("button", name="Close").is_visible():
        person.press(requests.get_by_role("button", name="Close"))
    person.type(requests.get_by_label("Search", exact=True), generation["id"])
    person.press(requests.get_by_role("link", name=generation["id"]))
    expect(
        page.get_by_role("region", name=f"About {generation['id']}")
    ).to_contain_text("reserved 2")

    # 7. Open a picture large, and download it.
    service.told("POST", "/clock/advance", {"until_idle": True})
    gallery = person.region("Gallery")
    person.press(gallery.get_by_role("button", name="Open", exact=True).first)
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("1:1 · 1k · png")
    assert (
        dialog.get_by_role("img").evaluate(
            "one => one.decode().then(() => one.naturalWidth)"
        )
        > 100
    )
    person.press(dialog.get_by_role("button", name="Close"))
    expect(dialog).to_have_count(0)
    assert person.downloads(
        gallery.get_by_role("button", name="Download").first
    ).endswith(".png")

    # 8. Use a scenario.
    scenario = person.region("Scenario")
    person.choose(scenario.get_by_role("combobox"), "some-outputs-fail")
    person.press(scenario.get_by_role("button", name="Use", exact=True))
    expect(scenario.get_by_role("listitem")).to_contain_text("slots 2 and 4 fail")

    # 9. Make a rule of a request. 10. Edit and check it.
    requests = person.region("Requests")
    person.type(requests.get_by_label("Search", exact=True), "422")
    person.press(requests.get_by_role("row").filter(has_text="invalid_input").last)
    person.press(requests.get_by_role("button", name="Make a rule"))
    file = scenario.get_by_label("Scenario file", exact=True)
    expect(file).to_be_focused()
    page.keyboard.press("ControlOrMeta+End")
    page.keyboard.type("# mine")
    person.press(scenario.get_by_role("button", name="Check"))
    expect(
        scenario.get_by_role("listitem").filter(has_text="as request")
    ).to_contain_text("recent requests that match")

    # 11. Change Credits.
    field = person.region("Teams").get_by_label("Credits", exact=True).first
    person.type(field, "7")
    field.press("Enter")
    expect(person.region("Teams").get_by_text("Saved", exact=True)).to_be_visible()
    assert service.told("GET", "/teams")["data"][0]["credits"] == 7

    # 12. Save the state, and open a session that somebody left.
    assert person.downloads(
        person.region("Sandboxes").get_by_role("button", name="Save state")
    ).endswith(".zip")
    file = tmp_path / "session.json"
    file.write_bytes(saved_sandbox(ControlClient(service.origin), file.name))
    with page.expect_file_chooser() as choosing:
        person.press(page.get_by_role("button", name="Open file"))
    choosing.value.set_files(file)
    expect(page.get_by_role("banner")).to_contain_text("read only")
    expect(person.region("Work").get_by_role("article")).to_contain_text(
        generation["id"]
    )
    visit.complaints.clear()  # the browser's own notes of the 422
