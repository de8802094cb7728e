"""What a state file says: its first line, and its tables: the rows of each, how they are listed and added.

Most rows are values of the sandbox as they are. Types say what a row may be. The indexes of collections are left out:
they are built from the rows.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any, TypeAlias

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import asdict, replace

from image_workflow_emulator.contract import Contract
from image_workflow_emulator.domain import resources
from image_workflow_emulator.domain.idempotency import Scope, StoredAnswer
from image_workflow_emulator.domain.limits import AdmissionPause
from image_workflow_emulator.domain.readings import Readings
from image_workflow_emulator.domain.recipes import Recipe
from image_workflow_emulator.domain.resources import Count, Instant
from image_workflow_emulator.kernel.clock import Clock, ClockSetting
from image_workflow_emulator.kernel.seed import Seed
from image_workflow_emulator.kernel.timestamps import LATEST_INSTANT
from image_workflow_emulator.scenario.playbook import (
    AwaitedChange,
    Playbook,
    RuleCounts,
)
from image_workflow_emulator.scenario.scenario import NO_SCENARIO, Scenario
from image_workflow_emulator.scenario.scenario_reader import parse_scenario
from image_workflow_emulator.scenario.world import Timings
from image_workflow_emulator.service.engine import HOLD_EVENT
from image_workflow_emulator.service.records.journal import Journal
from image_workflow_emulator.service.sandbox.images import MemoryBudget, Picture
from image_workflow_emulator.service.sandbox.sandbox import (
    DEFAULT_SANDBOX_ID,
    EVERYONE,
    Beginning,
    CredentialAccount,
    Sandbox,
    SandboxOptions,
    SandboxState,
    TeamAccount,
)

# The first line -------------------------------------------------------------------------------------------------------


class SavedScenario(Struct, frozen=True):
    """A scenario as it was read; both are empty where none is meant."""

    text: str
    file: str

    def read(self, contract: Contract) -> Scenario:
        """Read the scenario again. Raises DocumentError."""
        return (
            parse_scenario(self.text, self.file, contract) if self.text else NO_SCENARIO
        )


class SavedOptions(Beginning, frozen=True, kw_only=True):
    """How a sandbox begins again with a reset."""

    scenario: SavedScenario


class SavedState(Struct, frozen=True):
    """The attributes of a sandbox that are saved as they are."""

    id: str
    options: SavedOptions
    signing_name: str
    seed: Seed
    began_at: Instant
    rate_limits: bool
    timings: Timings
    readings: Readings
    pause: AdmissionPause
    counters: dict[str, Count]


class Head(Struct, frozen=True):
    """The first line: what a sandbox has once."""

    now: Annotated[int, Meta(ge=0, le=LATEST_INSTANT)]
    clock: ClockSetting
    last_sequence: Count
    """The number of the journal's last request."""
    state: SavedState


def head_of(sandbox: Sandbox, now: int) -> Head:
    """Return the first line of the state file of a sandbox; it shows what the sandbox goes on to change."""
    state = msgspec.convert(sandbox, SavedState, from_attributes=True)
    return Head(now, sandbox.clock.setting, sandbox.journal.last_sequence, state)


# The rows -------------------------------------------------------------------------------------------------------------


class SavedPlaybook(Struct, frozen=True):
    """A running scenario with its counters."""

    team: str | None
    scenario: SavedScenario
    began_at: Instant
    counts: dict[str, RuleCounts]
    awaited: dict[int, AwaitedChange]


SavedEvent: TypeAlias = tuple[Instant, str, str, Count]
"""When it is due, its kind, subject and detail."""


class SavedPicture(Struct):
    """A picture: its recipe, or the SHA-256 (in hexadecimal) of its bytes, which are a member of the file."""

    key: str
    recipe: Recipe | None
    scene: resources.Scene | None
    holds: Count
    is_public: bool
    sha256: str | None = None


Pictures: TypeAlias = Sequence[tuple[SavedPicture, Picture]]


TABLES: Mapping[str, Any] = {
    "accounts": TeamAccount,
    "credentials": CredentialAccount,
    "playbooks": SavedPlaybook,
    "events": SavedEvent,
    "pictures": SavedPicture,
    "assets": resources.Asset,
    "products": resources.Product,
    **resources.INGREDIENT_TYPES,
    "uploads": resources.UploadSession,
    "operations": resources.Operation,
    "generations": resources.Generation,
    "records": tuple[Scope, StoredAnswer],
}
"""What a sandbox has many of, and the type of a row, in the order of the file."""


def pictures_of(sandbox: Sandbox) -> Pictures:
    """Return the pictures, each with its row of this moment, to which the digest of its bytes is still to be added."""
    return [
        (
            SavedPicture(
                key, one.content.recipe, one.scene, one.holds - one.waits, one.is_public
            ),
            one,
        )
        for key, one in sandbox.images.pictures.items()
    ]


def rows_of(sandbox: Sandbox, pictures: Pictures) -> dict[str, Iterable[Any]]:
    """Return the rows of all tables at this moment."""
    playbooks = sandbox.playbooks.values()
    rows: dict[str, Iterable[Any]] = {
        "accounts": _encoded(sandbox.accounts.values()),
        "credentials": _encoded(sandbox.credentials.values()),
        "playbooks": _encoded(
            msgspec.convert(one, SavedPlaybook, from_attributes=True)
            for one in playbooks
        ),
        "events": _events(sandbox),
        "pictures": [saved for saved, _ in pictures],
        "records": sandbox.idempotency.records(),
    }
    rows |= {
        name: list(collection.items.values())
        for name, collection in sandbox.store.collections().items()
    }
    return {name: rows[name] for name in TABLES}


def _encoded(rows: Iterable[Any]) -> list[msgspec.Raw]:
    """Encode at once the rows that go on to change."""
    return [msgspec.Raw(msgspec.json.encode(row)) for row in rows]


def _events(sandbox: Sandbox) -> list[SavedEvent]:
    """Return the events to come, in the order in which they were scheduled."""
    pending = sorted(sandbox.timeline.pending(), key=lambda event: event.sequence)
    return [
        (event.due, event.kind, event.subject, event.detail)
        for event in pending
        if event.kind != HOLD_EVENT
    ]


class Loading:
    """A sandbox that is being made from the lines of a state file."""

    def __init__(
        self,
        head: Head,
        identifier: str,
        memory: MemoryBudget,
        contract: Contract,
        picture_of: Callable[[str], bytes],
    ) -> None:
        """Begin with the first line. `picture_of` returns the bytes of a picture by their SHA-256."""
        self._contract, self._picture_of = contract, picture_of
        values, options = asdict(head.state), asdict(head.state.options)
        self._saved_id = values.pop("id")
        values["options"] = SandboxOptions(
            **options | {"scenario": options["scenario"].read(contract)}
        )
        clock, journal = (
            Clock(head.clock, head.now),
            Journal(last_sequence=head.last_sequence),
        )
        self.sandbox = Sandbox(
            identifier, memory, SandboxState(**values, clock=clock, journal=journal)
        )

    def add(self, table: str, row: Any) -> None:
        """Add a row."""
        sandbox = self.sandbox
        match table:
            case "accounts":
                sandbox.accounts[row.team.id] = row
            case "credentials":
                key = row.credential.key
                if self._saved_id != DEFAULT_SANDBOX_ID:
                    key = key.removesuffix(f"_{self._saved_id}")
                row.credential = replace(row.credential, key=sandbox.key_of(key))
                sandbox.credentials[row.credential.key] = row
            case "playbooks":
                scenario = row.scenario.read(self._contract)
                playbook = Playbook(
                    scenario,
                    row.began_at,
                    sandbox.seed,
                    row.team,
                    row.counts,
                    row.awaited,
                )
                sandbox.playbooks[row.team or EVERYONE] = playbook
            case "events":
                sandbox.timeline.schedule(*row)
            case "pictures":
                data = None if row.sha256 is None else self._picture_of(row.sha256)
                picture = sandbox.images.restore(row.key, data or row.recipe, row.scene)
                picture.holds, picture.is_public = row.holds, row.is_public
            case "records":
                sandbox.idempotency.restore(*row)
            case _:
                sandbox.store.collections()[table].add(row)
