"""Observations of how any answer is written: headers, media types and timestamps (D42, D66, D70, D72, D73)."""

import re
from collections.abc import Iterator
from typing import Final

from image_workflow_emulator.domain.lifecycles import TERMINAL
from image_workflow_emulator.drift.observations.base import NEITHER, UNTOLD, Seen, texts
from image_workflow_emulator.drift.traffic import Look, RecordedWork, Traffic
from image_workflow_emulator.kernel.timestamps import SECOND_MS

_TIMESTAMP: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(Z|[+-]\d\d:?\d\d|)")


def poll_hint(traffic: Traffic) -> Iterator[Seen]:
    """D42: whether a poll of unfinished work says when it changes, and whether that is true.

    A hint that is kept proves nothing of a service that gives others: half of one second is one second too.
    """
    found = [seen for work in traffic.works.values() for seen in _hints(work)]
    is_rough = any(seen.reading == "rough" for seen in found)
    yield from (seen for seen in found if not (is_rough and seen.reading == "plain"))


def _hints(work: RecordedWork) -> Iterator[Seen]:
    looks = [look for look in work.looks if look.call.name in ("getOperation", "getGeneration")]
    for index, (call, shown) in enumerate(looks):
        if shown.get("status") in TERMINAL:
            return
        hint = call.response_headers.get("retry-after")
        if hint is None:
            yield Seen("no-hint", call)
        elif hint.isdecimal() and len(hint) < 10 and not call.is_coarse:
            yield Seen(_promise_kept(looks[index:], int(hint)), call)


def _promise_kept(looks: list[Look], hint: int) -> str:
    """Return the reading by which the next look after the hint of the first shows a change, or shows none.

    A clock that skips waits asks for 0 seconds, and tells nothing.
    """
    call, shown = looks[0]
    for later, seen in looks[1:]:
        if later.at >= call.at + hint * SECOND_MS and hint > 0:
            is_changed = any(seen.get(name) != shown.get(name) for name in ("updated_at", "status"))
            return "plain" if is_changed else "rough"
        if seen.get("updated_at") != shown.get("updated_at"):
            break  # it changed in between: perhaps the next step of several
    return UNTOLD


def pause_hint(traffic: Traffic) -> Iterator[Seen]:
    """D66: whether a 503 has a Retry-After."""
    for call in traffic.calls:
        if call.status == 503 and call.code == "service_unavailable":
            yield Seen("plain" if "retry-after" in call.response_headers else "silent", call)


def location(traffic: Traffic) -> Iterator[Seen]:
    """D70: whether a Location is absolute."""
    for call in traffic.calls:
        target = call.response_headers.get("location")
        if target is not None and call.operation is not None and call.status in (201, 202):
            yield Seen("plain" if "://" in target else "relative", call)


def media_types(traffic: Traffic) -> Iterator[Seen]:
    """D72: whether a media type has a parameter."""
    for call in traffic.calls:
        found = call.response_headers.get("content-type", "")
        media_type, _, parameters = found.partition(";")
        if call.operation is None or media_type.strip().lower() not in ("application/json", "application/problem+json"):
            continue
        reading = "plain" if not parameters.strip() else "charset" if "charset" in parameters.lower() else NEITHER
        yield Seen(reading, call, f"Content-Type: {found}")


def timestamps(traffic: Traffic) -> Iterator[Seen]:
    """D73: how a timestamp ends."""
    for call in traffic.whole():
        if call.operation is None or not call.is_success:
            continue
        endings = {match[1] for text in texts(call.answer) if (match := _TIMESTAMP.fullmatch(text))}
        for ending in sorted(endings):
            yield Seen({"Z": "plain", "+00:00": "offset"}.get(ending, NEITHER), call, f"a timestamp ends in {ending!r}")
