"""The world file: which Teams, credentials and timings there are at the start, as changes of the built-in world.

Owns what `contract/world.schema.json` cannot say of it. It makes no Teams: identifiers, balances and states belong to
the sandbox.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from msgspec.structs import replace

from image_workflow_emulator.documents import shipped_document
from image_workflow_emulator.documents.document import Document
from image_workflow_emulator.documents.schemas import Schemas
from image_workflow_emulator.documents.values import FORMATS, optional, parse_span_ms, parse_whole_number
from image_workflow_emulator.documents.yaml_reader import JsonValue, document_of, read_document
from image_workflow_emulator.kernel.timestamps import parse_timestamp
from image_workflow_emulator.kernel.wording import excerpt
from image_workflow_emulator.scenario.scenario import CredentialChange
from image_workflow_emulator.scenario.world import (
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

_TEAM_NUMBERS: Final = ("credits", "concurrency_limit", "requests_per_minute")


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
    owners = {} if names is None else dict(names.keys)
    for name, team in world.get("teams", {}).items():
        at = (*steps, "teams", name)
        if names is not None and not ("credentials" in team and names.only is None):
            document.check_word(
                at, name, names.usable(names.teams), "a Team, or credentials for a new one", at_key=True
            )
        own_name = name if names is None else names.teams.get(name, name)
        for index, credential in enumerate(team.get("credentials", ())):
            owner = owners.setdefault(credential["key"], own_name)
            if owner != own_name:
                found = f"{excerpt(credential['key'])}, a key of the Team {excerpt(owner)}"
                document.complain((*at, "credentials", index, "key"), "a new key, or one of this Team", found)


def world_changes(world: Mapping[str, Any]) -> WorldChanges:
    """Read a world whose shape is valid."""
    return WorldChanges(
        tuple(
            replace(team_change(name, team), credentials=tuple(map(_credential, team.get("credentials", ()))))
            for name, team in world.get("teams", {}).items()
        ),
        {f"{name}_ms": parse_span_ms(span) for name, span in world.get("timings", {}).items()},
        optional(world, "premade", lambda text: text == "true"),
    )


def team_change(name: str, team: Mapping[str, Any]) -> TeamChange:
    """Read the values of a Team under the keys that a world and a timeline share."""
    values: dict[str, Any] = {field: parse_whole_number(team[field]) for field in _TEAM_NUMBERS if field in team}
    if "subscription" in team:
        values["subscription_active"] = team["subscription"] == "active"
    return TeamChange(name, values)


def credential_change(key: str, given: Mapping[str, Any]) -> CredentialChange:
    """Read the values of a credential under the keys that a timeline and the control plane share."""
    values = {name: given[name] for name in ("state", "profile") if name in given}
    if "expires_at" in given:
        values["expires_at"] = parse_timestamp(given["expires_at"])
    return CredentialChange(key, values)


def _credential(credential: Mapping[str, Any]) -> WorldCredential:
    profile = credential.get("profile", "full")
    return WorldCredential(
        credential["key"],
        credential.get("name", CREDENTIAL_NAMES[profile]),
        profile,
        credential.get("state", "active"),
        optional(credential, "expires_at", parse_timestamp),
    )
