"""State files over the control plane.

What is saved here goes on there as if nothing had happened; damage and edits are
refused.
"""

import hashlib
import re
import tracemalloc
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from typing import Any

import pytest

from image_workflow_emulator.kernel.timestamps import LATEST_INSTANT
from image_workflow_emulator.service.state.archive import STATE, VERSION
from tests.support.emulator_client import FULL
from tests.support.emulator_under_test import (
    EmulatorUnderTest,
    MakeEmulator,
    settings_of,
)
from tests.support.pictures import photo, picture
from tests.support.state_files import (
    Parts,
    members_of,
    parts_of,
    rewritten,
    something_of_everything,
    with_parts,
    with_state,
    zipped,
)


def saved(emulator: EmulatorUnderTest, sandbox: str | None = None) -> bytes:
    return emulator.ask("GET", "/state", sandbox=sandbox).body


def check_refusal(
    emulator: EmulatorUnderTest,
    file: bytes,
    complaint: str,
    sandbox: str | None = None,
) -> None:
    """Load a file that must be refused with a complaint, and change nothing."""
    before = saved(emulator, sandbox)

    answer = emulator.ask("PUT", "/state", sandbox=sandbox, content=file)

    assert answer.status == 400
    assert answer.code == "invalid_request"
    assert complaint in answer.json["detail"]
    assert saved(emulator, sandbox) == before


# Saved and loaded --------------------------------------------------------------------


def test_a_loaded_sandbox_is_saved_as_the_same_file(
    make_emulator: MakeEmulator,
) -> None:
    original = make_emulator(seed=5)
    something_of_everything(original)
    file = saved(original)
    copy = make_emulator(seed=9, clock="auto")

    copy.told("PUT", "/state", content=file)

    assert saved(copy) == file


def test_a_loaded_sandbox_is_reset_to_the_start_of_the_saved_one(
    make_emulator: MakeEmulator,
) -> None:
    original = make_emulator(seed=5)
    something_of_everything(original)
    copy = make_emulator(seed=9, clock="auto")
    copy.told("PUT", "/state", content=saved(original))

    original.reset()
    copy.reset()

    assert copy.get("/team").json == original.get("/team").json


def names_in(value: Any) -> Iterator[str]:
    """Iterate over the names of fields in a part of a state.

    Ids and addresses, by which things are found, are none.
    """
    if isinstance(value, dict):
        yield from (name for name in value if re.fullmatch("[a-z][a-z_]*", name))
        yield from names_in(list(value.values()))
    elif isinstance(value, list):
        for part in value:
            yield from names_in(part)


def digest_of_names(parts: Parts) -> str:
    names: set[tuple[str, str]] = set()
    for part, value in parts.items():
        names.update((part, name) for name in names_in(value))
    return hashlib.sha256(repr(sorted(names)).encode()).hexdigest()[:12]


RAISE_VERSION = (
    "raise VERSION in emulator/image_workflow_emulator/service/state/archive.py, "
    "and write it here with its digest"
)


def test_the_version_of_state_files_is_raised_with_the_names_of_their_fields(
    emulator: EmulatorUnderTest,
) -> None:
    something_of_everything(emulator)

    digest = digest_of_names(parts_of(saved(emulator)))

    assert VERSION == 13, RAISE_VERSION
    assert digest == "a6b80f52627c", RAISE_VERSION


def test_a_sandbox_takes_a_file_of_another_with_keys_and_links_of_its_own(
    emulator: EmulatorUnderTest,
) -> None:
    asset = emulator.upload(photo(size=(96, 96)))
    emulator.make_sandbox("copy")

    emulator.told("PUT", "/state", sandbox="copy", content=saved(emulator))

    copied = emulator.get(f"/assets/{asset['id']}", "iwe_demo_full_copy").json
    assert "/files/copy/" in copied["url"]
    assert emulator.fetch(copied["url"]).body == emulator.fetch(asset["url"]).body


def test_the_default_sandbox_takes_the_file_of_another(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.make_sandbox("aside")
    emulator.photograph(key=f"{FULL}_aside")

    assert emulator.credits() == 100

    emulator.told("PUT", "/state", content=saved(emulator, "aside"))

    assert emulator.credits() == 99
    assert emulator.credits(f"{FULL}_aside") == 99


def with_key(key: str) -> dict[str, Any]:
    return {
        "scenario": "keys",
        "world": {"teams": {"Demo": {"credentials": [{"key": key}]}}},
    }


def test_a_file_whose_key_another_sandbox_has_now_is_refused_and_changes_nothing(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.make_sandbox("aside")
    emulator.told("PUT", "/scenario", with_key("new_key"))
    file = saved(emulator)
    emulator.told("PUT", "/scenario", with_key("new_key_aside"))

    complaint = "the key 'new_key_aside' belongs to another sandbox"
    check_refusal(emulator, file, complaint, "aside")


def test_events_that_fall_due_while_a_file_is_loaded_are_applied(
    make_emulator: MakeEmulator,
) -> None:
    original = make_emulator()
    work = original.photograph(asset_ids=[original.upload(picture())["id"]])
    runs_fast = of("head", "clock", mode="real", rate=1e6)
    file = rewritten(saved(original), runs_fast)
    copy = make_emulator()

    copy.told("PUT", "/state", content=file)

    polls = (copy.get(f"/generations/{work.id}").json for _ in range(10_000))
    assert "completed" in (generation["status"] for generation in polls)


# Impossible values -------------------------------------------------------------------

Change = Callable[[Parts], None]


def reach(parts: Any, steps: Sequence[str | int]) -> Any:
    """Return what a path of names and indexes leads to."""
    for step in steps:
        parts = parts[step]
    return parts


def of(*steps: str | int, **changes: Any) -> Change:
    """Return a change of some fields of what these steps lead to."""

    def change(parts: Parts) -> None:
        reach(parts, steps).update(changes)

    return change


def put(value: object, *steps: str | int) -> Change:
    """Return a change that puts a value where these steps lead to."""

    def change(parts: Parts) -> None:
        reach(parts, steps[:-1])[steps[-1]] = value

    return change


def of_photograph(**changes: Any) -> Change:
    """Return a change of the recipe of the first photograph."""

    def change(parts: Parts) -> None:
        recipes = [row["recipe"] for row in parts["pictures"] if row["recipe"]]
        photographs = [recipe for recipe in recipes if "slot_count" in recipe]
        photographs[0].update(changes)

    return change


def of_picture_of_an_asset(**changes: Any) -> Change:
    """Return a change of the picture of the first Asset, from which work is made."""

    def change(parts: Parts) -> None:
        asset_id = parts["assets"][0]["id"]
        (picture,) = [row for row in parts["pictures"] if row["key"] == asset_id]
        picture.update(changes)

    return change


def of_event(
    kind: str,
    index: int,
    value: object,
) -> Change:
    """Return a change of what the first event of a kind has at an index."""

    def change(parts: Parts) -> None:
        events = [row for row in parts["events"] if row[1] == kind]
        events[0][index] = value

    return change


def remove_seed(parts: Parts) -> None:
    del parts["head"]["state"]["seed"]


def add_unknown_table(parts: Parts) -> None:
    parts["others"] = [1]


def multiply_teams_of_reset(parts: Parts) -> None:
    world = parts["head"]["state"]["options"]["world"]
    world["teams"] *= 300


def make_from_itself(parts: Parts) -> None:
    """Let a picture need itself before it can be drawn."""
    recipes = [row for row in parts["pictures"] if row["recipe"] is not None]
    picture = recipes[0]
    picture["recipe"]["inputs"] = [picture["key"]]


def repeat_picture(parts: Parts) -> None:
    parts["pictures"].append(parts["pictures"][0])


CHANGES: dict[str, tuple[Change, str]] = {
    "a field too few": (remove_seed, "missing required field `seed`"),
    "a table that there is not": (add_unknown_table, "KeyError: 'others'"),
    "a time past the last": (put(2**60, "head", "now"), "`$.now`"),
    "a clock without bounds": (
        of("head", "clock", mode="real", rate=1e308),
        "`$.clock.rate`",
    ),
    "a reset's world without bounds": (
        multiply_teams_of_reset,
        "`$.state.options.world.teams`",
    ),
    "a reset's scenario that cannot be read": (
        of("head", "state", "options", scenario={"text": "rulez: []", "file": ""}),
        "rulez",
    ),
    "a scenario that cannot be read": (
        of("playbooks", -1, "scenario", text="scenario: new\nrulez: []\n"),
        "rulez",
    ),
    "a counter of 10^15": (
        of("head", "state", "counters", ast=10**15),
        "`$.state.counters[...]`",
    ),
    "Credits below none": (
        of("accounts", 0, "ledger", granted=-1),
        "`$.ledger.granted`",
    ),
    "a picture made from one that is gone": (
        of_photograph(inputs=["ast_x"]),
        '"ast_x" does not come before it',
    ),
    "a picture made from itself": (
        make_from_itself,
        "does not come before it",
    ),
    "a picture of no recipe and no bytes": (
        of_picture_of_an_asset(sha256=None),
        "it has neither recipe nor bytes",
    ),
    "two pictures of one key": (
        repeat_picture,
        "there are two such pictures",
    ),
    "a picture of no ratio": (
        of_photograph(aspect_ratio="$ref"),
        "`$.recipe.aspect_ratio`",
    ),
    "a picture of endless slots": (
        of_photograph(slot_count=10**9),
        "`$.recipe.slot_count`",
    ),
    "a picture too large": (of_photograph(width=16_000), "`$.recipe.width`"),
    "an event of no kind": (
        put([[0, "birthday", "me", 0]], "events"),
        "birthday is no kind of event",
    ),
    "an event of work that is gone": (
        put([[0, "operation_started", "op_x", 0]], "events"),
        "KeyError: 'op_x'",
    ),
    "an event to come of work that is gone": (
        put([[LATEST_INSTANT, "operation_started", "op_x", 0]], "events"),
        "KeyError: 'op_x'",
    ),
    "an event to come of a slot that is gone": (
        of_event("output_finished", 3, 9),
        "IndexError",
    ),
    "an event to come of a state that is past": (
        of_event("operation_finished", 1, "operation_started"),
        "started in the state processing",
    ),
    "a credential of a Team that is gone": (
        of("credentials", 0, "credential", team_id="team_x"),
        'the Team "team_x" is missing',
    ),
    "an Asset of a Team that is gone": (
        of("assets", 0, team_id="team_x"),
        'the Team "team_x" is missing',
    ),
    "a scenario of a Team that is gone": (
        of("playbooks", 0, team="team_x"),
        'a playbook: the Team "team_x" is missing',
    ),
    "a picture that is held too seldom": (
        of_picture_of_an_asset(holds=0),
        "its picture is missing",
    ),
    "an Asset without a picture": (
        of("assets", 0, id="ast_x"),
        "ast_x: its picture is missing",
    ),
    "an answer that is no status": (put(99, "records", 0, 1, 2), "`$[1][2]`"),
}
"""Changes of a state, and the complaints about them, by what they break."""


@pytest.fixture(scope="module")
def half_way() -> Iterator[bytes]:
    with closing(EmulatorUnderTest(settings_of())) as emulator:
        something_of_everything(emulator)
        yield saved(emulator)


@pytest.mark.parametrize("name", CHANGES)
def test_an_impossible_value_is_refused_with_its_field(
    emulator: EmulatorUnderTest,
    half_way: bytes,
    name: str,
) -> None:
    change, complaint = CHANGES[name]
    emulator.told("PUT", "/state", content=half_way)

    check_refusal(emulator, rewritten(half_way, change), complaint)


# Damage and edits --------------------------------------------------------------------

CHANGED = "is not as it was saved: the file is damaged, or somebody changed it"


@pytest.mark.parametrize("replacement", [b"no picture", picture()], ids=["text", "png"])
def test_a_file_in_which_a_picture_was_exchanged_is_refused(
    emulator: EmulatorUnderTest,
    replacement: bytes,
) -> None:
    emulator.upload(photo(size=(96, 96)))
    members = members_of(saved(emulator))
    pictures = [name for name in members if name.startswith("pictures/")]

    exchanged = members | dict.fromkeys(pictures, replacement)

    assert pictures
    check_refusal(emulator, zipped(exchanged), CHANGED)


def test_a_file_in_which_the_state_was_edited_is_refused(
    emulator: EmulatorUnderTest,
) -> None:
    members = members_of(saved(emulator))
    edited = members[STATE].replace(b'"granted":100', b'"granted":999')

    complaint = (
        "is not as it was saved (see state.sha256): the file is damaged, or somebody"
    )
    check_refusal(emulator, zipped(members | {STATE: edited}), complaint)


@pytest.mark.emulator(max_memory=100_000)
def test_more_pictures_than_the_memory_holds_are_refused(
    emulator: EmulatorUnderTest,
) -> None:
    data = bytes(200_000)
    digest = hashlib.sha256(data).hexdigest()
    file = saved(emulator)
    parts = parts_of(file)
    parts["pictures"][0].update(recipe=None, sha256=digest)
    large = with_parts(file, parts, **{f"pictures/{digest}": data})

    complaint = "has 200000 bytes, more than --max-memory leaves for it; raise it"
    check_refusal(emulator, large, complaint)


def draw_two_alike(emulator: EmulatorUnderTest) -> list[str]:
    """Order the same picture twice, and one that differs; return their URLs."""
    sources = emulator.assets(1)
    for directions in ("", "", "From above."):
        generation = emulator.photograph(
            asset_ids=sources,
            custom_directions=directions,
        )
        emulator.wait_for(generation.json)
    return [asset["url"] for asset in emulator.items("/assets?source=generation")]


def test_equal_pictures_of_a_loaded_sandbox_take_their_memory_once(
    make_emulator: MakeEmulator,
) -> None:
    original = make_emulator()
    draw_two_alike(original)
    copy = make_emulator()

    copy.told("PUT", "/state", content=saved(original))

    assert copy.sandbox.images.held_bytes == original.sandbox.images.held_bytes
    assert copy.sandbox.memory.held_bytes == original.sandbox.memory.held_bytes


def test_drawn_pictures_of_a_loaded_sandbox_can_be_dropped_and_drawn_again(
    emulator: EmulatorUnderTest,
) -> None:
    urls = draw_two_alike(emulator)
    files = [emulator.fetch(url).body for url in urls]
    emulator.told("PUT", "/state", content=saved(emulator))
    memory = emulator.sandbox.memory
    drawn_bytes = sum(map(len, set(files)))

    memory.limit_bytes = memory.held_bytes
    has_room = memory.make_room(drawn_bytes)

    assert has_room
    assert [emulator.fetch(url).body for url in urls] == files


@pytest.mark.emulator(max_memory=60_000)
def test_a_file_fits_the_memory_of_the_emulator_that_wrote_it(
    emulator: EmulatorUnderTest,
) -> None:
    urls = draw_two_alike(emulator)
    files = [emulator.fetch(url).body for url in urls]

    emulator.told("PUT", "/state", content=saved(emulator))

    assert [emulator.fetch(url).body for url in urls] == files
    assert emulator.sandbox.memory.held_bytes <= 60_000


DEEP_ROW = (
    b'["generations",{"request":{"a":' + b"[" * 1_000_000 + b"]" * 1_000_000 + b"}}]"
)
MEMBER = b"PK\x01\x02"
"""How a member begins in the directory of a file."""
EMPTY_ZIP = b"PK\x05\x06" + bytes(18)
STATE_OF_ARRAYS = b"[" + b"[]," * 5_000_000 + b"[]]"


def with_more_lines(file: bytes, lines: bytes) -> bytes:
    return with_state({}, members_of(file)[STATE] + lines)


def with_more_members(file: bytes, count: int) -> bytes:
    """Put so many members into the directory, before the 22 bytes of its end."""
    return file[:-22] + MEMBER * count + file[-22:]


DAMAGES: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "empty arrays": (
        lambda file: with_state({}, STATE_OF_ARRAYS),
        "Expected `object`, got `array`",
    ),
    "empty lines": (
        lambda file: with_more_lines(file, b"\n" * 5_000_000),
        "truncated",
    ),
    "rows of nothing": (
        lambda file: with_more_lines(file, b"[]\n" * 5_000_000),
        "length 2",
    ),
    "a deep row": (lambda file: with_more_lines(file, DEEP_ROW), "recursion"),
    "many members": (
        lambda file: with_more_members(file, 100_001),
        "more than 100000 members",
    ),
    "another compression": (
        lambda file: zipped(members_of(file), zipfile.ZIP_LZMA),
        "expected it to be stored or deflated",
    ),
    "a file that is cut off": (lambda file: file[:-200], "not a state file"),
    "a text": (lambda file: b"hello", "not a state file"),
    "another version": (
        lambda file: zipped(members_of(file), comment=b"other"),
        'found "other", expected "image-workflow-emulator state 13"',
    ),
    "an empty zip": (lambda file: EMPTY_ZIP, "not a state file"),
}
"""Changes of a state file, and the complaints about them, by their names."""


@pytest.mark.parametrize("name", DAMAGES)
def test_a_file_made_to_exhaust_or_damaged_is_refused_at_once(
    emulator: EmulatorUnderTest,
    name: str,
) -> None:
    damage, complaint = DAMAGES[name]
    content = damage(saved(emulator))

    tracemalloc.start()
    check_refusal(emulator, content, complaint)
    _, most_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert most_bytes < 40_000_000


def test_the_loading_of_a_file_ends_when_the_emulator_stops(
    emulator: EmulatorUnderTest,
) -> None:
    file = saved(emulator)
    emulator.application.stop()

    answer = emulator.ask("PUT", "/state", content=file)

    assert answer.status == 400
    assert answer.json["detail"] == "(body): the emulator is stopping"
