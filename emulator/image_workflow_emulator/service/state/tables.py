"""What a state file says: its first line, and its tables: the rows of each, how they
are listed and added.

Most rows are values of the sandbox as they are. Types say what a row may be. The
indexes of collections are left out: they are built from the rows.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Annotated, Any, NamedTuple, TypeAlias

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
from image_workflow_emulator.kernel.wording import excerpt
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

# The first line -----------------------------------------------------------------------


class SavedScenario(Struct, frozen=True):
    """A scenario as it was read; both are empty where none is meant."""

    text: str
    file: str

    def read(self, contract: Contract) -> Scenario:
        """Read the scenario again. Raises DocumentError."""
        if not self.text:
            return NO_SCENARIO
        return parse_scenario(self.text, self.file, contract)


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
    """Return the first line of the state file of a sandbox; it shows what the sandbox
    goes on to change.
    """
    return Head(
        now=now,
        clock=sandbox.clock.setting,
        last_sequence=sandbox.journal.last_sequence,
        state=msgspec.convert(sandbox, SavedState, from_attributes=True),
    )


# The rows -----------------------------------------------------------------------------


class SavedPlaybook(Struct, frozen=True):
    """A running scenario with its counters."""

    team: str | None
    scenario: SavedScenario
    began_at: Instant
    counts: dict[str, RuleCounts]
    awaited: dict[int, AwaitedChange]


class SavedEvent(NamedTuple):
    """An event to come; a row is the list of its values."""

    due: Instant
    kind: str
    subject: str
    detail: Count


class SavedPicture(Struct):
    """A picture: its recipe, if it has one, and the SHA-256 (in hexadecimal) of its
    bytes, if there are any. Equal bytes are one member of the file.
    """

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
    """Return the pictures, each with its row of this moment, to which the digest of its
    bytes is still to be added.
    """
    rows = []
    for key, picture in sandbox.images.pictures.items():
        row = SavedPicture(
            key=key,
            recipe=picture.content.recipe,
            scene=picture.scene,
            holds=picture.holds - picture.waits,
            is_public=picture.is_public,
        )
        rows.append((row, picture))
    return rows


def rows_of(sandbox: Sandbox, pictures: Pictures) -> dict[str, Iterable[Any]]:
    """Return the rows of all tables at this moment."""
    rows: dict[str, Iterable[Any]] = {
        "accounts": _encoded(sandbox.accounts.values()),
        "credentials": _encoded(sandbox.credentials.values()),
        "playbooks": _encoded(map(_saved_playbook, sandbox.playbooks.values())),
        "events": _events(sandbox),
        "pictures": [saved for saved, _ in pictures],
        "records": sandbox.idempotency.records(),
    }
    for name, collection in sandbox.store.collections().items():
        rows[name] = list(collection.items.values())
    return {name: rows[name] for name in TABLES}


def _saved_playbook(playbook: Playbook) -> SavedPlaybook:
    return msgspec.convert(playbook, SavedPlaybook, from_attributes=True)


def _encoded(rows: Iterable[Any]) -> list[msgspec.Raw]:
    """Encode at once the rows that go on to change."""
    return [msgspec.Raw(msgspec.json.encode(row)) for row in rows]


def _events(sandbox: Sandbox) -> list[SavedEvent]:
    """Return the events to come, in the order in which they were scheduled."""
    pending = list(sandbox.timeline.pending())
    pending.sort(key=lambda event: event.sequence)
    return [
        SavedEvent(event.due, event.kind, event.subject, event.detail)
        for event in pending
        if event.kind != HOLD_EVENT
    ]


# Loading ------------------------------------------------------------------------------


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
        """Begin with the first line.

        `picture_of` returns the bytes of a picture by their SHA-256.
        """
        self._contract = contract
        self._picture_of = picture_of
        self._saved_id = head.state.id
        state = _state_of(head, contract)
        self.sandbox = Sandbox(identifier, memory, state)

    def add(self, table: str, row: Any) -> None:
        """Add a row."""
        sandbox = self.sandbox
        match table:
            case "accounts":
                sandbox.accounts[row.team.id] = row
            case "credentials":
                self._add_credential(row)
            case "playbooks":
                self._add_playbook(row)
            case "events":
                sandbox.timeline.schedule(*row)
            case "pictures":
                self._add_picture(row)
            case "records":
                sandbox.idempotency.restore(*row)
            case _:
                sandbox.store.collections()[table].add(row)

    def _add_credential(self, account: CredentialAccount) -> None:
        """Add a credential, its key in the form that the keys of this sandbox have."""
        credential = account.credential
        world_key = credential.key
        if self._saved_id != DEFAULT_SANDBOX_ID:
            world_key = world_key.removesuffix(f"_{self._saved_id}")
        key = self.sandbox.key_of(world_key)
        account.credential = replace(credential, key=key)
        self.sandbox.credentials[key] = account

    def _add_playbook(self, saved: SavedPlaybook) -> None:
        playbook = Playbook(
            scenario=saved.scenario.read(self._contract),
            began_at=saved.began_at,
            seed=self.sandbox.seed,
            team=saved.team,
            counts=saved.counts,
            awaited=saved.awaited,
        )
        self.sandbox.playbooks[saved.team or EVERYONE] = playbook

    def _add_picture(self, saved: SavedPicture) -> None:
        """Add a picture. Raises ValueError if there is nothing that it could be."""
        images = self.sandbox.images
        if saved.key in images.pictures:
            raise ValueError(f"{excerpt(saved.key)}: there are two such pictures")
        read_data = None
        if saved.sha256 is not None:
            read_data = partial(self._picture_of, saved.sha256)
        if saved.recipe is not None:
            images.restore_drawn(saved.key, saved.recipe, read_data, saved.scene)
        elif read_data is not None:
            images.put(saved.key, read_data(), saved.scene)
        else:
            raise ValueError(f"{excerpt(saved.key)}: it has neither recipe nor bytes")
        picture = images.pictures[saved.key]
        picture.holds = saved.holds
        picture.is_public = saved.is_public


def _state_of(head: Head, contract: Contract) -> SandboxState:
    """Return the state of a sandbox, from what the first line says of it.

    Raises:
        DocumentError: its scenario cannot be read.
    """
    options = asdict(head.state.options)
    options["scenario"] = head.state.options.scenario.read(contract)
    values = asdict(head.state)
    del values["id"]
    values["options"] = SandboxOptions(**options)
    clock = Clock(head.clock, head.now)
    journal = Journal(last_sequence=head.last_sequence)
    return SandboxState(
        **values,
        clock=clock,
        journal=journal,
    )
