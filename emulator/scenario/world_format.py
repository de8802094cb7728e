"""The world file: which Teams, credentials and timings there are at the start (interfaces, section 4).

Owns the form of the file and what holds where a file is silent. It makes no Teams: identifiers, balances and states
belong to the sandbox.
"""

import re
from collections.abc import Collection
from dataclasses import replace
from typing import Final, cast

from emulator.documents.complaints import DocumentError
from emulator.documents.yaml_nodes import JsonValue, Node, node_of, read_document
from emulator.domain.problems import excerpt
from emulator.domain.resources import CredentialState, Profile
from emulator.scenario.reading import Cursor, Fields, Report
from emulator.scenario.world import (
    BUILT_IN_WORLD,
    CREDENTIAL_STATES,
    PROFILES,
    SUBSCRIPTIONS,
    Subscription,
    TeamChange,
    Timings,
    WorldChanges,
    WorldCredential,
    WorldFile,
    WorldTeamChange,
    changed_world,
)

TEAM_KEYS: Final = ("credits", "subscription", "concurrency_limit", "requests_per_minute", "credentials")
_WORLD_KEYS: Final = ("teams", "timings", "premade")
_CREDENTIAL_KEYS: Final = ("key", "name", "profile", "state", "expires_at")
_BEARER_TOKEN: Final = re.compile(r"[A-Za-z0-9._~+/-]{1,200}=*", re.ASCII)


class WorldError(DocumentError):
    """A world file that cannot be used."""


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
        cast(Subscription | None, fields.get("subscription", lambda at: at.word(SUBSCRIPTIONS), None)),
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
    profile = cast(Profile, fields.get("profile", lambda at: at.word(PROFILES), "full"))
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
        cursor.complain("each key once", found=f"{excerpt(key)} again, first given at {keys[key]}")
        return None
    keys[key] = cursor.path
    return key


def _timings(cursor: Cursor) -> tuple[tuple[str, int], ...]:
    names: Collection[str] = [name.removesuffix("_ms") for name in Timings.__dataclass_fields__]
    fields = cursor.fields(names)
    spans_ms = ((name, fields.get(name, Cursor.duration_ms, None)) for name in fields)
    return tuple((name, span_ms) for name, span_ms in spans_ms if span_ms is not None)
