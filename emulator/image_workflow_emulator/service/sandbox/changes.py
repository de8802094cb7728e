"""Changes of Teams, credentials and admission, as worlds, timelines and the control
plane ask for them: in the same state that a real cause would change.

A change of a timeline may end: what it set then goes back. Where two such changes of
one field overlap, the later end counts. Anything else that sets the field makes it
last.
"""

from msgspec import Struct, structs

from image_workflow_emulator.domain.credit_changes import CreditReason
from image_workflow_emulator.domain.limits import AdmissionPause
from image_workflow_emulator.domain.problems import Cause
from image_workflow_emulator.domain.resources import Credential, Team
from image_workflow_emulator.scenario.timeline import AdmissionChange
from image_workflow_emulator.scenario.world import World, WorldCredential, WorldTeam
from image_workflow_emulator.service.sandbox.previous_values import (
    End,
    PreviousCredentialValue,
    PreviousTeamValue,
)
from image_workflow_emulator.service.sandbox.sandbox import (
    EVERYONE,
    CredentialAccount,
    Sandbox,
    TeamAccount,
)


class Origin(Struct, frozen=True):
    """Where in a scenario a change comes from, and when it ends."""

    cause: Cause
    end: End | None = None
    """None: it lasts until something else is set."""


def affected_accounts(
    sandbox: Sandbox,
    team_id: str,
    name_or_id: str,
) -> list[TeamAccount]:
    """Return the Teams that a change names, as far as the scenario may touch them."""
    accounts = sandbox.find_accounts(name_or_id)
    if team_id == EVERYONE:
        return accounts
    return [account for account in accounts if account.team.id == team_id]


def change_world(
    sandbox: Sandbox,
    changes: World,
    now: int,
    team_id: str = EVERYONE,
) -> None:
    """Make a scenario's changes to the world at once: Teams that it names are changed,
    others are opened.
    """
    for change in changes.teams:
        accounts = affected_accounts(sandbox, team_id, change.name)
        for account in accounts:
            change_team(sandbox, account, change, now, "scenario")
            _change_credentials(sandbox, account, change, now)
        if not accounts and team_id == EVERYONE and change.credentials:
            sandbox.add_team(change, now)
    sandbox.timings = structs.replace(sandbox.timings, **changes.timings)


def _change_credentials(
    sandbox: Sandbox,
    account: TeamAccount,
    change: WorldTeam,
    now: int,
) -> None:
    """Change the credentials of a Team that a world names, and add new ones."""
    for credential in change.credentials:
        held = sandbox.credentials.get(sandbox.key_of(credential.key))
        if held is None:
            sandbox.add_credential(account, credential, now)
        else:
            change_credential(sandbox, held, credential)


def change_admission(
    sandbox: Sandbox,
    change: AdmissionChange,
    team_id: str = EVERYONE,
    opens_at: int | None = None,
    origin: Origin | None = None,
) -> None:
    """Pause new writes, or admit them again, for all Teams or one.

    `opens_at` is the instant at which a pause ends, if it is known.
    """
    pause = AdmissionPause(change.admission == "paused", opens_at=opens_at)
    if change.retry_after is not None:
        pause.retry_after = change.retry_after
    if team_id == EVERYONE:
        sandbox.pause = pause
    else:
        sandbox.accounts[team_id].pause = pause
    _note_cause(sandbox, "pause", team_id, origin)


def _note_cause(
    sandbox: Sandbox,
    field: str,
    identifier: str,
    origin: Origin | None,
) -> None:
    """Remember which change of a timeline set a field, or that something else did."""
    if origin is None:
        sandbox.causes.pop((field, identifier), None)
    else:
        sandbox.causes[field, identifier] = origin.cause


# Teams ------------------------------------------------------------------------------


def change_team(
    sandbox: Sandbox,
    account: TeamAccount,
    change: WorldTeam,
    now: int,
    reason: CreditReason,
    origin: Origin | None = None,
) -> None:
    """Set the values of a Team that a change names.

    `reason` is noted with a change of its Credits.
    """
    values = change.values()
    for field in values:
        _note_cause(sandbox, field, account.team.id, origin)
        if origin is None or origin.end is None:
            account.previous_values.pop(field, None)
        else:
            previous = _previous_team_value(account, field, change, origin.end)
            account.previous_values[field] = previous
    credits_wanted = values.pop("credits", None)
    if credits_wanted is not None:
        difference = credits_wanted - account.ledger.available
        account.ledger.grant(difference, now, reason)
    account.team = structs.replace(account.team, **values)
    sandbox.feed.note("team", account.team.id)


def _previous_team_value(
    account: TeamAccount,
    field: str,
    change: WorldTeam,
    end: End,
) -> PreviousTeamValue:
    """Return what a field of a Team goes back to when a change ends."""
    before = _only_field(account.team, field)
    credits_back = 0
    if field == "credits" and change.credits is not None:
        credits_back = account.ledger.available - change.credits
    running = account.previous_values.get(field)
    if running is not None:
        end = end.later(running.end)
        before = running.before
        credits_back += running.credits_back
    return PreviousTeamValue(end, before, credits_back)


def _only_field(team: Team, field: str) -> WorldTeam:
    """Return the change that sets one field of a Team to its present value."""
    match field:
        case "subscription_active":
            return WorldTeam(team.name, subscription_active=team.subscription_active)
        case "concurrency_limit":
            return WorldTeam(team.name, concurrency_limit=team.concurrency_limit)
        case "requests_per_minute":
            return WorldTeam(team.name, requests_per_minute=team.requests_per_minute)
    return WorldTeam(team.name)  # Credits go back by their difference


def end_team_change(
    sandbox: Sandbox,
    account: TeamAccount,
    change: WorldTeam,
    now: int,
) -> None:
    """Let the fields that a change has set go back, unless a later end counts."""
    for field in change.values():
        previous = account.previous_values.get(field)
        if previous is None or previous.end.at > now:
            continue
        before = previous.before
        if field == "credits":
            available = account.ledger.available + previous.credits_back
            before = WorldTeam(account.team.name, credits=max(available, 0))
        change_team(sandbox, account, before, now, "scenario")


# Credentials ------------------------------------------------------------------------


def change_credential(
    sandbox: Sandbox,
    held: CredentialAccount,
    change: WorldCredential,
    origin: Origin | None = None,
) -> None:
    """Set the values of a credential that a change names."""
    values = change.values()
    for field in values:
        if origin is None or origin.end is None:
            held.previous_values.pop(field, None)
        else:
            previous = _previous_credential_value(held, field, origin.end)
            held.previous_values[field] = previous
    _note_cause(sandbox, "credential", held.credential.id, origin)
    held.credential = structs.replace(held.credential, **values)
    sandbox.feed.note("team", held.credential.team_id)


def _previous_credential_value(
    held: CredentialAccount,
    field: str,
    end: End,
) -> PreviousCredentialValue:
    """Return what a field of a credential goes back to when a change ends."""
    running = held.previous_values.get(field)
    if running is None:
        before = _only_field_of_credential(held.credential, field)
        return PreviousCredentialValue(end, before)
    return PreviousCredentialValue(end.later(running.end), running.before)


def _only_field_of_credential(credential: Credential, field: str) -> WorldCredential:
    """Return the change that sets one field of a credential to its present value."""
    key = credential.key
    match field:
        case "state":
            return WorldCredential(key, state=credential.state)
        case "expires_at":
            return WorldCredential(key, expires_at=credential.expires_at)
    return WorldCredential(key, profile=credential.profile)


def end_credential_change(
    sandbox: Sandbox,
    held: CredentialAccount,
    change: WorldCredential,
    now: int,
) -> None:
    """Let the fields that a change has set go back, unless a later end counts."""
    for field in change.values():
        previous = held.previous_values.get(field)
        if previous is not None and previous.end.at <= now:
            change_credential(sandbox, held, previous.before)


def make_lasting(sandbox: Sandbox, team_id: str) -> None:
    """Let nothing go back that the scenario of a Team, or of all Teams, has set."""
    for account in sandbox.accounts.values():
        account.previous_values = {
            field: previous
            for field, previous in account.previous_values.items()
            if previous.end.scenario != team_id
        }
    for held in sandbox.credentials.values():
        held.previous_values = {
            field: previous
            for field, previous in held.previous_values.items()
            if previous.end.scenario != team_id
        }
    pause = sandbox.pause
    if team_id != EVERYONE:
        pause = sandbox.accounts[team_id].pause
    pause.opens_at = None  # the change that would have ended it is gone
