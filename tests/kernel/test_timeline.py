"""The queue of what falls due."""

from hypothesis import given
from hypothesis import strategies as st

from emulator.kernel.timeline import Timeline


def drain(timeline: Timeline, now: int) -> list[tuple[int, str]]:
    found = []
    while (event := timeline.pop_due(now)) is not None:
        found.append((event.due, event.subject))
    return found


def test_events_come_in_the_order_of_their_instants() -> None:
    timeline = Timeline()
    for due in (30, 10, 20):
        timeline.schedule(due, "kind", f"at {due}")
    assert drain(timeline, 30) == [(10, "at 10"), (20, "at 20"), (30, "at 30")]


def test_events_of_one_instant_come_in_the_order_of_their_scheduling() -> None:
    timeline = Timeline()
    for subject in ("z", "a", "m"):
        timeline.schedule(5, subject, subject)
    assert drain(timeline, 5) == [(5, "z"), (5, "a"), (5, "m")]


def test_an_event_is_due_at_its_instant_and_not_a_millisecond_before() -> None:
    timeline = Timeline()
    timeline.schedule(100, "kind", "subject")
    assert timeline.pop_due(99) is None
    assert drain(timeline, 100) == [(100, "subject")]


def test_the_next_instant_is_that_of_the_first_event() -> None:
    timeline = Timeline()
    timeline.schedule(20, "kind", "later")
    timeline.schedule(10, "kind", "sooner")
    assert (timeline.next_due, len(timeline)) == (10, 2)


def test_an_empty_timeline_has_no_next_instant() -> None:
    assert Timeline().next_due is None


def test_an_event_keeps_what_it_is_about() -> None:
    timeline = Timeline()
    timeline.schedule(1, "output_finished", "gen_1", 3)
    event = timeline.pop_due(1)
    assert event is not None
    assert (event.kind, event.subject, event.detail) == ("output_finished", "gen_1", 3)


def test_forgotten_events_leave_the_others_in_order() -> None:
    timeline = Timeline()
    for due, kind, subject in ((3, "a", "x"), (1, "b", "x"), (2, "a", "y"), (4, "b", "x"), (5, "b", "y")):
        timeline.schedule(due, kind, subject)
    timeline.remove("b", "x")
    assert drain(timeline, 9) == [(2, "y"), (3, "x"), (5, "y")]


def test_a_restored_timeline_goes_on_as_the_first_would_have() -> None:
    first = Timeline()
    for due in (7, 7, 3):
        first.schedule(due, "kind", "before")
    second = Timeline(first.sequence)
    for event in first.events():
        second.restore(event)
    for timeline in (first, second):
        timeline.schedule(7, "kind", "after")
    assert drain(first, 9) == drain(second, 9)


@given(st.lists(st.integers(0, 20)), st.lists(st.integers(0, 25)))
def test_looking_more_often_changes_no_order(dues: list[int], looks: list[int]) -> None:
    once, often = Timeline(), Timeline()
    for index, due in enumerate(dues):
        once.schedule(due, "kind", str(index))
        often.schedule(due, "kind", str(index))
    seen = [event for now in [*sorted(looks), 25] for event in drain(often, now)]
    assert seen == drain(once, 25)


def test_a_cancelled_event_does_not_happen_and_is_not_counted() -> None:
    timeline = Timeline()
    timeline.schedule(10, "first", "a")
    timeline.schedule(20, "second", "b")
    timeline.schedule(30, "third", "c")
    timeline.cancel("second", "b")
    assert (2, ["first", "third"]) == (len(timeline), [event.kind for event in timeline.events()])
    assert ["first", "third", None] == [getattr(timeline.pop_due(99), "kind", None) for _ in range(3)]


def test_with_its_only_event_cancelled_nothing_is_to_come() -> None:
    timeline = Timeline()
    timeline.schedule(10, "only", "a")
    timeline.cancel("only", "a")
    assert (0, None) == (len(timeline), timeline.next_due)
