"""State files of a sandbox with something of everything.

They are taken apart, changed, and put together again.
"""

import hashlib
import io
import zipfile
from collections.abc import Callable
from typing import Any

import orjson

from image_workflow_emulator.service.state.archive import DIGEST, FORMAT, STATE
from tests.support.emulator_under_test import EmulatorUnderTest
from tests.support.pictures import photo

Parts = dict[str, Any]
"""The first line under `head`, and the rows of each table under its name."""


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
    """Leave something of every kind behind.

    Finished, unfinished, uploaded, announced, and bound to a key.
    """
    picture = photo(size=(96, 96))
    emulator.use(SCENARIO)
    asset_id = emulator.upload(picture)["id"]
    product = emulator.product(asset_id)
    emulator.author("background", asset_id=asset_id)
    emulator.photograph(product_ids=[product["id"]], output_mode="photoshoot")
    emulator.advance(7)
    emulator.ready_upload(picture)
    emulator.post("/poses", {"name": "Tall", "asset_id": asset_id})


def members_of(file: bytes) -> dict[str, bytes]:
    buffer = io.BytesIO(file)
    with zipfile.ZipFile(buffer) as archive:
        names = archive.namelist()
        return {name: archive.read(name) for name in names}


def parts_of(file: bytes) -> Parts:
    state = members_of(file)[STATE]
    head, *lines = [orjson.loads(line) for line in state.splitlines()]
    parts: Parts = {"head": head}
    for table, row in lines:
        rows = parts.setdefault(table, [])
        rows.append(row)
    return parts


def with_parts(
    file: bytes,
    parts: Parts,
    **members: bytes,
) -> bytes:
    """Return a state file with other parts, and with more members.

    What is no list of rows is a row by itself.
    """
    lines: list[Any] = [parts["head"]]
    for table, content in parts.items():
        rows = content
        if not isinstance(rows, list):
            rows = [content]
        if table != "head":
            lines += [[table, row] for row in rows]
    state = b"".join(orjson.dumps(line) + b"\n" for line in lines)
    every_member = members_of(file) | members
    return with_state(every_member, state)


def with_state(members: dict[str, bytes], state: bytes) -> bytes:
    """Return a file with other lines, and with the digest that belongs to them."""
    digest = hashlib.sha256(state).hexdigest()
    changed = {
        STATE: state,
        DIGEST: f"{digest}  {STATE}\n".encode(),
    }
    return zipped(members | changed)


def rewritten(file: bytes, change: Callable[[Parts], object]) -> bytes:
    parts = parts_of(file)
    change(parts)
    return with_parts(file, parts)


def zipped(
    members: dict[str, bytes],
    compression: int = zipfile.ZIP_DEFLATED,
    comment: bytes = FORMAT,
) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.comment = comment
        for name, content in members.items():
            entry = zipfile.ZipInfo(name)
            archive.writestr(entry, content, compression)
    return buffer.getvalue()
