"""The clock in its modes, with the host's time handed in by the test."""

import time

import pytest

from image_workflow_emulator.kernel.clock import (
    CLOCK_MODES,
    Clock,
    ClockMode,
    ClockSetting,
    host_elapsed_ms,
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
    host: Host,
    mode: ClockMode,
    rate: float = 1.0,
) -> Clock:
    """Return a clock that starts at the instant 1000."""
    return Clock(ClockSetting(mode, rate), 1_000, host)


@pytest.mark.parametrize(
    ("rate", "expected"),
    [(1, 3_000), (60, 121_000), (0.5, 2_000), (1_000_000, 2_000_001_000)],
)
def test_a_real_clock_runs_at_its_rate(
    host: Host,
    rate: float,
    expected: int,
) -> None:
    clock = clock_of(host, "real", rate)

    host.elapsed_ms += 2_000

    assert clock.now() == expected


@pytest.mark.parametrize("mode", ["manual", "auto"])
def test_a_manual_or_auto_clock_stands_still(host: Host, mode: ClockMode) -> None:
    clock = clock_of(host, mode)

    host.elapsed_ms += 2_000

    assert clock.now() == 1_000


@pytest.mark.parametrize("mode", CLOCK_MODES)
def test_every_clock_can_be_advanced(host: Host, mode: ClockMode) -> None:
    clock = clock_of(host, mode)

    clock.advance_to(61_000)

    assert clock.now() == 61_000


@pytest.mark.parametrize("mode", CLOCK_MODES)
def test_no_clock_goes_back(host: Host, mode: ClockMode) -> None:
    clock = clock_of(host, mode)

    clock.advance_to(999)

    assert clock.now() == 1_000


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


@pytest.mark.parametrize(
    ("setting", "later"),
    [
        (ClockSetting("manual"), 11_000),
        (ClockSetting("auto"), 11_000),
        (ClockSetting("real"), 12_000),
        (ClockSetting("real", 3), 14_000),
    ],
    ids=str,
)
def test_a_change_of_mode_makes_no_jump(
    host: Host,
    setting: ClockSetting,
    later: int,
) -> None:
    clock = clock_of(host, "real", rate=10)
    host.elapsed_ms += 1_000

    clock.change_setting(setting)

    assert clock.setting == setting
    assert clock.now() == 11_000
    host.elapsed_ms += 1_000
    assert clock.now() == later


def test_a_real_clock_starts_at_the_hosts_time_unless_told_otherwise(
    host: Host,
) -> None:
    before = host_now()

    started = Clock(ClockSetting("real"), None, host).now()

    assert before <= started <= host_now()


@pytest.mark.parametrize("mode", CLOCK_MODES)
def test_no_clock_passes_the_last_instant_that_can_be_written(
    host: Host,
    mode: ClockMode,
) -> None:
    clock = clock_of(host, mode, rate=1_000_000)

    clock.advance_to(LATEST_INSTANT + 1)
    host.elapsed_ms += 1e12

    assert clock.now() == LATEST_INSTANT


def test_the_hosts_time_is_in_whole_milliseconds_since_the_epoch() -> None:
    before = time.time_ns() // 1_000_000

    instant = host_now()

    assert isinstance(instant, int)
    assert before <= instant <= time.time_ns() // 1_000_000


def test_the_hosts_elapsed_time_is_in_milliseconds() -> None:
    before = time.monotonic_ns()

    elapsed_ms = host_elapsed_ms()

    assert before <= elapsed_ms * 1_000_000 <= time.monotonic_ns()
