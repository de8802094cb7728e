"""What a sandbox has once: its clock, its counters, and how it begins again with a reset."""

import re

from emulator.kernel.clock import HIGHEST_RATE, ClockSetting
from emulator.kernel.timestamps import LATEST_INSTANT
from emulator.scenario.world import Timings, WorldFile
from emulator.service.sandbox import Sandbox
from emulator.service.state.soundness.rows import KEY, MOST_CREDITS, Row, check_new, expect, numbered

MOST_TEAMS = 1_000
"""The most Teams of the world that a reset begins with."""
_PREFIX = re.compile(r"[a-z]{1,10}", re.ASCII)


def check_beginning(sandbox: Sandbox) -> None:
    """Check what a sandbox has once. Raises StateError."""
    _check_clock("/clock/0", sandbox.clock.setting)
    now = sandbox.clock.now()
    expect(now <= LATEST_INSTANT, "/clock/1", now, "an instant before the year 10000")
    expect(sandbox.began_at <= now, "/began_at", sandbox.began_at, "an instant that has come")
    _check_timings("/timings", sandbox.timings)
    for prefix, count in sandbox.counters.items():
        expect(_PREFIX.fullmatch(prefix) and count >= 1, f"/counters/{prefix}", count, "a prefix, and at least 1")
    options = sandbox.options
    if options.clock is not None:
        _check_clock("/options/clock", options.clock)
    expect((options.start or 0) <= LATEST_INSTANT, "/options/start", options.start, "an instant before the year 10000")
    _check_world(options.world)


def _check_clock(where: str, setting: ClockSetting) -> None:
    is_rate = setting.rate == 1 or setting.mode == "real"
    is_fit = is_rate and 0 < setting.rate <= HIGHEST_RATE  # which is not true of a number that is none
    expected = f"a number above 0 and up to {HIGHEST_RATE:g}, and 1 where the clock is not real"
    expect(is_fit, f"{where}/rate", setting.rate, expected)


def _check_timings(where: str, timings: Timings) -> None:
    for name in Timings.__struct_fields__:
        Row(where, timings).expect(getattr(timings, name) <= LATEST_INSTANT, name, "a shorter span")


def _check_world(world: WorldFile) -> None:
    where = "/options/world"
    expect(len(world.teams) <= MOST_TEAMS, f"{where}/teams", world.teams, f"at most {MOST_TEAMS} Teams")
    _check_timings(f"{where}/timings", world.timings)
    names, keys = set[str](), set[str]()
    for row in numbered("/options/world/teams", world.teams):
        check_new(f"{row.where}/name", row.item.name, names)
        row.expect(row.item.credits <= MOST_CREDITS, "credits", f"at most {MOST_CREDITS}")
        for held in numbered(f"{row.where}/credentials", row.item.credentials):
            check_new(f"{held.where}/key", held.item.key, keys)
            held.expect(KEY.fullmatch(held.item.key), "key", "an API key")
