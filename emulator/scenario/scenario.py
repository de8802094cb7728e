"""A scenario as data: what should go wrong, and in which world. `format` reads it from files."""

from typing import Final

from msgspec import Struct

from emulator.domain.readings import Readings
from emulator.kernel.clock import ClockSetting
from emulator.scenario.changes import TimedChange
from emulator.scenario.rules import Rule
from emulator.scenario.world import NO_WORLD_CHANGES, WorldChanges


class ScenarioClock(Struct, frozen=True):
    """What a scenario says of the clock; None: as it is."""

    setting: ClockSetting | None = None
    start: int | None = None


class Scenario(Struct, frozen=True):
    """What should go wrong. `text` is what it was read from, YAML or JSON, so that it can be kept and read again."""

    name: str
    description: str = ""
    seed: int | None = None
    clock: ScenarioClock = ScenarioClock()
    world: WorldChanges = NO_WORLD_CHANGES
    rules: tuple[Rule, ...] = ()
    timeline: tuple[TimedChange, ...] = ()
    file: str = ""
    text: str = ""
    is_shipped: bool = False
    """Whether it is of the library: its user did not write its rules, and need not use them all."""
    readings: Readings | None = None
    """None: those of the sandbox. They take effect where a sandbox begins with the scenario."""


NO_SCENARIO: Final = Scenario("none")
"""Nothing goes wrong."""
