"""The rule about ids: a client sends the name of nothing in place of one."""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final
from urllib.parse import unquote

import orjson

from image_workflow_emulator.examiner.history import History
from image_workflow_emulator.examiner.identity import title_of
from image_workflow_emulator.examiner.rules.rule import (
    KEPT,
    ConductRule,
    Verdicts,
    breach,
)
from image_workflow_emulator.kernel.wording import excerpt

_NAMES_OF_NOTHING: Final = ("undefined", "null", "None", "NaN", "[object Object]")
"""What JavaScript and Python write where a variable has no value, or no text."""
_QUOTED_NAMES: Final = tuple(f'"{name}"'.encode() for name in _NAMES_OF_NOTHING)
_SEGMENTS_BEFORE_IDS: Final = 3
"""A path begins with nothing, the base path and the collection: `/v1/assets/{id}`."""
_MAX_DEPTH: Final = 20
"""Limit of the levels of a body that are searched."""


def broken_id(history: History) -> Verdicts:
    """The name of nothing is sent in place of an id.

    A variable that was never set becomes `undefined` or `null` in JavaScript, and
    `None` in Python; a number that is none becomes `NaN`, and an object that was put
    into an address `[object Object]`. It is an id if it stands in the path of an
    operation, or if it is all of a member of the body whose name ends in `_id` or
    `_ids`.
    """
    for request in history.requests:
        if request.operation is None:
            continue
        body = request.request_body or b""
        ids = [*_ids_in_path(request.path), *_suspects_in(body)]
        broken = [text for text in ids if text in _NAMES_OF_NOTHING]
        if broken:
            yield breach(
                f"{title_of(request)} was sent with {excerpt(broken[0])} as an id",
                request,
            )
        elif ids or b"_id" in body:
            yield KEPT


BROKEN_ID: Final = ConductRule(
    name="broken-id",
    examine=broken_id,
    severity="error",
    source="Section 2: Identifiers are opaque strings.",
    remedy=(
        "take ids from answers alone, and check that there is one "
        "before you put it into a request"
    ),
)


def _ids_in_path(path: str) -> Iterator[str]:
    """Iterate over the segments of a path where ids stand.

    What has no underscore is a word of the path, or broken.
    """
    for segment in path.split("/")[_SEGMENTS_BEFORE_IDS:]:
        text = unquote(segment)
        if "_" in text or text in _NAMES_OF_NOTHING:
            yield text


def _suspects_in(body: bytes) -> Iterator[str]:
    """Iterate over the ids of a body that may have a broken one."""
    if any(name in body for name in _QUOTED_NAMES):
        with suppress(orjson.JSONDecodeError):
            yield from _ids_in(orjson.loads(body), is_id=False, depth=0)


def _ids_in(
    value: Any,
    *,
    is_id: bool,
    depth: int,
) -> Iterator[str]:
    """Iterate over the texts in JSON that are ids by the names of their members."""
    if depth > _MAX_DEPTH:
        return
    if isinstance(value, dict):
        for name, member in value.items():
            has_ids = name.endswith(("_id", "_ids"))
            yield from _ids_in(member, is_id=has_ids, depth=depth + 1)
    elif isinstance(value, list):
        for item in value:
            yield from _ids_in(item, is_id=is_id, depth=depth + 1)
    elif is_id and isinstance(value, str):
        yield value
