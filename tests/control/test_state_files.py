"""State files: what is saved here goes on there as if nothing had happened (interfaces, section 6)."""

import io
import re
import zipfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.control.controlled_emulator import ControlledEmulator
from tests.support.emulator_client import FULL, Answer, settings_of
from tests.support.pictures import picture, picture_with_subject

SCENARIO = """
scenario: third-time-unlucky
rules:
  - match: {operation: createProductPhotographyGeneration}
    when: {nth: "3"}
    then: {problem: insufficient_credits}
  - match: {work: product_photography}
    when: {nth: "2"}
    then: {outputs: {1: timed_out}}
timeline:
  - at: 20s
    set: {admission: paused, retry_after: 7}
"""

MakeControl = Callable[..., ControlledEmulator]


@pytest.fixture
def make_control(tmp_path: Path) -> Iterator[MakeControl]:
    with ExitStack() as stack:
        yield lambda **options: stack.enter_context(closing(ControlledEmulator(settings_of(tmp_path, **options))))


def first_half(control: ControlledEmulator) -> dict[str, Any]:
    """Leave something of every kind behind: finished, unfinished, uploaded, announced, bound to a key."""
    assert control.ask("PUT", "/scenario", content=SCENARIO.encode()).status == 200
    asset = control.upload(picture_with_subject())
    product = control.product(asset["id"])
    background = control.author("background", asset_id=asset["id"])
    control.photograph(product_ids=[product["id"]], output_mode="photoshoot")
    control.advance(7)
    session = control.open_upload(len(picture_with_subject()))
    token = control.send_bytes(session, picture_with_subject()).json["upload_token"]
    control.post("/poses", {"name": "Tall", "asset_id": asset["id"]}, idempotency_key="kept")
    cursor = control.get("/assets?limit=1").json["page"]["next_cursor"]
    return {
        "asset": asset,
        "product": product,
        "background": background,
        "session": session,
        "token": token,
        "cursor": cursor,
    }


def second_half(control: ControlledEmulator, known: dict[str, Any]) -> list[Answer]:
    """Go on with all of it."""
    asset_id = known["asset"]["id"]
    answers = [
        control.post("/poses", {"name": "Tall", "asset_id": asset_id}, idempotency_key="kept"),
        control.get(f"/assets?limit=1&after={known['cursor']}"),
        control.complete(known["session"], known["token"], idempotency_key="c"),
        control.photograph(asset_ids=[asset_id], output_mode="photoshoot", background={"type": "transparent"}),
        control.delete(f"/assets/{asset_id}"),
    ]
    control.advance(13)
    answers.append(control.photograph(product_ids=[], asset_ids=[asset_id]))
    answers += [control.get(path) for path in ("/assets", "/generations", "/operations", "/poses?scope=team", "/team")]
    answers += [control.fetch(item["url"]) for item in control.get("/assets").json["data"]]
    answers.append(control.fetch(known["background"]["card_image_url"]))
    answers.append(control.post("/uploads", {"content_type": "image/png", "size_bytes": 1}, idempotency_key="late"))
    return answers


def saved(control: ControlledEmulator, sandbox: str | None = None) -> bytes:
    answer = control.ask("GET", "/state", sandbox=sandbox)
    assert (200, "application/zip") == (answer.status, answer.headers["content-type"])
    return answer.body


def rewritten(file: bytes, change: Callable[[dict[str, Any]], object], **members: bytes) -> bytes:
    """Return a state file whose state.json was changed, with some more pictures."""
    source, target = zipfile.ZipFile(io.BytesIO(file)), io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name in source.namelist():
            content = source.read(name)
            if name == "state.json":
                state = orjson.loads(content)
                change(state)
                content = orjson.dumps(state)
            archive.writestr(name, content)
        for name, content in members.items():
            archive.writestr(f"pictures/{name}", content, zipfile.ZIP_DEFLATED)
    return target.getvalue()


def test_a_loaded_sandbox_goes_on_byte_for_byte_as_the_original(make_control: MakeControl) -> None:
    original, copy = make_control(), make_control(seed=9, clock="auto")
    known = first_half(original)
    assert copy.ask("PUT", "/state", content=saved(original)).status == 200
    assert second_half(original, known) == second_half(copy, known)


def test_a_loaded_sandbox_is_saved_as_the_same_file(make_control: MakeControl) -> None:
    original, copy = make_control(), make_control()
    first_half(original)
    file = saved(original)
    copy.ask("PUT", "/state", content=file)
    assert file == saved(copy)


def test_a_loaded_sandbox_counts_its_scenarios_rules_on(make_control: MakeControl) -> None:
    original, copy = make_control(), make_control()
    first_half(original)
    copy.ask("PUT", "/state", content=saved(original))
    assert original.told("GET", "/scenario") == copy.told("GET", "/scenario")


def test_a_reset_after_loading_goes_back_to_the_originals_start(make_control: MakeControl) -> None:
    original, copy = make_control(seed=5), make_control(seed=9)
    copy.ask("PUT", "/state", content=saved(original))
    copy.ask("POST", "/reset")
    assert original.get("/team").json == copy.get("/team").json


def test_another_sandbox_takes_a_file_with_keys_and_links_of_its_own(control: ControlledEmulator) -> None:
    asset = control.upload(picture_with_subject())
    control.told("POST", "/sandboxes", {"id": "copy"})
    control.told("PUT", "/state", sandbox="copy", content=saved(control))
    copied = control.get(f"/assets/{asset['id']}", "iwe_demo_full_copy").json
    assert "/files/copy/" in copied["url"]
    assert control.fetch(asset["url"]).body == control.fetch(copied["url"]).body


def test_what_happens_in_the_copy_stays_there(control: ControlledEmulator) -> None:
    control.told("POST", "/sandboxes", {"id": "copy"})
    control.told("PUT", "/state", sandbox="copy", content=saved(control))
    control.photograph(key="iwe_demo_full_copy")
    assert (100, 99) == (control.credits(), control.credits("iwe_demo_full_copy"))


def test_the_default_sandbox_takes_a_file_of_another_with_its_own_keys(control: ControlledEmulator) -> None:
    control.told("POST", "/sandboxes", {"id": "aside"})
    control.photograph(key=f"{FULL}_aside")
    file = saved(control, "aside")
    assert (100, 99) == (control.credits(), control.credits(f"{FULL}_aside"))
    control.told("PUT", "/state", content=file)
    assert (99, 99) == (control.credits(), control.credits(f"{FULL}_aside"))


def with_key(key: str) -> dict[str, Any]:
    """A scenario that adds a credential."""
    return {"scenario": "keys", "world": {"teams": {"Demo": {"credentials": [{"key": key}]}}}}


def test_a_file_whose_key_another_sandbox_has_by_now_is_refused_and_nothing_changes(
    control: ControlledEmulator,
) -> None:
    control.told("POST", "/sandboxes", {"id": "aside"})
    control.told("PUT", "/scenario", with_key("new_key"))
    file = saved(control)
    control.told("PUT", "/scenario", with_key("new_key_aside"))
    control.photograph(key=f"{FULL}_aside")
    status, code, detail = control.refusal("PUT", "/state", sandbox="aside", content=file)
    assert (400, "invalid_request") == (status, code)
    assert "the key 'new_key_aside' belongs to another sandbox" in detail
    assert 99 == control.credits(f"{FULL}_aside")


def test_a_whole_number_may_stand_where_a_fraction_is_expected(control: ControlledEmulator) -> None:
    control.told("PUT", "/clock", {"mode": "x60"})
    file = rewritten(saved(control), lambda state: state["clock"].update(rate=60))
    control.told("PUT", "/state", content=file)
    assert 60 == control.told("GET", "/clock")["rate"]


@pytest.mark.emulator(max_memory=1_000_000)
def test_more_pictures_than_the_memory_holds_are_refused(control: ControlledEmulator) -> None:
    file = rewritten(saved(control), lambda _: None, large=bytes(2_000_000))
    status, code, detail = control.refusal("PUT", "/state", content=file)
    assert (400, "invalid_request", True) == (status, code, "expected --max-memory at most" in detail)


def test_a_state_that_is_too_large_is_refused(control: ControlledEmulator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("emulator.service.state.MAXIMUM_STATE_JSON_BYTES", 1000)
    status, code, detail = control.refusal("PUT", "/state", content=saved(control))
    assert (400, "invalid_request", True) == (status, code, "expected 1000 at most" in detail)


def without_an_input(state: dict[str, Any]) -> None:
    """Let a picture be made from one that is not there."""
    recipe = next(picture["recipe"]["$recipe"] for picture in state["pictures"] if picture["recipe"])
    recipe.update(recipe="upscale", inputs=["nothing"])
    for name in recipe.keys() - {"recipe", "inputs", "width", "height", "format"}:
        del recipe[name]


def with_a_scenario_of_another_kind(state: dict[str, Any]) -> None:
    """Let a scenario be running that this emulator cannot read."""
    scenario = {"text": "scenario: new\nrulez: []\n", "file": "new.yaml"}
    state["playbooks"].append({"team_id": "", "scenario": scenario, "began_at": 0, "counters": []})


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (without_an_input, "needs nothing, which does not come before it"),
        (with_a_scenario_of_another_kind, "its scenario cannot be read again: new.yaml:2:1"),
        (lambda state: state.update(version=2), "found version 2"),
        (lambda state: state.update(format="other"), "expected the format"),
        (lambda state: state.pop("teams"), "expected the fields"),
        (lambda state: state.update(now="soon"), "state/now: found 'soon'; expected int"),
        (lambda state: state["clock"].update(mode="slow"), "state/clock/mode: found 'slow'; expected one of"),
        (lambda state: state["identifiers"].update({"a/b~c": "x"}), "state/identifiers/a~1b~0c: found 'x'"),
        (lambda state: state["pictures"].clear(), "is missing"),
        (lambda state: state["teams"][0]["ledger"].update(granted=None), "state/teams/0/ledger/granted"),
        (lambda state: state["timeline"].append([1, 2, "no_such_event", "x", 0]), "no_such_event"),
        (lambda state: state["pictures"][0]["recipe"]["$recipe"].update(width=-1), "state/pictures/0/recipe"),
        (lambda state: state["pictures"][0]["recipe"]["$recipe"].update(recipe="?"), "state/pictures/0/recipe"),
    ],
)
def test_a_state_that_does_not_fit_is_refused_with_its_place(
    control: ControlledEmulator, change: Callable[[dict[str, Any]], object], complaint: str
) -> None:
    before = saved(control)
    status, code, detail = control.refusal("PUT", "/state", content=rewritten(before, change))
    assert (400, "invalid_request", True) == (status, code, complaint in detail), detail
    assert before == saved(control)


@pytest.mark.parametrize("replacement", [b"no picture", picture()])
def test_a_state_file_with_a_picture_that_was_exchanged_is_refused(
    control: ControlledEmulator, replacement: bytes
) -> None:
    control.upload(picture_with_subject())
    before = saved(control)
    source, target = zipfile.ZipFile(io.BytesIO(before)), io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name in source.namelist():
            archive.writestr(name, source.read(name) if name == "state.json" else replacement)
    status, code, detail = control.refusal("PUT", "/state", content=target.getvalue())
    assert (400, "invalid_request") == (status, code)
    assert re.search(r"pictures/ast_\w+: found bytes of another SHA-256; expected those that were saved", detail)
    assert before == saved(control)


@pytest.mark.parametrize("content", [b"", b"hello", b"PK\x03\x04", b"PK\x05\x06" + bytes(18)])
def test_a_file_that_is_no_state_file_is_refused(control: ControlledEmulator, content: bytes) -> None:
    assert (400, "invalid_request") == control.refusal("PUT", "/state", content=content)[:2]


def test_a_truncated_state_file_is_refused(control: ControlledEmulator) -> None:
    control.upload(picture_with_subject())
    assert (400, "invalid_request") == control.refusal("PUT", "/state", content=saved(control)[:-200])[:2]
