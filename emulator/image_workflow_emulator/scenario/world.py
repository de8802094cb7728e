"""A world as data: which Teams, credentials and timings there are, and how a scenario changes them.

Owns the defaults. `world_format` reads it from files; the sandbox is made from it.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any, Final

from msgspec import Meta, Struct
from msgspec.structs import replace

from image_workflow_emulator.domain.resources import CredentialState, Key, Profile
from image_workflow_emulator.kernel.ranges import Amount, Instant, Span
from image_workflow_emulator.kernel.timestamps import SECOND_MS

MAX_TEAMS: Final = 1_000
"""Limit of the Teams with which a reset begins, where a state file says so."""
CREDENTIAL_NAMES: Final[Mapping[Profile, str]] = MappingProxyType({"full": "Full", "read_only": "Read only"})
"""The names of credentials to which nobody gives another."""


class WorldCredential(Struct, frozen=True):
    """An API Credential at the start. `expires_at` None: the file names no expiry."""

    key: Key
    name: str
    profile: Profile = "full"
    state: CredentialState = "active"
    expires_at: Instant | None = None


class WorldTeam(Struct, frozen=True):
    """A Team at the start. `requests_per_minute` is the limit of each of its credentials."""

    name: str
    credits: Amount = 100
    subscription_active: bool = True
    concurrency_limit: Amount = 20
    requests_per_minute: Amount = 120
    credentials: tuple[WorldCredential, ...] = ()


class Timings(Struct, frozen=True):
    """How long the service's work takes, in milliseconds of emulator time."""

    queue_ms: Span = 1 * SECOND_MS
    photography_style_ms: Span = 3 * SECOND_MS
    background_ms: Span = 4 * SECOND_MS
    pose_ms: Span = 4 * SECOND_MS
    fashion_model_ms: Span = 6 * SECOND_MS
    first_output_ms: Span = 5 * SECOND_MS
    next_output_ms: Span = 2 * SECOND_MS


class WorldFile(Struct, frozen=True):
    """The whole world at the start."""

    teams: Annotated[tuple[WorldTeam, ...], Meta(max_length=MAX_TEAMS)]
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
"""What `world.yaml` beside this file says, for a start without reading a file; a test compares the two."""


class TeamChange(Struct, frozen=True):
    """What is set for one Team: by the names of its fields, `credits` and those of a `WorldTeam`.

    `credentials` are those that a world adds or changes, by their keys; a new Team needs some.
    """

    team: str
    values: Mapping[str, Any] = {}
    credentials: tuple[WorldCredential, ...] = ()


class WorldChanges(Struct, frozen=True):
    """The world as a file states it, before defaults are filled in. `timings` are by the names of the fields of `Timings`."""

    teams: tuple[TeamChange, ...] = ()
    timings: Mapping[str, int] = {}
    premade: bool | None = None


NO_WORLD_CHANGES: Final = WorldChanges()


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


def changed_world(world: WorldFile, changes: WorldChanges) -> WorldFile:
    """Return the world with the changes made: Teams and credentials that it has are changed, others are added."""
    teams = {team.name: team for team in world.teams}
    for change in changes.teams:
        team = teams.get(change.team, WorldTeam(change.team))
        credentials = {credential.key: credential for credential in (*team.credentials, *change.credentials)}
        teams[team.name] = replace(team, **change.values, credentials=tuple(credentials.values()))
    premade = world.premade if changes.premade is None else changes.premade
    return WorldFile(tuple(teams.values()), replace(world.timings, **changes.timings), premade)


def world_names(world: WorldFile) -> WorldNames:
    """Return what a scenario can name of a world."""
    keys = {credential.key: team.name for team in world.teams for credential in team.credentials}
    return WorldNames({team.name: team.name for team in world.teams}, keys)
