"""State files that somebody has changed: loaded or refused as a whole, and nothing of another sandbox is touched."""

import struct
import zipfile
from collections.abc import Iterator
from contextlib import closing
from random import Random
from typing import Any

import pytest

from image_workflow_emulator.service.state.archive import STATE
from tests.fuzzing import witness
from tests.fuzzing.cases import amounts, cases, changed_bytes
from tests.support.emulator_client import Answer, Call, EmulatorUnderTest, settings_of
from tests.support.state_files import members_of, something_of_everything, zipped

SIGNATURES = (b"PK\x01\x02", b"PK\x03\x04", b"PK\x05\x06", b"PK\x06\x06", b"PK\x07\x08")


class ChangedEmulator(EmulatorUnderTest):
    """An emulator with a state that somebody has changed: it may show what breaks the contract."""

    def check(self, call: Call, answer: Answer) -> None:
        assert answer.status < 500, (call, answer.body)


@pytest.fixture
def control() -> Iterator[EmulatorUnderTest]:
    with closing(ChangedEmulator(settings_of(rate_limits=False))) as emulator:
        emulator.told("POST", "/sandboxes", {"id": "aside"})
        yield emulator


@pytest.fixture
def file(control: EmulatorUnderTest) -> bytes:
    """A state file that has something of everything."""
    something_of_everything(control)
    (asset_id, *_) = control.sandbox.store.assets.items
    control.post("/poses", {"name": "Tall", "asset_id": asset_id}, idempotency_key="kept")
    return control.ask("GET", "/state").body


@pytest.mark.parametrize("amount", amounts(15, 3_000))
def test_a_changed_zip_is_loaded_or_refused_as_a_whole(control: EmulatorUnderTest, file: bytes, amount: int) -> None:
    for case in cases("zips", amount):
        content = spoiled_zip(file, members_of(file), case.chance)
        with case.told(content=content.hex()):
            put(control, content)


def put(control: EmulatorUnderTest, content: bytes) -> bool:
    """Load a file, and look what has become of the sandboxes; tell whether it was loaded."""
    before = witness.everything(control)
    answer = control.ask("PUT", "/state", content=content)
    after = witness.everything(control)
    if answer.status != 200:
        assert answer.outcome == (400, "invalid_request")
        assert answer.json["detail"]
        assert witness.differences(before, after) == []
        return False
    assert witness.differences(before["sandboxes"]["aside"], after["sandboxes"]["aside"]) == []
    assert control.ask("POST", "/reset").status == 200
    assert control.ask("PUT", "/clock", {"mode": "manual"}).status == 200  # it may run after a reset
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
            field = max(place, 0) + chance.choice((4, 6, 8, 10, 14, 18, 20, 22, 24, 26, 28, 42))
            number = struct.pack("<I", chance.choice((0, 1, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF, chance.getrandbits(32))))
            size = chance.choice((1, 2, 4))
            return whole[:field] + number[:size] + whole[field + size :]
        case 2:
            name = chance.choice(list(members))
            others = ("", "../" + name, "/" + name, name + "/", name.upper(), "pictures/", "x" * 5_000, "a\0b", STATE)
            renamed = {(chance.choice(others) if key == name else key): value for key, value in members.items()}
            return zipped(renamed, chance.choice((zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)))
        case _:
            name = chance.choice([STATE, chance.choice(list(members))])
            data = members[name]
            content = chance.choice(
                (b"", b"{}", b"[]", data[:-1], data + data, changed_bytes(data, chance), b"\0" * 3_000_000)
            )
            return zipped(members | {name: content}, zipfile.ZIP_DEFLATED)
