"""The queue of what falls due."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from image_workflow_emulator.kernel.clock import Event, Timeline


def drain(timeline: Timeline, now: int) -> list[Event]:
    """Take all events that are due by now."""
    events = []
    while (event := timeline.pop_due(now)) is not None:
        events.append(event)
    return events


def timeline_of(dues: list[int]) -> Timeline:
    """Schedule an event at each instant; the subjects are numbered."""
    timeline = Timeline()
    for number, due in enumerate(dues):
        timeline.schedule(due, "kind", str(number))
    return timeline


def kinds_of(events: list[Event]) -> list[str]:
    return [event.kind for event in events]


@given(st.lists(st.integers(0, 20)))
def test_events_come_at_their_instants_in_the_order_of_scheduling(
    dues: list[int],
) -> None:
    timeline = timeline_of(dues)

    events = drain(timeline, 20)

    numbers = [int(event.subject) for event in events]
    in_order = sorted(range(len(dues)), key=lambda number: dues[number])
    assert numbers == in_order


@given(st.lists(st.integers(0, 20)), st.integers(0, 20))
def test_only_what_is_due_is_taken(dues: list[int], now: int) -> None:
    timeline = timeline_of(dues)
    by_now = [due for due in dues if due <= now]
    later = [due for due in dues if due > now]

    taken = drain(timeline, now)

    taken_dues = [event.due for event in taken]
    assert taken_dues == sorted(by_now)
    assert len(timeline) == len(later)
    assert timeline.next_due == min(later, default=None)


@pytest.fixture
def timeline() -> Timeline:
    """Three events of three subjects."""
    timeline = Timeline()
    timeline.schedule(10, "first", "a")
    timeline.schedule(20, "second", "b")
    timeline.schedule(30, "third", "c")
    return timeline


CANCEL = pytest.mark.parametrize(
    "cancel",
    [Timeline.remove, Timeline.forget],
    ids=["removed", "forgotten"],
)

Cancel = Callable[[Timeline, str], None]


@CANCEL
def test_a_cancelled_event_does_not_happen(timeline: Timeline, cancel: Cancel) -> None:
    cancel(timeline, "b")

    events = drain(timeline, 99)

    assert kinds_of(events) == ["first", "third"]


@CANCEL
def test_a_cancelled_event_is_neither_counted_nor_listed(
    timeline: Timeline,
    cancel: Cancel,
) -> None:
    cancel(timeline, "b")

    listed = timeline.first(9)
    assert len(timeline) == 2
    assert kinds_of(listed) == ["first", "third"]
    assert timeline.next_due_of("b") is None


def test_events_of_a_removed_subject_can_be_scheduled_again(
    timeline: Timeline,
) -> None:
    timeline.remove("b")

    timeline.schedule(40, "again", "b")

    events = drain(timeline, 99)
    assert kinds_of(events) == ["first", "third", "again"]


def test_a_timeline_without_events_has_no_next_instant(timeline: Timeline) -> None:
    drain(timeline, 99)

    assert len(timeline) == 0
    assert timeline.next_due is None
    assert timeline.next_due_of("c") is None


def test_the_next_event_of_a_subject_is_its_earliest() -> None:
    timeline = Timeline()
    timeline.schedule(30, "later", "a")
    timeline.schedule(10, "sooner", "a")
    timeline.schedule(5, "other", "b")

    assert timeline.next_due_of("a") == 10


@CANCEL
def test_a_subject_without_events_can_be_cancelled(cancel: Cancel) -> None:
    timeline = Timeline()
    timeline.schedule(10, "first", "a")

    cancel(timeline, "b")

    assert len(timeline) == 1


def test_an_event_has_the_detail_that_it_was_scheduled_with_or_0() -> None:
    timeline = Timeline()
    timeline.schedule(10, "first", "a", 7)
    timeline.schedule(20, "second", "a")

    details = [event.detail for event in timeline.first(2)]

    assert details == [7, 0]


def test_events_are_numbered_one_by_one() -> None:
    timeline = Timeline()
    timeline.schedule(10, "first", "a")
    timeline.schedule(10, "second", "a")

    assert timeline.sequence == 2


def test_a_subject_whose_first_event_was_taken_still_has_its_second() -> None:
    timeline = Timeline()
    timeline.schedule(10, "first", "a")
    timeline.schedule(20, "second", "a")

    timeline.pop_due(10)

    assert timeline.next_due_of("a") == 20
    (event,) = drain(timeline, 20)
    assert event.due == 20
