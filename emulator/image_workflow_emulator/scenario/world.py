"""How a sandbox begins: its world (Teams, credentials, timings) and its readings, in one form.

Files, options, scenarios and bodies give them. A world says what differs from another one, in the end from the
built-in one: what it does not say stays. Owns the defaults, and what `contract/world.schema.json` and
`contract/readings.schema.json` cannot say. It makes no Teams: identifiers, balances and states belong to the sandbox.
Which readings there are is said in `image_workflow_emulator.domain.readings`.
"""

from collections.abc import Mapping
from functools import cache
from itertools import starmap
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Final, Self, TypeAlias

from msgspec import Meta, Struct
from msgspec.structs import asdict, replace

from image_workflow_emulator.documents.complaints import choice_of
from image_workflow_emulator.documents.document import Document, read_document
from image_workflow_emulator.documents.files import read_file
from image_workflow_emulator.documents.schemas import Schemas, Steps
from image_workflow_emulator.documents.shipped import shipped_document
from image_workflow_emulator.domain.readings import (
    NO_READINGS,
    PLAIN,
    READINGS,
    SETS,
    Readings,
    parse_readings,
)
from image_workflow_emulator.domain.resources import (
    Amount,
    CredentialState,
    Instant,
    Key,
    Profile,
    Span,
)
from image_workflow_emulator.kernel.wording import excerpt
from image_workflow_emulator.scenario.named_files import scenario_file
from image_workflow_emulator.settings import SettingError

MAX_TEAMS: Final = 1_000
"""Limit of the Teams with which a reset begins, where a state file says so."""
CREDENTIAL_NAMES: Final[Mapping[Profile, str]] = MappingProxyType(
    {"full": "Full", "read_only": "Read only"}
)
"""The default names of credentials, by profile."""


class WorldCredential(Struct, frozen=True):
    """What a world or a change says of a credential: a field that is None stays as it is, or is that of a new one.

    `key` is the key in the world file, or in a change of a timeline also the sandbox's form of it.
    """

    key: Key
    name: str | None = None
    profile: Profile | None = None
    state: CredentialState | None = None
    expires_at: Instant | None = None

    def values(self) -> dict[str, Any]:
        """Return the fields that are given, without the key."""
        return {
            name: value
            for name, value in asdict(self).items()
            if name != "key" and value is not None
        }


class WorldTeam(Struct, frozen=True):
    """What a world or a change says of a Team: a field that is None stays as it is, or is that of a new Team.

    `requests_per_minute` is the limit of each of its credentials. `credentials` are those added or changed, by their
    keys.
    """

    name: str
    """The name, or in a change of a timeline also the id."""
    credits: Amount | None = None
    subscription_active: bool | None = None
    concurrency_limit: Amount | None = None
    requests_per_minute: Amount | None = None
    credentials: tuple[WorldCredential, ...] = ()

    def values(self) -> dict[str, Any]:
        """Return the fields that are given, without name and credentials."""
        return {
            name: value
            for name, value in asdict(self).items()
            if name in NEW_TEAM and value is not None
        }


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


TimingName = Annotated[str, Meta(pattern=f"^({'|'.join(Timings.__struct_fields__)})$")]


class World(Struct, frozen=True):
    """A world as given: Teams, timings by the fields of `Timings`, and whether there are premade ingredients."""

    teams: Annotated[tuple[WorldTeam, ...], Meta(max_length=MAX_TEAMS)] = ()
    timings: Mapping[TimingName, Span] = {}
    premade: bool | None = None

    def changed(self, changes: "World") -> "World":
        """Return this world with changes: Teams and credentials that it has are changed, others are added."""
        teams = {team.name: team for team in self.teams}
        for change in changes.teams:
            team = teams.get(change.name, WorldTeam(change.name))
            credentials = {
                credential.key: credential for credential in team.credentials
            }
            for credential in change.credentials:
                known = credentials.get(credential.key, credential)
                credentials[credential.key] = replace(known, **credential.values())
            teams[team.name] = replace(
                team, **change.values(), credentials=tuple(credentials.values())
            )
        premade = self.premade if changes.premade is None else changes.premade
        return World(
            tuple(teams.values()), {**self.timings, **changes.timings}, premade
        )


@cache
def _schemas() -> Schemas:
    return Schemas(shipped_document("contract/world.schema.json"))


@cache
def built_in_world() -> World:
    """Return the world that every other one changes: `contract/world.yaml`."""
    return read_world(_schemas().value("#", shipped_document("contract/world.yaml")))


class WorldNames(Struct, frozen=True):
    """The Teams and keys there are, by which the names in a file are checked.

    `teams` has names and ids, `keys` each form of a key, both with the name of the Team. `only` is the name of the one
    Team that a scenario is limited to; None for all.
    """

    teams: Mapping[str, str]
    keys: Mapping[str, str]
    only: str | None = None

    def usable(self, names: Mapping[str, str]) -> frozenset[str]:
        """Return the names of Teams, or the keys, that the file may use."""
        return frozenset(
            name for name, team in names.items() if self.only in (None, team)
        )

    def with_world(
        self, document: Document, world: Mapping[str, Any], steps: tuple[str, ...]
    ) -> Self:
        """Return these names with those that a world in a document adds; complain of what it cannot name."""
        teams, keys = dict(self.teams), dict(self.keys)
        for name, team in world.get("teams", {}).items():
            at = (*steps, "teams", name)
            if "credentials" not in team or self.only is not None:
                kind = "a Team, or credentials for a new one"
                document.check_word(
                    at, name, self.usable(self.teams), kind, at_key=True
                )
            own_name = teams.setdefault(name, name)
            for index, credential in enumerate(team.get("credentials", ())):
                owner = keys.setdefault(credential["key"], own_name)
                if owner != own_name:
                    found = f"{excerpt(credential['key'])}, a key of the Team {excerpt(owner)}"
                    document.complain(
                        (*at, "credentials", index, "key"),
                        "a new key, or one of this Team",
                        found,
                    )
        return replace(self, teams=teams, keys=keys)


def world_names(world: World) -> WorldNames:
    """Return what a scenario can name of a world."""
    keys = {
        credential.key: team.name
        for team in world.teams
        for credential in team.credentials
    }
    return WorldNames({team.name: team.name for team in world.teams}, keys)


# The world ------------------------------------------------------------------------------------------------------------


def world_of(document: Document) -> World:
    """Read a document as changes of the built-in world. Raises DocumentError with every complaint."""
    document.check(_schemas())
    world_names(built_in_world()).with_world(document, document.value, ())
    document.raise_complaints()
    return built_in_world().changed(read_world(document.value))


def read_world(given: Mapping[str, Any]) -> World:
    """Make a world from the values of a valid document."""
    timings = {
        f"{name}_ms": span_ms for name, span_ms in given.get("timings", {}).items()
    }
    return World(
        tuple(starmap(read_team, given.get("teams", {}).items())),
        timings,
        given.get("premade"),
    )


TeamChange: TypeAlias = WorldTeam | WorldCredential


def read_change(given: Mapping[str, Any]) -> TeamChange:
    """Make a change of a Team or of a credential from what a timeline sets."""
    if "team" in given:
        return read_team(given["team"], given)
    others = {name: value for name, value in given.items() if name != "credential"}
    return WorldCredential(given["credential"], **others)


def read_team(name: str, given: Mapping[str, Any]) -> WorldTeam:
    """Make a Team, or a change of one, from the fields that a world, a timeline and the control plane share."""
    fields = {field: value for field, value in given.items() if field in NEW_TEAM}
    if "subscription" in given:
        fields["subscription_active"] = given["subscription"] == "active"
    credentials = tuple(
        WorldCredential(**credential) for credential in given.get("credentials", ())
    )
    return WorldTeam(name, credentials=credentials, **fields)


# Readings -------------------------------------------------------------------------------------------------------------


def readings_of_option(text: str) -> Readings:
    """Read what `--readings` takes.

    Raises:
        SettingError: a reading that there is not.
        DocumentError: a file that cannot be used.
        OSError: a file that cannot be read.
    """
    if file := file_of_readings(text):
        return readings_of(read_document(read_file(file), text))
    try:
        return parse_readings(text)
    except ValueError as error:
        raise SettingError("--readings", str(error), *_expected(str(error))) from None


def _expected(unknown: str) -> tuple[str, list[str]]:
    """Say what can stand in place of an unknown name, such as the readings of its decision; and list the words."""
    decision = unknown.partition("=")[0]
    of_decision = [name for name in READINGS if name.startswith(f"{decision}=")]
    if of_decision:
        return choice_of([*of_decision, f"{decision}={PLAIN}"]), of_decision
    return (
        f"readings such as D26=always-a-cursor, a set ({', '.join(SETS)}), or a file",
        [*READINGS, *SETS],
    )


def file_of_readings(text: str) -> Path | None:
    """Return the file that a text such as that of `--readings` names; None if it is made of readings and sets."""
    return None if any(sign in text for sign in "=,:") else scenario_file(text)


def readings_of(document: Document) -> Readings:
    """Read a document of readings alone. Raises DocumentError with every complaint about it."""
    document.check(Schemas(shipped_document("contract/readings.schema.json")))
    readings = read_readings(document)
    document.raise_complaints()
    return readings or NO_READINGS


def read_readings(document: Document) -> Readings | None:
    """Read the `readings` of a document, a text as `--readings` takes it, or a mapping; complain of unknown ones."""
    given = document.value.get("readings")
    if given is None:
        return None
    parts: list[tuple[Steps, str]] = [(("readings",), given)]
    if not isinstance(given, str):
        parts = [
            (("readings", decision), f"{decision}={name}")
            for decision, name in given.items()
        ]
    readings = NO_READINGS
    for steps, text in parts:
        try:
            readings = parse_readings(text, readings)
        except ValueError as error:
            expected, words = _expected(str(error))
            document.check_word(steps, str(error), words, expected)
    return readings


def described_readings() -> list[dict[str, Any]]:
    """Return every reading with the words of the ledger: the decision, its title, and the fields of the reading."""
    decisions = shipped_document("contract/decisions.yaml")["decisions"]
    return [
        {"decision": decision["id"], "title": decision["title"], **reading}
        for decision in decisions
        for reading in decision.get("readings", ())
    ]
