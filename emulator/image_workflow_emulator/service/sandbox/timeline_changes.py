"""How the timeline of a running scenario is carried out: its changes, and their ends."""

from image_workflow_emulator.domain.limits import AdmissionPause
from image_workflow_emulator.domain.problems import Cause
from image_workflow_emulator.scenario.timeline import OPEN, AdmissionChange
from image_workflow_emulator.scenario.world import WorldCredential, WorldTeam
from image_workflow_emulator.service.sandbox import changes
from image_workflow_emulator.service.sandbox.changes import Origin
from image_workflow_emulator.service.sandbox.previous_values import End
from image_workflow_emulator.service.sandbox.sandbox import (
    EVERYONE,
    CredentialAccount,
    Sandbox,
)

CHANGE_EVENT = "scenario_change"
CHANGE_END_EVENT = "scenario_change_end"


def make_change(
    sandbox: Sandbox,
    team_id: str,
    index: int,
    now: int,
) -> None:
    """Make one change of a running scenario's timeline."""
    playbook = sandbox.playbooks[team_id]
    timed = playbook.scenario.timeline[index]
    cause = Cause(playbook.scenario.file, timed.line, now)
    end = None
    if timed.for_ms is not None:
        end = End(now + timed.for_ms, team_id)
        sandbox.timeline.schedule(end.at, CHANGE_END_EVENT, team_id, index)
    origin = Origin(cause, end)
    match timed.change:
        case AdmissionChange() as change:
            pause = _pause_of(sandbox, team_id)
            next_opening = playbook.opens_at(index, now)
            opens_at = _opens_at(pause, end, next_opening)
            changes.change_admission(sandbox, change, team_id, opens_at, origin)
        case WorldCredential() as change:
            held = _find_credential(sandbox, team_id, change.key)
            if held is not None:
                changes.change_credential(sandbox, held, change, origin)
        case WorldTeam() as change:  # pragma: no branch (there is no other change)
            accounts = changes.affected_accounts(sandbox, team_id, change.name)
            for account in accounts:
                changes.change_team(sandbox, account, change, now, "scenario", origin)
    sandbox.feed.note("scenario", team_id)


def end_change(
    sandbox: Sandbox,
    team_id: str,
    index: int,
    now: int,
) -> None:
    """End one change of a running scenario's timeline: what it set goes back."""
    scenario = sandbox.playbooks[team_id].scenario
    timed = scenario.timeline[index]
    match timed.change:
        case AdmissionChange():
            opens_at = _pause_of(sandbox, team_id).opens_at
            if opens_at is not None and opens_at <= now:
                changes.change_admission(sandbox, OPEN, team_id)
        case WorldCredential() as change:
            held = _find_credential(sandbox, team_id, change.key)
            if held is not None:
                changes.end_credential_change(sandbox, held, change, now)
        case WorldTeam() as change:  # pragma: no branch (there is no other change)
            accounts = changes.affected_accounts(sandbox, team_id, change.name)
            for account in accounts:
                changes.end_team_change(sandbox, account, change, now)
    sandbox.feed.note("scenario", team_id)


def _pause_of(sandbox: Sandbox, team_id: str) -> AdmissionPause:
    """Return the pause that a scenario sets."""
    if team_id == EVERYONE:
        return sandbox.pause
    return sandbox.accounts[team_id].pause


def _opens_at(
    pause: AdmissionPause,
    end: End | None,
    next_opening: int | None,
) -> int | None:
    """Return when a new pause ends: at the latest end of the pauses that overlap, or
    with the next change that opens admission.
    """
    if end is None:
        return next_opening
    ends_at = end.at
    if pause.paused:
        if pause.opens_at is None:
            return next_opening  # nothing ends the pause that goes on
        ends_at = max(ends_at, pause.opens_at)
    if next_opening is None:
        return ends_at
    return min(ends_at, next_opening)


def _find_credential(
    sandbox: Sandbox,
    team_id: str,
    key: str,
) -> CredentialAccount | None:
    """Return the credential of a key, in either form, if the scenario may touch it."""
    held = sandbox.credentials.get(key)
    if held is None:
        held = sandbox.credentials.get(sandbox.key_of(key))
    if held is None or team_id in (EVERYONE, held.credential.team_id):
        return held
    return None
