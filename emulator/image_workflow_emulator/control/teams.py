"""Teams and their credentials: shown, created and changed at once.

Requests here take no Request-Id of the service, and match no rule of a scenario.
"""

import re
from collections.abc import Iterator
from itertools import count
from typing import Final

from image_workflow_emulator.control import JsonObject
from image_workflow_emulator.control.endpoint import ControlCall
from image_workflow_emulator.documents.complaints import did_you_mean, nearest
from image_workflow_emulator.domain.problems import Problem
from image_workflow_emulator.domain.resources import Credential, Profile
from image_workflow_emulator.kernel.timestamps import format_timestamp
from image_workflow_emulator.kernel.wording import excerpt
from image_workflow_emulator.scenario.world import WorldCredential, read_team
from image_workflow_emulator.service.sandbox import changes
from image_workflow_emulator.service.sandbox.sandbox import (
    CredentialAccount,
    Sandbox,
    TeamAccount,
)

_ENDS_OF_KEYS: Final[dict[Profile, str]] = {"full": "full", "read_only": "read"}
"""The endings of keys, by profile, as in the built-in world."""
_MAX_SLUG_CHARACTERS: Final = 40
"""Limit of what a key has of the name of its Team."""


def list_teams(call: ControlCall) -> JsonObject:
    """GET /teams."""
    return {"data": describe_teams(call.sandbox)}


def create_team(call: ControlCall) -> JsonObject:
    """POST /teams: defaults are those of a Team in a world file; with one full and one
    read_only credential.
    """
    sandbox = call.sandbox
    name = call.fields["name"]
    if sandbox.find_accounts(name):  # both would answer to the same word
        raise Problem(
            "invalid_request",
            f"/name: found {excerpt(name)}; expected the name of no other Team: "
            "PATCH /_emulator/teams/{team} changes that one",
            status=409,
        )
    described = read_team(name, call.fields)
    account = sandbox.add_team(described, call.now)
    for profile in _ENDS_OF_KEYS:
        key = _free_key(call, name, profile)
        credential = WorldCredential(key, profile=profile)
        _add_credential(call, account, credential)
    return describe_team(sandbox, account)


def change_team(call: ControlCall) -> JsonObject:
    """PATCH /teams/{team}: `credits` is the number that GET /team shows; a limit below
    what is in use is fine.
    """
    sandbox = call.sandbox
    account = find_account(sandbox, call.parameters["team"])
    change = read_team(account.team.name, call.fields)
    changes.change_team(sandbox, account, change, call.now, "set")
    return describe_team(sandbox, account)


def create_credential(call: ControlCall) -> JsonObject:
    """POST /teams/{team}/credentials."""
    account = find_account(call.sandbox, call.parameters["team"])
    team_name = account.team.name
    key = _free_key(call, team_name, call.fields["profile"])
    described = WorldCredential(key, **call.fields)
    credential = _add_credential(call, account, described)
    return _describe_credential(credential)


def change_credential(call: ControlCall) -> JsonObject:
    """PATCH /credentials/{credential}, by its id or its key: effective with the next
    request that brings it.
    """
    held = _find_credential(call.sandbox, call.parameters["credential"])
    change = WorldCredential(held.credential.key, **call.fields)
    changes.change_credential(call.sandbox, held, change)
    return _describe_credential(held.credential)


def find_account(sandbox: Sandbox, name_or_id: str | None) -> TeamAccount:
    """Return the Team of a name or an id, the first Team for None.

    Raises:
        Problem: not_found.
    """
    for account in sandbox.find_accounts(name_or_id):
        return account
    team_names = {account.team.name for account in sandbox.accounts.values()}
    suggestion = did_you_mean(nearest(name_or_id, team_names))
    detail = f"{excerpt(name_or_id)}: there is no such Team{suggestion}"
    raise Problem("not_found", detail)


def _find_credential(sandbox: Sandbox, id_or_key: str) -> CredentialAccount:
    """Return the credential of an id or a key. Raises Problem not_found."""
    for held in sandbox.credentials.values():
        if id_or_key in (held.credential.id, held.credential.key):
            return held
    detail = f"{excerpt(id_or_key)}: there is no such credential"
    raise Problem("not_found", detail)


# New credentials ---------------------------------------------------------------------


def _add_credential(
    call: ControlCall,
    account: TeamAccount,
    described: WorldCredential,
) -> Credential:
    added = call.sandbox.add_credential(account, described, call.now)
    call.plane.sandboxes.register(call.sandbox)
    return added.credential


def _free_key(
    call: ControlCall,
    team_name: str,
    profile: Profile,
) -> str:
    """Return the first key of a Team that no sandbox has, so that the same calls give
    the same keys.
    """
    sandboxes = call.plane.sandboxes
    keys = _numbered_keys(team_name, profile)
    return next(
        key for key in keys if sandboxes.find_caller(call.sandbox.key_of(key)) is None
    )


def _numbered_keys(team_name: str, profile: Profile) -> Iterator[str]:
    """Iterate over the keys that a Team may get: the first without a number."""
    words = re.sub("[^a-z0-9]+", "-", team_name.lower())
    slug = words.strip("-")[:_MAX_SLUG_CHARACTERS] or "team"
    first = f"iwe_{slug}_{_ENDS_OF_KEYS[profile]}"
    yield first
    for number in count(2):
        yield f"{first}_{number}"


# As JSON -----------------------------------------------------------------------------


def describe_teams(sandbox: Sandbox) -> list[JsonObject]:
    """Return the Teams of a sandbox as JSON, in the order of their creation."""
    return [describe_team(sandbox, account) for account in sandbox.accounts.values()]


def describe_team(sandbox: Sandbox, account: TeamAccount) -> JsonObject:
    """Return a Team as JSON, with its credentials and their keys."""
    team = account.team
    subscription = "inactive"
    if team.subscription_active:
        subscription = "active"
    credentials = sandbox.credentials_of(team.id)
    return {
        "id": team.id,
        "name": team.name,
        "concurrency_limit": team.concurrency_limit,
        "requests_per_minute": team.requests_per_minute,
        "credits": account.ledger.available,
        "reserved": account.ledger.reserved,
        "subscription": subscription,
        "concurrency_used": account.budget.used,
        "credentials": [_describe_credential(credential) for credential in credentials],
    }


def describe_owner(sandbox: Sandbox, team_id: str) -> dict[str, str]:
    """Return the Team that owns something, by id and name."""
    return {"id": team_id, "name": sandbox.accounts[team_id].team.name}


def _describe_credential(credential: Credential) -> JsonObject:
    return {
        "id": credential.id,
        "key": credential.key,
        "name": credential.name,
        "profile": credential.profile,
        "state": credential.state,
        "expires_at": format_timestamp(credential.expires_at),
    }
