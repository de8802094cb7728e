"""Values of JSON whose shape nobody has checked yet: bodies, timestamps, and the texts in them."""

from collections.abc import Iterator
from typing import Any

from image_workflow_emulator.http.json_bodies import is_nested_too_deeply
from image_workflow_emulator.kernel.timestamps import parse_timestamp
from image_workflow_emulator.service.records.record import json_or_none


def json_of(body: bytes | None) -> Any:
    """Return the JSON of a body; None if it is none, or nested too deeply."""
    if not body:
        return None
    text = body.decode(errors="replace")
    if is_nested_too_deeply(text):
        return None
    return json_or_none(body)


def instant_of(text: object) -> int | None:
    """Return the instant of a timestamp; None if it is none."""
    if not isinstance(text, str):
        return None
    try:
        return parse_timestamp(text)
    except ValueError:
        return None


def leaves(value: Any, member: str = "") -> Iterator[tuple[str, Any]]:
    """Iterate over all values that hold no others, each with the name of the member it is in.

    The items of an array have the name of the member that holds the array.
    """
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from leaves(inner, name)
    elif isinstance(value, list):
        for item in value:
            yield from leaves(item, member)
    else:
        yield member, value


def texts(value: Any) -> list[str]:
    """Return all texts in some JSON, except the names of members."""
    return [leaf for _, leaf in leaves(value) if isinstance(leaf, str)]
