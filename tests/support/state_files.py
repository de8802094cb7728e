"""State files taken apart and put together again, to be changed in between."""

import hashlib
import io
import zipfile
from typing import Any

import orjson

STATE = "state.jsonl"
DIGEST = "state.sha256"
Parts = dict[str, Any]
"""The first line under `head`, and the rows of each table under its name."""


def members_of(file: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(file)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def parts_of(state: bytes) -> Parts:
    head, *lines = map(orjson.loads, state.splitlines())
    parts: Parts = {"head": head}
    for table, row in lines:
        parts.setdefault(table, []).append(row)
    return parts


def state_of(parts: Parts) -> bytes:
    """Put the lines of a state together; what is no list of rows is a row by itself."""
    tables = {table: rows if isinstance(rows, list) else [rows] for table, rows in parts.items() if table != "head"}
    lines = [parts["head"], *([table, row] for table, rows in tables.items() for row in rows)]
    return b"".join(orjson.dumps(line) + b"\n" for line in lines)


def with_digest(members: dict[str, bytes]) -> dict[str, bytes]:
    """Return the members of a state file with the digest that belongs to its state."""
    return members | {DIGEST: f"{hashlib.sha256(members[STATE]).hexdigest()}  {STATE}\n".encode()}


def zipped(members: dict[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name), content, compression)
    return buffer.getvalue()
