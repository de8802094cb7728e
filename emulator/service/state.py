"""State files: a whole sandbox as one zip, to attach to a bug report and load elsewhere (interfaces, section 6).

The file holds `state.json` (versioned; every instant in milliseconds) and `pictures/<key>` for each encoded picture,
whose SHA-256 `state.json` tells. A sandbox that is loaded continues byte for byte as the original would have. What is
not in it: requests that were being answered (held admissions among them), and the journal's entries; its numbers go on.

A sandbox of another id can take the file: its keys then have its own id worked in, its links lead to it, and tokens and
cursors that the original gave out stay good.
"""

import dataclasses
import hashlib
import io
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import orjson

from emulator.domain.admission import AdmissionPause, ConcurrencyBudget, RateWindow
from emulator.domain.idempotency import Record, Scope
from emulator.domain.ledger import Ledger
from emulator.domain.lifecycles import TERMINAL
from emulator.domain.recipes import Recipe
from emulator.domain.resources import (
    Asset,
    Background,
    Credential,
    FashionModel,
    Generation,
    Operation,
    PhotographyStyle,
    Pose,
    Product,
    Scene,
    Team,
    UploadSession,
)
from emulator.kernel.clock import ClockSetting
from emulator.kernel.timeline import Event
from emulator.kernel.timestamps import LATEST_INSTANT
from emulator.scenario.playbook import Playbook
from emulator.scenario.scenario import NO_SCENARIO, Scenario
from emulator.scenario.world import Timings, WorldFile
from emulator.service.codec import CodecError, decode, encode
from emulator.service.engine import HOLD_EVENT, can_happen
from emulator.service.images import MemoryBudget
from emulator.service.sandbox import DEFAULT_SANDBOX_ID, Sandbox, SandboxOptions
from emulator.service.store import Store
from emulator.service.teams import CredentialAccount, TeamAccount

FORMAT = "image-workflow-emulator state"
VERSION = 1
MOST_CREDITS = 2**53 - 1
MAXIMUM_STATE_JSON_BYTES = 512 * 1024 * 1024
_STATE_JSON = "state.json"
_PICTURES = "pictures/"
_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The one date that every member of the file has, so that equal states are equal files."""

_UNREADABLE = (
    zipfile.BadZipFile,
    zlib.error,
    NotImplementedError,
    EOFError,
    RuntimeError,
    OSError,
    OverflowError,
    ValueError,
)
"""What the reader of zip files says of files that are none, or are damaged."""

ScenarioReader = Callable[[str, str], Scenario]
"""Reads a scenario again from its text and file name."""


class StateError(ValueError):
    """A state file that cannot be loaded; the text says where and why."""


@dataclass(frozen=True, slots=True)
class SavedScenario:
    """A scenario, as the text it was read from."""

    text: str
    file: str


@dataclass(frozen=True, slots=True)
class SavedOptions:
    """How the sandbox began, for its next reset."""

    seed: int | None
    clock: ClockSetting | None
    start: int | None
    rate_limits: bool
    world: WorldFile
    scenario: SavedScenario | None


@dataclass(frozen=True, slots=True)
class SavedPlaybook:
    """A running scenario with its counters."""

    team_id: str
    scenario: SavedScenario
    began_at: int
    counters: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class SavedCredential:
    """A credential and the requests it was let in with."""

    credential: Credential
    rate: RateWindow


@dataclass(frozen=True, slots=True)
class SavedTeam:
    """A Team with all that is counted for it."""

    team: Team
    ledger: Ledger
    budget: ConcurrencyBudget
    rate: RateWindow
    pause: AdmissionPause
    credentials: list[SavedCredential]


@dataclass(frozen=True, slots=True)
class SavedResources:
    """Every resource, each kind in the order of creation."""

    uploads: list[UploadSession]
    assets: list[Asset]
    products: list[Product]
    photography_styles: list[PhotographyStyle]
    backgrounds: list[Background]
    poses: list[Pose]
    fashion_models: list[FashionModel]
    operations: list[Operation]
    generations: list[Generation]


@dataclass(frozen=True, slots=True)
class SavedPicture:
    """A picture: its recipe, or the SHA-256 (in hexadecimal) of its bytes, which are a member of the file."""

    key: str
    recipe: Recipe | None
    sha256: str | None
    scene: Scene | None
    holds: int
    is_public: bool


@dataclass(frozen=True, slots=True)
class SavedState:
    """The content of `state.json`."""

    format: str
    version: int
    sandbox: str
    signing_name: str
    options: SavedOptions
    seed: int
    now: int
    clock: ClockSetting
    began_at: int
    rate_limits: bool
    timings: Timings
    pause: AdmissionPause
    identifiers: dict[str, int]
    timeline_sequence: int
    timeline: list[Event]
    teams: list[SavedTeam]
    resources: SavedResources
    idempotency: list[tuple[Scope, Record]]
    playbooks: list[SavedPlaybook]
    pictures: list[SavedPicture]
    journal_sequence: int


def save(sandbox: Sandbox) -> bytes:
    """Write a sandbox, settled up to now, as a state file."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        content = orjson.dumps(encode(_saved(sandbox)))
        archive.writestr(zipfile.ZipInfo(_STATE_JSON, _EPOCH), content, zipfile.ZIP_DEFLATED)
        for key, picture in sandbox.images.pictures.items():
            if picture.data is not None:
                archive.writestr(zipfile.ZipInfo(_PICTURES + key, _EPOCH), picture.data, zipfile.ZIP_STORED)
    return buffer.getvalue()


def load(content: bytes, identifier: str, memory: MemoryBudget, read_scenario: ScenarioReader) -> Sandbox:
    """Make a sandbox of an id from a state file; nothing else changes.

    Raises:
        StateError: the file is not a state file, is of a newer version, or does not fit together.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            saved = _read_state(archive)
            pictures = _read_pictures(archive, saved, memory)
        _check_bounds(saved)
    except (StateError, CodecError) as error:
        raise StateError(str(error)) from None
    except _UNREADABLE as error:
        raise StateError(f"the file is not a state file: {error}") from None
    sandbox = Sandbox(identifier, _options(saved.options, read_scenario), memory)
    try:
        _restore(sandbox, saved, pictures, read_scenario)
    except (KeyError, CodecError, ValueError) as error:
        sandbox.images.close()
        raise StateError(f"the state does not fit together: {error}") from None
    return sandbox


# Saving -------------------------------------------------------------------------------------------------------------


def _saved(sandbox: Sandbox) -> SavedState:
    options = sandbox.options
    return SavedState(
        format=FORMAT,
        version=VERSION,
        sandbox=sandbox.id,
        signing_name=sandbox.signing_name,
        options=SavedOptions(
            options.seed,
            options.clock,
            options.start,
            options.rate_limits,
            options.world,
            None if options.scenario == NO_SCENARIO else _saved_scenario(options.scenario),
        ),
        seed=sandbox.seed.value,
        now=sandbox.clock.now(),
        clock=sandbox.clock.setting,
        began_at=sandbox.began_at,
        rate_limits=sandbox.rate_limits,
        timings=sandbox.timings,
        pause=sandbox.pause,
        identifiers=sandbox.identifiers.counters,
        timeline_sequence=sandbox.timeline.sequence,
        timeline=[event for event in sandbox.timeline.events() if event.kind != HOLD_EVENT],
        teams=[_saved_team(sandbox, account) for account in sandbox.accounts.values()],
        resources=_saved_resources(sandbox.store),
        idempotency=list(sandbox.idempotency.records()),
        playbooks=[
            SavedPlaybook(
                team_id,
                _saved_scenario(playbook.scenario),
                playbook.began_at,
                [dict(row) for row in playbook.rules_report()],
            )
            for team_id, playbook in sandbox.playbooks.items()
        ],
        pictures=[
            SavedPicture(key, picture.recipe, _digest(picture.data), picture.scene, picture.holds, picture.is_public)
            for key, picture in sandbox.images.pictures.items()
        ],
        journal_sequence=sandbox.journal.last_sequence,
    )


def _digest(data: bytes | None) -> str | None:
    return None if data is None else hashlib.sha256(data).hexdigest()


def _saved_scenario(scenario: Scenario) -> SavedScenario:
    return SavedScenario(scenario.text, scenario.file)


def _saved_team(sandbox: Sandbox, account: TeamAccount) -> SavedTeam:
    credentials = [
        SavedCredential(held.credential, held.rate)
        for held in sandbox.credentials.values()
        if held.credential.team_id == account.team.id
    ]
    return SavedTeam(account.team, account.ledger, account.budget, account.rate, account.pause, credentials)


def _saved_resources(store: Store) -> SavedResources:
    ingredients = {kind: list(collection.items.values()) for kind, collection in store.ingredients.items()}
    return SavedResources(
        uploads=list(store.uploads.items.values()),
        assets=list(store.assets.items.values()),
        products=list(store.products.items.values()),
        photography_styles=ingredients["photography_style"],  # type: ignore[arg-type]  # each collection holds its kind
        backgrounds=ingredients["background"],  # type: ignore[arg-type]
        poses=ingredients["pose"],  # type: ignore[arg-type]
        fashion_models=ingredients["fashion_model"],  # type: ignore[arg-type]
        operations=list(store.operations.items.values()),
        generations=list(store.generations.items.values()),
    )


# Loading ------------------------------------------------------------------------------------------------------------


def _read_state(archive: zipfile.ZipFile) -> SavedState:
    try:
        member = archive.getinfo(_STATE_JSON)
    except KeyError:
        raise StateError(f"the file is not a state file: it has no {_STATE_JSON}") from None
    if member.file_size > MAXIMUM_STATE_JSON_BYTES:
        raise StateError(f"{_STATE_JSON}: found {member.file_size} bytes; expected {MAXIMUM_STATE_JSON_BYTES} at most")
    try:
        data = orjson.loads(archive.read(member))
    except orjson.JSONDecodeError as error:
        raise StateError(f"{_STATE_JSON}: {error}") from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise StateError(f"{_STATE_JSON}: expected the format {FORMAT!r}")
    if data.get("version") != VERSION:
        raise StateError(
            f"{_STATE_JSON}: found version {data.get('version')!r}; this emulator reads version {VERSION} alone"
        )
    return decode(SavedState, data)


def _read_pictures(archive: zipfile.ZipFile, saved: SavedState, memory: MemoryBudget) -> dict[str, bytes]:
    sizes = {info.filename: info.file_size for info in archive.infolist() if info.filename.startswith(_PICTURES)}
    if sum(sizes.values()) > memory.limit_bytes:
        raise StateError(f"found {sum(sizes.values())} bytes of pictures; expected --max-memory at most")
    pictures = {}
    for picture in saved.pictures:
        if picture.recipe is None:
            name = _PICTURES + picture.key
            if name not in sizes:
                raise StateError(f"{name}: expected the bytes of a picture")
            data = archive.read(name)
            if _digest(data) != picture.sha256:
                raise StateError(f"{name}: found bytes of another SHA-256; expected those that were saved")
            pictures[picture.key] = data
    return pictures


def _options(saved: SavedOptions, read_scenario: ScenarioReader) -> SandboxOptions:
    scenario = NO_SCENARIO if saved.scenario is None else _scenario(saved.scenario, read_scenario)
    return SandboxOptions(saved.seed, saved.clock, saved.start, saved.rate_limits, saved.world, scenario)


def _scenario(saved: SavedScenario, read_scenario: ScenarioReader) -> Scenario:
    try:
        return read_scenario(saved.text, saved.file)
    except Exception as error:
        raise StateError(f"its scenario cannot be read again: {error}") from error


def _restore(sandbox: Sandbox, saved: SavedState, pictures: dict[str, bytes], read_scenario: ScenarioReader) -> None:
    """Put what was saved in the place of a sandbox's beginning."""
    sandbox.restart(saved.seed, saved.clock, saved.now, saved.signing_name)
    sandbox.began_at = saved.began_at
    sandbox.rate_limits = saved.rate_limits
    sandbox.timings = saved.timings
    sandbox.pause = saved.pause
    sandbox.identifiers.counters.update(saved.identifiers)
    sandbox.timeline.restore(saved.timeline, saved.timeline_sequence)
    for picture in saved.pictures:
        data = pictures.get(picture.key)
        sandbox.images.restore(
            picture.key, data, picture.recipe, picture.scene, holds=picture.holds, is_public=picture.is_public
        )
    sandbox.journal.last_sequence = saved.journal_sequence
    for team in saved.teams:
        _restore_team(sandbox, saved.sandbox, team)
    _restore_resources(sandbox.store, saved.resources)
    for scope, record in saved.idempotency:
        sandbox.idempotency.restore(scope, record)
    _check_pictures(sandbox)
    _check_events(sandbox)
    for running in saved.playbooks:
        scenario = _scenario(running.scenario, read_scenario)
        playbook = Playbook(scenario, running.began_at, sandbox.seed, running.team_id or None)
        playbook.restore(running.counters)
        sandbox.playbooks[running.team_id] = playbook


def _restore_team(sandbox: Sandbox, original_id: str, saved: SavedTeam) -> None:
    account = TeamAccount(saved.team, saved.ledger, saved.budget, saved.rate, saved.pause)
    sandbox.accounts[saved.team.id] = account
    for entry in saved.credentials:
        world_key = entry.credential.key
        if original_id != DEFAULT_SANDBOX_ID:
            world_key = world_key.removesuffix(f"_{original_id}")
        key = sandbox.key_of(world_key)
        credential = dataclasses.replace(entry.credential, key=key)
        sandbox.credentials[key] = CredentialAccount(credential, entry.rate)


def _restore_resources(store: Store, saved: SavedResources) -> None:
    """Enter every resource, and make the indexes anew."""
    for session in saved.uploads:
        store.uploads.add(session)
    for asset in saved.assets:
        store.assets.add(asset)
    for product in saved.products:
        store.products.add(product)
        store.index_product(product)
    for ingredient in (*saved.photography_styles, *saved.backgrounds, *saved.poses, *saved.fashion_models):
        store.ingredients[ingredient.kind].add(ingredient)
    for operation in saved.operations:
        store.operations.add(operation)
        if operation.status not in TERMINAL:
            store.index_operation(operation)
    for generation in saved.generations:
        store.generations.add(generation)


def _check_pictures(sandbox: Sandbox) -> None:
    """Refuse a state whose resources have no pictures."""
    store, pictures = sandbox.store, sandbox.images.pictures
    needed = list(store.assets.items)
    for collection in store.ingredients.values():
        needed += [key for ingredient in collection.items.values() for key in ingredient.picture_keys]
    now = sandbox.clock.now()
    sessions = store.uploads.items.values()  # past its window, a session has lost its bytes
    needed += [session.id for session in sessions if session.status == "received" and now < session.expires_at]
    for key in needed:
        if key not in pictures:
            raise ValueError(f"the picture {key} is missing")


def _check_events(sandbox: Sandbox) -> None:
    """Refuse a state in which something is to happen that cannot happen."""
    for event in sandbox.timeline.events():
        if not can_happen(sandbox, event):
            raise ValueError(f"the event {event.kind!r} of {event.subject!r} is none that can happen")


def _check_bounds(saved: SavedState) -> None:
    """Refuse instants that no timestamp can have, and Credits that no ledger can."""
    instants = [
        saved.now,
        saved.began_at,
        saved.options.start,
        *(credential.credential.expires_at for team in saved.teams for credential in team.credentials),
        *(credential.expires_at for team in saved.options.world.teams for credential in team.credentials),
    ]
    for instant in instants:
        if instant is not None and not 0 <= instant <= LATEST_INSTANT:
            raise StateError(f"the instant {instant} lies outside 1970 to 9999")
    amounts = [
        (team.ledger.granted, team.ledger.charged, team.ledger.reserved, team.ledger.available) for team in saved.teams
    ]
    for amount in (
        *(team.credits for team in saved.options.world.teams),
        *(value for values in amounts for value in values),
    ):
        if not 0 <= amount <= MOST_CREDITS:
            raise StateError(f"{amount} Credits are none that a Team can have")
