"""The timeline: what is to come must be what states and decisions bring about."""

from collections import Counter
from collections.abc import Iterable
from itertools import chain

from emulator.domain.lifecycles import TERMINAL
from emulator.service.sandbox import Sandbox
from emulator.service.scenarios import CHANGE_EVENT
from emulator.service.state.soundness.rows import StateError, expect, numbered
from emulator.service.state.soundness.uploads import is_finished

_STARTS = ("operation_started", "generation_started")

_Due = tuple[str, str, int, int]
"""Kind, subject, detail and instant of an event."""


def check_events(sandbox: Sandbox) -> None:
    """Check that the timeline has exactly the events that the states and decisions require, in a possible order.

    Raises StateError.
    """
    now, numbers, found = sandbox.clock.now(), set[int](), Counter[_Due]()
    expected = Counter(chain(_expected_of_work(sandbox), _expected_of_others(sandbox)))
    waiting = {subject for kind, subject, _, _ in expected if kind in _STARTS}
    for row in numbered("/events", sandbox.timeline.events()):
        where, event = row.where, row.item
        expect(event.due > now, f"{where}/0", event.due, "an instant to come")
        is_new = 0 < event.sequence <= sandbox.timeline.sequence and event.sequence not in numbers
        expect(is_new, f"{where}/1", event.sequence, "a number of its own, up to /timeline/sequence")
        numbers.add(event.sequence)
        if event.kind in _STARTS:
            waiting.discard(event.subject)
        expect(event.subject not in waiting, where, event.kind, "the start of the work before it")
        due = (event.kind, event.subject, event.detail, event.due)
        expect(due in expected, where, event.subject, "an event that the states bring about, at its instant")
        found[due] += 1
    for due in expected - found:
        raise StateError(f"/events: expected {due[0]} of {due[1]}")
    for due in found - expected:
        raise StateError(f"/events: found {due[0]} of {due[1]} more than once")


def _expected_of_work(sandbox: Sandbox) -> Iterable[_Due]:
    """Go through the starts and ends of unfinished work."""
    store = sandbox.store
    for operation in store.operations.items.values():
        outcome = operation.outcome
        if operation.status == "queued":
            yield "operation_started", operation.id, 0, outcome.starts_at
        if operation.status not in TERMINAL and outcome.finishes_at is not None:
            yield "operation_finished", operation.id, 0, outcome.finishes_at
    for generation in store.generations.items.values():
        if generation.status == "queued":
            yield "generation_started", generation.id, 0, generation.starts_at
        for slot, (planned, output) in enumerate(zip(generation.plan, generation.outputs, strict=True)):
            if output.status not in TERMINAL and planned.finishes_at is not None:
                yield "output_finished", generation.id, slot, planned.finishes_at


def _expected_of_others(sandbox: Sandbox) -> Iterable[_Due]:
    """Go through the ends of upload windows, and the changes that scenarios have still to make."""
    now = sandbox.clock.now()
    for session in sandbox.store.uploads.items.values():
        if not is_finished(sandbox, session):
            yield "upload_expired", session.id, 0, session.expires_at
    for team_id, playbook in sandbox.playbooks.items():
        for due, index in playbook.scheduled():
            if due > now:
                yield CHANGE_EVENT, team_id, index, due
