"""What happened in a sandbox: the journal, listed, filtered, explained and examined, and the stream of all changes.

Owns the filters, and how a change is worded. What happened is recorded by the service; `describing` words a request and
says why it ended so, and the examiner judges the conduct of clients and their coverage of the contract.

The stream (server-sent events) sends changes as they happen. It keeps only the number of the last change that it sent,
so a slow reader costs no memory: what the record drops meanwhile is reported as a gap. Its rate is limited, so that
many changes at once delay the stream and not the service.
"""

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping
from fnmatch import fnmatchcase
from typing import Any, Final

import msgspec
import orjson
from starlette.responses import Response, StreamingResponse

from image_workflow_emulator.control.clock import describe_clock
from image_workflow_emulator.control.describing import (
    Masks,
    as_curl,
    describe_request,
    explain,
)
from image_workflow_emulator.control.dispatch import (
    ControlCall,
    ControlPlane,
    in_slices,
    invalid_value,
    number_in,
)
from image_workflow_emulator.control.scenarios import describe_scenario
from image_workflow_emulator.control.teams import describe_team, find_account
from image_workflow_emulator.documents.complaints import nearest
from image_workflow_emulator.domain.problems import CATALOGUE, Problem
from image_workflow_emulator.examiner.conduct import judge
from image_workflow_emulator.examiner.coverage import document
from image_workflow_emulator.examiner.points import cover
from image_workflow_emulator.kernel.timestamps import SECOND_MS
from image_workflow_emulator.kernel.wording import excerpt
from image_workflow_emulator.service import engine
from image_workflow_emulator.service.records.feed import Change, Feed, Kind
from image_workflow_emulator.service.records.record import RequestRecord
from image_workflow_emulator.service.sandbox.sandbox import Sandbox

NONE: Final = "none"
"""In filters: a request without an operation, status or code."""


# The endpoints --------------------------------------------------------------------------------------------------------


async def list_requests(call: ControlCall) -> dict[str, Any]:
    """GET /requests: newest first."""
    journal, found = call.sandbox.journal, _selected(call)
    # As it is now: more may come while these are described.
    numbers = {
        "last_sequence": journal.last_sequence,
        "dropped": journal.dropped,
        "total": len(found),
    }
    masks = Masks(call.sandbox.credentials)
    shown = await in_slices(
        found[: call.query["limit"]], lambda record: describe_request(record, masks)
    )
    return {"data": shown, **numbers}


def get_request(call: ControlCall) -> dict[str, Any]:
    """GET /requests/{request}: the newest that carries this Request-Id, or the one of a sequence number, explained."""
    identifier, journal = call.parameters["request"], call.sandbox.journal
    sequence = number_in(identifier)
    record = (
        journal.find(identifier) if sequence is None else journal.at_sequence(sequence)
    )
    if record is None:
        gone = f" ({journal.dropped} dropped so far)" if journal.dropped else ""
        expected = (
            "a Request-Id or the sequence number of an entry of this sandbox's journal"
        )
        raise Problem(
            "not_found",
            f"{excerpt(identifier)}: found no such entry{gone}; expected {expected}",
        )
    masks = Masks(call.sandbox.credentials)
    curl = as_curl(record, masks, call.head.origin)
    explanation = masks.of_bytes(orjson.dumps(explain(journal, record)))
    return {
        **describe_request(record, masks),
        "curl": curl,
        "explanation": orjson.Fragment(explanation),
    }


def clear_requests(call: ControlCall) -> None:
    """DELETE /requests: forget all entries; sequence numbers go on."""
    call.sandbox.journal.clear()


# Filters --------------------------------------------------------------------------------------------------------------


def _selected(call: ControlCall) -> list[RequestRecord]:
    """Return the requests that all filters select. Raises Problem for a word that no request could have."""
    query = call.query
    team = (
        None
        if query["team"] is None
        else find_account(call.sandbox, query["team"]).team
    )
    words: dict[str, tuple[Collection[str], str]] = {
        "operation": (
            call.plane.contract.operations,
            "an operation id of the contract",
        ),
        "code": (CATALOGUE, "a code of the specification"),
    }
    for name, (known, expected) in words.items():
        if (value := query[name]) not in (None, NONE, *known):
            raise invalid_value(
                name, value, f"{expected}, or {NONE}", nearest(value, known)
            )
    status = (query["status"] or "*").replace("x", "?")
    return [
        record
        for record in call.sandbox.journal.newest_first(query["since"])
        if record.sequence < query["before"]
        and fnmatchcase(str(record.status or NONE), status)
        and all(query[name] in (None, getattr(record, name) or NONE) for name in words)
        and query["idempotency_key"] in (None, record.idempotency_key)
        and (team is None or (record.team is not None and record.team.id == team.id))
    ]


# What the examiner makes of it ----------------------------------------------------------------------------------------


async def get_conduct(call: ControlCall) -> orjson.Fragment:
    """GET /conduct: so far; with `ended=true`, as if nothing more would come."""
    sandbox, has_ended = call.sandbox, call.query["ended"] == "true"
    records, left = sandbox.journal.completed(), sandbox.journal.dropped
    conduct = await asyncio.to_thread(
        judge, records, sandbox.store, call.now, has_ended=has_ended, left=left
    )
    return orjson.Fragment(
        Masks(sandbox.credentials).of_bytes(msgspec.json.encode(conduct))
    )


async def get_coverage(call: ControlCall) -> dict[str, Any]:
    """GET /coverage: every point, how often it was reached, and what closes the gap where it was not."""
    journal = call.sandbox.journal
    records = journal.completed()
    covered = await asyncio.to_thread(cover, records, call.sandbox.store)
    judged = {"requests": len(records), "left": journal.dropped}
    return {**document(call.plane.contract, covered), "judged": judged}


# The stream of changes ------------------------------------------------------------------------------------------------


BATCH: Final = 100
"""Limit of the changes that are sent at once."""
PAUSE_SECONDS: Final = 0.05
"""The pause between two batches; three times as long after a full one: the service goes first in a burst."""
MAX_STREAMS: Final = 64
"""Limit of the streams of all sandboxes together, so that unread ones cost little memory."""
RETRY_SECONDS: Final = 5
"""The Retry-After of a stream that is refused because there are too many."""
HEARTBEAT_SECONDS: Final = 15.0
"""How long a stream may be silent: a comment shows whether its reader is still there."""
_MEDIA_TYPE: Final = "text/event-stream"
_HEADERS: Final = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
_ONE_LINE: Final = bytes.maketrans(b"\r\n", b"  ")
"""A line break in JSON is white space, and would end a line of the stream."""


async def stream_events(call: ControlCall) -> Response:
    """GET /events: from now on, or after the change that `Last-Event-ID` names.

    Raises Problem: invalid_request, or service_unavailable where there are too many streams.
    """
    feed = call.sandbox.feed
    header = call.head.headers.get(b"last-event-id", b"%d" % feed.last_number).decode(
        "latin-1"
    )
    number = number_in(header)
    if number is None:
        raise invalid_value("Last-Event-ID", header, "the id of an event")
    if call.head.method == "HEAD":
        return Response(headers=_HEADERS, media_type=_MEDIA_TYPE)
    if (
        sum(
            len(sandbox.feed.listeners)
            for sandbox in call.plane.sandboxes.by_id.values()
        )
        >= MAX_STREAMS
    ):
        detail = (
            f"There are {MAX_STREAMS} streams of events already; close one of them."
        )
        raise Problem("service_unavailable", detail, retry_after=RETRY_SECONDS)
    events = _events(call.plane, call.sandbox.id, feed, number)
    return StreamingResponse(events, headers=_HEADERS, media_type=_MEDIA_TYPE)


async def _events(
    plane: ControlPlane, sandbox_id: str, feed: Feed, number: int
) -> AsyncIterator[bytes]:
    """Yield what happens after a change, until the sandbox or the client is gone or the emulator stops."""
    woken = asyncio.Event()
    feed.listeners.add(woken.set)
    try:
        yield b"retry: 1000\n" + _event_id(number)
        while not feed.is_closed:
            sandbox = plane.sandboxes.by_id[sandbox_id]
            engine.enter(sandbox)  # apply what fell due since the last visit
            woken.clear()
            if number > feed.last_number:  # an id of an earlier run of the emulator
                number = feed.last_number
                yield _written(number, "gap", {"missed": None})
            elif missed := feed.missed_after(number):
                number += missed
                yield _written(number, "gap", {"missed": missed})
            changes = feed.after(number, BATCH)
            if changes:
                number = changes[-1][0]
                yield _render(sandbox, changes) or _event_id(number)
                pause_seconds = PAUSE_SECONDS * (3 if len(changes) == BATCH else 1)
                is_stopping = await plane.stop.cut_short(asyncio.sleep(pause_seconds))
            else:
                is_stopping = await plane.stop.cut_short(
                    woken.wait(), _patience_seconds(sandbox)
                )
                if not woken.is_set():
                    yield b": still here\n\n"
            if is_stopping:
                return
    finally:
        feed.listeners.discard(woken.set)


def _patience_seconds(sandbox: Sandbox) -> float:
    """Return how long nothing can change without a request, at most a heartbeat: only a real clock moves by itself."""
    due, setting = sandbox.timeline.next_due, sandbox.clock.setting
    if due is None or setting.mode != "real":
        return HEARTBEAT_SECONDS
    left_ms = max(due - sandbox.clock.now(), 0) / setting.rate
    return min(left_ms / SECOND_MS + 0.001, HEARTBEAT_SECONDS)


def _render(sandbox: Sandbox, changes: list[tuple[int, Change]]) -> bytes:
    """Return changes as events, without those whose subject is gone."""
    masks, parts = Masks(sandbox.credentials), []
    for number, (kind, subject) in changes:
        data = _describe_change(sandbox, kind, subject, masks)
        if data is not None:
            parts.append(
                _written(
                    number, "request" if kind in ("arrived", "left") else kind, data
                )
            )
    return b"".join(parts)


def _written(number: int, kind: str, data: Mapping[str, Any]) -> bytes:
    return b"event: %s\ndata: %s\n%s" % (
        kind.encode(),
        orjson.dumps(data).translate(_ONE_LINE),
        _event_id(number),
    )


def _event_id(number: int) -> bytes:
    """Return the end of an event: its id, which alone is no event, but where to continue."""
    return b"id: %d\n\n" % number


def _describe_change(
    sandbox: Sandbox, kind: Kind, subject: Any, masks: Masks
) -> Mapping[str, Any] | None:
    """Return a change as JSON; None where its subject is no longer there."""
    match kind:
        case "arrived":
            record = sandbox.journal.at_sequence(subject)
            return (
                None if record is None else describe_request(record.as_arrived, masks)
            )
        case "left":
            return describe_request(subject, masks)
        case "work":
            work_id, status = subject
            return {"id": work_id, "status": status}
        case "clock":
            return describe_clock(sandbox, *subject)
        case "team":
            account = sandbox.accounts.get(subject)
            return None if account is None else describe_team(sandbox, account)
        case "scenario":
            return describe_scenario(sandbox, subject, sandbox.clock.now())
        case "cleared":
            return {"last_sequence": subject}
        case "reset":
            return {
                "id": sandbox.id,
                "clock": describe_clock(sandbox, sandbox.clock.now()),
            }
