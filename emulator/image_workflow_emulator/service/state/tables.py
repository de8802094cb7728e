"""What a state file says: its first line, and its tables: the rows of each, how they are listed and added.

Most rows are values of the sandbox as they are. Types say what a row may be. What is built from the rows is left out: the
indexes of collections, and who holds which picture.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, TypeAlias

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import asdict, replace

from image_workflow_emulator.contract import Contract
from image_workflow_emulator.documents.complaints import DocumentError
from image_workflow_emulator.domain import resources
from image_workflow_emulator.domain.idempotency import RETENTIONS_MS, IdempotencyRecords, Scope, StoredAnswer
from image_workflow_emulator.domain.lifecycles import TERMINAL
from image_workflow_emulator.domain.limits import AdmissionPause
from image_workflow_emulator.domain.readings import Readings
from image_workflow_emulator.domain.recipes import Recipe
from image_workflow_emulator.kernel.clock import Clock, ClockSetting
from image_workflow_emulator.kernel.ranges import Count, Instant
from image_workflow_emulator.kernel.seed import Seed
from image_workflow_emulator.kernel.timestamps import LATEST_INSTANT
from image_workflow_emulator.scenario.format import parse_scenario
from image_workflow_emulator.scenario.playbook import AwaitedChange, Playbook, RuleCounts
from image_workflow_emulator.scenario.scenario import NO_SCENARIO, Scenario
from image_workflow_emulator.scenario.world import Timings
from image_workflow_emulator.service.engine import HOLD_EVENT
from image_workflow_emulator.service.records.journal import Journal
from image_workflow_emulator.service.sandbox.images import MemoryBudget
from image_workflow_emulator.service.sandbox.sandbox import (
    DEFAULT_SANDBOX_ID,
    Beginning,
    CredentialAccount,
    Sandbox,
    SandboxOptions,
    SandboxState,
    TeamAccount,
)
from image_workflow_emulator.service.sandbox.scenarios import EVERYONE


class StateError(Exception):
    """A state file that cannot be loaded; the text says where and why."""


# The first line -------------------------------------------------------------------------------------------------------


class SavedScenario(Struct, frozen=True):
    """A scenario as it was read; both are empty where none is meant."""

    text: str
    file: str

    def read(self, contract: Contract) -> Scenario:
        """Read the scenario again. Raises DocumentError."""
        return parse_scenario(self.text, self.file, contract) if self.text else NO_SCENARIO


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


def begin(head: Head, identifier: str, memory: MemoryBudget, contract: Contract) -> Sandbox:
    """Make the sandbox of a first line, without anything of which there are many. Raises StateError."""
    values = asdict(head.state)
    options = asdict(values.pop("options"))
    try:
        options["scenario"] = options["scenario"].read(contract)
    except DocumentError as error:
        raise StateError(f"the scenario of a reset: {error}") from None
    del values["id"]
    state = SandboxState(
        **values,
        options=SandboxOptions(**options),
        clock=Clock(head.clock, head.now),
        idempotency=IdempotencyRecords(retention_ms=RETENTIONS_MS[head.state.readings.key_retention]),
        journal=Journal(last_sequence=head.last_sequence),
    )
    return Sandbox(identifier, memory, state)


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


class SavedPicture(Struct, frozen=True):
    """A picture: its recipe, or the SHA-256 (in hexadecimal) of its bytes, which are a member of the file."""

    key: str
    recipe: Recipe | None
    sha256: str | None
    scene: resources.Scene | None


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


def rows_of(sandbox: Sandbox) -> dict[str, Iterable[Any]]:
    """Return the rows of all tables at this moment; of pictures, their keys and what is known of them."""
    collections = sandbox.store.collections()
    return {
        "accounts": _encoded(sandbox.accounts.values()),
        "credentials": _encoded(sandbox.credentials.values()),
        "playbooks": _encoded(
            msgspec.convert(playbook, SavedPlaybook, from_attributes=True) for playbook in sandbox.playbooks.values()
        ),
        "events": _events(sandbox),
        "pictures": list(sandbox.images.pictures.items()),
        **{name: list(collections[name].items.values()) for name in TABLES if name in collections},
        "records": sandbox.idempotency.records(),
    }


def _encoded(rows: Iterable[Any]) -> list[msgspec.Raw]:
    """Encode at once the rows that go on to change."""
    return [msgspec.Raw(msgspec.json.encode(row)) for row in rows]


def _events(sandbox: Sandbox) -> list[SavedEvent]:
    """Return the events to come, in the order in which they were scheduled."""
    pending = sorted(sandbox.timeline.pending(), key=lambda event: event.sequence)
    return [(event.due, event.kind, event.subject, event.detail) for event in pending if event.kind != HOLD_EVENT]


class Loading(Struct):
    """A sandbox that is being loaded, with what the rows need beside it."""

    sandbox: Sandbox
    head: Head
    contract: Contract
    read_picture: Callable[[str], bytes]
    """Returns the bytes of a picture by their SHA-256."""

    def add(self, table: str, row: Any) -> None:
        """Add a row. Raises KeyError with the id of something that is not there, StateError, DocumentError."""
        sandbox = self.sandbox
        match table:
            case "accounts":
                sandbox.accounts[row.team.id] = row
            case "credentials":
                self._add_credential(row)
            case "playbooks":
                scenario = row.scenario.read(self.contract)
                playbook = Playbook(scenario, row.began_at, sandbox.seed, row.team, row.counts, row.awaited)
                sandbox.playbooks[row.team or EVERYONE] = playbook
            case "events":
                sandbox.timeline.schedule(*row)
            case "pictures":
                data = b"" if row.sha256 is None else self.read_picture(row.sha256)
                sandbox.images.restore(row.key, data, None if row.sha256 else row.recipe, row.scene)
            case "records":
                sandbox.idempotency.restore(*row)
            case _:
                sandbox.store.collections()[table].add(row)

    def _add_credential(self, row: CredentialAccount) -> None:
        """Add a credential, with its key as this sandbox has it."""
        sandbox, credential = self.sandbox, row.credential
        sandbox.accounts[credential.team_id]
        world_key = credential.key
        if self.head.state.id != DEFAULT_SANDBOX_ID:
            world_key = world_key.removesuffix(f"_{self.head.state.id}")
        row.credential = replace(credential, key=sandbox.key_of(world_key))
        sandbox.credentials[row.credential.key] = row

    def complete(self) -> None:
        """Hold each picture for all that needs it. Raises KeyError."""
        store, images = self.sandbox.store, self.sandbox.images
        ingredients = [ingredient for kind in store.ingredients.values() for ingredient in kind.items.values()]
        public = [*store.assets.items, *(key for ingredient in ingredients for key in ingredient.picture_keys)]
        for key in public:
            images.pictures[key].is_public = True
        images.hold(public)
        images.hold(key for key in store.uploads.items if key in images.pictures)
        images.hold(
            key
            for work in store.operations.items.values()
            if work.status not in TERMINAL
            for key in work.outcome.source_keys
        )
        for generation in store.generations.items.values():
            for planned, output in zip(generation.plan, generation.outputs, strict=True):
                images.hold(() if output.status in TERMINAL else planned.picture.inputs)
        images.free_unheld()
