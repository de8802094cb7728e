"""The clock of a sandbox: how it runs, and every move of it.

A move lets what falls due happen in order, each at its own instant. A request that a scenario holds in admission goes
on at the instant at which its hold ends, so a long move comes to the same as many short ones.
"""

import asyncio
from collections.abc import Mapping
from typing import Any, Final

from image_workflow_emulator.control.dispatch import ControlCall, invalid_value
from image_workflow_emulator.documents.values import clock_setting
from image_workflow_emulator.domain.problems import Problem
from image_workflow_emulator.domain.resources import Generation, Operation
from image_workflow_emulator.kernel.clock import ClockSetting, Event, Timeline
from image_workflow_emulator.kernel.timestamps import (
    LATEST_INSTANT,
    SECOND_MS,
    format_timestamp,
    timestamp_or_none,
)
from image_workflow_emulator.service import engine
from image_workflow_emulator.service.sandbox import scenarios
from image_workflow_emulator.service.sandbox.sandbox import Sandbox

MAX_SHOWN_EVENTS: Final = 100
MAX_STEPS: Final = 10_000
"""Steps of one move: more means that clients order new work as fast as the clock moves."""
_TURNS: Final = 20
"""Turns of the event loop within which a request is admitted after its hold, if it has no image to decode."""
_MAX_DECODING_POLLS: Final = 10_000
_OTHER_EVENTS: Final = {
    "upload_expired": "the upload window closes",
    engine.HOLD_EVENT: "a held request is admitted",
}
_POLL_SECONDS: Final = 0.001
"""How often, and how many times at most, to check whether one that has an image to decode is admitted."""


def describe_clock(
    sandbox: Sandbox, now: int, setting: ClockSetting | None = None
) -> dict[str, Any]:
    """Return the clock as the control plane shows it; with its present setting, if no other is given."""
    setting = setting or sandbox.clock.setting
    return {
        "now": format_timestamp(now),
        "mode": setting.mode,
        "rate": int(setting.rate) if setting.rate.is_integer() else setting.rate,
        "pending": len(sandbox.timeline),
        "next_event_at": timestamp_or_none(sandbox.timeline.next_due),
    }


def _with_events(sandbox: Sandbox, now: int) -> dict[str, Any]:
    """Return the clock with its coming events, in words."""
    events = [
        _describe_event(sandbox, event)
        for event in sandbox.timeline.first(MAX_SHOWN_EVENTS)
    ]
    return {**describe_clock(sandbox, now), "events": events}


def _describe_event(sandbox: Sandbox, event: Event) -> dict[str, Any]:
    """Return a coming event in words, with the id of its subject; for a change of a scenario, the scenario's name."""
    subject, work = event.subject, sandbox.store.find_work(event.subject)
    if event.kind == scenarios.CHANGE_EVENT:
        scenario = sandbox.playbooks[event.subject].scenario
        changes = scenario.timeline[event.detail].spelling["set"].items()
        subject = scenario.name
        what = f"the scenario sets {', '.join(f'{name} {value}' for name, value in changes)}"
    elif work is not None:
        what = _words_of_work(work, event)
    else:
        what = _OTHER_EVENTS[event.kind]
    return {"at": format_timestamp(event.due), "what": what, "id": subject}


def _words_of_work(work: Operation | Generation, event: Event) -> str:
    kind = work.type if isinstance(work, Operation) else work.workflow
    what = kind.replace("_", " ").replace(".", " ")
    if event.kind.endswith("started"):
        return f"{what} starts"
    if isinstance(work, Operation):
        failure = work.outcome.failure
    else:
        failure = work.plan[event.detail].failure
        what = f"output {event.detail + 1} of {len(work.plan)} of {what}"
    return f"{what} fails: {failure.code}" if failure else f"{what} is completed"


def clock_of(given: ClockSetting | Mapping[str, Any], where: str = "") -> ClockSetting:
    """Return how a clock is to run: a setting, or an object of one as its mode and of a rate.

    Raises:
        Problem: invalid_request, a mode other than real has no rate.
    """
    fields: Mapping[str, Any] = (
        {"mode": given} if isinstance(given, ClockSetting) else given
    )
    try:
        return clock_setting(fields["mode"], fields.get("rate"))
    except ValueError:
        raise invalid_value(
            f"{where}/rate", fields["rate"], "no rate, or the mode real"
        ) from None


def get_clock(call: ControlCall) -> dict[str, Any]:
    """GET /clock."""
    return _with_events(call.sandbox, call.now)


def set_clock(call: ControlCall) -> dict[str, Any]:
    """PUT /clock: another mode from now on, without a jump."""
    engine.set_clock(call.sandbox, clock_of(call.fields))
    return _with_events(call.sandbox, call.now)


async def advance_clock(call: ControlCall) -> dict[str, Any]:
    """POST /clock/advance: move forward by a span, to an instant, to the next event, or until nothing is unfinished."""
    target = _target(call.fields, call.sandbox, call.now)
    fired = await move_to(call.sandbox, target)
    now = engine.enter(call.sandbox)
    return {
        **_with_events(call.sandbox, now),
        "fired": fired,
        "stalled": engine.stalled_work(call.sandbox),
    }


def _target(fields: Mapping[str, Any], sandbox: Sandbox, now: int) -> int | None:
    """Return the instant to move to; None stands for idle. Raises Problem invalid_request."""
    match fields:
        case {"seconds": seconds}:
            longest = (LATEST_INSTANT - now) // SECOND_MS
            if not 0 <= seconds <= longest:
                raise invalid_value(
                    "/seconds",
                    seconds,
                    f"seconds from 0 to {longest}, the end of the year 9999",
                )
            return int(now + round(seconds * SECOND_MS))
        case {"to": int(target)}:
            if target < now:
                expected = f"an instant from {format_timestamp(now)} on: a clock never runs backwards"
                raise invalid_value("/to", format_timestamp(target), expected)
            return target
        case {"next_event": _}:
            next_due = sandbox.timeline.next_due
            return now if next_due is None else next_due
    return None


async def move_to(sandbox: Sandbox, target: int | None) -> int:
    """Move to an instant, or for None until no work goes on and no admission is held; return how many events fired.

    Work that stalls is left as it is.
    """
    fired = 0
    for _ in range(MAX_STEPS):
        hold_ends_at, instant = (
            _next_hold_end(sandbox),
            engine.idle_at(sandbox) if target is None else target,
        )
        if hold_ends_at is not None and (instant is None or hold_ends_at <= instant):
            fired += await _end_hold(sandbox, hold_ends_at)
        elif instant is not None and (target is None or sandbox.clock.now() < target):
            fired += await _advance(sandbox, instant)
        else:
            break
    return fired


async def _advance(sandbox: Sandbox, instant: int) -> int:
    """Move to an instant in slices, between which other requests are answered; return how many events fired.

    It ends early if such a request is held in admission and its hold ends before that instant.
    """
    timeline = sandbox.timeline
    fired = engine.settle(sandbox, instant, engine.SLICE_MS)
    while (next_due := timeline.next_due) is not None and next_due <= instant:
        await asyncio.sleep(0)
        _check_not_reset(sandbox, timeline)
        if (_next_hold_end(sandbox) or instant) < instant:
            return fired
        fired += engine.settle(sandbox, instant, engine.SLICE_MS)
    fired += engine.advance(sandbox, instant)
    await asyncio.sleep(0)  # watchers see this change before the next
    return fired


def _check_not_reset(sandbox: Sandbox, timeline: Timeline) -> None:
    """Raise Problem invalid_request with status 409 if the sandbox was reset while its clock moved."""
    if sandbox.timeline is not timeline:
        raise Problem(
            "invalid_request", "the sandbox was reset while its clock moved", status=409
        )


def _next_hold_end(sandbox: Sandbox) -> int | None:
    """Return the instant at which the next hold ends; None if there is none."""
    return min((held.due for held in sandbox.held_admissions.values()), default=None)


async def _end_hold(sandbox: Sandbox, instant: int) -> int:
    """Move to the end of a hold, and let the request that waited for it be admitted at this very instant.

    Raises:
        Problem: invalid_request with status 409, the sandbox was reset meanwhile.
    """
    timeline, records = sandbox.timeline, sandbox.idempotency
    held = {request.scope for request in sandbox.held_admissions.values()}
    fired = await _advance(sandbox, instant)
    for poll in range(_TURNS + _MAX_DECODING_POLLS):
        released = held - {
            request.scope for request in sandbox.held_admissions.values()
        }
        if poll >= _TURNS and records.held.isdisjoint(released):
            break
        await asyncio.sleep(0 if poll < _TURNS else _POLL_SECONDS)
    _check_not_reset(sandbox, timeline)
    return fired
