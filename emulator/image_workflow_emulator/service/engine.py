"""How time passes in a sandbox: events that are due are applied, each at its own
instant, when a request comes.

There is no background task and no sleep. Every request first enters its sandbox, which
settles it up to now; so what is observed does not depend on when requests come. Owns
the list of the kinds of events.
"""

from math import inf

from image_workflow_emulator.domain.lifecycles import TERMINAL
from image_workflow_emulator.domain.resources import Generation, Operation
from image_workflow_emulator.kernel.clock import ClockSetting, Event, host_elapsed_ms
from image_workflow_emulator.kernel.timestamps import SECOND_MS
from image_workflow_emulator.service.resources import authoring, generations, uploads
from image_workflow_emulator.service.sandbox import timeline_changes
from image_workflow_emulator.service.sandbox.sandbox import Sandbox

HOLD_EVENT = "hold_ended"
SLICE_MS = 10
"""How long, in real time, a move of the clock may block other requests."""
STALLED_POLL_MS = 5 * SECOND_MS
"""The wait that a poll of stalled work asks of its client (D47)."""
_EVENTS_OF_WORK = frozenset(
    ("operation_started", "operation_finished", "generation_started", "output_finished")
)


def settle(
    sandbox: Sandbox,
    instant: int,
    slice_ms: float = inf,
) -> int:
    """Apply all events due by an instant, in order, each at its own; return their
    number.

    The clock goes from event to event, if it is not there yet. With `slice_ms` it stops
    after so much real time.
    """
    fired = 0
    began_ms = 0.0
    while (event := sandbox.timeline.pop_due(instant)) is not None:
        began_ms = began_ms or host_elapsed_ms()
        sandbox.clock.advance_to(event.due)
        _apply(sandbox, event)
        _note_work(sandbox, event.subject)
        fired += 1
        if host_elapsed_ms() - began_ms >= slice_ms:
            break
    return fired


def _apply(sandbox: Sandbox, event: Event) -> None:
    """Apply an event at its own instant. These are all the kinds there are."""
    subject = event.subject
    due = event.due
    match event.kind:
        case "operation_started":
            authoring.start_operation(sandbox, subject, due)
        case "operation_finished":
            authoring.finish_operation(sandbox, subject, due)
        case "generation_started":
            generations.start_generation(sandbox, subject, due)
        case "output_finished":
            generations.finish_output(sandbox, subject, event.detail, due)
        case "upload_expired":
            uploads.expire(sandbox, subject)
        case timeline_changes.CHANGE_EVENT:
            timeline_changes.make_change(sandbox, subject, event.detail, due)
        case timeline_changes.CHANGE_END_EVENT:
            timeline_changes.end_change(sandbox, subject, event.detail, due)
        case _:
            assert event.kind == HOLD_EVENT, f"{event.kind} is no kind of event"
            _end_hold(sandbox, subject)


def _end_hold(sandbox: Sandbox, name: str) -> None:
    held = sandbox.held_admissions.pop(name, None)
    # None only where the sandbox has ended, whose timeline is hardly used.
    if held is not None:  # pragma: no branch
        held.ended.set()


def _note_work(sandbox: Sandbox, work_id: str) -> None:
    """Tell watchers that an event has changed a piece of work, if it was one of work."""
    work = sandbox.store.find_work(work_id)
    if work is None:
        return
    sandbox.feed.note("work", (work.id, work.status))
    if work.status in TERMINAL:
        sandbox.feed.note("team", work.team_id)


def enter(sandbox: Sandbox) -> int:
    """Read the sandbox's clock, settle it, and return the instant: the one reading of
    time that a request makes.
    """
    now = sandbox.clock.now()
    settle(sandbox, now)
    return now


def advance(sandbox: Sandbox, instant: int) -> int:
    """Move the clock forward and settle; return how many events fired."""
    sandbox.clock.advance_to(instant)
    now = sandbox.clock.now()
    fired = settle(sandbox, now)
    sandbox.feed.note("clock", (now, sandbox.clock.setting))
    return fired


def set_clock(sandbox: Sandbox, setting: ClockSetting) -> None:
    """Change the clock's mode or rate from now on, without a jump."""
    sandbox.clock.change_setting(setting)
    sandbox.feed.note("clock", (sandbox.clock.now(), setting))


def idle_at(sandbox: Sandbox) -> int | None:
    """Return the instant of the last event of unfinished work, after which the rest is
    stalled; None if there is none.
    """
    ends = [
        event.due
        for event in sandbox.timeline.pending()
        if event.kind in _EVENTS_OF_WORK
    ]
    return max(ends, default=None)


def stalled_work(sandbox: Sandbox) -> int:
    """Return the number of Operations and Generations that will never finish: a
    scenario stalls them.
    """
    stalled = 0
    for account in sandbox.accounts.values():
        finishes_at = list(account.budget.finishes_at.values())
        stalled += finishes_at.count(None)
    return stalled


def next_change_ms(
    sandbox: Sandbox,
    work: Operation | Generation,
    now: int,
) -> int | None:
    """Return the time until unfinished work next changes (D42); None once it is
    terminal.
    """
    if work.status in TERMINAL:
        return None
    due = sandbox.timeline.next_due_of(work.id)
    if due is None:
        return STALLED_POLL_MS
    return max(due - now, 0)
