"""The world file: which Teams, credentials and timings there are at the start, as changes of the built-in world.

Owns what `contract/world.schema.json` cannot say of it. It makes no Teams: identifiers, balances and states belong to
the sandbox.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any

from msgspec.structs import replace

from emulator.documents import shipped_document
from emulator.documents.complaints import nearest, one_of
from emulator.documents.document import Document
from emulator.documents.schemas import Schemas
from emulator.documents.values import FORMATS, optional, parse_span_ms, parse_whole_number
from emulator.documents.yaml_reader import JsonValue, document_of, read_document
from emulator.kernel.timestamps import parse_timestamp
from emulator.kernel.wording import excerpt
from emulator.scenario.names import LIMITED
from emulator.scenario.world import (
    BUILT_IN_WORLD,
    CREDENTIAL_NAMES,
    TeamChange,
    WorldChanges,
    WorldCredential,
    WorldFile,
    WorldNames,
    changed_world,
    world_names,
)


def parse_world(text: str | bytes, file: str) -> WorldFile:
    """Read a world file, YAML or JSON. Raises DocumentError with every complaint about it."""
    return _read(read_document(text, file))


def world_of(data: JsonValue, where: str) -> WorldFile:
    """Read a world that is already JSON, at a place in a body. Raises DocumentError, without lines and columns."""
    return _read(document_of(data, "", where))


def _read(document: Document) -> WorldFile:
    document.check(_schemas())
    check_world(document, document.texts, (), world_names(BUILT_IN_WORLD))
    document.raise_complaints()
    return changed_world(BUILT_IN_WORLD, world_changes(document.texts))


@cache
def _schemas() -> Schemas:
    return Schemas(shipped_document("contract/world.schema.json"), FORMATS)


def check_world(document: Document, world: Mapping[str, Any], steps: tuple[str, ...], names: WorldNames | None) -> None:
    """Complain of what no schema can say of Teams. `names` are those there are without it, if known."""
    given_at: dict[str, str] = {}
    for name, team in world.get("teams", {}).items():
        at = (*steps, "teams", name)
        if names is not None:
            _check_team(document, at, team, names)
        for index, credential in enumerate(team.get("credentials", ())):
            key, place = credential["key"], f"/{'/'.join(at)}/credentials/{index}"
            owner = None if names is None else names.keys.get(key)
            if key in given_at:
                found = f"{excerpt(key)} again, first given at {given_at[key]}"
                document.complain((*at, "credentials", index, "key"), "each key once", found)
            elif names is not None and owner not in (None, names.teams.get(name)):
                found = f"{excerpt(key)}, a key of the Team {excerpt(owner)}"
                document.complain((*at, "credentials", index, "key"), "a new key, or one of this Team", found)
            given_at.setdefault(key, place)


def _check_team(document: Document, at: tuple[str, ...], team: Mapping[str, Any], names: WorldNames) -> None:
    """Complain of a Team that there is not and that is not complete, or that the scenario may not change."""
    name, known = at[-1], names.usable(names.teams)
    if name in known or ("credentials" in team and names.only is None):
        return
    kind = "Team" if name in names.teams else "new Team"
    rest = ", or credentials for a new Team" if names.only is None else LIMITED
    document.complain(at, one_of(known) + rest, f"the {kind} {excerpt(name)}", nearest(name, known), at_key=True)


def world_changes(world: Mapping[str, Any]) -> WorldChanges:
    """Read a world whose shape is valid."""
    timings = ((name, parse_span_ms(span)) for name, span in world.get("timings", {}).items())
    return WorldChanges(
        tuple(
            replace(team_change(name, team), credentials=tuple(map(_credential, team.get("credentials", ()))))
            for name, team in world.get("teams", {}).items()
        ),
        tuple(timings),
        optional(world, "premade", lambda text: text == "true"),
    )


def team_change(name: str, team: Mapping[str, Any]) -> TeamChange:
    """Read the values of a Team under the keys that a world and a timeline share."""
    return TeamChange(
        name,
        optional(team, "credits", parse_whole_number),
        team.get("subscription"),
        optional(team, "concurrency_limit", parse_whole_number),
        optional(team, "requests_per_minute", parse_whole_number),
    )


def _credential(credential: Mapping[str, Any]) -> WorldCredential:
    profile = credential.get("profile", "full")
    return WorldCredential(
        credential["key"],
        credential.get("name", CREDENTIAL_NAMES[profile]),
        profile,
        credential.get("state", "active"),
        optional(credential, "expires_at", parse_timestamp),
    )
