"""The form of a state file: its members, its first line, and those rows that are not values of the sandbox themselves."""

from typing import Annotated, TypeAlias

from msgspec import Meta, Struct, structs

from emulator.domain.admission import AdmissionPause
from emulator.domain.recipes import Recipe
from emulator.domain.resources import Credential, Scene, Team
from emulator.kernel.clock import ClockSetting
from emulator.kernel.ranges import Amount, Count, Instant
from emulator.kernel.seed import LARGEST_SEED
from emulator.kernel.timestamps import LATEST_INSTANT
from emulator.scenario.playbook import AwaitedChange, RuleCounts
from emulator.scenario.scenario import Scenario
from emulator.scenario.world import Timings, WorldFile
from emulator.service.sandbox import Sandbox, SandboxOptions

FORMAT = "image-workflow-emulator state"
VERSION = 6
STATE = "state.jsonl"
DIGEST = "state.sha256"
PICTURES = "pictures/"
CHUNK_BYTES = 64 * 1024
"""How much is written or read at once."""

_Number: TypeAlias = Annotated[int, Meta(ge=0, le=10**9)]
_Sha256: TypeAlias = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
_PictureKey: TypeAlias = Annotated[str, Meta(pattern=r"^[a-z]{1,10}_[0-9a-f]{1,80}(\.[0-9]{1,15}\.[0-9]{1,2})?$")]


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


class SavedOptions(Struct, frozen=True):
    """How a sandbox begins again with a reset."""

    seed: Annotated[int, Meta(ge=0, le=LARGEST_SEED)] | None
    clock: ClockSetting | None
    start: Annotated[int, Meta(ge=0, le=LATEST_INSTANT)] | None
    rate_limits: bool
    world: WorldFile
    scenario: SavedScenario
    evolution: bool


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
    pause: AdmissionPause
    counters: dict[str, _Number]
    last_sequence: Count
    """The number of the journal's last request."""
    dropped_uploads: Count


def head_of(sandbox: Sandbox, now: int) -> Head:
    """Return the first line of the state file of a sandbox."""
    options: SandboxOptions = sandbox.options
    return Head(
        format=FORMAT,
        version=VERSION,
        sandbox=sandbox.id,
        options=SavedOptions(**structs.asdict(options) | {"scenario": saved_scenario(options.scenario)}),
        signing_name=sandbox.signing_name,
        seed=sandbox.seed.value,
        clock=sandbox.clock.setting,
        now=now,
        began_at=sandbox.began_at,
        rate_limits=sandbox.rate_limits,
        timings=sandbox.timings,
        pause=sandbox.pause,
        counters=sandbox.counters.copy(),
        last_sequence=sandbox.journal.last_sequence,
        dropped_uploads=sandbox.dropped_uploads,
    )


class SavedAccount(Struct, frozen=True):
    """A Team with its available Credits and the instants of its admitted requests."""

    team: Team
    available: Amount
    admitted: list[Instant]
    pause: AdmissionPause


class SavedCredential(Struct, frozen=True):
    """A credential with the instants of its admitted requests."""

    credential: Credential
    admitted: list[Instant]


class SavedPlaybook(Struct, frozen=True):
    """A running scenario with its counters."""

    team: str | None
    scenario: SavedScenario
    began_at: Instant
    counts: dict[str, RuleCounts]
    awaited: list[AwaitedChange]


class SavedPicture(Struct, frozen=True):
    """A picture: its recipe, or the SHA-256 (in hexadecimal) of its bytes, which are a member of the file."""

    key: _PictureKey
    recipe: Recipe | None
    sha256: _Sha256 | None
    scene: Scene | None
