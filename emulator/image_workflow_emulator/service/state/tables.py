"""What a state file says: its first line, and its tables: the rows of each, how they are listed and added.

Most rows are values of the sandbox as they are. Types say what a row may be. What is built from the rows is left out: the
indexes of collections, and who holds which picture.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, Final, TypeAlias

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
from image_workflow_emulator.service.sandbox.store import Collection, Store

FORMAT: Final = "image-workflow-emulator state"
VERSION: Final = 10
_Number: TypeAlias = Annotated[int, Meta(ge=0, le=10**9)]
_Sha256: TypeAlias = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]


class StateError(Exception):
    """A state file that cannot be loaded; the text says where and why."""


# The first line -------------------------------------------------------------------------------------------------------


class SavedScenario(Struct, frozen=True):
    """A scenario as it was read; both are empty where none is meant."""

    text: str
    file: str

    @classmethod
    def of(cls, scenario: Scenario) -> "SavedScenario":
        """Return what a state file keeps of a scenario."""
        return cls(scenario.text, scenario.file)

    def read(self, contract: Contract) -> Scenario:
        """Read the scenario again. Raises DocumentError."""
        return parse_scenario(self.text, self.file, contract) if self.text else NO_SCENARIO


class SavedOptions(Beginning, frozen=True, kw_only=True):
    """How a sandbox begins again with a reset."""

    scenario: SavedScenario


class FileVersion(Struct, frozen=True):
    """What the first line of every version has, by which a file of another one is recognized."""

    format: str
    version: int


class Head(FileVersion, frozen=True):
    """The first line: what a sandbox has once."""

    sandbox: str
    """The id of the sandbox that was saved."""
    options: SavedOptions
    signing_name: str
    seed: Seed
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


_ONCE = ("signing_name", "seed", "began_at", "rate_limits", "timings", "readings", "pause", "counters")
"""The fields of a `Head` that are those of a sandbox as they are."""


def head_of(sandbox: Sandbox, now: int) -> Head:
    """Return the first line of the state file of a sandbox; it shows what the sandbox goes on to change."""
    scenario = SavedScenario.of(sandbox.options.scenario)
    return Head(
        format=FORMAT,
        version=VERSION,
        sandbox=sandbox.id,
        options=SavedOptions(**asdict(sandbox.options) | {"scenario": scenario}),
        clock=sandbox.clock.setting,
        now=now,
        last_sequence=sandbox.journal.last_sequence,
        **{name: getattr(sandbox, name) for name in _ONCE},
    )


def begin(head: Head, identifier: str, memory: MemoryBudget, contract: Contract) -> Sandbox:
    """Make the sandbox of a first line, without anything of which there are many. Raises DocumentError."""
    try:
        scenario = head.options.scenario.read(contract)
    except DocumentError as error:
        raise StateError(f"the scenario of a reset: {error}") from None
    state = SandboxState(
        options=SandboxOptions(**asdict(head.options) | {"scenario": scenario}),
        clock=Clock(head.clock, head.now),
        idempotency=IdempotencyRecords(retention_ms=RETENTIONS_MS[head.readings.key_retention]),
        journal=Journal(last_sequence=head.last_sequence),
        **{name: getattr(head, name) for name in _ONCE},
    )
    return Sandbox(identifier, memory, state)


# The rows -------------------------------------------------------------------------------------------------------------


class Loading(Struct):
    """A sandbox that is being loaded, with what the rows need beside it."""

    sandbox: Sandbox
    head: Head
    contract: Contract
    read_bytes: Callable[[str], bytes]
    """Returns the bytes of a picture by their SHA-256."""


class Table(Struct, frozen=True):
    """Something of which a sandbox has many: the type of a row, how to list them all, how to add one.

    `rows` returns what there is at this moment, whatever happens before it is gone through. `add` raises StateError, or
    KeyError with the id of something that is not there.
    """

    kind: Any
    rows: Callable[[Sandbox], Iterable[Any]]
    add: Callable[[Loading, Any], None]


def _encoded(rows: Iterable[Any]) -> list[msgspec.Raw]:
    """Encode at once the rows that go on to change."""
    return [msgspec.Raw(msgspec.json.encode(row)) for row in rows]


def _add_account(loading: Loading, row: TeamAccount) -> None:
    loading.sandbox.accounts[row.team.id] = row


def _add_credential(loading: Loading, row: CredentialAccount) -> None:
    """Add a credential, with its key as this sandbox has it."""
    sandbox, credential = loading.sandbox, row.credential
    sandbox.accounts[credential.team_id]
    world_key = credential.key
    if loading.head.sandbox != DEFAULT_SANDBOX_ID:
        world_key = world_key.removesuffix(f"_{loading.head.sandbox}")
    row.credential = replace(credential, key=sandbox.key_of(world_key))
    sandbox.credentials[row.credential.key] = row


class SavedPlaybook(Struct, frozen=True):
    """A running scenario with its counters."""

    team: str | None
    scenario: SavedScenario
    began_at: Instant
    counts: dict[str, RuleCounts]
    awaited: list[AwaitedChange]


def _playbooks(sandbox: Sandbox) -> Iterable[SavedPlaybook]:
    for playbook in sandbox.playbooks.values():
        scenario = SavedScenario.of(playbook.scenario)
        yield SavedPlaybook(playbook.team, scenario, playbook.began_at, playbook.counts, playbook.awaited)


def _add_playbook(loading: Loading, row: SavedPlaybook) -> None:
    scenario = row.scenario.read(loading.contract)
    playbook = Playbook(scenario, row.began_at, loading.sandbox.seed, row.team, row.counts, row.awaited)
    loading.sandbox.playbooks[row.team or EVERYONE] = playbook


SavedEvent: TypeAlias = tuple[Instant, str, str, _Number]
"""When it is due, its kind, subject and detail."""


def _events(sandbox: Sandbox) -> list[SavedEvent]:
    """Return the events to come, in the order in which they were scheduled."""
    pending = sorted(sandbox.timeline.pending(), key=lambda event: event.sequence)
    return [(event.due, event.kind, event.subject, event.detail) for event in pending if event.kind != HOLD_EVENT]


class SavedPicture(Struct, frozen=True):
    """A picture: its recipe, or the SHA-256 (in hexadecimal) of its bytes, which are a member of the file."""

    key: str
    recipe: Recipe | None
    sha256: _Sha256 | None
    scene: resources.Scene | None


def _add_picture(loading: Loading, row: SavedPicture) -> None:
    data = b"" if row.sha256 is None else loading.read_bytes(row.sha256)
    loading.sandbox.images.restore(row.key, data, None if row.sha256 else row.recipe, row.scene)


def _collection(kind: Any, of: Callable[[Store], Collection[Any]]) -> Table:
    return Table(
        kind,
        lambda sandbox: list(of(sandbox.store).items.values()),
        lambda loading, row: of(loading.sandbox.store).add(row),
    )


def _ingredients(kind: type[resources.Ingredient]) -> Table:
    return _collection(kind, lambda store: store.ingredients[kind.kind])


TABLES: Mapping[str, Table] = {
    "accounts": Table(TeamAccount, lambda sandbox: _encoded(sandbox.accounts.values()), _add_account),
    "credentials": Table(CredentialAccount, lambda sandbox: _encoded(sandbox.credentials.values()), _add_credential),
    "playbooks": Table(SavedPlaybook, lambda sandbox: _encoded(_playbooks(sandbox)), _add_playbook),
    "events": Table(SavedEvent, _events, lambda loading, row: loading.sandbox.timeline.schedule(*row)),
    "pictures": Table(SavedPicture, lambda sandbox: list(sandbox.images.pictures.items()), _add_picture),
    "assets": _collection(resources.Asset, lambda store: store.assets),
    "products": _collection(resources.Product, lambda store: store.products),
    "photography_styles": _ingredients(resources.PhotographyStyle),
    "backgrounds": _ingredients(resources.Background),
    "poses": _ingredients(resources.Pose),
    "fashion_models": _ingredients(resources.FashionModel),
    "uploads": _collection(resources.UploadSession, lambda store: store.uploads),
    "operations": _collection(resources.Operation, lambda store: store.operations),
    "generations": _collection(resources.Generation, lambda store: store.generations),
    "records": Table(
        tuple[Scope, StoredAnswer],
        lambda sandbox: sandbox.idempotency.records(),
        lambda loading, row: loading.sandbox.idempotency.restore(*row),
    ),
}
"""In the order of the file."""


def complete(sandbox: Sandbox) -> None:
    """Hold each picture for all that needs it. Raises KeyError."""
    store, images = sandbox.store, sandbox.images
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
