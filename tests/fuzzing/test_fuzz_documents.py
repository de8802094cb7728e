"""Scenario and state files that somebody has changed: each is used, or refused as a whole and changes nothing."""

import re
import struct
import zipfile
from collections.abc import Iterator
from contextlib import closing
from random import Random
from typing import Any

import pytest

from image_workflow_emulator.service.state.archive import STATE
from tests.fuzzing.cases import amounts, cases, changed_bytes, differences, everything
from tests.fuzzing.wire import WireRequest, converse
from tests.support.emulator_client import Answer, Call, EmulatorUnderTest, settings_of
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
    control: EmulatorUnderTest, beginning: bytes, amount: int
) -> None:
    used = 0
    before = everything(control)
    for case in cases("scenarios", amount):
        text = changed_text(case.chance.choice(SCENARIOS), case.chance)
        with case.told(text=text.decode("utf-8", "replace")):
            answer = control.ask("PUT", "/scenario", content=text)
            if answer.status != 200:
                assert answer.outcome in (
                    (422, "invalid_scenario"),
                    (400, "invalid_request"),
                )
                assert answer.status == 400 or COMPLAINT.match(answer.json["detail"])
                assert differences(before, everything(control)) == []
                continue
            used += 1
            live_through(control, text)
            assert control.ask("PUT", "/state", content=beginning).status == 200
            before = everything(control)
    assert 0.1 * amount < used < 0.9 * amount, "the fuzzer has lost its way"


def live_through(control: EmulatorUnderTest, text: bytes) -> None:
    """Send some requests while a scenario runs, let its timeline pass, and begin anew with it."""
    assert control.told("GET", "/scenario")["scenario"]
    if not any(word in text for word in KEPT_FROM_RUNNING):
        for request in some_requests(control):
            conversation = control.run(
                converse(control.application, [request.written(Random(0))])
            )
            if not any(word in text for word in BREAKS_ANSWERS):
                (response,) = conversation.responses()
                assert response.status < 500 or response.status == 503
    assert control.ask("POST", "/clock/advance", {"seconds": 4_000}).status == 200
    assert control.ask("POST", "/reset").status == 200


def some_requests(control: EmulatorUnderTest) -> list[WireRequest]:
    """Return requests that scenarios have something to do with."""
    (asset_id,) = control.sandbox.store.assets.items
    headers = [(b"Authorization", b"Bearer iwe_demo_full"), (b"Idempotency-Key", b"1")]
    typed = [*headers, (b"Content-Type", b"application/json")]
    photoshoot = (
        b'{"output_mode": "photoshoot", "asset_ids": ["%s"]}' % asset_id.encode()
    )
    return [
        WireRequest(b"GET", b"/v1/team", headers),
        WireRequest(b"GET", b"/v1/poses", headers),
        WireRequest(
            b"POST",
            b"/v1/uploads",
            typed,
            b'{"content_type": "image/png", "size_bytes": 10}',
        ),
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
    for _ in range(chance.choice((1, 1, 2, 4))):
        lines = text.split("\n")
        place = chance.randrange(len(lines))
        match chance.randrange(8):
            case 0 | 1 | 2:
                words = list(_WORD.finditer(text))
                word = chance.choice(words) if words else None
                start, end = word.span() if word else (0, 0)
                other = (
                    chance.choice(words).group()
                    if words and chance.random() < 0.4
                    else chance.choice(_WORDS)
                )
                text = text[:start] + other + text[end:]
                continue
            case 3:
                del lines[place]
            case 4:
                lines.insert(place, chance.choice(lines))
            case 5:
                lines.insert(place, chance.choice(_LINES))
            case 6:
                lines[place] = chance.choice((" ", "  ", "\t")) + lines[place]
            case 7:
                lines[place] = lines[place].strip()
        text = "\n".join(lines)
    data = text.encode("utf-8", "surrogatepass")
    return changed_bytes(data, chance, _INSERTS) if chance.random() < 0.2 else data


# State files ----------------------------------------------------------------------------------------------------------

SIGNATURES = (b"PK\x01\x02", b"PK\x03\x04", b"PK\x05\x06", b"PK\x06\x06", b"PK\x07\x08")


class ChangedEmulator(EmulatorUnderTest):
    """An emulator with a state that somebody has changed: it may show what breaks the contract."""

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
    (asset_id, *_) = changed.sandbox.store.assets.items
    changed.post(
        "/poses", {"name": "Tall", "asset_id": asset_id}, idempotency_key="kept"
    )
    return changed.ask("GET", "/state").body


@pytest.mark.parametrize("amount", amounts(15, 3_000))
def test_a_changed_zip_is_loaded_or_refused_as_a_whole(
    changed: EmulatorUnderTest, file: bytes, amount: int
) -> None:
    for case in cases("zips", amount):
        content = spoiled_zip(file, members_of(file), case.chance)
        with case.told(content=content.hex()):
            put(changed, content)


def put(control: EmulatorUnderTest, content: bytes) -> bool:
    """Load a file, and look what has become of the sandboxes; tell whether it was loaded."""
    before = everything(control)
    answer = control.ask("PUT", "/state", content=content)
    after = everything(control)
    if answer.status != 200:
        assert answer.outcome == (400, "invalid_request")
        assert answer.json["detail"]
        assert differences(before, after) == []
        return False
    assert differences(before["sandboxes"]["aside"], after["sandboxes"]["aside"]) == []
    assert control.ask("POST", "/reset").status == 200
    assert (
        control.ask("PUT", "/clock", {"mode": "manual"}).status == 200
    )  # it may run after a reset
    return True


def spoiled_zip(whole: bytes, members: dict[str, Any], chance: Random) -> bytes:
    """Return a zip with something wrong: in its bytes, in the fields of its directories, or in what it holds."""
    match chance.randrange(4):
        case 0:
            for _ in range(chance.choice((1, 2, 5))):
                whole = changed_bytes(whole, chance, SIGNATURES)
            return whole
        case 1:
            place = whole.find(chance.choice(SIGNATURES), chance.randrange(len(whole)))
            field = max(place, 0) + chance.choice(
                (4, 6, 8, 10, 14, 18, 20, 22, 24, 26, 28, 42)
            )
            number = struct.pack(
                "<I",
                chance.choice(
                    (0, 1, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF, chance.getrandbits(32))
                ),
            )
            size = chance.choice((1, 2, 4))
            return whole[:field] + number[:size] + whole[field + size :]
        case 2:
            name = chance.choice(list(members))
            others = (
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
            renamed = {
                (chance.choice(others) if key == name else key): value
                for key, value in members.items()
            }
            return zipped(
                renamed,
                chance.choice(
                    (zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
                ),
            )
        case _:
            name = chance.choice([STATE, chance.choice(list(members))])
            data = members[name]
            content = chance.choice(
                (
                    b"",
                    b"{}",
                    b"[]",
                    data[:-1],
                    data + data,
                    changed_bytes(data, chance),
                    b"\0" * 3_000_000,
                )
            )
            return zipped(members | {name: content}, zipfile.ZIP_DEFLATED)
