"""What a state file says: its first line, and its tables: what the rows of each are, how they are listed and taken over.

A row may refer to rows of tables before its own, and to none after it. What can be derived is rebuilt as the rows come:
indexes, sums of Credits, places in budgets, holds of pictures, and the events to come, of which the file has only the
order. So a file cannot contradict itself there, and the few other contradictions that would let a later request fail
are refused.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Final, TypeAlias

import msgspec
import orjson
from msgspec import Meta, Struct
from msgspec.structs import asdict, replace

from image_workflow_emulator.contract import Contract
from image_workflow_emulator.documents.complaints import DocumentError
from image_workflow_emulator.domain import resources
from image_workflow_emulator.domain.idempotency import RETENTIONS_MS, IdempotencyRecords, Scope, StoredAnswer
from image_workflow_emulator.domain.ledger import Ledger
from image_workflow_emulator.domain.lifecycles import TERMINAL
from image_workflow_emulator.domain.limits import AdmissionPause, RateWindow
from image_workflow_emulator.domain.readings import Readings
from image_workflow_emulator.domain.recipes import Recipe
from image_workflow_emulator.domain.resources import (
    Generation,
    Ingredient,
    Operation,
    Product,
    UploadSession,
    operation_admitting,
)
from image_workflow_emulator.kernel.clock import Clock, ClockSetting
from image_workflow_emulator.kernel.ranges import Amount, Count, Instant
from image_workflow_emulator.kernel.seed import MAX_SEED, Seed
from image_workflow_emulator.kernel.timeline import Event
from image_workflow_emulator.kernel.timestamps import LATEST_INSTANT
from image_workflow_emulator.scenario.format import parse_scenario
from image_workflow_emulator.scenario.playbook import AwaitedChange, Playbook, RuleCounts
from image_workflow_emulator.scenario.scenario import NO_SCENARIO, Scenario
from image_workflow_emulator.scenario.world import Timings
from image_workflow_emulator.service.engine import HOLD_EVENT
from image_workflow_emulator.service.records.journal import Journal
from image_workflow_emulator.service.resources.work import places_of
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
from image_workflow_emulator.service.sandbox.scenarios import CHANGE_EVENT, EVERYONE
from image_workflow_emulator.service.sandbox.store import Collection

FORMAT: Final = "image-workflow-emulator state"
VERSION: Final = 9
_Number: TypeAlias = Annotated[int, Meta(ge=0, le=10**9)]
_Sha256: TypeAlias = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
_PictureKey: TypeAlias = Annotated[str, Meta(pattern=r"^[a-z]{1,10}_[0-9a-f]{1,80}(\.[0-9]{1,15}\.[0-9]{1,2})?$")]
_HEADER = re.compile(rb"[!#$%&'*+.^_`|~0-9a-z-]+:[\t\x20-\x7e\x80-\xff]*")


class StateError(ValueError):
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
    seed: Annotated[int, Meta(ge=0, le=MAX_SEED)]
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


_ONCE = ("signing_name", "began_at", "rate_limits", "timings", "readings", "pause", "counters")
"""The fields of a `Head` that are those of a sandbox as they are."""


def head_of(sandbox: Sandbox, now: int) -> Head:
    """Return the first line of the state file of a sandbox; it shows what the sandbox goes on to change."""
    scenario = SavedScenario.of(sandbox.options.scenario)
    return Head(
        format=FORMAT,
        version=VERSION,
        sandbox=sandbox.id,
        options=SavedOptions(**asdict(sandbox.options) | {"scenario": scenario}),
        seed=sandbox.seed.value,
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
        seed=Seed(head.seed),
        clock=Clock(head.clock, head.now),
        idempotency=IdempotencyRecords(retention_ms=RETENTIONS_MS[head.readings.key_retention]),
        journal=Journal(last_sequence=head.last_sequence),
        **{name: getattr(head, name) for name in _ONCE},
    )
    return Sandbox(identifier, memory, state)


# The rows -------------------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class Loading:
    """A sandbox that is being loaded, with what the rows need beside it."""

    sandbox: Sandbox
    head: Head
    contract: Contract
    read_bytes: Callable[[str], bytes]
    """Returns the bytes of a picture by their SHA-256."""
    places: dict[str, int] = field(default_factory=dict)
    """By the subject of events to come: its place in the order in which they were scheduled."""
    events: list[Event] = field(default_factory=list)
    """The events to come, those of a subject in their order. Their numbers are the places of their subjects."""

    def expect_event(self, due: int, kind: str, subject: str, detail: int = 0) -> None:
        """Add an event that the state of its subject brings about."""
        place = self.places.get(subject, len(self.places))
        self.events.append(Event(due, place, kind, subject, detail))

    def check_given(self, prefix: str, identifier: str) -> None:
        """Refuse an id that the sandbox has not given out: it may give it to something else one day."""
        if not self.sandbox.identifiers.has_given(prefix, identifier):
            raise StateError(f"{identifier} is not one of the ids that the counters and the seed give")


_Enter: TypeAlias = Callable[[Loading, Any], None]
"""Rebuilds what follows from a row."""


class Table(Struct, frozen=True):
    """Something of which a sandbox has many: the type of a row, how to list them all, how to take one over.

    `rows` returns what there is at this moment, whatever happens before it is gone through. `add` raises StateError, or
    KeyError with the id of something that is not there.
    """

    kind: Any
    rows: Callable[[Sandbox], Iterable[Any]]
    add: Callable[[Loading, Any], None]


def _table_of_changing(kind: Any, rows: Callable[[Sandbox], Iterable[Any]], add: _Enter) -> Table:
    """Return a table whose rows go on to change: they are encoded at once."""
    return Table(kind, lambda sandbox: [msgspec.Raw(msgspec.json.encode(row)) for row in rows(sandbox)], add)


# The order of events --------------------------------------------------------------------------------------------------


def _scheduled(sandbox: Sandbox) -> Iterable[str]:
    """Return the subjects of the events to come, in the order in which they were scheduled, each once."""
    pending = sorted(sandbox.timeline.pending(), key=_number)
    return dict.fromkeys(event.subject for event in pending if event.kind != HOLD_EVENT)


def _number(event: Event) -> int:
    return event.sequence


def _add_scheduled(loading: Loading, subject: str) -> None:
    loading.places.setdefault(subject, len(loading.places))


# Teams, credentials and scenarios -------------------------------------------------------------------------------------


class SavedAccount(Struct, frozen=True):
    """A Team with its available Credits, its admitted requests, and the pause of its writes."""

    team: resources.Team
    available: Amount
    rate: RateWindow
    pause: AdmissionPause


def _accounts(sandbox: Sandbox) -> Iterable[SavedAccount]:
    for account in sandbox.accounts.values():
        yield SavedAccount(account.team, account.ledger.available, account.rate, account.pause)


def _add_account(loading: Loading, row: SavedAccount) -> None:
    loading.check_given("team", row.team.id)
    loading.sandbox.accounts[row.team.id] = TeamAccount(row.team, Ledger(row.available), row.rate, row.pause)


def _add_credential(loading: Loading, row: CredentialAccount) -> None:
    """Take over a credential, with its key as this sandbox has it."""
    sandbox, credential = loading.sandbox, row.credential
    loading.check_given("cred", credential.id)
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
    sandbox, key = loading.sandbox, row.team or EVERYONE
    if key != EVERYONE:
        sandbox.accounts[key]
    scenario = row.scenario.read(loading.contract)
    playbook = Playbook(scenario, row.began_at, sandbox.seed, key or None, row.counts, row.awaited)
    if sandbox.playbooks.setdefault(key, playbook) is not playbook:
        raise StateError("there is a second scenario for the same Teams")
    for due, index in playbook.scheduled():
        if due > loading.head.now:
            loading.expect_event(due, CHANGE_EVENT, key, index)


# Pictures and resources -----------------------------------------------------------------------------------------------


class SavedPicture(Struct, frozen=True):
    """A picture: its recipe, or the SHA-256 (in hexadecimal) of its bytes, which are a member of the file."""

    key: _PictureKey
    recipe: Recipe | None
    sha256: _Sha256 | None
    scene: resources.Scene | None


def _add_picture(loading: Loading, row: SavedPicture) -> None:
    """Take over a picture; nothing holds it yet, but it holds what it is made from."""
    images = loading.sandbox.images
    if loading.sandbox.identifiers.place_of(row.key.partition(".")[0]) is None or row.key in images.pictures:
        raise StateError(f"{row.key} is not the key of a picture, or comes a second time")
    if (row.recipe is None) == (row.sha256 is None):
        raise StateError(f"{row.key} needs either a recipe or the SHA-256 of its bytes")
    data = None if row.sha256 is None else loading.read_bytes(row.sha256)
    images.restore(row.key, data, row.recipe, row.scene)


def _collection(kind: Any, prefix: str, of: Callable[[Sandbox], Collection[Any]], enter: _Enter) -> Table:
    """Return the table of a collection."""

    def add(loading: Loading, row: Any) -> None:
        collection = of(loading.sandbox)
        loading.check_given(prefix, row.id)
        if collection.items and row.id <= next(reversed(collection.items)):
            raise StateError(f"{row.id} does not come in ascending order")
        if row.team_id is not None:
            loading.sandbox.accounts[row.team_id]
        enter(loading, row)
        collection.add(row)

    return Table(kind, lambda sandbox: list(of(sandbox).items.values()), add)


def _show(loading: Loading, keys: Iterable[str]) -> None:
    """Hold pictures, and let their links answer."""
    for key in keys:
        picture = loading.sandbox.images.pictures[key]
        picture.holds += 1
        picture.is_public = True


def _enter_product(loading: Loading, product: Product) -> None:
    for asset_id in product.asset_ids:
        loading.sandbox.store.assets.items[asset_id]
    if product.primary_asset_id not in product.asset_ids:
        raise StateError(f"the primary Asset of {product.id} is not one of its Assets")
    loading.sandbox.store.index_product(product)


def _enter_upload(loading: Loading, session: UploadSession) -> None:
    picture = loading.sandbox.images.pictures.get(session.id)
    if session.status in TERMINAL or session.expires_at <= loading.head.now:
        return
    if (session.status == "received") != (picture is not None and picture.data is not None):
        raise StateError(f"the bytes of {session.id} are there, or missing, against its status")
    if picture is not None:
        picture.holds += 1
    loading.expect_event(session.expires_at, "upload_expired", session.id)


def _enter_operation(loading: Loading, operation: Operation) -> None:
    sandbox, outcome = loading.sandbox, operation.outcome
    ledger = sandbox.accounts[operation.team_id].ledger
    if operation.status in TERMINAL:
        ledger.restore_charge(operation.charged_credits or 0)
        return
    for asset_id in outcome.source_keys:
        sandbox.store.assets.items[asset_id]
    is_promised = sandbox.readings.target == "target-at-once" and operation.type.endswith(".create")  # D27
    if operation.target_id is not None and not is_promised:
        sandbox.store.ingredients[operation.ingredient_kind].items[operation.target_id]
    body = loading.contract.operations[operation_admitting(operation.type)].body
    assert body is not None, "what admits work has a body"
    violations = loading.contract.violations(body, operation.request, first_only=True)
    if violations or outcome.charge > operation.reserved_credits:
        raise StateError(f"{operation.id} is not work that could have been admitted")
    sandbox.images.hold(outcome.source_keys)
    _enter_unfinished(loading, operation, outcome.finishes_at)
    if operation.status == "queued":
        loading.expect_event(outcome.starts_at, "operation_started", operation.id)
    if outcome.finishes_at is not None:
        loading.expect_event(max(outcome.starts_at, outcome.finishes_at), "operation_finished", operation.id)


def _enter_generation(loading: Loading, generation: Generation) -> None:
    if not _is_consistent(generation):
        raise StateError(f"the status of {generation.id} is not that of its outputs")
    if generation.status in TERMINAL:
        loading.sandbox.accounts[generation.team_id].ledger.restore_charge(generation.charged_credits or 0)
        return
    open_outputs = sum(output.status not in TERMINAL for output in generation.outputs)
    ends = [planned.finishes_at for planned in generation.plan if planned.finishes_at is not None]
    _enter_unfinished(loading, generation, max(ends, default=None), open_outputs)
    if generation.status == "queued":
        loading.expect_event(generation.starts_at, "generation_started", generation.id)
    for slot, (planned, output) in enumerate(zip(generation.plan, generation.outputs, strict=True)):
        if output.status not in TERMINAL:
            loading.sandbox.images.hold(planned.picture.inputs)
            if planned.finishes_at is not None:
                due = max(generation.starts_at, planned.finishes_at)
                loading.expect_event(due, "output_finished", generation.id, slot)


def _is_consistent(generation: Generation) -> bool:
    """Tell whether the status is what the outputs make of it, and each has a plan."""
    statuses = {output.status for output in generation.outputs}
    if generation.status == "queued":
        is_agreed = statuses == {"pending"}
    elif generation.status == "processing":
        is_agreed = "processing" in statuses and "pending" not in statuses
    else:
        is_agreed = bool(statuses) and statuses <= TERMINAL
    return is_agreed and len(generation.outputs) == len(generation.plan)


def _enter_unfinished(
    loading: Loading, work: Operation | Generation, finishes_at: int | None, open_outputs: int = 1
) -> None:
    account = loading.sandbox.accounts[work.team_id]
    account.ledger.restore_reservation(work.id, work.reserved_credits)
    account.budget.take(work.id, finishes_at, places_of(loading.sandbox, open_outputs))


def _ingredients(kind: type[Ingredient]) -> Table:
    return _collection(
        kind,
        kind.prefix,
        lambda sandbox: sandbox.store.ingredients[kind.kind],
        lambda loading, ingredient: _show(loading, ingredient.picture_keys),
    )


# Idempotency records --------------------------------------------------------------------------------------------------


def _add_record(loading: Loading, row: tuple[Scope, StoredAnswer]) -> None:
    scope, answer = row
    headers = dict(answer.headers)
    is_whole = headers.get(b"content-length", b"0") == b"%d" % len(answer.body) and b"request-id" in headers
    if not is_whole or not all(_HEADER.fullmatch(b"%s:%s" % header) for header in answer.headers):
        raise StateError("the headers of the answer are not those of an answer")
    if answer.body and not isinstance(orjson.loads(answer.body), dict):
        raise StateError("the body of the answer is not an object")
    loading.sandbox.idempotency.restore(scope, answer)


TABLES: Mapping[str, Table] = {
    "scheduled": Table(str, _scheduled, _add_scheduled),
    "accounts": _table_of_changing(SavedAccount, _accounts, _add_account),
    "credentials": _table_of_changing(CredentialAccount, lambda sandbox: sandbox.credentials.values(), _add_credential),
    "playbooks": _table_of_changing(SavedPlaybook, _playbooks, _add_playbook),
    "pictures": Table(SavedPicture, lambda sandbox: list(sandbox.images.pictures.items()), _add_picture),
    "assets": _collection(
        resources.Asset, "ast", lambda sandbox: sandbox.store.assets, lambda loading, asset: _show(loading, [asset.id])
    ),
    "products": _collection(Product, "prd", lambda sandbox: sandbox.store.products, _enter_product),
    "photography_styles": _ingredients(resources.PhotographyStyle),
    "backgrounds": _ingredients(resources.Background),
    "poses": _ingredients(resources.Pose),
    "fashion_models": _ingredients(resources.FashionModel),
    "uploads": _collection(UploadSession, "upl", lambda sandbox: sandbox.store.uploads, _enter_upload),
    "operations": _collection(Operation, "op", lambda sandbox: sandbox.store.operations, _enter_operation),
    "generations": _collection(Generation, "gen", lambda sandbox: sandbox.store.generations, _enter_generation),
    "records": Table(tuple[Scope, StoredAnswer], lambda sandbox: sandbox.idempotency.records(), _add_record),
}
"""In the order of the file."""


def complete(loading: Loading) -> None:
    """Do what needs all rows: schedule the events, and free the pictures that nothing needs."""
    sandbox = loading.sandbox
    for event in sorted(loading.events, key=_number):
        sandbox.timeline.schedule(event.due, event.kind, event.subject, event.detail)
    images, kinds = sandbox.images, sandbox.store.ingredients.values()
    for key in reversed(list(images.pictures)):  # what a picture is made from comes before it
        identifier, _, version = key.partition(".")
        ingredient = next((kind.items[identifier] for kind in kinds if identifier in kind.items), None)
        if ingredient is not None and int(version.partition(".")[0] or 0) > ingredient.version:
            raise StateError(f"/pictures: {key} is a picture of a version that there is not yet")
        if key in images.pictures and images.pictures[key].holds == 0:
            images.hold([key])
            images.release([key])
