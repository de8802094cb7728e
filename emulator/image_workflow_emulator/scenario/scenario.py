"""A scenario as data: what should go wrong with requests and work, what changes when, and in which world.

Owns what a rule and a change can say. `format` reads a scenario from files, `playbook` has its live counters, and the
engine makes its changes, each at its instant. Teams change alike in a world and in a timeline, so `WorldTeam` is the
world's.
"""

from collections.abc import Mapping
from typing import Any, Final, Literal, Self, TypeAlias, get_args

from msgspec import Struct
from msgspec.structs import replace

from image_workflow_emulator.domain.readings import Readings
from image_workflow_emulator.domain.resources import Scene
from image_workflow_emulator.kernel.clock import ClockSetting
from image_workflow_emulator.scenario.faults.fault import NO_FAULT, Fault
from image_workflow_emulator.scenario.matching import ALWAYS, Match, When
from image_workflow_emulator.scenario.world import NO_WORLD_CHANGES, World, WorldCredential, WorldTeam

# The outcomes of accepted work, decided when it is admitted (D31) -----------------------------------------------------

FailureCode = Literal["processing_failed", "timed_out", "content_rejected"]
"""How work and outputs can fail (D31)."""
FAILURE_CODES: Final[tuple[FailureCode, ...]] = get_args(FailureCode)


class WorkOutcome(Struct, frozen=True):
    """The outcome of accepted work; None, empty or False: as usual.

    `outputs` names the failures of single slots, counted from 1; `fail` is the failure of the whole work. `duration_ms`
    is the time from the start of the work to its last end. Stalled work never ends. `scene` is what a Background's
    source is taken to show (D30).
    """

    outputs: Mapping[int, FailureCode] = {}
    fail: FailureCode | None = None
    duration_ms: int | None = None
    stall: bool = False
    scene: Scene | None = None

    def within(self, slots: int) -> Self:
        """Return the outcome of work that has so many outputs: without the failures of others."""
        outputs = {slot: code for slot, code in self.outputs.items() if slot <= slots}
        return replace(self, outputs=outputs)


NO_OUTCOME: Final = WorkOutcome()


# Rules: what they match, when they are due, what happens then ---------------------------------------------------------


class Rule(Struct, frozen=True):
    """One thing that goes wrong: with requests a fault, with work, when it is admitted, an outcome.

    `file` and `line` are its position, and `then` is what it asks for as JSON, for explanations.
    """

    name: str
    match: Match = Match()
    fault: Fault = NO_FAULT
    outcome: WorkOutcome = NO_OUTCOME
    when: When = ALWAYS
    file: str = ""
    line: int = 0
    then: str = ""


# Changes of state at a time of their own: the nouns of the timeline ---------------------------------------------------

Admission = Literal["paused", "open"]


class AdmissionChange(Struct, frozen=True):
    """New writes are refused with 503, or admitted again. `retry_after` (seconds) None: the service's own."""

    admission: Admission
    retry_after: int | None = None


Change: TypeAlias = AdmissionChange | WorldTeam | WorldCredential


class After(Struct, frozen=True):
    """The answer to the nth request of those that match."""

    match: Match
    nth: int = 1


class TimedChange(Struct, frozen=True):
    """A change, and its time since the scenario began or the request after which it is made."""

    when: int | After
    """Milliseconds, or a request."""
    change: Change
    line: int
    """Its line in the file; 0 if it was not read from text."""
    spelling: Mapping[str, Any]
    """The entry as the file has it, for people."""


# The whole ------------------------------------------------------------------------------------------------------------


class Scenario(Struct, frozen=True):
    """What should go wrong. `text` is what it was read from, YAML or JSON, so that it can be kept and read again."""

    name: str
    description: str = ""
    seed: int | None = None
    clock: ClockSetting | None = None
    start: int | None = None
    """The time at the start."""
    world: World = NO_WORLD_CHANGES
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
