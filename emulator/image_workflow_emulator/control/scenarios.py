"""The running scenario of a sandbox, replaced as a whole or not at all.

Owns which part of a scenario takes effect when. Must not know what a scenario does.
"""

from msgspec import structs

from image_workflow_emulator.control import JsonObject
from image_workflow_emulator.control.endpoint import ControlCall
from image_workflow_emulator.control.scenario_reading import read_scenario_file
from image_workflow_emulator.control.teams import describe_owner, find_account
from image_workflow_emulator.domain.problems import Problem
from image_workflow_emulator.kernel.timestamps import (
    format_timestamp,
    timestamp_or_none,
)
from image_workflow_emulator.kernel.wording import excerpt
from image_workflow_emulator.scenario.playbook import Playbook
from image_workflow_emulator.scenario.scenario import NO_SCENARIO, Scenario
from image_workflow_emulator.scenario.world import World
from image_workflow_emulator.service.sandbox import changes, scenarios
from image_workflow_emulator.service.sandbox.sandbox import (
    EVERYONE,
    Sandbox,
    SandboxOptions,
)


def get_scenario(call: ControlCall) -> JsonObject:
    """GET /scenario: the running one and how often its rules acted; `scenario` is null
    where none runs.
    """
    sandbox = call.sandbox
    described = describe_scenario(sandbox, _team_id(call), call.now)
    team_scenarios = []
    for team_id, playbook in sandbox.playbooks.items():
        if team_id == EVERYONE:
            continue
        team_scenario = {
            "team": describe_owner(sandbox, team_id),
            "scenario": playbook.scenario.name,
        }
        team_scenarios.append(team_scenario)
    return {**described, "team_scenarios": team_scenarios}


async def put_scenario(call: ControlCall) -> JsonObject:
    """PUT /scenario: from the library or whole, in place of what ran for the same
    Teams; a bad one changes nothing.
    """
    sandbox = call.sandbox
    team_id = _team_id(call)
    scenario = await read_scenario_file(call, team_id)
    _check_keys(call, scenario)
    changes.change_world(sandbox, scenario.world, call.now, team_id)
    call.plane.sandboxes.register(sandbox)
    scenarios.begin(sandbox, scenario, call.now, team_id)
    at_reset: list[str] = []
    if team_id == EVERYONE:
        sandbox.options = with_scenario(sandbox.created_with, scenario)
        at_reset = _waiting_for_reset(sandbox, scenario)
    described = describe_scenario(sandbox, team_id, call.now)
    return {**described, "takes_effect_at_reset": at_reset}


def delete_scenario(call: ControlCall) -> None:
    """DELETE /scenario: nothing goes wrong from now on; what the scenario changed stays
    changed until a reset.
    """
    sandbox = call.sandbox
    team_id = _team_id(call)
    scenarios.end(sandbox, team_id)
    if team_id == EVERYONE:
        sandbox.options = with_scenario(sandbox.created_with, NO_SCENARIO)


def _team_id(call: ControlCall) -> str:
    """Return the id of the Team that the query limits the request to; that of everyone
    if it names none.
    """
    team = call.query["team"]
    if team is None:
        return EVERYONE
    return find_account(call.sandbox, team).team.id


def _check_keys(call: ControlCall, scenario: Scenario) -> None:
    """Refuse a scenario whose new credentials have a key that another sandbox has.

    Raises:
        Problem: invalid_scenario.
    """
    for team in scenario.world.teams:
        for credential in team.credentials:
            key = call.sandbox.key_of(credential.key)
            owner = call.plane.sandboxes.find_caller(key)
            if owner is not None and owner.sandbox is not call.sandbox:
                raise Problem(
                    "invalid_scenario",
                    f"the key {excerpt(credential.key)} belongs to another sandbox",
                )


def _waiting_for_reset(sandbox: Sandbox, scenario: Scenario) -> list[str]:
    """Return the names of the parts of a scenario that take effect at a reset."""
    waiting = []
    if scenario.seed is not None:
        waiting.append("seed")
    if scenario.clock is not None or scenario.start is not None:
        waiting.append("clock")
    if scenario.world.premade is not None:
        waiting.append("premade")
    # An option goes before the scenario's readings.
    if scenario.readings is not None and sandbox.options.readings is None:
        waiting.append("readings")
    return waiting


# With a sandbox ----------------------------------------------------------------------


def with_scenario(options: SandboxOptions, scenario: Scenario) -> SandboxOptions:
    """Return options that begin a sandbox with a scenario, whose own seed and clock go
    before theirs.
    """
    begun = structs.replace(options, scenario=scenario, own_world=World())
    if scenario.seed is not None:
        begun = structs.replace(begun, seed=None)
    if scenario.clock is not None:
        begun = structs.replace(begun, clock=None)
    if scenario.start is not None:
        begun = structs.replace(begun, start=None)
    return begun


def reset_with_scenarios(call: ControlCall) -> None:
    """Reset a sandbox and restart its scenarios: that of all Teams, and those of Teams
    that still exist.
    """
    sandbox = call.sandbox
    running = dict(sandbox.playbooks)
    call.plane.sandboxes.reset(sandbox)
    began_at = sandbox.began_at
    for team_id, playbook in running.items():
        if team_id not in sandbox.accounts:
            continue
        scenario = playbook.scenario
        changes.change_world(sandbox, scenario.world, began_at, team_id)
        scenarios.begin(sandbox, scenario, began_at, team_id)
    call.plane.sandboxes.register(sandbox)


# As JSON -----------------------------------------------------------------------------


def describe_scenario(
    sandbox: Sandbox,
    team_id: str,
    now: int,
) -> JsonObject:
    """Return the scenario that runs for a Team, or for all of them, as JSON."""
    playbook = sandbox.playbooks.get(team_id)
    if playbook is None:
        return {
            "scenario": None,
            "description": None,
            "team": team_id or None,
            "began_at": None,
            "rules": [],
            "timeline": [],
            "text": None,
            "file": None,
        }
    return {
        "scenario": playbook.scenario.name,
        "description": playbook.scenario.description,
        "team": team_id or None,
        "began_at": format_timestamp(playbook.began_at),
        "rules": playbook.rules_report(),
        "timeline": _describe_timeline(playbook, now),
        "text": playbook.scenario.text or None,
        "file": playbook.scenario.file or None,
    }


def _describe_timeline(playbook: Playbook, now: int) -> list[JsonObject]:
    described = []
    for index, timed in enumerate(playbook.scenario.timeline):
        done_at = timestamp_or_none(playbook.done_at(index, now))
        line = timed.line or None
        described.append({**timed.spelling, "line": line, "done_at": done_at})
    return described
