"""The queue of what falls due."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from image_workflow_emulator.kernel.clock import Timeline


def drain(timeline: Timeline, now: int) -> list[tuple[int, str]]:
    found = []
    while (event := timeline.pop_due(now)) is not None:
        found.append((event.due, event.subject))
    return found


@given(st.lists(st.integers(0, 20)), st.lists(st.integers(0, 25)))
def test_events_come_at_their_instants_in_the_order_of_scheduling(dues: list[int], looks: list[int]) -> None:
    timeline, seen = Timeline(), list[tuple[int, str]]()
    for index, due in enumerate(dues):
        timeline.schedule(due, "kind", str(index))
    expected = sorted(zip(dues, map(str, range(len(dues))), strict=True), key=lambda event: event[0])
    for now in [*sorted(looks), 25]:
        seen += drain(timeline, now)
        later = [due for due, _ in expected if due > now]
        assert seen == expected[: len(expected) - len(later)]
        assert (timeline.next_due, len(timeline)) == (min(later, default=None), len(later))


@pytest.mark.parametrize("cancel", [Timeline.remove, Timeline.forget])
def test_a_cancelled_event_does_not_happen_and_is_not_counted(cancel: Callable[[Timeline, str], None]) -> None:
    timeline = Timeline()
    timeline.schedule(10, "first", "a")
    timeline.schedule(20, "second", "b")
    timeline.schedule(30, "third", "c")
    cancel(timeline, "b")
    assert (2, ["first", "third"]) == (len(timeline), [event.kind for event in timeline.first(9)])
    assert [(10, "a"), (30, "c")] == drain(timeline, 99)
    assert (0, None, None) == (len(timeline), timeline.next_due, timeline.next_due_of("c"))
