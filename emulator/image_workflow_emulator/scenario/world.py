"""A world: which Teams, credentials and timings there are at the start, with one form for files, scenarios and bodies.

A world says what differs from another one, in the end from the built-in one: what it does not say stays. Owns the
defaults, and what `contract/world.schema.json` cannot say. It makes no Teams: identifiers, balances and states belong to
the sandbox.
"""

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Annotated, Any, Final, Self

from msgspec import Meta, Struct
from msgspec.structs import asdict, replace

from image_workflow_emulator.documents import shipped_document
from image_workflow_emulator.documents.document import Document
from image_workflow_emulator.documents.schemas import Schemas
from image_workflow_emulator.documents.values import FORMATS, optional, parse_span_ms, parse_whole_number
from image_workflow_emulator.documents.yaml_reader import JsonValue, document_of, read_document
from image_workflow_emulator.domain.resources import CredentialState, Key, Profile
from image_workflow_emulator.kernel.ranges import Amount, Instant, Span
from image_workflow_emulator.kernel.timestamps import parse_timestamp
from image_workflow_emulator.kernel.wording import excerpt

MAX_TEAMS: Final = 1_000
"""Limit of the Teams with which a reset begins, where a state file says so."""
CREDENTIAL_NAMES: Final[Mapping[Profile, str]] = MappingProxyType({"full": "Full", "read_only": "Read only"})
"""The names of credentials to which nobody gives another."""


class WorldCredential(Struct, frozen=True):
    """An API Credential at the start. `expires_at` None: the world names no expiry."""

    key: Key
    name: str
    profile: Profile = "full"
    state: CredentialState = "active"
    expires_at: Instant | None = None


class WorldTeam(Struct, frozen=True):
    """What a world or a change says of a Team: a field that is None stays as it is, or is that of a new Team.

    `requests_per_minute` is the limit of each of its credentials. `credentials` are those added or changed, by their keys.
    """

    name: str
    """The name, or in a change of a timeline also the id."""
    credits: Amount | None = None
    subscription_active: bool | None = None
    concurrency_limit: Amount | None = None
    requests_per_minute: Amount | None = None
    credentials: tuple[WorldCredential, ...] = ()

    def values(self) -> dict[str, Any]:
        """Return what is said of the Team itself."""
        return {name: value for name, value in asdict(self).items() if name in NEW_TEAM and value is not None}


NEW_TEAM: Final[Mapping[str, Any]] = MappingProxyType(
    {"credits": 100, "subscription_active": True, "concurrency_limit": 20, "requests_per_minute": 120}
)
"""The values of a Team of which a world says nothing."""


class Timings(Struct, frozen=True):
    """How long the service's work takes, in milliseconds of emulator time."""

    queue_ms: Span
    photography_style_ms: Span
    background_ms: Span
    pose_ms: Span
    fashion_model_ms: Span
    first_output_ms: Span
    next_output_ms: Span


TimingName = Annotated[str, Meta(pattern=f"^({'|'.join(Timings.__struct_fields__)})$")]


class World(Struct, frozen=True):
    """A world as it is given: Teams, timings by the names of the fields of `Timings`, and whether there are premade ingredients."""

    teams: Annotated[tuple[WorldTeam, ...], Meta(max_length=MAX_TEAMS)] = ()
    timings: Mapping[TimingName, Span] = {}
    premade: bool | None = None

    def changed(self, changes: "World") -> "World":
        """Return this world with changes: Teams and credentials that it has are changed, others are added."""
        teams = {team.name: team for team in self.teams}
        for change in changes.teams:
            team = teams.get(change.name, WorldTeam(change.name))
            credentials = {credential.key: credential for credential in (*team.credentials, *change.credentials)}
            teams[team.name] = replace(team, **change.values(), credentials=tuple(credentials.values()))
        premade = self.premade if changes.premade is None else changes.premade
        return World(tuple(teams.values()), {**self.timings, **changes.timings}, premade)


NO_WORLD_CHANGES: Final = World()


@cache
def built_in_world() -> World:
    """Return the world that every other one changes: `contract/world.yaml`."""
    return read_world(document_of(shipped_document("contract/world.yaml"), "").texts)


class CredentialChange(Struct, frozen=True):
    """What is set for a credential: its `state`, `expires_at`, `profile` or `name`.

    `key` is the key in the world file, or the sandbox's form of it.
    """

    key: str
    values: Mapping[str, Any]


class WorldNames(Struct, frozen=True):
    """The Teams and keys there are, by which the names in a file are checked.

    `teams` has names and ids, `keys` each form of a key, both with the name of the Team. `only` is the name of the one
    Team that a scenario is limited to; None for all.
    """

    teams: Mapping[str, str]
    keys: Mapping[str, str]
    only: str | None = None

    def usable(self, names: Mapping[str, str]) -> frozenset[str]:
        """Return those of the Teams, or of the keys, that the file can name."""
        return frozenset(name for name, team in names.items() if self.only in (None, team))

    def with_world(self, world: Mapping[str, Any]) -> Self:
        """Return these names with those that a scenario's world brings along."""
        teams, keys = dict(self.teams), dict(self.keys)
        for name, team in world.get("teams", {}).items():
            teams.setdefault(name, name)
            for credential in team.get("credentials", ()):
                keys.setdefault(credential["key"], teams[name])
        return replace(self, teams=teams, keys=keys)


def world_names(world: World) -> WorldNames:
    """Return what a scenario can name of a world."""
    keys = {credential.key: team.name for team in world.teams for credential in team.credentials}
    return WorldNames({team.name: team.name for team in world.teams}, keys)


# Reading --------------------------------------------------------------------------------------------------------------


def parse_world(text: str | bytes, file: str) -> World:
    """Read a world file, YAML or JSON, as changes of the built-in world. Raises DocumentError with every complaint."""
    return _read(read_document(text, file))


def world_of(data: JsonValue, where: str) -> World:
    """Read a world that is already JSON, at a place in a body. Raises DocumentError, without lines and columns."""
    return _read(document_of(data, "", where))


def _read(document: Document) -> World:
    document.check(_schemas())
    check_world(document, document.texts, (), world_names(built_in_world()))
    document.raise_complaints()
    return built_in_world().changed(read_world(document.texts))


@cache
def _schemas() -> Schemas:
    return Schemas(shipped_document("contract/world.schema.json"), FORMATS)


def check_world(document: Document, world: Mapping[str, Any], steps: tuple[str, ...], names: WorldNames | None) -> None:
    """Complain of what no schema can say of Teams. `names` are those there are without it, if known."""
    owners = {} if names is None else dict(names.keys)
    for name, team in world.get("teams", {}).items():
        at = (*steps, "teams", name)
        if names is not None and not ("credentials" in team and names.only is None):
            kind = "a Team, or credentials for a new one"
            document.check_word(at, name, names.usable(names.teams), kind, at_key=True)
        own_name = name if names is None else names.teams.get(name, name)
        for index, credential in enumerate(team.get("credentials", ())):
            owner = owners.setdefault(credential["key"], own_name)
            if owner != own_name:
                found = f"{excerpt(credential['key'])}, a key of the Team {excerpt(owner)}"
                document.complain((*at, "credentials", index, "key"), "a new key, or one of this Team", found)


def read_world(world: Mapping[str, Any]) -> World:
    """Read a world whose shape is valid, every scalar as text."""
    return World(
        tuple(read_team(name, team) for name, team in world.get("teams", {}).items()),
        {f"{name}_ms": parse_span_ms(span) for name, span in world.get("timings", {}).items()},
        optional(world, "premade", lambda text: text == "true"),
    )


def read_team(name: str, team: Mapping[str, Any]) -> WorldTeam:
    """Read what is said of a Team, under the keys that a world, a timeline and the control plane share."""
    return WorldTeam(
        name,
        optional(team, "credits", parse_whole_number),
        optional(team, "subscription", lambda word: word == "active"),
        optional(team, "concurrency_limit", parse_whole_number),
        optional(team, "requests_per_minute", parse_whole_number),
        tuple(map(_read_credential, team.get("credentials", ()))),
    )


def _read_credential(given: Mapping[str, Any]) -> WorldCredential:
    profile = given.get("profile", "full")
    return WorldCredential(
        **{"name": CREDENTIAL_NAMES[profile], **given, **credential_change(given["key"], given).values}
    )


def credential_change(key: str, given: Mapping[str, Any]) -> CredentialChange:
    """Read the values of a credential under the keys that a timeline and the control plane share."""
    values = {name: given[name] for name in ("state", "profile") if name in given}
    if "expires_at" in given:
        values["expires_at"] = parse_timestamp(given["expires_at"])
    return CredentialChange(key, values)
