"""Scenario and state files that somebody has changed.

Each is used, or refused as a whole and changes nothing.
"""

import re
import struct
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import closing
from random import Random

import pytest

from image_workflow_emulator.service.state.archive import STATE
from tests.fuzzing.cases import amounts, cases, changed_bytes, differences, everything
from tests.fuzzing.wire import Conversation, WireRequest, converse
from tests.support.emulator_client import Answer, Call
from tests.support.emulator_under_test import EmulatorUnderTest, settings_of
from tests.support.pictures import picture
from tests.support.served import ROOT
from tests.support.state_files import members_of, something_of_everything, zipped

COMPLAINT = re.compile(r"^scenario(:\d+:\d+)?: .*found .*expected .+")
KEPT_FROM_RUNNING = (b"hold", b"latency", b"rate:")
"""Words of rules that take real time."""
BREAKS_ANSWERS = (b"network", b"internal_error")


@pytest.fixture
def beginning(control: EmulatorUnderTest) -> bytes:
    """A state to come back to, with an Asset in it."""
    control.upload(picture())
    return control.ask("GET", "/state").body


@pytest.mark.parametrize("amount", amounts(80, 6_000))
def test_a_refused_scenario_changes_nothing(
    control: EmulatorUnderTest,
    beginning: bytes,
    amount: int,
) -> None:
    used = 0
    before = everything(control)
    for case in cases("scenarios", amount):
        text = changed_text(case.chance.choice(SCENARIOS), case.chance)
        with case.told(text=text.decode("utf-8", "replace")):
            answer = control.ask("PUT", "/scenario", content=text)
            if answer.status != 200:
                check_refusal(answer)
                assert differences(before, everything(control)) == []
                continue
            used += 1
            live_through(control, text)
            assert control.ask("PUT", "/state", content=beginning).status == 200
            before = everything(control)
    assert 0.1 * amount < used < 0.9 * amount, "the fuzzer has lost its way"


def check_refusal(answer: Answer) -> None:
    """A text that is no document is invalid, or the complaint says where and what."""
    if answer.status == 400:
        assert answer.code == "invalid_request"
    else:
        assert answer.status == 422
        assert answer.code == "invalid_scenario"
        assert COMPLAINT.match(answer.json["detail"])


def live_through(control: EmulatorUnderTest, text: bytes) -> None:
    """Send requests while a scenario runs, let its timeline pass, and begin anew."""
    assert control.told("GET", "/scenario")["scenario"]
    if not has_word(text, KEPT_FROM_RUNNING):
        for request in some_requests(control):
            conversation = talk(control, request)
            if not has_word(text, BREAKS_ANSWERS):
                check_served(conversation)
    assert control.ask("POST", "/clock/advance", {"seconds": 4_000}).status == 200
    assert control.ask("POST", "/reset").status == 200


def has_word(text: bytes, words: Iterable[bytes]) -> bool:
    return any(word in text for word in words)


def talk(control: EmulatorUnderTest, request: WireRequest) -> Conversation:
    written = request.written(Random(0))
    return control.run(converse(control.application, [written]))


def check_served(conversation: Conversation) -> None:
    """There is one answer, and no error but what a pause of admission asks for."""
    (response,) = conversation.responses()
    assert response.status < 500 or response.status == 503


def some_requests(control: EmulatorUnderTest) -> list[WireRequest]:
    """Return requests that scenarios have something to do with."""
    (asset_id,) = control.sandbox.store.assets.items
    headers = [(b"Authorization", b"Bearer iwe_demo_full"), (b"Idempotency-Key", b"1")]
    typed = [*headers, (b"Content-Type", b"application/json")]
    subject = b'"asset_ids": ["%s"]' % asset_id.encode()
    photoshoot = b'{"output_mode": "photoshoot", %s}' % subject
    upload = b'{"content_type": "image/png", "size_bytes": 10}'
    return [
        WireRequest(b"GET", b"/v1/team", headers),
        WireRequest(b"GET", b"/v1/poses", headers),
        WireRequest(b"POST", b"/v1/uploads", typed, upload),
        WireRequest(b"POST", b"/v1/generations/product-photography", typed, photoshoot),
        WireRequest(b"DELETE", b"/v1/assets/" + asset_id.encode(), headers),
    ]


SCENARIOS = [
    file.read_text(encoding="utf-8")
    for file in sorted((ROOT / "scenarios").glob("*.yaml"))
]

_WORD = re.compile(r"[^\s:,\[\]{}#]+")
_WORDS = (
    "~",
    "null",
    "true",
    "on",
    "no",
    "0",
    "-1",
    "1.5",
    "1e9",
    "99999999999999999999",
    "0x1f",
    "0o17",
    "1_000",
    ".inf",
    ".nan",
    "2026-01-01",
    "2026-01-01T00:00:00Z",
    "9999-12-31T23:59:59.999Z",
    "0001-01-01T00:00:00Z",
    "12:30:00",
    "1s",
    "0ms",
    "9999999999d",
    "-1s",
    "every 5",
    "every 0",
    ">=3",
    ">=0",
    "2-4",
    "4-2",
    "0-0",
    "1-99999999999999",
    '"*"',
    "'*'",
    "x" * 300,
    "getTeam",
    "createUpload",
    "product_photography",
    "pose.create",
    "upscale",
    "Demo",
    "Nobody",
    "iwe_demo_full",
    "internal_error",
    "rate_limited",
    "idempotency_in_progress",
    "insufficient_credits",
    "after_commit",
    "before_commit",
    "reset",
    "truncate",
    "stall",
    "garbage",
    "timed_out",
    "content_rejected",
    "clean",
    "paused",
    "open",
    "revoked",
    '"\\u0000"',
    '"\\n"',
    '"a\\r\\nB: c"',
    "\u00e9",
    "\U0001f457",
    "\u202e",
    '"\\ud800"',
    "''",
    '""',
    "{}",
    "[]",
    "{a: b}",
    "[1, 2]",
    "&a",
    "*a",
    "&a {b: *a}",
    "!!python/object/apply:os.system",
    "!!binary AA==",
    "!x y",
    "<<: *a",
    "? a",
    "|",
    ">-",
    "%TAG",
    "---",
)
_LINES = (
    "---",
    "...",
    "# a comment",
    "\t- x",
    "  - {}",
    "rules: []",
    "seed: 1",
    "- match: {}",
    "world: {teams: {Demo: {credits: 1}}}",
    "timeline:",
    "  - at: 0s",
    "    set: {admission: paused}",
    "&a x: &b [*a]",
    "? [complex, key]",
    ": value",
    "a: b: c",
    "\u0085",
    "-",
    "bomb: &c [&b [&a [x, x, x], *a, *a, *a], *b, *b, *b, *b]",
    "deep: " + "[" * 40 + "]" * 40,
    "long: " + "x" * 5_000,
)
_INSERTS = (
    b"\n",
    b"\t",
    b" ",
    b":",
    b": ",
    b"- ",
    b"{",
    b"}",
    b"[",
    b"]",
    b"&a ",
    b"*a",
    b"!",
    b"|",
    b"\xff",
    b"\0",
    b"\xef\xbb\xbf",
)


def changed_text(text: str, chance: Random) -> bytes:
    """Return a text with some words or lines changed, and at times some bytes."""
    for _ in range(chance.choice((1, 1, 2, 4))):
        change = chance.choice((with_another_word, with_another_line))
        text = change(text, chance)
    data = text.encode("utf-8", "surrogatepass")
    if chance.random() < 0.2:
        return changed_bytes(data, chance, _INSERTS)
    return data


def with_another_word(text: str, chance: Random) -> str:
    words = list(_WORD.finditer(text))
    if not words:
        return chance.choice(_WORDS) + text
    start, end = chance.choice(words).span()
    new_word = chance.choice(_WORDS)
    if chance.random() < 0.4:
        new_word = chance.choice(words).group()
    return text[:start] + new_word + text[end:]


def with_another_line(text: str, chance: Random) -> str:
    lines = text.split("\n")
    place = chance.randrange(len(lines))
    match chance.randrange(5):
        case 0:
            del lines[place]
        case 1:
            lines.insert(place, chance.choice(lines))
        case 2:
            lines.insert(place, chance.choice(_LINES))
        case 3:
            lines[place] = chance.choice((" ", "  ", "\t")) + lines[place]
        case _:
            lines[place] = lines[place].strip()
    return "\n".join(lines)


# State files --------------------------------------------------------------------------

SIGNATURES = (b"PK\x01\x02", b"PK\x03\x04", b"PK\x05\x06", b"PK\x06\x06", b"PK\x07\x08")


class ChangedEmulator(EmulatorUnderTest):
    """An emulator with a changed state, which may show what breaks the contract."""

    def check(self, call: Call, answer: Answer) -> None:
        assert answer.status < 500, (call, answer.body)


@pytest.fixture
def changed() -> Iterator[EmulatorUnderTest]:
    with closing(ChangedEmulator(settings_of(rate_limits=False))) as emulator:
        emulator.told("POST", "/sandboxes", {"id": "aside"})
        yield emulator


@pytest.fixture
def file(changed: EmulatorUnderTest) -> bytes:
    """A state file that has something of everything."""
    something_of_everything(changed)
    asset_id = next(iter(changed.sandbox.store.assets.items))
    pose = {"name": "Tall", "asset_id": asset_id}
    changed.post("/poses", pose, idempotency_key="kept")
    return changed.ask("GET", "/state").body


@pytest.mark.parametrize("amount", amounts(15, 3_000))
def test_a_changed_zip_is_loaded_or_refused_as_a_whole(
    changed: EmulatorUnderTest,
    file: bytes,
    amount: int,
) -> None:
    for case in cases("zips", amount):
        content = spoiled_zip(file, members_of(file), case.chance)
        with case.told(content=content.hex()):
            put(changed, content)


def put(control: EmulatorUnderTest, content: bytes) -> None:
    """Load a file, and check that a refused one changes nothing.

    A loaded one changes no other sandbox, and can be reset.
    """
    before = everything(control)
    answer = control.ask("PUT", "/state", content=content)
    after = everything(control)
    if answer.status != 200:
        assert answer.status == 400
        assert answer.code == "invalid_request"
        assert answer.json["detail"]
        assert differences(before, after) == []
        return
    assert differences(before["sandboxes"]["aside"], after["sandboxes"]["aside"]) == []
    assert control.ask("POST", "/reset").status == 200
    # The clock of the file may run after a reset.
    assert control.ask("PUT", "/clock", {"mode": "manual"}).status == 200


def spoiled_zip(
    whole: bytes,
    members: dict[str, bytes],
    chance: Random,
) -> bytes:
    """Return a zip with something wrong in its bytes, its directories or its files."""
    match chance.randrange(4):
        case 0:
            for _ in range(chance.choice((1, 2, 5))):
                whole = changed_bytes(whole, chance, SIGNATURES)
            return whole
        case 1:
            return with_another_field(whole, chance)
        case 2:
            return with_another_name(members, chance)
        case _:
            return with_another_content(members, chance)


FIELDS = (4, 6, 8, 10, 14, 18, 20, 22, 24, 26, 28, 42)
"""Where the entries of a zip's directories have their numbers, in bytes."""
EXTREMES = (0, 1, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF)


def with_another_field(whole: bytes, chance: Random) -> bytes:
    """Return a zip with another number in one of its directories."""
    entry = whole.find(chance.choice(SIGNATURES), chance.randrange(len(whole)))
    start = max(entry, 0) + chance.choice(FIELDS)
    number = chance.choice((*EXTREMES, chance.getrandbits(32)))
    field = struct.pack("<I", number)[: chance.choice((1, 2, 4))]
    return whole[:start] + field + whole[start + len(field) :]


def with_another_name(members: dict[str, bytes], chance: Random) -> bytes:
    """Return a zip with a file under another name, in any compression."""
    name = chance.choice(list(members))
    new_names = (
        "",
        "../" + name,
        "/" + name,
        name + "/",
        name.upper(),
        "pictures/",
        "x" * 5_000,
        "a\0b",
        STATE,
    )
    renamed = dict(members)
    renamed[chance.choice(new_names)] = renamed.pop(name)
    compressions = (zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
    return zipped(renamed, chance.choice(compressions))


def with_another_content(members: dict[str, bytes], chance: Random) -> bytes:
    """Return a zip with other bytes in a file, mostly in that of the state."""
    name = chance.choice([STATE, chance.choice(list(members))])
    data = members[name]
    contents = (
        b"",
        b"{}",
        b"[]",
        data[:-1],
        data + data,
        changed_bytes(data, chance),
        b"\0" * 3_000_000,
    )
    return zipped({**members, name: chance.choice(contents)}, zipfile.ZIP_DEFLATED)
