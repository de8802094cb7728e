"""The world in which a sandbox begins: Teams, credentials and timings.

Files, options, scenarios and bodies give worlds. A world says what differs from another
one, in the end from the built-in one: what it does not say stays. Owns the defaults,
and what `contract/world.schema.json` cannot say. It makes no Teams: identifiers,
balances and states belong to the sandbox.
"""

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Annotated, Any, Final, Self, TypeAlias

from msgspec import Meta, Struct
from msgspec.structs import asdict, replace

from image_workflow_emulator.documents.document import Document, Fields
from image_workflow_emulator.documents.schemas import Schemas
from image_workflow_emulator.documents.shipped import shipped_document
from image_workflow_emulator.documents.violations import Steps
from image_workflow_emulator.domain.resources import (
    Amount,
    CredentialState,
    Instant,
    Key,
    Profile,
    Span,
)
from image_workflow_emulator.kernel.wording import excerpt

MAX_TEAMS: Final = 1_000
"""Limit of the Teams with which a reset begins, where a state file says so."""
CREDENTIAL_NAMES: Final[Mapping[Profile, str]] = MappingProxyType(
    {"full": "Full", "read_only": "Read only"}
)
"""The default names of credentials, by profile."""


class WorldCredential(Struct, frozen=True):
    """What a world or a change says of a credential.

    None: the field stays as it is, or is that of a new credential.
    """

    key: Key
    """The key in the world file; in a change of a timeline also the sandbox's form."""
    name: str | None = None
    profile: Profile | None = None
    state: CredentialState | None = None
    expires_at: Instant | None = None

    def values(self) -> dict[str, Any]:
        """Return the fields that are given, without the key."""
        fields = asdict(self)
        del fields["key"]
        return _without_none(fields)


class WorldTeam(Struct, frozen=True):
    """What a world or a change says of a Team.

    None: the field stays as it is, or is that of a new Team.
    """

    name: str
    """The name; in a change of a timeline also the id."""
    credits: Amount | None = None
    subscription_active: bool | None = None
    concurrency_limit: Amount | None = None
    requests_per_minute: Amount | None = None
    """The limit of each of its credentials."""
    credentials: tuple[WorldCredential, ...] = ()
    """Those that are added or changed, by their keys."""

    def values(self) -> dict[str, Any]:
        """Return the fields that are given, without name and credentials."""
        fields = asdict(self)
        del fields["name"]
        del fields["credentials"]
        return _without_none(fields)


def _without_none(fields: Fields) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


NEW_TEAM: Final[Mapping[str, Any]] = MappingProxyType(
    {
        "credits": 100,
        "subscription_active": True,
        "concurrency_limit": 20,
        "requests_per_minute": 120,
    }
)
"""The defaults of a new Team."""


class Timings(Struct, frozen=True):
    """How long the service's work takes, in milliseconds of emulator time."""

    queue_ms: Span
    photography_style_ms: Span
    background_ms: Span
    pose_ms: Span
    fashion_model_ms: Span
    first_output_ms: Span
    next_output_ms: Span


_TIMING_NAMES: Final = "|".join(Timings.__struct_fields__)
TimingName = Annotated[str, Meta(pattern=f"^({_TIMING_NAMES})$")]


class World(Struct, frozen=True):
    """A world as it is given."""

    teams: Annotated[tuple[WorldTeam, ...], Meta(max_length=MAX_TEAMS)] = ()
    timings: Mapping[TimingName, Span] = {}
    """By the fields of `Timings`."""
    premade: bool | None = None
    """Whether there are premade ingredients."""

    def changed(self, changes: "World") -> "World":
        """Return this world with changes.

        Teams and credentials that it has are changed, others are added.
        """
        teams = {team.name: team for team in self.teams}
        for change in changes.teams:
            team = teams.get(change.name, WorldTeam(change.name))
            teams[team.name] = _changed_team(team, change)
        premade = self.premade
        if changes.premade is not None:
            premade = changes.premade
        return World(
            teams=tuple(teams.values()),
            timings={**self.timings, **changes.timings},
            premade=premade,
        )


def _changed_team(team: WorldTeam, change: WorldTeam) -> WorldTeam:
    by_key = {credential.key: credential for credential in team.credentials}
    for changed in change.credentials:
        before = by_key.get(changed.key, changed)
        by_key[changed.key] = replace(before, **changed.values())
    credentials = tuple(by_key.values())
    return replace(team, **change.values(), credentials=credentials)


@cache
def _schemas() -> Schemas:
    return Schemas(shipped_document("contract/world.schema.json"))


@cache
def built_in_world() -> World:
    """Return the world that every other one changes: `contract/world.yaml`."""
    shipped_world = shipped_document("contract/world.yaml")
    return read_world(_schemas().value("#", shipped_world))


# The names in it --------------------------------------------------------------------


class WorldNames(Struct, frozen=True):
    """The Teams and keys there are, by which the names in a file are checked."""

    teams: Mapping[str, str]
    """The names of the Teams, by name and by id."""
    keys: Mapping[str, str]
    """The names of the Teams of keys, by each form of a key."""
    only: str | None = None
    """The name of the one Team that a scenario is limited to; None for all."""

    def usable(self, names: Mapping[str, str]) -> frozenset[str]:
        """Return those names of Teams, or those keys, that the file may use."""
        if self.only is None:
            return frozenset(names)
        return frozenset(name for name, team in names.items() if team == self.only)

    def with_world(
        self,
        document: Document,
        world: Fields,
        steps: Steps,
    ) -> Self:
        """Return these names with those that a world in a document adds.

        Complains of a Team that it cannot change, and of a key that another Team has.
        """
        teams = dict(self.teams)
        keys = dict(self.keys)
        given_teams = world.get("teams", {})
        for name, team in given_teams.items():
            place = (*steps, "teams", name)
            can_be_new = "credentials" in team and self.only is None
            if not can_be_new:
                self._check_team(document, place, name)
            own_name = teams.setdefault(name, name)
            for index, credential in enumerate(team.get("credentials", ())):
                key = credential["key"]
                owner = keys.setdefault(key, own_name)
                if owner != own_name:
                    document.complain(
                        (*place, "credentials", index, "key"),
                        expected="a new key, or one of this Team",
                        found=f"{excerpt(key)}, a key of the Team {excerpt(owner)}",
                    )
        return replace(self, teams=teams, keys=keys)

    def _check_team(
        self,
        document: Document,
        place: Steps,
        name: str,
    ) -> None:
        document.check_word(
            place,
            word=name,
            words=self.usable(self.teams),
            kind="a Team, or credentials for a new one",
            at_key=True,
        )


def world_names(world: World) -> WorldNames:
    """Return what a scenario can name of a world."""
    teams = {}
    keys = {}
    for team in world.teams:
        teams[team.name] = team.name
        for credential in team.credentials:
            keys[credential.key] = team.name
    return WorldNames(teams, keys)


# Reading ----------------------------------------------------------------------------


def world_of(document: Document) -> World:
    """Read a document as changes of the built-in world.

    Raises:
        DocumentError: with every complaint about it.
    """
    return built_in_world().changed(world_changes_of(document))


def world_changes_of(document: Document) -> World:
    """Read a document as changes of the built-in world, and return the changes alone.

    Raises:
        DocumentError: with every complaint about it.
    """
    document.check(_schemas())
    built_in_names = world_names(built_in_world())
    built_in_names.with_world(document, document.value, ())
    document.raise_complaints()
    return read_world(document.value)


def read_world(given: Fields) -> World:
    """Make a world from the values of a valid document."""
    given_teams = given.get("teams", {})
    teams = [read_team(name, team) for name, team in given_teams.items()]
    spans = given.get("timings", {})
    return World(
        teams=tuple(teams),
        timings={f"{name}_ms": span_ms for name, span_ms in spans.items()},
        premade=given.get("premade"),
    )


TeamChange: TypeAlias = WorldTeam | WorldCredential


def read_change(given: Fields) -> TeamChange:
    """Make a change of a Team or of a credential from what a timeline sets."""
    if "team" in given:
        return read_team(given["team"], given)
    fields = dict(given)
    return WorldCredential(fields.pop("credential"), **fields)


def read_team(name: str, given: Fields) -> WorldTeam:
    """Make a Team, or a change of one, from the fields that a world, a timeline and the
    control plane have in common.
    """
    fields = {field: value for field, value in given.items() if field in NEW_TEAM}
    if "subscription" in given:
        fields["subscription_active"] = given["subscription"] == "active"
    described_credentials = given.get("credentials", ())
    credentials = [WorldCredential(**described) for described in described_credentials]
    return WorldTeam(name, credentials=tuple(credentials), **fields)
