"""The clock of a sandbox: how it runs, and every move of it.

A move lets what falls due happen in order, each at its own instant. A request that a
scenario holds in admission goes on at the instant at which its hold ends, so a long
move comes to the same as many short ones.
"""

import asyncio
from collections.abc import Mapping
from typing import Any, Final

from image_workflow_emulator.control import JsonObject
from image_workflow_emulator.control.endpoint import ControlCall
from image_workflow_emulator.control.reading import invalid_value
from image_workflow_emulator.documents.values import clock_setting
from image_workflow_emulator.domain.idempotency import Scope
from image_workflow_emulator.domain.problems import Problem
from image_workflow_emulator.domain.resources import Generation, Operation
from image_workflow_emulator.kernel.clock import ClockSetting, Event, Timeline
from image_workflow_emulator.kernel.timestamps import (
    LATEST_INSTANT,
    SECOND_MS,
    format_timestamp,
    timestamp_or_none,
)
from image_workflow_emulator.scenario.scenario import Scenario
from image_workflow_emulator.service import engine
from image_workflow_emulator.service.sandbox import timeline_changes
from image_workflow_emulator.service.sandbox.sandbox import Sandbox

MAX_LISTED_EVENTS: Final = 100
MAX_STEPS: Final = 10_000
"""Steps of one move: more means that clients order new work as fast as the clock
moves."""
_TURNS: Final = 20
"""Turns of the event loop within which a request is admitted after its hold, if it has
no image to decode."""
_MAX_DECODING_POLLS: Final = 10_000
"""How many times to check whether a request that has an image to decode is admitted."""
_POLL_SECONDS: Final = 0.001
"""The pause between two such checks."""
_VERBS_OF_CHANGES: Final = {
    timeline_changes.CHANGE_EVENT: "sets",
    timeline_changes.CHANGE_END_EVENT: "takes back",
}
"""What a scenario does in an event of its timeline."""
_OTHER_EVENTS: Final = {
    "upload_expired": "the upload window closes",
    engine.HOLD_EVENT: "a held request is admitted",
}
"""The words for events that are neither a scenario's nor those of work."""


def get_clock(call: ControlCall) -> JsonObject:
    """GET /clock."""
    return _with_events(call.sandbox, call.now)


def set_clock(call: ControlCall) -> JsonObject:
    """PUT /clock: another mode from now on, without a jump."""
    setting = setting_of(call.fields["mode"], call.fields.get("rate"))
    engine.set_clock(call.sandbox, setting)
    return _with_events(call.sandbox, call.now)


async def advance_clock(call: ControlCall) -> JsonObject:
    """POST /clock/advance: move forward by a span, to an instant, to the next event, or
    until no work goes on.
    """
    target = _target(call.fields, call.sandbox, call.now)
    fired = await move_to(call.sandbox, target)
    now = engine.enter(call.sandbox)
    clock = _with_events(call.sandbox, now)
    clock["fired"] = fired
    clock["stalled"] = engine.stalled_work(call.sandbox)
    return clock


# Describing --------------------------------------------------------------------------


def describe_clock(
    sandbox: Sandbox,
    now: int,
    setting: ClockSetting | None = None,
) -> JsonObject:
    """Return the clock as JSON; with its present setting, if no other is given."""
    if setting is None:
        setting = sandbox.clock.setting
    rate: float = setting.rate
    if setting.rate.is_integer():
        rate = int(setting.rate)
    return {
        "now": format_timestamp(now),
        "mode": setting.mode,
        "rate": rate,
        "pending": len(sandbox.timeline),
        "next_event_at": timestamp_or_none(sandbox.timeline.next_due),
    }


def _with_events(sandbox: Sandbox, now: int) -> JsonObject:
    """Return the clock as JSON with its coming events, in words."""
    clock = describe_clock(sandbox, now)
    coming = sandbox.timeline.first(MAX_LISTED_EVENTS)
    clock["events"] = [_describe_event(sandbox, event) for event in coming]
    return clock


def _describe_event(sandbox: Sandbox, event: Event) -> JsonObject:
    """Return a coming event in words, with the id of its subject; for a change of a
    scenario, the scenario's name.
    """
    subject = event.subject
    work = sandbox.store.find_work(subject)
    if event.kind in _VERBS_OF_CHANGES:
        scenario = sandbox.playbooks[subject].scenario
        words = _words_of_change(scenario, event)
        subject = scenario.name
    elif work is not None:
        words = _words_of_work(work, event)
    else:
        words = _OTHER_EVENTS[event.kind]
    return {
        "at": format_timestamp(event.due),
        "what": words,
        "id": subject,
    }


def _words_of_change(scenario: Scenario, event: Event) -> str:
    verb = _VERBS_OF_CHANGES[event.kind]
    spelling = scenario.timeline[event.detail].spelling
    changes = [f"{name} {value}" for name, value in spelling["set"].items()]
    return f"the scenario {verb} {', '.join(changes)}"


def _words_of_work(work: Operation | Generation, event: Event) -> str:
    if isinstance(work, Operation):
        kind: str = work.type
    else:
        kind = work.workflow
    subject = kind.replace("_", " ").replace(".", " ")
    if event.kind.endswith("started"):
        return f"{subject} starts"
    if isinstance(work, Operation):
        failure = work.outcome.failure
    else:
        failure = work.plan[event.detail].failure
        slot = event.detail + 1
        subject = f"output {slot} of {len(work.plan)} of {subject}"
    if failure is not None:
        return f"{subject} fails: {failure.code}"
    return f"{subject} is completed"


# Reading -----------------------------------------------------------------------------


def setting_of(
    mode: ClockSetting,
    rate: float | None,
    where: str = "",
) -> ClockSetting:
    """Return how a clock is to run; `where` is the place of its fields in the body.

    Raises:
        Problem: invalid_request, a mode other than real has no rate.
    """
    try:
        return clock_setting(mode, rate)
    except ValueError:
        expected = "no rate, or the mode real"
        raise invalid_value(f"{where}/rate", rate, expected) from None


def _target(
    fields: Mapping[str, Any],
    sandbox: Sandbox,
    now: int,
) -> int | None:
    """Return the instant to move to; None stands for idle.

    Raises:
        Problem: invalid_request.
    """
    if "seconds" in fields:
        return _instant_after(now, fields["seconds"])
    if "to" in fields:
        target: int = fields["to"]
        if target < now:
            earliest = format_timestamp(now)
            expected = f"an instant from {earliest} on: a clock never runs backwards"
            raise invalid_value("/to", format_timestamp(target), expected)
        return target
    if "next_event" in fields:
        next_due = sandbox.timeline.next_due
        if next_due is None:
            return now
        return next_due
    return None


def _instant_after(now: int, seconds: float) -> int:
    """Return the instant after a span. Raises Problem invalid_request."""
    longest = (LATEST_INSTANT - now) // SECOND_MS
    if not 0 <= seconds <= longest:
        expected = f"seconds from 0 to {longest}, the end of the year 9999"
        raise invalid_value("/seconds", seconds, expected)
    return now + round(seconds * SECOND_MS)


# Moving ------------------------------------------------------------------------------


async def move_to(sandbox: Sandbox, target: int | None) -> int:
    """Move to an instant, or for None until no work goes on and no admission is held;
    return how many events fired.

    Work that stalls is left as it is.

    Raises:
        Problem: invalid_request with status 409, the sandbox was reset meanwhile.
    """
    fired = 0
    for _ in range(MAX_STEPS):
        instant = target
        if target is None:
            instant = engine.idle_at(sandbox)
        hold_ends_at = _next_hold_end(sandbox)
        if hold_ends_at is not None and (instant is None or hold_ends_at <= instant):
            fired += await _end_hold(sandbox, hold_ends_at)
        elif instant is not None and (target is None or sandbox.clock.now() < target):
            fired += await _advance(sandbox, instant)
        else:
            break
    return fired


async def _advance(sandbox: Sandbox, instant: int) -> int:
    """Move to an instant in slices, between which other requests are answered; return
    how many events fired.

    It ends early if such a request is held in admission and its hold ends before that
    instant.
    """
    timeline = sandbox.timeline
    fired = engine.settle(sandbox, instant, engine.SLICE_MS)
    while timeline.next_due is not None and timeline.next_due <= instant:
        await asyncio.sleep(0)
        _check_not_reset(sandbox, timeline)
        hold_ends_at = _next_hold_end(sandbox)
        if hold_ends_at is not None and hold_ends_at < instant:
            return fired
        fired += engine.settle(sandbox, instant, engine.SLICE_MS)
    fired += engine.advance(sandbox, instant)
    await asyncio.sleep(0)  # watchers see this change before the next
    return fired


def _check_not_reset(sandbox: Sandbox, timeline: Timeline) -> None:
    """Raise Problem invalid_request with status 409 if the sandbox was reset while its
    clock moved.
    """
    if sandbox.timeline is not timeline:
        detail = "the sandbox was reset while its clock moved"
        raise Problem("invalid_request", detail, status=409)


def _next_hold_end(sandbox: Sandbox) -> int | None:
    """Return the instant at which the next hold ends; None if there is none."""
    held_admissions = sandbox.held_admissions.values()
    return min((held.due for held in held_admissions), default=None)


async def _end_hold(sandbox: Sandbox, instant: int) -> int:
    """Move to the end of a hold, and let the request that waited for it be admitted at
    this very instant; return how many events fired.

    Raises:
        Problem: invalid_request with status 409, the sandbox was reset meanwhile.
    """
    timeline = sandbox.timeline
    held_before = _held_scopes(sandbox)
    fired = await _advance(sandbox, instant)
    for _ in range(_TURNS):
        await asyncio.sleep(0)
    keys_in_progress = sandbox.idempotency.held
    for _ in range(_MAX_DECODING_POLLS):
        released = held_before - _held_scopes(sandbox)
        if keys_in_progress.isdisjoint(released):
            break
        await asyncio.sleep(_POLL_SECONDS)
    _check_not_reset(sandbox, timeline)
    return fired


def _held_scopes(sandbox: Sandbox) -> set[Scope | None]:
    """Return the scopes of the keys of all held requests; None for one without a key."""
    return {request.scope for request in sandbox.held_admissions.values()}
