"""What a caller can do about a refusal, in words. Looks at the state; changes and refuses nothing."""

from emulator.domain.problems import Problem
from emulator.domain.resources import AnyResource, Operation
from emulator.kernel.timestamps import format_timestamp
from emulator.service.calls import Call


def for_absent(call: Call, item: AnyResource | None, otherwise: str) -> str:
    """Say what to do about a resource that this Team cannot see; another Team's is visible to that Team's keys only."""
    owner = None if item is None or item.team_id is None else call.sandbox.accounts.get(item.team_id)
    if owner is None or owner is call.caller.account:
        return otherwise
    return f"send it with a credential of the Team {owner.team.name!r}, which owns it"


def by_another_credential(call: Call, only_full: bool = False) -> str:
    """Name a credential of the same Team that would be accepted."""
    for credential in call.sandbox.credentials_of(call.team_id):
        if credential.state_at(call.now) == "active" and (credential.profile == "full" or not only_full):
            return f"use the Team's credential {credential.name!r}"
    profile = "full " if only_full else ""
    return f"create a {profile}credential for the Team {call.caller.account.team.name!r}: it has no valid one"


def operation_in_progress(where: str, found: str, operation: Operation) -> Problem:
    """Return the refusal of what an unfinished Operation is in the way of, and say what to do about it."""
    remedy = f"reset the sandbox: a scenario stalls {operation.id} for ever"
    if operation.outcome.finishes_at is not None:
        remedy = f"wait until {operation.id} has finished, at {format_timestamp(operation.outcome.finishes_at)}"
    detail = f"{where}: found {found}; expected it to be finished"
    return Problem("resource_operation_in_progress", detail, active_operation_id=operation.id, remedy=remedy)
