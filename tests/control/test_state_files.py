"""State files: what is saved here goes on there as if nothing had happened, and what does not fit is refused."""

import hashlib
import io
import re
import struct
import time
import tracemalloc
import warnings
import zipfile
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import reduce
from operator import getitem, setitem
from typing import Any

import pytest

from emulator.service import engine, state
from emulator.service.state.layout import VERSION
from tests.support.emulator_client import FULL, EmulatorUnderTest, MakeEmulator, settings_of
from tests.support.pictures import picture, picture_with_subject, png_chunk, png_of
from tests.support.state_files import STATE, Parts, members_of, parts_of, state_of, zipped

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


def something_of_everything(emulator: EmulatorUnderTest) -> None:
    """Leave something of every kind behind: finished, unfinished, uploaded, announced, bound to a key."""
    assert emulator.ask("PUT", "/scenario", content=SCENARIO.encode()).status == 200
    asset = emulator.upload(picture_with_subject())
    product = emulator.product(asset["id"])
    emulator.author("background", asset_id=asset["id"])
    emulator.photograph(product_ids=[product["id"]], output_mode="photoshoot")
    emulator.advance(7)
    emulator.ready_upload(picture_with_subject())
    emulator.post("/poses", {"name": "Tall", "asset_id": asset["id"]})


def saved(emulator: EmulatorUnderTest, sandbox: str | None = None) -> bytes:
    answer = emulator.ask("GET", "/state", sandbox=sandbox)
    assert (200, "application/zip") == (answer.status, answer.headers["content-type"])
    return answer.body


def rewritten(file: bytes, change: Callable[[Parts], object]) -> bytes:
    """Return a state file whose lines were changed."""
    members = members_of(file)
    parts = parts_of(members[STATE])
    change(parts)
    return zipped({**members, STATE: state_of(parts)})


def test_a_loaded_sandbox_is_saved_as_the_same_file(make_emulator: MakeEmulator) -> None:
    original, copy = make_emulator(), make_emulator(seed=9, clock="auto")
    something_of_everything(original)
    file = saved(original)
    copy.told("PUT", "/state", content=file)
    assert saved(copy) == file


def names_in(value: Any) -> Iterator[str]:
    """Iterate over the names of fields in a part of a state; ids and addresses, by which things are found, are none."""
    if isinstance(value, dict):
        yield from (name for name in value if re.fullmatch("[a-z][a-z_]*", name))
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from names_in(part)


def test_the_version_of_state_files_is_raised_with_the_names_of_their_fields(emulator: EmulatorUnderTest) -> None:
    something_of_everything(emulator)
    parts = parts_of(members_of(saved(emulator))[STATE])
    names = sorted({(part, name) for part, value in parts.items() for name in names_in(value)})
    digest = hashlib.sha256(repr(names).encode()).hexdigest()[:12]
    assert (VERSION, digest) == (6, "d1d4ccbe7eaa"), (
        "raise VERSION in emulator/service/state/layout.py, and write its digest here"
    )


def test_a_reset_after_loading_goes_back_to_the_originals_start(make_emulator: MakeEmulator) -> None:
    original, copy = make_emulator(seed=5), make_emulator(seed=9)
    copy.ask("PUT", "/state", content=saved(original))
    copy.ask("POST", "/reset")
    assert original.get("/team").json == copy.get("/team").json


def test_another_sandbox_takes_a_file_with_keys_and_links_of_its_own(emulator: EmulatorUnderTest) -> None:
    asset = emulator.upload(picture_with_subject())
    emulator.told("POST", "/sandboxes", {"id": "copy"})
    emulator.told("PUT", "/state", sandbox="copy", content=saved(emulator))
    copied = emulator.get(f"/assets/{asset['id']}", "iwe_demo_full_copy").json
    assert "/files/copy/" in copied["url"]
    assert emulator.fetch(asset["url"]).body == emulator.fetch(copied["url"]).body


def test_the_default_sandbox_takes_a_file_of_another_with_its_own_keys(emulator: EmulatorUnderTest) -> None:
    emulator.told("POST", "/sandboxes", {"id": "aside"})
    emulator.photograph(key=f"{FULL}_aside")
    file = saved(emulator, "aside")
    assert (100, 99) == (emulator.credits(), emulator.credits(f"{FULL}_aside"))
    emulator.told("PUT", "/state", content=file)
    assert (99, 99) == (emulator.credits(), emulator.credits(f"{FULL}_aside"))


def with_key(key: str) -> dict[str, Any]:
    """A scenario that adds a credential."""
    return {"scenario": "keys", "world": {"teams": {"Demo": {"credentials": [{"key": key}]}}}}


def test_a_file_whose_key_another_sandbox_has_now_is_refused_and_changes_nothing(emulator: EmulatorUnderTest) -> None:
    emulator.told("POST", "/sandboxes", {"id": "aside"})
    emulator.told("PUT", "/scenario", with_key("new_key"))
    file = saved(emulator)
    emulator.told("PUT", "/scenario", with_key("new_key_aside"))
    emulator.photograph(key=f"{FULL}_aside")
    status, code, detail = emulator.refusal("PUT", "/state", sandbox="aside", content=file)
    assert (400, "invalid_request") == (status, code)
    assert "the key 'new_key_aside' belongs to another sandbox" in detail
    assert 99 == emulator.credits(f"{FULL}_aside")


def test_a_whole_number_may_stand_where_a_fraction_is_expected(emulator: EmulatorUnderTest) -> None:
    emulator.told("PUT", "/clock", {"mode": "x60"})
    file = rewritten(saved(emulator), lambda parts: parts["head"]["clock"][0].update(rate=60))
    emulator.told("PUT", "/state", content=file)
    assert 60 == emulator.told("GET", "/clock")["rate"]


def test_pictures_that_nothing_needs_are_let_go(emulator: EmulatorUnderTest) -> None:
    asset = emulator.upload(picture_with_subject())

    def forget(parts: Parts) -> None:
        parts["assets"].clear()

    before = emulator.application.sandboxes.memory.held_bytes
    emulator.told("PUT", "/state", content=rewritten(saved(emulator), forget))
    assert emulator.get(f"/assets/{asset['id']}").status == 404
    assert 0 == emulator.application.sandboxes.memory.held_bytes < before


# Refusals -------------------------------------------------------------------------------------------------------------


def reached(parts: Any, *steps: str | int) -> Any:
    """Return what these steps lead to."""
    return reduce(getitem, steps, parts)


def of(*steps: str | int, **changes: Any) -> Callable[[Parts], object]:
    """Return a change of some fields of what these steps lead to."""
    return lambda parts: reached(parts, *steps).update(changes)


def put(value: object, *steps: str | int) -> Callable[[Parts], object]:
    """Return a change that puts a value to where these steps lead."""
    return lambda parts: setitem(reached(parts, *steps[:-1]), steps[-1], value)


def twice(table: str) -> Callable[[Parts], object]:
    """Return a change that repeats the last row of a table."""
    return lambda parts: parts[table].append(parts[table][-1])


def with_an_event_repeated(parts: Parts) -> None:
    """Let the start of queued work come twice."""
    event = next(event for event in parts["events"] if event[2] == "operation_started")
    parts["head"]["timeline"]["sequence"] += 1
    parts["events"].append([event[0], parts["head"]["timeline"]["sequence"], *event[2:]])


def with_the_teams_of_a_reset(times: int) -> Callable[[Parts], object]:
    """Return a change that lets the next reset open its Teams so many times."""

    def change(parts: Parts) -> None:
        parts["head"]["options"]["world"]["teams"] *= times

    return change


def without_an_input(parts: Parts) -> None:
    """Let a picture be made from one that is not there."""
    recipe = next(row["recipe"] for row in parts["pictures"] if row["recipe"])
    recipe.clear()
    recipe.update(recipe="UpscaleRecipe", inputs=["nothing"], width=8, height=8, format="png")


def of_recipe(**changes: Any) -> Callable[[Parts], object]:
    """Return a change of the first recipe that has inputs."""
    return lambda parts: next(row["recipe"] for row in parts["pictures"] if (row["recipe"] or {}).get("inputs")).update(
        changes
    )


def with_an_early_end(parts: Parts) -> None:
    """Let the window of an upload end before it says."""
    next(event for event in parts["events"] if "upload_expired" in event)[0] -= 1


def without_cards(parts: Parts) -> None:
    """Leave the pictures out that would still be drawn."""
    parts["pictures"] = [row for row in parts["pictures"] if not row["recipe"]]


CHANGES: dict[str, tuple[Callable[[Parts], object], str]] = {
    "another format": (of("head", format="other"), "expected the format"),
    "another version": (of("head", version=1), "/version: found 1; this emulator reads version 6 alone"),
    "a field too many": (of("head", more=1), "/more: expected the fields"),
    "a field too few": (lambda parts: parts["head"].pop("seed"), "/seed: expected the fields"),
    "a row of nothing": (lambda parts: parts.update(others=[1]), "expected one of accounts, "),
    "a time that is none": (put("soon", "head", "clock", 1), '/clock/1: found "soon"'),
    "a time past the last": (put(2**60, "head", "clock", 1), "/clock/1: found"),
    "a time before the first": (put(-(2**60), "head", "clock", 1), "/clock/1: found"),
    "a clock of no mode": (of("head", "clock", 0, mode="slow"), '/clock/0/mode: found "slow"; expected one of'),
    "a clock without bounds": (of("head", "clock", 0, mode="real", rate=1e308), "/clock/0/rate: found 1e+308"),
    "a clock that stands": (of("head", "clock", 0, mode="real", rate=0), "/clock/0/rate: found 0"),
    "a reset's clock without bounds": (of("head", "options", clock={"mode": "real", "rate": 1e308}), "/options/clock/rate"),
    "a reset's world without bounds": (with_the_teams_of_a_reset(300), "/options/world/teams: found an array of 1200"),
    "a reset's world of one name": (with_the_teams_of_a_reset(2), "/options/world/teams/4/name"),
    "a reset's Credits below none": (of("head", "options", "world", "teams", 0, credits=-1), "/options/world/teams/0/credits"),
    "a reset's credential without bounds": (
        of("head", "options", "world", "teams", 0, "credentials", 0, expires_at=-(2**63)),
        "/options/world/teams/0/credentials/0/expires_at",
    ),
    "a reset's start without bounds": (of("head", "options", start=-(2**63)), "/options/start"),
    "a work time without bounds": (of("head", "timings", pose_ms=2**62), "/timings/pose_ms"),
    "a counter of nothing": (of("head", "counters", ast=0), "/counters/ast: found 0"),
    "a counter that is no number": (of("head", "counters", ast="x"), '/counters/ast: found "x"'),
    "a counter too low": (of("head", "counters", op=1), "expected one of the ids of /counters/op and the seed"),
    "another seed": (of("head", "seed", value=5), "/accounts/0/team/id: found"),
    "a Team twice": (twice("accounts"), "/accounts/4: found"),
    "a Team that is no id": (of("accounts", -1, "team", id="team_x"), '/accounts/3/team/id: found "team_x"'),
    "Credits that were never granted": (
        of("accounts", 0, "ledger", granted=0),
        "/operations/0/reserved_credits: 0 granted Credits are less than those charged and reserved",
    ),
    "more Credits than there are": (of("accounts", -1, "ledger", granted=2**60), "/accounts/3/ledger/granted"),
    "requests of the future": (of("accounts", -1, "rate", admitted=[2**50]), "/accounts/3/rate/admitted"),
    "a credential twice": (twice("credentials"), "/credentials/7: found"),
    "a credential of no Team": (of("credentials", -1, "credential", team_id="x"), "/credentials/6/credential/team_id"),
    "a key that is none": (of("credentials", -1, "credential", key="a\nb"), "/credentials/6/credential/key"),
    "a scenario that cannot be read": (of("playbooks", -1, "scenario", text="scenario: new\nrulez: []\n"), "/playbooks/0/scenario"),
    "a playbook of a list": (of("playbooks", -1, team=[]), "/playbooks/0/team"),
    "a rule that fired before it matched": (
        lambda parts: next(iter(parts["playbooks"][0]["counts"].values())).update(fired=9, matched=1),
        "/playbooks/0/counts/",
    ),
    "a Product without photos": (of("products", -1, asset_ids=[]), "/products/0/asset_ids"),
    "a Product of an Asset that is gone": (of("products", -1, asset_ids=["ast_x"]), '/products/0/asset_ids: found "ast_x"'),
    "a Primary that is no member": (of("products", -1, primary_asset_id="x"), "/products/0/primary_asset_id"),
    "a list that is a word": (of("products", -1, asset_ids="abc"), '/products/0/asset_ids: found "abc"; expected an array'),
    "an Asset of another size": (of("assets", 0, width=9), "/assets/0: found"),
    "an Asset of no size": (of("assets", 0, width=0), "/assets/0/width"),
    "an Asset of a Generation that is not there": (
        of("assets", 0, source="generation", source_generation_id="gen_x"),
        "/assets/0/source_generation_id",
    ),
    "an Asset before another": (lambda parts: parts["assets"].reverse(), "expected ascending ids"),
    "no pictures": (without_cards, "expected a picture of this key in /pictures"),
    "a picture of neither kind": (of("pictures", -1, recipe=None, sha256=None), "expected it once, with a recipe or the SHA-256"),
    "a picture made of nothing": (without_an_input, "needs nothing, which does not come before it"),
    "a picture made of a list": (of_recipe(inputs=[["a"]]), "/recipe/inputs/0"),
    "a picture too large": (of_recipe(width=16_000), "edges of at most 4096 pixels"),
    "a picture of no size": (of_recipe(width=0), "/recipe"),
    "a picture of no kind": (of_recipe(recipe="?"), '/recipe: found "?"'),
    "bytes other than received": (of("uploads", -1, digest="0" * 64), "/digest"),
    "an upload without its digest": (of("uploads", -1, digest=None), "/digest"),
    "an upload of no state": (of("uploads", -1, status="lost"), '/status: found "lost"'),
    "work of no kind": (of("operations", -1, type="pose.paint"), '/type: found "pose.paint"'),
    "work that asks for nothing": (of("operations", -1, "request", name=1), "/request/name"),
    "an update of nothing": (
        lambda parts: parts["operations"][-1].update(
            type=parts["operations"][-1]["type"].replace("create", "update"), target_id="pose_x"
        ),
        "/target_id",
    ),
    "work without a name": (lambda parts: parts["operations"][-1]["request"].pop("name"), "/request/name"),
    "work with other sources": (of("operations", -1, "outcome", source_keys=["ast_x"]), "/outcome/source_keys"),
    "a charge above the reservation": (of("operations", -1, "outcome", charge=9), "/outcome/charge"),
    "a negative charge": (of("operations", -1, "outcome", charge=-1), "/outcome/charge: found -1"),
    "work that has not started and is done": (of("operations", -1, finished_at=0), "/finished_at"),
    "an end without a beginning": (of("operations", -1, status="completed"), "/started_at"),
    "a field of work too few": (lambda parts: parts["operations"][-1].pop("outcome"), "expected the field outcome"),
    "work of no workflow": (of("generations", -1, workflow="paint"), '/workflow: found "paint"'),
    "a Generation that asks for nothing": (of("generations", -1, request={}), "/request/output_mode"),
    "a slot without a plan": (lambda parts: parts["generations"][-1]["plan"].pop(), "/plan"),
    "a slot that is done too early": (of("generations", -1, "outputs", 0, status="processing"), "/outputs/0/asset_id"),
    "a Generation that is done too early": (of("generations", -1, status="completed", finished_at=0, charged_credits=0), "/generations/"),
    "a Generation that reserved nothing": (of("generations", -1, reserved_credits=0), "/reserved_credits"),
    "no event": (lambda parts: parts["events"].clear(), "/events: expected operation_started of op_"),
    "an upload window that ends at two instants": (with_an_early_end, "/events"),
    "an event twice": (with_an_event_repeated, "/events: found operation_started of op_"),
    "an event of a number that is not given": (of("head", "timeline", sequence=1), "expected a number of its own, up to /timeline/sequence"),
    "an event of no kind": (lambda parts: parts["events"].append([2**50, 2, "no_such", "x", 0]), "/events/"),
    "an event that was due": (put(5, "events", 0, 0), "/events/0/0: found 5"),
    "a key twice": (twice("records"), "a second time"),
    "a key of nobody": (put("x", "records", 0, 0, 0), "/records/0/0/0"),
    "an answer that is no status": (put(99, "records", 0, 1, 2), "/records/0/1/2"),
    "an answer of another length": (put("e30=", "records", 0, 1, 4), "/records/0/1/3"),
    "an answer that is no JSON": (put("eA==", "records", 0, 1, 4), "/records/0/1/"),
    "a header in a header": (lambda parts: parts["records"][0][1][3].append(["YQ==", b64encode(b"b\r\nc: d").decode()]), "/records/0/1/3"),
}  # fmt: skip
"""By what they make of a state: a change, and the complaint about it."""


@pytest.fixture(scope="module")
def half_way(tmp_path_factory: pytest.TempPathFactory) -> Iterator[bytes]:
    """A state with something of every kind."""
    with closing(EmulatorUnderTest(settings_of(tmp_path_factory.mktemp("half")))) as emulator:
        something_of_everything(emulator)
        yield saved(emulator)


@pytest.mark.parametrize("name", CHANGES)
def test_what_does_not_fit_is_refused_with_its_place(emulator: EmulatorUnderTest, half_way: bytes, name: str) -> None:
    change, complaint = CHANGES[name]
    emulator.told("PUT", "/state", content=half_way)
    before = saved(emulator)
    status, code, detail = emulator.refusal("PUT", "/state", content=rewritten(before, change))
    assert (400, "invalid_request", True) == (status, code, complaint in detail), detail
    assert before == saved(emulator)


@pytest.mark.parametrize("replacement", [b"no picture", picture()])
def test_a_file_with_a_picture_that_was_exchanged_is_refused(emulator: EmulatorUnderTest, replacement: bytes) -> None:
    emulator.upload(picture_with_subject())
    before = saved(emulator)
    members = {name: content if name == STATE else replacement for name, content in members_of(before).items()}
    status, code, detail = emulator.refusal("PUT", "/state", content=zipped(members))
    assert (400, "invalid_request") == (status, code)
    assert re.search(r"pictures/\w{64}: found bytes of another SHA-256; expected those that were saved", detail)
    assert before == saved(emulator)


@pytest.mark.emulator(max_memory=100_000)
def test_more_pictures_than_the_memory_holds_are_refused(emulator: EmulatorUnderTest) -> None:
    data = bytes(200_000)
    digest = hashlib.sha256(data).hexdigest()
    members = members_of(saved(emulator))
    parts = parts_of(members[STATE])
    parts["pictures"].append({"key": "large", "recipe": None, "sha256": digest, "scene": None})
    file = zipped({STATE: state_of(parts), f"pictures/{digest}": data})
    status, code, detail = emulator.refusal("PUT", "/state", content=file)
    assert (400, "invalid_request", True) == (status, code, "expected --max-memory at most" in detail)


def repeated_members(file: bytes) -> bytes:
    """Return a zip that has one member fifty times."""
    buffer = io.BytesIO(file)
    with zipfile.ZipFile(buffer, "a") as archive, warnings.catch_warnings(action="ignore"):
        for _ in range(50):
            archive.writestr("pictures/same", bytes(1_000_000), zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def many_members(file: bytes) -> bytes:
    """Return a file with what begins more members than a state file may have."""
    return file[:-22] + b"PK\x01\x02" * 100_001 + file[-22:]


def damaged_directory(file: bytes) -> bytes:
    """Return a file whose directory is said to begin elsewhere."""
    start = file.rindex(b"PK\x05\x06") + 16
    found = int.from_bytes(file[start : start + 4], "little")
    return file[:start] + (found + 10).to_bytes(4, "little") + file[start + 4 :]


def damaged_data(file: bytes) -> bytes:
    """Return a file whose first member cannot be inflated."""
    start = 30 + sum(struct.unpack_from("<HH", file, 26))  # after the head, the name and the extra field
    return file[:start] + b"\xff" * 8 + file[start + 8 :]


BOMBS: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "empty arrays": (lambda _: zipped({STATE: b"[" + b"[]," * 5_000_000 + b"[]]"}), "bytes a line"),
    "empty lines": (lambda file: zipped({STATE: members_of(file)[STATE] + b"\n" * 5_000_000}), "state.jsonl: "),
    "rows of nothing": (lambda file: zipped({STATE: members_of(file)[STATE] + b"[]\n" * 5_000_000}), "found an array of 0"),
    "one member fifty times": (repeated_members, "expected each member once"),
    "many members": (many_members, "more than 100000 members"),
    "another compression": (lambda file: zipped(members_of(file), zipfile.ZIP_LZMA), "expected it to be stored or deflated"),
    "a damaged directory": (damaged_directory, "not a state file"),
    "damaged data": (damaged_data, "not a state file"),
    "a file that is cut off": (lambda file: file[:-200], "not a state file"),
    "nothing": (lambda _: b"", "not a state file"),
    "a text": (lambda _: b"hello", "not a state file"),
    "the beginning of a zip": (lambda _: b"PK\x03\x04", "not a state file"),
    "an empty zip": (lambda _: b"PK\x05\x06" + bytes(18), "not a state file"),
}  # fmt: skip
"""By what they are: what becomes of a state file, and the complaint about it."""


@pytest.mark.parametrize("name", BOMBS)
def test_a_file_made_to_exhaust_or_damaged_is_refused_at_once(emulator: EmulatorUnderTest, name: str) -> None:
    make, complaint = BOMBS[name]
    content = make(saved(emulator))
    tracemalloc.start()
    status, code, detail = emulator.refusal("PUT", "/state", content=content)
    _, most_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (400, "invalid_request", True) == (status, code, complaint in detail), detail
    assert most_bytes < 40_000_000


def test_the_loading_of_a_file_ends_wherever_it_is_given_up(emulator: EmulatorUnderTest) -> None:
    content, contract, asked = saved(emulator), emulator.application.contract, list[int]()

    def go_on() -> None:
        asked[-1] -= 1
        if not asked[-1]:
            raise KeyboardInterrupt

    asked.append(0)
    state.load(content, "default", 1_000_000, contract, go_on)
    lines_and_steps = -asked[0]
    for calls in (1, lines_and_steps // 2, lines_and_steps):
        asked.append(calls)
        with pytest.raises(KeyboardInterrupt):
            state.load(content, "default", 1_000_000, contract, go_on)


def test_what_is_wrong_with_the_default_sandbox_stands_in_nobodys_way(
    emulator: EmulatorUnderTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = saved(emulator)

    def fail(_sandbox: object, _now: int) -> int:
        raise RuntimeError("this sandbox is broken")

    broken = emulator.sandbox
    settle = engine.settle
    monkeypatch.setattr(engine, "settle", lambda sandbox, now: (fail if sandbox is broken else settle)(sandbox, now))
    assert [200, 200] == [emulator.ask("GET", "/health").status, emulator.ask("PUT", "/state", content=file).status]


def test_a_long_timeline_takes_no_longer_than_its_length(emulator: EmulatorUnderTest) -> None:
    """8,000 changes took 16 s when each went through all of them."""
    changes = [{"at": "1s", "set": {"team": "Demo", "credits": number}} for number in range(8_000)]
    emulator.told("PUT", "/scenario", {"scenario": "long", "timeline": changes})
    began_at = time.process_time()
    assert 8_000 == emulator.told("POST", "/clock/advance", {"seconds": 1})["fired"]
    assert emulator.credits() == 7_999
    assert time.process_time() - began_at < 4


def test_a_picture_that_cannot_be_decoded_stops_no_work_that_uses_it(emulator: EmulatorUnderTest) -> None:
    asset = emulator.upload(picture())
    data = png_of(asset["width"], asset["height"], png_chunk(b"IDAT", b"no picture"))
    members = members_of(saved(emulator))
    parts = parts_of(members[STATE])
    digest = hashlib.sha256(data).hexdigest()
    next(row for row in parts["pictures"] if row["key"] == asset["id"])["sha256"] = digest
    file = zipped({STATE: state_of(parts), f"pictures/{digest}": data})
    emulator.told("PUT", "/state", content=file)
    emulator.photograph(asset_ids=[asset["id"]])
    emulator.advance(30)
    assert emulator.get("/assets").status == 200
