"""State files that somebody has changed: loaded as a whole or refused as a whole, and what is loaded can be lived with."""

import struct
import zipfile
from collections.abc import Iterator
from contextlib import closing
from random import Random
from typing import Any

import pytest

from tests.fuzzing import witness
from tests.fuzzing.cases import amounts, cases, changed_bytes
from tests.fuzzing.values import ODD, changed
from tests.support.emulator_client import Answer, Call, EmulatorUnderTest, settings_of
from tests.support.state_files import STATE, members_of, parts_of, something_of_everything, with_parts, zipped

SIGNATURES = (b"PK\x01\x02", b"PK\x03\x04", b"PK\x05\x06", b"PK\x06\x06", b"PK\x07\x08")


class ChangedEmulator(EmulatorUnderTest):
    """An emulator with a state that somebody has changed: it may show what breaks the contract, but it must not fail."""

    def check(self, call: Call, answer: Answer) -> None:
        assert answer.status < 500, (call, answer.body)


@pytest.fixture
def control() -> Iterator[EmulatorUnderTest]:
    with closing(ChangedEmulator(settings_of(rate_limits=False))) as emulator:
        yield emulator


@pytest.fixture
def file(control: EmulatorUnderTest) -> bytes:
    """A state file that has something of everything."""
    something_of_everything(control)
    (asset_id, *_) = control.sandbox.store.assets.items
    control.post("/poses", {"name": "Tall", "asset_id": asset_id}, idempotency_key="kept")
    return control.ask("GET", "/state").body


@pytest.mark.parametrize("amount", amounts(15, 3_000))
def test_a_changed_state_is_loaded_or_refused_as_a_whole(control: EmulatorUnderTest, file: bytes, amount: int) -> None:
    state, loaded = parts_of(file), 0
    for case in cases("states", amount):
        other = changed(state, case.chance, ODD, times=case.chance.choice((1, 1, 1, 2, 3)))
        with case.told(changed=witness.differences(state, other)):
            loaded += put(control, with_parts(file, other))
    assert 0.02 * amount < loaded < 0.9 * amount, "the fuzzer has lost its way"


@pytest.mark.parametrize("amount", amounts(15, 3_000))
def test_a_changed_zip_is_loaded_or_refused_as_a_whole(control: EmulatorUnderTest, file: bytes, amount: int) -> None:
    for case in cases("zips", amount):
        content = spoiled_zip(file, members_of(file), case.chance)
        with case.told(content=content.hex()):
            put(control, content)


def put(control: EmulatorUnderTest, content: bytes) -> bool:
    """Load a file, and look what has become of the sandbox; tell whether it was loaded."""
    before = witness.everything(control)
    answer = control.ask("PUT", "/state", content=content)
    if answer.status != 200:
        assert answer.outcome == (400, "invalid_request")
        assert answer.json["detail"]
        assert witness.differences(before, witness.everything(control)) == []
        return False
    stand_still(control)
    use(control)
    control.ask("POST", "/clock/advance", {"until_idle": True})
    for collection in ("uploads", "assets", "products", "operations", "generations", "poses", "backgrounds"):
        assert control.get(f"/{collection}").status in (200, 401, 404, 405)
    saved = control.ask("GET", "/state")
    assert saved.status == control.ask("GET", "/teams").status == control.ask("GET", "/clock").status == 200
    assert control.ask("PUT", "/state", content=saved.body).status == 200
    assert control.ask("GET", "/state").body == saved.body
    assert control.ask("POST", "/reset").status == 200
    stand_still(control)
    return True


def use(control: EmulatorUnderTest) -> None:
    """Work with what there is; the client refuses an internal error."""
    for asset in control.get("/assets").json.get("data", [])[:3]:
        named = {"name": "Again", "asset_id": asset["id"]}
        for path, body in (
            ("/backgrounds", named),
            ("/poses", named),
            ("/products", {"name": "Again", "asset_ids": [asset["id"]], "primary_asset_id": asset["id"]}),
            ("/generations/product-photography", {"asset_ids": [asset["id"]], "output_mode": "photoshoot"}),
        ):
            control.post(path, body)
        control.fetch(asset["url"])
    for session in control.application.sandboxes.default.store.uploads.items:
        control.post(f"/uploads/{session}/complete", {"upload_token": "x"})
    for kind in ("poses", "backgrounds", "products"):
        for one in control.get(f"/{kind}").json.get("data", [])[:2]:
            control.patch(f"/{kind}/{one['id']}", {"name": "Changed"})
    control.post("/poses", {"name": "Tall"}, idempotency_key="kept")


def stand_still(control: EmulatorUnderTest) -> None:
    """Stop the clock: a changed state may have one that runs, now or after a reset."""
    assert control.ask("PUT", "/clock", {"mode": "manual"}).status == 200


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
