"""The clock in its modes, with the host's time handed in by the test, and the queue of what falls due."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from image_workflow_emulator.kernel.clock import (
    CLOCK_MODES,
    Clock,
    ClockMode,
    ClockSetting,
    Timeline,
    host_now,
)
from image_workflow_emulator.kernel.timestamps import LATEST_INSTANT


class Host:
    """The host's monotonic time, under the test's control."""

    elapsed_ms = 5_000.0

    def __call__(self) -> float:
        return self.elapsed_ms


@pytest.fixture
def host() -> Host:
    return Host()


def clock_of(
    host: Host, mode: ClockMode, rate: float = 1.0, start: int | None = 1_000
) -> Clock:
    return Clock(ClockSetting(mode, rate), start, host)


@pytest.mark.parametrize(
    ("rate", "expected"),
    [(1, 3_000), (60, 121_000), (0.5, 2_000), (1_000_000, 2_000_001_000)],
)
def test_a_real_clock_runs_at_its_rate(host: Host, rate: float, expected: int) -> None:
    clock = clock_of(host, "real", rate)
    host.elapsed_ms += 2_000
    assert clock.now() == expected


@pytest.mark.parametrize("mode", CLOCK_MODES)
@pytest.mark.parametrize(("instant", "expected"), [(61_000, 61_000), (999, 1_000)])
def test_every_clock_can_be_advanced_only(
    host: Host, mode: ClockMode, instant: int, expected: int
) -> None:
    clock = clock_of(host, mode)
    clock.advance_to(instant)
    assert clock.now() == expected


def test_an_advanced_real_clock_goes_on_from_there_at_its_rate(host: Host) -> None:
    clock = clock_of(host, "real", rate=2)
    host.elapsed_ms += 100
    clock.advance_to(10_000)
    host.elapsed_ms += 100
    assert clock.now() == 10_200


def test_advancing_to_where_a_real_clock_is_loses_no_fraction_of_a_millisecond(
    host: Host,
) -> None:
    clock = clock_of(host, "real")
    for _ in range(10):
        host.elapsed_ms += 0.5
        clock.advance_to(clock.now())
    assert clock.now() == 1_005


def test_a_change_of_mode_makes_no_jump(host: Host) -> None:
    clock = clock_of(host, "real", rate=10)
    seen = []
    for setting in (
        ClockSetting("manual"),
        ClockSetting("real", 3),
        ClockSetting("auto"),
        ClockSetting("real"),
    ):
        host.elapsed_ms += 1_000
        before = clock.now()
        clock.change_setting(setting)
        seen.append((before, clock.now()))
        assert clock.setting == setting
    assert seen == [
        (11_000, 11_000),
        (11_000, 11_000),
        (14_000, 14_000),
        (14_000, 14_000),
    ]


def test_a_real_clock_starts_at_the_hosts_time_unless_told_otherwise(
    host: Host,
) -> None:
    before = host_now()
    started = clock_of(host, "real", start=None).now()
    assert before <= started <= host_now()


@pytest.mark.parametrize("mode", CLOCK_MODES)
def test_no_clock_passes_the_last_instant_that_can_be_written(
    host: Host, mode: ClockMode
) -> None:
    clock = clock_of(host, mode, rate=1_000_000)
    clock.advance_to(LATEST_INSTANT + 1)
    host.elapsed_ms += 1e12
    assert clock.now() == LATEST_INSTANT


def drain(timeline: Timeline, now: int) -> list[tuple[int, str]]:
    found = []
    while (event := timeline.pop_due(now)) is not None:
        found.append((event.due, event.subject))
    return found


@given(st.lists(st.integers(0, 20)), st.lists(st.integers(0, 25)))
def test_events_come_at_their_instants_in_the_order_of_scheduling(
    dues: list[int], looks: list[int]
) -> None:
    timeline, seen = Timeline(), list[tuple[int, str]]()
    for index, due in enumerate(dues):
        timeline.schedule(due, "kind", str(index))
    expected = sorted(
        zip(dues, map(str, range(len(dues))), strict=True), key=lambda event: event[0]
    )
    for now in [*sorted(looks), 25]:
        seen += drain(timeline, now)
        later = [due for due, _ in expected if due > now]
        assert seen == expected[: len(expected) - len(later)]
        assert (timeline.next_due, len(timeline)) == (
            min(later, default=None),
            len(later),
        )


@pytest.mark.parametrize("cancel", [Timeline.remove, Timeline.forget])
def test_a_cancelled_event_does_not_happen_and_is_not_counted(
    cancel: Callable[[Timeline, str], None],
) -> None:
    timeline = Timeline()
    timeline.schedule(10, "first", "a")
    timeline.schedule(20, "second", "b")
    timeline.schedule(30, "third", "c")
    cancel(timeline, "b")
    assert (2, ["first", "third"]) == (
        len(timeline),
        [event.kind for event in timeline.first(9)],
    )
    assert [(10, "a"), (30, "c")] == drain(timeline, 99)
    assert (0, None, None) == (
        len(timeline),
        timeline.next_due,
        timeline.next_due_of("c"),
    )
