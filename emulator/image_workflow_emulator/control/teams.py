"""Teams and their credentials: shown, created and changed at once."""

import re
from itertools import count
from typing import Any, Final

from image_workflow_emulator.control.describing import shown
from image_workflow_emulator.control.dispatch import ControlCall
from image_workflow_emulator.documents.complaints import did_you_mean, nearest
from image_workflow_emulator.domain.problems import Problem
from image_workflow_emulator.domain.resources import Credential, Profile
from image_workflow_emulator.kernel.timestamps import format_timestamp
from image_workflow_emulator.kernel.wording import excerpt
from image_workflow_emulator.scenario.world import WorldCredential, read_team
from image_workflow_emulator.service.sandbox import scenarios
from image_workflow_emulator.service.sandbox.sandbox import Sandbox, TeamAccount

_ENDS_OF_KEYS: Final[dict[Profile, str]] = {"full": "full", "read_only": "read"}
"""By profile, as in the built-in world."""
_NOT_IN_KEYS: Final = re.compile(r"[^a-z0-9]+")
_MAX_SLUG_CHARACTERS: Final = 40


def describe_teams(sandbox: Sandbox) -> list[dict[str, Any]]:
    """Return the Teams of a sandbox as the control plane shows them, in the order of their creation."""
    return [describe_team(sandbox, account) for account in sandbox.accounts.values()]


def describe_team(sandbox: Sandbox, account: TeamAccount) -> dict[str, Any]:
    """Return a Team as the control plane shows it."""
    team, ledger = account.team, account.ledger
    return {
        **shown(team, "id", "name", "concurrency_limit", "requests_per_minute"),
        "credits": ledger.available,
        "reserved": ledger.reserved,
        "subscription": "active" if team.subscription_active else "inactive",
        "concurrency_used": account.budget.used,
        "credit_changes": [{"at": format_timestamp(at), "change": change} for at, change in account.credit_changes],
        "credentials": [_describe_credential(credential) for credential in sandbox.credentials_of(team.id)],
    }


def describe_owner(sandbox: Sandbox, team_id: str) -> dict[str, str]:
    """Return the Team that owns something, by id and name."""
    return {"id": team_id, "name": sandbox.accounts[team_id].team.name}


def _describe_credential(credential: Credential) -> dict[str, Any]:
    return shown(credential, "id", "key", "name", "profile", "state", "expires_at")


def list_teams(call: ControlCall) -> dict[str, Any]:
    """GET /teams."""
    return {"data": describe_teams(call.sandbox)}


def create_team(call: ControlCall) -> dict[str, Any]:
    """POST /teams: defaults are those of a Team in a world file; with one full and one read_only credential."""
    name = call.fields["name"]
    if list(call.sandbox.find_accounts(name)):  # both would answer to the same word
        expected = "the name of no other Team: PATCH /_emulator/teams/{team} changes that one"
        raise Problem("invalid_request", f"/name: found {excerpt(name)}; expected {expected}", status=409)
    account = call.sandbox.add_team(read_team(name, call.fields), call.now)
    for profile in _ENDS_OF_KEYS:
        _add_credential(call, account, profile)
    return describe_team(call.sandbox, account)


def change_team(call: ControlCall) -> dict[str, Any]:
    """PATCH /teams/{team}: `credits` is the number that GET /team shows; a limit below what is in use is fine."""
    account = find_account(call.sandbox, call.parameters["team"])
    scenarios.change_team(call.sandbox, account, read_team(account.team.name, call.fields))
    return describe_team(call.sandbox, account)


def create_credential(call: ControlCall) -> dict[str, Any]:
    """POST /teams/{team}/credentials."""
    account = find_account(call.sandbox, call.parameters["team"])
    return _describe_credential(_add_credential(call, account, **call.fields))


def change_credential(call: ControlCall) -> dict[str, Any]:
    """PATCH /credentials/{credential}, by its id or its key: effective with the next request that brings it."""
    identifier, credentials = call.parameters["credential"], call.sandbox.credentials.values()
    held = next((one for one in credentials if identifier in (one.credential.id, one.credential.key)), None)
    if held is None:
        raise Problem("not_found", f"{excerpt(identifier)}: there is no such credential")
    scenarios.change_credential(call.sandbox, held, WorldCredential(held.credential.key, **call.fields))
    return _describe_credential(held.credential)


def find_account(sandbox: Sandbox, name_or_id: str) -> TeamAccount:
    """Return the Team of an id, or of a name that only one Team has. Raises Problem not_found."""
    found = list(sandbox.find_accounts(name_or_id))
    if len(found) != 1:
        many = f"{excerpt(name_or_id)}: {len(found)} Teams have this name; expected the id of one"
        raise Problem("not_found", many) if found else no_such_team(sandbox, name_or_id)
    return found[0]


def no_such_team(sandbox: Sandbox, name_or_id: str) -> Problem:
    """Return the refusal of a name or id that no Team has."""
    meant = nearest(name_or_id, {account.team.name for account in sandbox.accounts.values()})
    return Problem("not_found", f"{excerpt(name_or_id)}: there is no such Team{did_you_mean(meant)}")


def account_of_query(call: ControlCall) -> TeamAccount:
    """Return the Team that the query names, the first if it names none. Raises Problem not_found."""
    name = call.query["team"]
    if name is not None:
        return find_account(call.sandbox, name)
    account = next(iter(call.sandbox.accounts.values()), None)
    if account is None:
        raise Problem("not_found", "there is no Team; create one first")
    return account


def _add_credential(call: ControlCall, account: TeamAccount, profile: Profile, **others: Any) -> Credential:
    """Add a credential whose key is made from the Team's name: the first free one, so the same calls give the same."""
    ending = _ENDS_OF_KEYS[profile]
    slug = _NOT_IN_KEYS.sub("-", account.team.name.lower()).strip("-")[:_MAX_SLUG_CHARACTERS] or "team"
    sandbox, find_caller = call.sandbox, call.plane.sandboxes.find_caller
    keys = (f"iwe_{slug}_{ending}_{number}".removesuffix("_1") for number in count(1))
    key = next(key for key in keys if find_caller(sandbox.key_of(key)) is None)
    added = sandbox.add_credential(account, WorldCredential(key, profile=profile, **others), call.now)
    call.plane.sandboxes.register(sandbox)
    return added.credential
