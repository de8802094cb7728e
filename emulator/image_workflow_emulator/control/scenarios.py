"""Scenarios of a sandbox: the running one, replaced as a whole or not at all, the library, and the pause of new writes.

Owns how a request names a scenario, which part takes effect when, and what a file means for requests that came. Must
not know what a scenario does.
"""

import re
from collections.abc import Iterable
from functools import partial
from itertools import islice
from typing import Any, Final

from msgspec import structs

from image_workflow_emulator.control.dispatch import (
    ControlCall,
    ControlPlane,
    in_slices,
)
from image_workflow_emulator.control.teams import describe_owner, find_account
from image_workflow_emulator.documents.complaints import DocumentError
from image_workflow_emulator.documents.document import document_of, read_document
from image_workflow_emulator.domain.problems import Problem
from image_workflow_emulator.domain.resources import Generation
from image_workflow_emulator.kernel.timestamps import (
    format_timestamp,
    timestamp_or_none,
)
from image_workflow_emulator.kernel.wording import excerpt
from image_workflow_emulator.scenario.scenario import (
    NO_SCENARIO,
    AdmissionChange,
    Facts,
    Rule,
    Scenario,
    scenario_of,
)
from image_workflow_emulator.scenario.world import WorldNames
from image_workflow_emulator.service.records.record import RequestRecord
from image_workflow_emulator.service.sandbox import scenarios
from image_workflow_emulator.service.sandbox.sandbox import Sandbox, SandboxOptions

_NAME: Final = re.compile(r"(problem:)?[^:]*")
"""What may be the name of a scenario, and is not the text of one."""
_TEXT: Final = "scenario"
"""The name, in complaints and explanations, of a scenario that came without the name of a file."""


def get_scenario(call: ControlCall) -> dict[str, Any]:
    """GET /scenario: the running one and how often its rules acted; `scenario` is null where none runs."""
    sandbox = call.sandbox
    limited = [
        (team_id, playbook.scenario.name)
        for team_id, playbook in sandbox.playbooks.items()
        if team_id
    ]
    own = [
        {"team": describe_owner(sandbox, team_id), "scenario": name}
        for team_id, name in limited
    ]
    return {
        **describe_scenario(sandbox, _team_id(call), call.now),
        "team_scenarios": own,
    }


async def put_scenario(call: ControlCall) -> dict[str, Any]:
    """PUT /scenario: from the library or whole, in place of what ran for the same Teams; a bad one changes nothing."""
    sandbox, team_id = call.sandbox, _team_id(call)
    scenario = await read_scenario_file(call, team_id)
    _check_keys(call, scenario)
    scenarios.change_world(sandbox, scenario.world, call.now, team_id)
    call.plane.sandboxes.register(sandbox)
    scenarios.begin(sandbox, scenario, call.now, team_id)
    if team_id == scenarios.EVERYONE:
        sandbox.options = with_scenario(sandbox.created_with, scenario)
    clock = scenario.start if scenario.clock is None else scenario.clock
    readings = (
        scenario.readings if sandbox.options.readings is None else None
    )  # an option goes before them
    waiting = {
        "seed": scenario.seed,
        "clock": clock,
        "premade": scenario.world.premade,
        "readings": readings,
    }
    at_reset = [
        name for name, value in waiting.items() if value is not None and not team_id
    ]
    return {
        **describe_scenario(sandbox, team_id, call.now),
        "takes_effect_at_reset": at_reset,
    }


def delete_scenario(call: ControlCall) -> None:
    """DELETE /scenario: nothing goes wrong from now on; what the scenario changed stays changed until a reset."""
    sandbox, team_id = call.sandbox, _team_id(call)
    scenarios.end(sandbox, team_id)
    if team_id == scenarios.EVERYONE:
        sandbox.options = with_scenario(sandbox.created_with, NO_SCENARIO)


def get_admission(call: ControlCall) -> dict[str, Any]:
    """GET /admission: whether new writes are let in."""
    pause = call.sandbox.pause
    return {
        "state": "paused" if pause.paused else "open",
        "retry_after": pause.retry_after if pause.paused else None,
    }


def set_admission(call: ControlCall) -> dict[str, Any]:
    """PUT /admission: as a timeline sets it: new writes get a 503 with `retry_after`, or are let in again."""
    retry_after = call.fields.get("retry_after")
    scenarios.change_admission(
        call.sandbox, AdmissionChange(call.fields["state"], retry_after)
    )
    call.sandbox.feed.note("scenario", scenarios.EVERYONE)
    return get_admission(call)


def list_scenarios(call: ControlCall) -> dict[str, Any]:
    """GET /scenarios."""
    return {"data": call.plane.library.entries}


def with_scenario(options: SandboxOptions, scenario: Scenario) -> SandboxOptions:
    """Return options that begin a sandbox with a scenario, whose own seed and clock go before theirs."""
    return structs.replace(
        options,
        scenario=scenario,
        seed=options.seed if scenario.seed is None else None,
        clock=options.clock if scenario.clock is None else None,
        start=options.start if scenario.start is None else None,
    )


def reset_with_scenarios(call: ControlCall) -> None:
    """Reset a sandbox and restart its scenarios: that of all Teams, and those of Teams that still exist."""
    sandbox = call.sandbox
    running = {
        team_id: playbook.scenario for team_id, playbook in sandbox.playbooks.items()
    }
    call.plane.sandboxes.reset(sandbox)
    for team_id, scenario in running.items():
        if team_id in sandbox.accounts:
            scenarios.change_world(sandbox, scenario.world, sandbox.began_at, team_id)
            scenarios.begin(sandbox, scenario, sandbox.began_at, team_id)
    call.plane.sandboxes.register(sandbox)


def read_scenario(
    plane: ControlPlane, value: Any, names: WorldNames, file: str | None
) -> Scenario:
    """Read the scenario that a value names or is: a name of the library, a text, an object, or `{"use": NAME}`.

    `file` is what complaints and explanations call one that is whole; a text from a file is never a name.

    Raises:
        Problem: invalid_scenario.
    """
    try:
        if isinstance(value, str) and file is None and _NAME.fullmatch(value):
            return plane.library.load(value, names)
        is_text = isinstance(value, str | bytes)
        document = (
            read_document(value, file or _TEXT)
            if is_text
            else document_of(value, file or _TEXT)
        )
        match document.data:
            case {"use": str(name), **others} if not others:
                return plane.library.load(name, names)
        return scenario_of(document, plane.contract, names)
    except DocumentError as error:
        raise Problem("invalid_scenario", str(error)) from None


async def read_scenario_file(call: ControlCall, team_id: str) -> Scenario:
    """Read the scenario in the body for a Team, or for all of them. Raises Problem."""
    file = call.query["file"]
    if not call.body.strip() and file is None:
        raise Problem(
            "invalid_request",
            '(body): found nothing; expected a scenario or {"use": NAME}',
        )
    read = partial(
        read_scenario, call.plane, call.body, _names(call.sandbox, team_id), file
    )
    scenario = await call.plane.read_aside(len(call.body), read)
    call.check_unchanged()
    return scenario


def _names(sandbox: Sandbox, team_id: str) -> WorldNames:
    """Return the names that a scenario can use here: Teams by name or id, keys in the world's or the sandbox's form."""
    named = {
        identifier: account.team.name
        for identifier, account in sandbox.accounts.items()
    }
    suffix = sandbox.key_of("")
    keys = {
        form: named[held.credential.team_id]
        for key, held in sandbox.credentials.items()
        for form in (key, key.removesuffix(suffix))
    }
    return WorldNames(
        {name: name for name in named.values()} | named, keys, named.get(team_id)
    )


def _check_keys(call: ControlCall, scenario: Scenario) -> None:
    """Refuse a scenario whose new credentials have a key that another sandbox has. Raises Problem."""
    sandbox = call.sandbox
    for team in scenario.world.teams:
        for credential in team.credentials:
            owner = call.plane.sandboxes.find_caller(sandbox.key_of(credential.key))
            if owner is not None and owner.sandbox is not sandbox:
                raise Problem(
                    "invalid_scenario",
                    f"the key {excerpt(credential.key)} belongs to another sandbox",
                )


def _team_id(call: ControlCall) -> str:
    """Return the id of the Team that the query limits the request to; that of everyone if it names none."""
    team = call.query["team"]
    return (
        scenarios.EVERYONE if team is None else find_account(call.sandbox, team).team.id
    )


def describe_scenario(sandbox: Sandbox, team_id: str, now: int) -> dict[str, Any]:
    """Return the scenario that runs for a Team, or for all of them, as the control plane shows it."""
    playbook = sandbox.playbooks.get(team_id)
    shown: dict[str, Any] = {
        "scenario": None,
        "description": None,
        "team": team_id or None,
        "began_at": None,
    }
    if playbook is None:
        return {**shown, "rules": [], "timeline": []}
    timeline = [
        {
            **timed.spelling,
            "line": timed.line or None,
            "done_at": timestamp_or_none(playbook.done_at(index, now)),
        }
        for index, timed in enumerate(playbook.scenario.timeline)
    ]
    shown |= {
        "scenario": playbook.scenario.name,
        "description": playbook.scenario.description,
    }
    shown["began_at"] = format_timestamp(playbook.began_at)
    return {**shown, "rules": playbook.rules_report(), "timeline": timeline}


# Before a scenario is used --------------------------------------------------------------------------------------------


MAX_SEARCHED: Final = 1_000
"""How many of the newest requests are tried with the rules of a scenario."""
MAX_TRIALS: Final = 100_000
"""How often a request is tried with a rule, so that a long file costs no more time."""
MAX_SHOWN: Final = 20
"""How many requests are named for each rule."""


def get_library_scenario(call: ControlCall) -> dict[str, Any]:
    """GET /scenarios/{scenario}: the text of a scenario of the library. Raises Problem not_found."""
    name = call.parameters["scenario"]
    try:
        return {"name": name, "text": call.plane.library.text(name)}
    except DocumentError as error:
        raise Problem("not_found", str(error.complaints[0])) from None


async def check_scenario(call: ControlCall) -> dict[str, Any]:
    """POST /scenario/check: read a scenario without using it; name the recent requests that its rules match.

    Raises:
        Problem: invalid_scenario, with line and column.
    """
    scenario = await read_scenario_file(call, "")
    sandbox = call.sandbox
    tried = min(MAX_SEARCHED, MAX_TRIALS // max(1, len(scenario.rules)))
    recent = [
        (record.sequence, _request_facts(sandbox, record), _work_facts(sandbox, record))
        for record in islice(sandbox.journal.newest_first(), tried)
    ]
    return {
        "scenario": scenario.name,
        "rules": await in_slices(scenario.rules, lambda rule: _checked(rule, recent)),
    }


def _checked(
    rule: Rule, recent: Iterable[tuple[int, Facts, Facts | None]]
) -> dict[str, Any]:
    """Return the requests that a rule matches, whatever its `when` says."""
    facts = (
        (number, of_work if rule.match.kind == "work" else of_request)
        for number, of_request, of_work in recent
    )
    matched = (
        number
        for number, known in facts
        if known is not None and rule.match.matches(known)
    )
    return {
        "name": rule.name,
        "line": rule.line,
        "requests": list(islice(matched, MAX_SHOWN)),
    }


def _request_facts(sandbox: Sandbox, record: RequestRecord) -> Facts:
    """Return what a rule may know of a request that was recorded."""
    parts = record.path.split("/")
    identifier = next(
        (part for part in parts if sandbox.identifiers.place_of(part) is not None), ""
    )
    return scenarios.request_facts(sandbox, record, identifier, record.request_body)


def _work_facts(sandbox: Sandbox, record: RequestRecord) -> Facts | None:
    """Return what a rule may know of the work that a request admitted; None if it admitted none that still exists."""
    work = sandbox.store.find_work(record.work_id or "")
    if record.team is None or record.operation is None or work is None:
        return None
    name, outputs = (
        (work.workflow, len(work.outputs))
        if isinstance(work, Generation)
        else (work.type, 1)
    )
    return Facts("work", name, record.team.id, record.team.name, outputs=outputs)
