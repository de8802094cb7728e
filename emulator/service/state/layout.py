"""The form of a state file: its members, and its first line."""

from copy import copy
from typing import Annotated, TypeAlias

from msgspec import Meta, Struct, structs

from emulator.domain.admission import AdmissionPause
from emulator.domain.readings import Readings
from emulator.kernel.clock import ClockSetting
from emulator.kernel.ranges import Count, Instant
from emulator.kernel.seed import LARGEST_SEED
from emulator.kernel.timestamps import LATEST_INSTANT
from emulator.scenario.scenario import Scenario
from emulator.scenario.world import Timings
from emulator.service.sandbox import Beginning, Sandbox

FORMAT = "image-workflow-emulator state"
VERSION = 8
STATE = "state.jsonl"
DIGEST = "state.sha256"
PICTURES = "pictures/"
CHUNK_BYTES = 64 * 1024
"""How much is written or read at once."""

_Number: TypeAlias = Annotated[int, Meta(ge=0, le=10**9)]


class StateError(ValueError):
    """A state file that cannot be loaded; the text says where and why."""


def digest_line(digest: str) -> bytes:
    """Return the content of the member `DIGEST`."""
    return f"{digest}  {STATE}\n".encode()


class SavedScenario(Struct, frozen=True):
    """A scenario as it was read; both are empty where none is meant."""

    text: str
    file: str


def saved_scenario(scenario: Scenario) -> SavedScenario:
    """Return what a state file keeps of a scenario."""
    return SavedScenario(scenario.text, scenario.file)


class SavedOptions(Beginning, frozen=True, kw_only=True):
    """How a sandbox begins again with a reset."""

    scenario: SavedScenario


class FileVersion(Struct, frozen=True):
    """What the first line of every version has, by which a file of another one is recognized."""

    format: str
    version: int


class Head(Struct, frozen=True):
    """The first line: what a sandbox has once."""

    format: str
    version: int
    sandbox: str
    """The id of the sandbox that was saved."""
    options: SavedOptions
    signing_name: str
    seed: Annotated[int, Meta(ge=0, le=LARGEST_SEED)]
    clock: ClockSetting
    now: Annotated[int, Meta(ge=0, le=LATEST_INSTANT)]
    began_at: Instant
    rate_limits: bool
    timings: Timings
    readings: Readings
    pause: AdmissionPause
    counters: dict[str, _Number]
    last_sequence: Count
    """The number of the journal's last request."""
    dropped_uploads: Count


ONCE = ("signing_name", "began_at", "rate_limits", "timings", "readings", "pause", "counters", "dropped_uploads")
"""The fields of a `Head` that are those of a sandbox as they are."""


def head_of(sandbox: Sandbox, now: int) -> Head:
    """Return the first line of the state file of a sandbox."""
    scenario = saved_scenario(sandbox.options.scenario)
    return Head(
        format=FORMAT,
        version=VERSION,
        sandbox=sandbox.id,
        options=SavedOptions(**structs.asdict(sandbox.options) | {"scenario": scenario}),
        seed=sandbox.seed.value,
        clock=sandbox.clock.setting,
        now=now,
        last_sequence=sandbox.journal.last_sequence,
        **{name: copy(getattr(sandbox, name)) for name in ONCE},
    )
