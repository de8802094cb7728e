"""The stream of all changes of a sandbox, as server-sent events.

Owns how a change is worded. The stream keeps only the number of the last change that it
sent, so a slow reader costs no memory: what the record drops meanwhile is reported as a
gap. Its rate is limited, so that many changes at once delay the stream and not the
service.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Any, Final

import msgspec
from msgspec import Struct
from starlette.responses import Response, StreamingResponse

from image_workflow_emulator.control import JsonObject
from image_workflow_emulator.control.clock import describe_clock
from image_workflow_emulator.control.describing import describe_request
from image_workflow_emulator.control.endpoint import ControlCall
from image_workflow_emulator.control.masks import Masks
from image_workflow_emulator.control.plane import ControlPlane
from image_workflow_emulator.control.reading import invalid_value, number_in
from image_workflow_emulator.control.scenarios import describe_scenario
from image_workflow_emulator.control.teams import describe_team
from image_workflow_emulator.domain.problems import Problem
from image_workflow_emulator.kernel.timestamps import SECOND_MS
from image_workflow_emulator.service import engine
from image_workflow_emulator.service.records.feed import Change, Feed, Kind
from image_workflow_emulator.service.sandbox.sandbox import Sandbox

BATCH: Final = 100
"""Limit of the changes that are sent at once."""
PAUSE_SECONDS: Final = 0.05
"""The pause between two batches."""
FULL_PAUSE_SECONDS: Final = 3 * PAUSE_SECONDS
"""The pause after a full batch."""
MAX_STREAMS: Final = 64
"""Limit of the streams of all sandboxes together, so that unread ones cost little
memory."""
RETRY_SECONDS: Final = 5
"""The Retry-After of a stream that is refused because there are too many."""
HEARTBEAT_SECONDS: Final = 15.0
"""How long a stream may be silent: a comment shows whether its reader is still
there."""
_WAKING_SECONDS: Final = 0.001
"""How much later than an event a stream looks for it, so that it does not come early."""
_HEARTBEAT: Final = b": still here\n\n"
_MEDIA_TYPE: Final = "text/event-stream"
_HEADERS: Final = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
_EVENT_NAMES: Final[Mapping[Kind, str]] = {"arrived": "request", "left": "request"}
"""The names of events that differ from the kinds of changes."""
_ONE_LINE: Final = bytes.maketrans(b"\r\n", b"  ")
"""A line break in JSON is white space, and would end a line of the stream."""


class Gap(Struct, frozen=True):
    """Changes that a reader has missed."""

    ends_at: int
    """The number of the last of them."""
    missed: int | None
    """How many they are; None if that is unknown."""


async def stream_events(call: ControlCall) -> Response:
    """GET /events: from now on, or after the change that `Last-Event-ID` names.

    Raises:
        Problem: invalid_request; service_unavailable where there are too many streams.
    """
    feed = call.sandbox.feed
    number = _first_number(call, feed)
    if call.request.method == "HEAD":
        return Response(headers=_HEADERS, media_type=_MEDIA_TYPE)
    if _count_streams(call.plane) >= MAX_STREAMS:
        detail = (
            f"There are {MAX_STREAMS} streams of events already; close one of them."
        )
        raise Problem("service_unavailable", detail, retry_after=RETRY_SECONDS)
    events = _events(call.plane, call.sandbox.id, feed, number)
    return StreamingResponse(events, headers=_HEADERS, media_type=_MEDIA_TYPE)


def _first_number(call: ControlCall, feed: Feed) -> int:
    """Return the number of the change after which the stream begins. Raises Problem."""
    last_event_id = call.request.headers.get("last-event-id")
    if last_event_id is None:
        return feed.last_number
    number = number_in(last_event_id)
    if number is None:
        raise invalid_value("Last-Event-ID", last_event_id, "the id of an event")
    return number


def _count_streams(plane: ControlPlane) -> int:
    sandboxes = plane.sandboxes.by_id.values()
    return sum(len(sandbox.feed.listeners) for sandbox in sandboxes)


async def _events(
    plane: ControlPlane,
    sandbox_id: str,
    feed: Feed,
    number: int,
) -> AsyncIterator[bytes]:
    """Yield what happens after a change, until the sandbox or the client is gone or the
    emulator stops.
    """
    woken = asyncio.Event()
    feed.listeners.add(woken.set)
    is_stopping = False
    try:
        yield b"retry: 1000\n" + _event_id(number)
        while not (feed.is_closed or is_stopping):
            sandbox = plane.sandboxes.by_id[sandbox_id]
            engine.enter(sandbox)  # apply what fell due since the last visit
            woken.clear()
            gap = _gap_after(feed, number)
            if gap is not None:
                number = gap.ends_at
                yield _event(number, "gap", {"missed": gap.missed})
            changes = feed.after(number, BATCH)
            if changes:
                number, _ = changes[-1]
                yield _render(sandbox, changes) or _event_id(number)
                pause = asyncio.sleep(_pause_seconds(changes))
                is_stopping = await plane.stop.cut_short(pause)
            else:
                patience_seconds = _patience_seconds(sandbox)
                is_stopping = await plane.stop.cut_short(woken.wait(), patience_seconds)
                if not woken.is_set():
                    yield _HEARTBEAT
    finally:
        feed.listeners.discard(woken.set)


def _pause_seconds(changes: list[tuple[int, Change]]) -> float:
    """Return the pause after some changes: in a burst, the service goes first."""
    if len(changes) == BATCH:
        return FULL_PAUSE_SECONDS
    return PAUSE_SECONDS


def _gap_after(feed: Feed, number: int) -> Gap | None:
    """Return what is missing after a change; None if nothing is."""
    if number > feed.last_number:  # an id of an earlier run of the emulator
        return Gap(feed.last_number, missed=None)
    missed = feed.missed_after(number)
    if missed == 0:
        return None
    return Gap(number + missed, missed)


def _patience_seconds(sandbox: Sandbox) -> float:
    """Return how long nothing can change without a request, at most a heartbeat: only a
    real clock moves by itself.
    """
    due = sandbox.timeline.next_due
    setting = sandbox.clock.setting
    if due is None or setting.mode != "real":
        return HEARTBEAT_SECONDS
    emulator_ms = max(due - sandbox.clock.now(), 0)
    real_seconds = emulator_ms / setting.rate / SECOND_MS
    return min(real_seconds + _WAKING_SECONDS, HEARTBEAT_SECONDS)


# Wording -----------------------------------------------------------------------------


def _render(sandbox: Sandbox, changes: list[tuple[int, Change]]) -> bytes:
    """Return changes as events, without those whose subject is gone."""
    masks = Masks(sandbox.credentials)
    events = []
    for number, (kind, subject) in changes:
        data = _describe_change(sandbox, kind, subject, masks)
        if data is None:
            continue
        event_name = _EVENT_NAMES.get(kind, kind)
        events.append(_event(number, event_name, data))
    return b"".join(events)


def _event(
    number: int,
    name: str,
    data: Mapping[str, Any],
) -> bytes:
    encoded = msgspec.json.encode(data)
    line = encoded.translate(_ONE_LINE)
    end = _event_id(number)
    return b"event: %s\ndata: %s\n%s" % (name.encode(), line, end)


def _event_id(number: int) -> bytes:
    """Return the end of an event: its id, which alone is no event, but where to
    continue.
    """
    return b"id: %d\n\n" % number


def _describe_change(
    sandbox: Sandbox,
    kind: Kind,
    subject: Any,
    masks: Masks,
) -> Mapping[str, Any] | None:
    """Return a change as JSON; None where its subject is no longer there."""
    match kind:
        case "arrived":
            return _describe_arrival(sandbox, subject, masks)
        case "left":
            return describe_request(subject, masks)
        case "work":
            work_id, status = subject
            return {"id": work_id, "status": status}
        case "clock":
            now, setting = subject
            return describe_clock(sandbox, now, setting)
        case "team":
            account = sandbox.accounts.get(subject)
            if account is None:
                return None
            return describe_team(sandbox, account)
        case "scenario":
            return describe_scenario(sandbox, subject, sandbox.clock.now())
        case "cleared":
            return {"last_sequence": subject}
        case "reset":
            clock = describe_clock(sandbox, sandbox.clock.now())
            return {"id": sandbox.id, "clock": clock}


def _describe_arrival(
    sandbox: Sandbox,
    sequence: int,
    masks: Masks,
) -> JsonObject | None:
    record = sandbox.journal.at_sequence(sequence)
    if record is None:
        return None
    return describe_request(record.as_arrived, masks)
