"""The world file: which Teams, credentials and timings there are at the start (interfaces, section 4).

Owns the form of the file and what holds where a file is silent. It makes no Teams: identifiers, balances and states
belong to the sandbox.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Final, Literal, cast

from emulator.documents_yaml import NOWHERE, DocumentError, JsonValue, Node, Position, node_of, quote, read_document
from emulator.kernel.timestamps import SECOND_MS
from emulator.scenario.reading import Cursor, Fields, Report

Profile = Literal["read_only", "full"]
CredentialState = Literal["active", "revoked"]

BUILT_IN_WORLD_FILE: Final = "emulator/service/world.yaml"
"""The default world as a file, shipped as the example; below the folder that holds the package."""

TEAM_KEYS: Final = ("credits", "subscription", "concurrency_limit", "requests_per_minute", "credentials")
CREDENTIAL_STATES: Final = ("active", "revoked")
SUBSCRIPTIONS: Final = ("active", "inactive")
_WORLD_KEYS: Final = ("teams", "timings", "premade")
_CREDENTIAL_KEYS: Final = ("key", "name", "profile", "state", "expires_at")
_BEARER_TOKEN: Final = re.compile(r"[A-Za-z0-9._~+/-]{1,200}=*", re.ASCII)


class WorldError(DocumentError):
    """A world file that cannot be used."""


@dataclass(frozen=True, slots=True)
class WorldCredential:
    """An API Credential at the start. `expires_at` None: the file names no expiry."""

    key: str
    name: str
    profile: Profile = "full"
    state: CredentialState = "active"
    expires_at: int | None = None


@dataclass(frozen=True, slots=True)
class WorldTeam:
    """A Team at the start. `requests_per_minute` is the limit of each of its credentials."""

    name: str
    credits: int = 100
    subscription_active: bool = True
    concurrency_limit: int = 20
    requests_per_minute: int = 120
    credentials: tuple[WorldCredential, ...] = ()


@dataclass(frozen=True, slots=True)
class Timings:
    """How long the service's work takes, in milliseconds of emulator time."""

    queue_ms: int = 1 * SECOND_MS
    photography_style_ms: int = 3 * SECOND_MS
    background_ms: int = 4 * SECOND_MS
    pose_ms: int = 4 * SECOND_MS
    fashion_model_ms: int = 6 * SECOND_MS
    first_output_ms: int = 5 * SECOND_MS
    next_output_ms: int = 2 * SECOND_MS


@dataclass(frozen=True, slots=True)
class WorldFile:
    """The whole world at the start."""

    teams: tuple[WorldTeam, ...]
    timings: Timings = Timings()
    premade: bool = True


_LONG_AGO: Final = 1_577_836_800_000  # 2020-01-01T00:00:00.000Z

BUILT_IN_WORLD: Final = WorldFile(
    teams=(
        WorldTeam(
            "Demo",
            credentials=(
                WorldCredential("iwe_demo_full", "Full"),
                WorldCredential("iwe_demo_read", "Read only", "read_only"),
                WorldCredential("iwe_demo_expired", "Expired", expires_at=_LONG_AGO),
                WorldCredential("iwe_demo_revoked", "Revoked", state="revoked"),
            ),
        ),
        WorldTeam("Other", credentials=(WorldCredential("iwe_other_full", "Full"),)),
        WorldTeam(
            "Lapsed", credits=50, subscription_active=False, credentials=(WorldCredential("iwe_lapsed_full", "Full"),)
        ),
        WorldTeam("Broke", credits=0, credentials=(WorldCredential("iwe_broke_full", "Full"),)),
    )
)
"""What `BUILT_IN_WORLD_FILE` says, for a start without reading a file."""


@dataclass(frozen=True, slots=True)
class TeamChange:
    """What is set anew for one Team; None leaves a thing as it is. A unit is one Credit, request, or work in progress."""

    team: str
    credits: int | None = None
    subscription: Literal["active", "inactive"] | None = None
    concurrency_limit: int | None = None
    requests_per_minute: int | None = None


@dataclass(frozen=True, slots=True)
class WorldTeamChange:
    """A Team of a scenario's or file's world: what is said of it and nothing more. A new Team needs credentials."""

    team: TeamChange
    credentials: tuple[WorldCredential, ...] = ()
    position: Position = NOWHERE


@dataclass(frozen=True, slots=True)
class WorldChanges:
    """What a file says of the world, before anything is put in where it is silent."""

    teams: tuple[WorldTeamChange, ...] = ()
    timings_ms: tuple[tuple[str, int], ...] = ()
    premade: bool | None = None

    def __bool__(self) -> bool:
        return self != NO_WORLD_CHANGES


NO_WORLD_CHANGES: Final = WorldChanges()


@dataclass(frozen=True, slots=True)
class WorldNames:
    """What a file can name of a world: Teams and keys. A caller who knows them lets the file's names be checked."""

    teams: frozenset[str]
    keys: frozenset[str]


def parse_world(text: str | bytes, filename: str) -> WorldFile:
    """Read a world file. A file without `teams` has the built-in ones; a Team's own omissions are `WorldTeam`'s defaults.

    Raises:
        WorldError: with every complaint about the file.
    """
    try:
        node = read_document(text, filename)
    except DocumentError as error:
        raise WorldError(error.complaints) from None
    return _world(node, filename)


def world_of(data: JsonValue, filename: str) -> WorldFile:
    """Read a world that is already JSON, such as the `world` of a request to the control plane.

    Raises:
        WorldError: with every complaint about it, without lines and columns.
    """
    try:
        node = node_of(data, filename)
    except DocumentError as error:
        raise WorldError(error.complaints) from None
    return _world(node, filename)


def _world(node: Node, filename: str) -> WorldFile:
    report = Report(filename)
    changes = read_world_changes(Cursor(report, node, ""), required=("credentials",))
    report.raise_as(WorldError)
    base = replace(BUILT_IN_WORLD, teams=()) if changes.teams else BUILT_IN_WORLD
    return changed_world(base, changes)


def read_world_changes(cursor: Cursor, required: Collection[str] = ()) -> WorldChanges:
    """Read the keys of a world, in a file of its own or in a scenario; what is wrong is noted in the cursor's report.

    `required` are the keys that each Team must have.
    """
    fields = cursor.fields(_WORLD_KEYS)
    keys: dict[str, str] = {}
    teams = fields.get("teams", Cursor.named, {})
    return WorldChanges(
        tuple(_team(name, team, keys, required) for name, team in teams.items()),
        fields.get("timings", _timings, ()),
        fields.get("premade", Cursor.flag, None),
    )


def changed_world(world: WorldFile, changes: WorldChanges) -> WorldFile:
    """Return the world with the changes made: Teams and credentials that it has are changed, others are added."""
    teams = {team.name: team for team in world.teams}
    for change in changes.teams:
        name = change.team.team
        teams[name] = _changed_team(teams.get(name, WorldTeam(name)), change)
    timings = replace(world.timings, **{f"{name}_ms": span_ms for name, span_ms in changes.timings_ms})
    premade = world.premade if changes.premade is None else changes.premade
    return WorldFile(tuple(teams.values()), timings, premade)


def world_names(world: WorldFile) -> WorldNames:
    """Return what a scenario can name of a world."""
    keys = (credential.key for team in world.teams for credential in team.credentials)
    return WorldNames(frozenset(team.name for team in world.teams), frozenset(keys))


def changed_names(names: WorldNames, changes: WorldChanges) -> WorldNames:
    """Return what can be named once the changes are made."""
    keys = (credential.key for change in changes.teams for credential in change.credentials)
    return WorldNames(names.teams | {change.team.team for change in changes.teams}, names.keys | frozenset(keys))


def _changed_team(team: WorldTeam, change: WorldTeamChange) -> WorldTeam:
    new = change.team
    credentials = {credential.key: credential for credential in (*team.credentials, *change.credentials)}
    return WorldTeam(
        team.name,
        team.credits if new.credits is None else new.credits,
        team.subscription_active if new.subscription is None else new.subscription == "active",
        team.concurrency_limit if new.concurrency_limit is None else new.concurrency_limit,
        team.requests_per_minute if new.requests_per_minute is None else new.requests_per_minute,
        tuple(credentials.values()),
    )


def _team(name: str, cursor: Cursor, keys: dict[str, str], required: Collection[str]) -> WorldTeamChange:
    if not name.strip():
        cursor.complain("a Team's name", found="an empty name")
    fields = cursor.fields(TEAM_KEYS, required=required)
    credentials = fields.get("credentials", lambda at: _credentials(at, keys), ())
    return WorldTeamChange(read_team_change(name, fields), credentials, cursor.position)


def read_team_change(team: str, fields: Fields) -> TeamChange:
    """Read what is set of a Team, from the keys that a world and a timeline share."""
    return TeamChange(
        team,
        fields.get("credits", Cursor.integer, None),
        cast(Literal["active", "inactive"] | None, fields.get("subscription", lambda at: at.word(SUBSCRIPTIONS), None)),
        fields.get("concurrency_limit", Cursor.integer, None),
        fields.get("requests_per_minute", lambda at: at.integer(minimum=1), None),
    )


def _credentials(cursor: Cursor, keys: dict[str, str]) -> tuple[WorldCredential, ...]:
    items = cursor.items("a list of credentials")
    if items == []:
        cursor.complain("at least one credential")
    return tuple(_credential(item, keys) for item in items or ())


def _credential(cursor: Cursor, keys: dict[str, str]) -> WorldCredential:
    fields = cursor.fields(_CREDENTIAL_KEYS, required=("key",))
    key = fields.get("key", lambda at: _key(at, keys), "")
    profile = cast(Profile, fields.get("profile", lambda at: at.word(("read_only", "full")), "full"))
    return WorldCredential(
        key,
        fields.get("name", lambda at: at.line("a name"), "Full" if profile == "full" else "Read only"),
        profile,
        cast(CredentialState, fields.get("state", lambda at: at.word(CREDENTIAL_STATES), "active")),
        fields.get("expires_at", Cursor.instant, None),
    )


def _key(cursor: Cursor, keys: dict[str, str]) -> str | None:
    key = cursor.text("a key")
    if key is None:
        return None
    if not _BEARER_TOKEN.fullmatch(key):
        cursor.complain("a key of letters, digits and . _ ~ + / -")
        return None
    if key in keys:
        cursor.complain("each key once", found=f"{quote(key)} again, first given at {keys[key]}")
        return None
    keys[key] = cursor.path
    return key


def _timings(cursor: Cursor) -> tuple[tuple[str, int], ...]:
    names: Collection[str] = [name.removesuffix("_ms") for name in Timings.__dataclass_fields__]
    fields = cursor.fields(names)
    spans_ms = ((name, fields.get(name, Cursor.duration_ms, None)) for name in fields)
    return tuple((name, span_ms) for name, span_ms in spans_ms if span_ms is not None)
