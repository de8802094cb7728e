"""Twelve tasks of somebody who sees the page for the first time.

Meanwhile eight requests a second come in.
"""

from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from tests.page.browser import (
    CLIPBOARD,
    PHONE,
    Service,
    Visit,
    button,
    drawn_width,
    expect,
    field,
    group,
    link,
    rows_with,
)

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


def has_focus(control: Any) -> bool:
    return bool(control.evaluate("control => control === document.activeElement"))


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
            if has_focus(control):
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
        if not self.by_keyboard or not tab.count():
            return self.visit.region(name)
        self.page.keyboard.press("Escape")
        self.page.keyboard.press("Escape")
        self.reach(self.page.get_by_role("tab", selected=True))
        while not has_focus(tab):
            self.page.keyboard.press("ArrowRight")
        return self.page.get_by_role("region", name=name, exact=True)

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
    visit = visitor(**CLIPBOARD, **screen)
    person = Person(visit, by_keyboard=by_keyboard)
    page = visit.page

    # 1. Open the last failure. 2. Find out why it was refused.
    requests = person.region("Requests")
    search = field(requests, "Search")
    person.type(search, "status:4xx")
    person.press(rows_with(requests, "invalid_input"))
    expect(requests).to_contain_text("add asset ids")

    # 3. Copy it as a command.
    person.press(button(requests, "Copy as curl"))
    expect(requests.locator(".is-done")).to_be_visible()
    command = visit.copied()

    assert command.startswith("curl --include --path-as-is --globoff --request POST ")
    assert "--header 'Authorization: Bearer iwe_demo_full'" in command
    assert command.endswith(f" {service.origin}/v1/products")

    # 4. Send it again with another key.
    person.press(button(requests, "Send again"))
    person.type(field(requests, "Idempotency-Key"), "another")
    person.press(button(requests, "Send"))
    new_answer = group(requests, "New answer")
    expect(new_answer).to_contain_text("invalid_input")
    sent = service.journal("?idempotency_key=another")
    assert sent[0]["status"] == 422

    # 5. Open the timeline of work, and go to what is due next.
    articles = person.region("Work").get_by_role("article")
    work = articles.filter(has_text=generation["id"])
    person.press(button(work, "Go to").first)
    timeline = group(work, "Timeline")
    expect(timeline).to_contain_text("started")

    # 6. Find all about an id.
    requests = person.region("Requests")
    close = button(requests, "Close")
    if close.is_visible():
        person.press(close)
    person.type(search, generation["id"])
    person.press(link(requests, generation["id"]))
    expect(visit.about(generation["id"])).to_contain_text("reserved 2")

    # 7. Open a picture large, and download it.
    service.finish_work()
    gallery = person.region("Gallery")
    person.press(button(gallery, "Open").first)
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("1:1 · 1k · png")
    assert drawn_width(dialog.get_by_role("img")) > 100

    person.press(button(dialog, "Close"))
    expect(dialog).to_have_count(0)
    download = button(gallery, "Download").first
    picture_name = person.downloads(download)
    assert picture_name.endswith(".png")

    # 8. Use a scenario.
    scenario = person.region("Scenario")
    person.choose(scenario.get_by_role("combobox"), "some-outputs-fail")
    person.press(button(scenario, "Use"))
    expect(scenario.get_by_role("listitem")).to_contain_text("slots 2 and 4 fail")

    # 9. Make a rule of a request. 10. Edit and check it.
    requests = person.region("Requests")
    person.type(search, "422")
    person.press(rows_with(requests, "invalid_input").last)
    person.press(button(requests, "Make a rule"))
    editor = field(scenario, "Scenario file")
    expect(editor).to_be_focused()
    page.keyboard.press("ControlOrMeta+End")
    page.keyboard.type("# mine")
    person.press(button(scenario, "Check"))
    rule = scenario.get_by_role("listitem").filter(has_text="as request")
    expect(rule).to_contain_text("recent requests that match")

    # 11. Change Credits.
    balance = field(person.region("Teams"), "Credits").first
    person.type(balance, "7")
    balance.press("Enter")
    saved = person.region("Teams").get_by_text("Saved", exact=True)
    expect(saved).to_be_visible()
    assert service.credits() == 7

    # 12. Save the state, and open a session that somebody left.
    save = button(person.region("Sandboxes"), "Save state")
    state_name = person.downloads(save)
    assert state_name.endswith(".zip")

    file = tmp_path / "session.json"
    service.save_session(file)
    with page.expect_file_chooser() as choosing:
        person.press(button(page, "Open file"))
    choosing.value.set_files(file)
    expect(page.get_by_role("banner")).to_contain_text("read only")
    work = person.region("Work").get_by_role("article")
    expect(work).to_contain_text(generation["id"])
    visit.complaints.clear()  # the browser's own notes of the 422
