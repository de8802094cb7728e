"""A scenario: what should go wrong with requests and work, what changes when, and in
which world.

Owns rules and the whole, as data. `scenario_reader` reads them, `playbook` has the live
counters, and the engine and the exchange carry out what they say.
"""

from typing import Final

from msgspec import Struct

from image_workflow_emulator.domain.readings import Readings
from image_workflow_emulator.kernel.clock import ClockSetting
from image_workflow_emulator.scenario.faults import NO_FAULT, Fault
from image_workflow_emulator.scenario.matching import Match, When
from image_workflow_emulator.scenario.outcomes import WorkOutcome
from image_workflow_emulator.scenario.timeline import TimedChange
from image_workflow_emulator.scenario.world import World


class Rule(Struct, frozen=True):
    """What goes wrong with some requests, or with the work that they admit."""

    name: str
    match: Match = Match()
    fault: Fault = NO_FAULT
    """What happens to a request."""
    outcome: WorkOutcome = WorkOutcome()
    """What becomes of work."""
    when: When = When()
    file: str = ""
    line: int = 0
    then: str = ""
    """What it asks for, as JSON, for explanations."""


class Scenario(Struct, frozen=True):
    """What should go wrong."""

    name: str
    description: str = ""
    seed: int | None = None
    clock: ClockSetting | None = None
    start: int | None = None
    """The time at the start."""
    world: World = World()
    rules: tuple[Rule, ...] = ()
    timeline: tuple[TimedChange, ...] = ()
    file: str = ""
    text: str = ""
    """What it was read from, YAML or JSON, so that it can be kept and read again."""
    is_shipped: bool = False
    """Whether it is of the library: its user did not write its rules, and need not use
    them all."""
    readings: Readings | None = None
    """None: those of the sandbox. They take effect where a sandbox begins with the
    scenario."""


NO_SCENARIO: Final = Scenario("none")
"""Nothing goes wrong."""
