"""Sandboxes: created, listed, reset and deleted.

A reset or a deletion never enters the old state: it works whatever that state is.
"""

import logging
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final

from msgspec import Struct, structs
from starlette.responses import Response

from image_workflow_emulator.contract import BASE_PATH
from image_workflow_emulator.control import PREFIX, JsonObject
from image_workflow_emulator.control.clock import describe_clock, setting_of
from image_workflow_emulator.control.endpoint import (
    ControlCall,
    in_slices,
    json_response,
)
from image_workflow_emulator.control.given import give
from image_workflow_emulator.control.plane import ControlPlane
from image_workflow_emulator.control.reading import invalid_value
from image_workflow_emulator.control.scenario_reading import read_scenario
from image_workflow_emulator.control.scenarios import (
    reset_with_scenarios,
    with_scenario,
)
from image_workflow_emulator.control.teams import describe_teams
from image_workflow_emulator.documents.document import document_of
from image_workflow_emulator.domain.problems import Problem
from image_workflow_emulator.domain.readings import chosen
from image_workflow_emulator.kernel.clock import ClockSetting
from image_workflow_emulator.scenario.readings import readings_of
from image_workflow_emulator.scenario.scenario import NO_SCENARIO
from image_workflow_emulator.scenario.world import (
    World,
    built_in_world,
    world_changes_of,
    world_names,
)
from image_workflow_emulator.service import engine
from image_workflow_emulator.service.sandbox.calls import key_for_clients
from image_workflow_emulator.service.sandbox.sandbox import (
    DEFAULT_SANDBOX_ID,
    Sandbox,
    SandboxOptions,
)
from image_workflow_emulator.service.sandbox.sandboxes import SandboxConflictError

_LOGGER: Final = logging.getLogger("image_workflow_emulator.control")


async def create_sandbox(call: ControlCall) -> Response:
    """POST /sandboxes: the options of the process decide what the body leaves out."""
    plane = call.plane
    read = partial(_read_beginning, plane, call.fields, call.query["file"])
    beginning = await plane.read_aside(len(call.body), read)
    identifier = call.fields.get("id") or _unused_id(plane)
    try:
        sandbox = plane.sandboxes.create(identifier, beginning.options)
    except SandboxConflictError as conflict:
        detail = f"(body): {conflict}"
        raise Problem("invalid_request", detail, status=409) from None
    sandbox.created_with = beginning.before_scenario
    location = f"{PREFIX}/sandboxes/{identifier}"
    described = describe_sandbox(call, sandbox)
    return json_response(described, 201, {"Location": location})


def _unused_id(plane: ControlPlane) -> str:
    existing = plane.sandboxes.by_id
    return next(name for name in plane.unused_sandbox_ids if name not in existing)


async def list_sandboxes(call: ControlCall) -> JsonObject:
    """GET /sandboxes: in the order of their making.

    Raises:
        Problem: invalid_request for an `after` that is no sandbox.
    """
    by_id = call.plane.sandboxes.by_id
    ids = list(by_id)
    following = _ids_after(ids, call.query["after"])
    selected = following[: call.query["limit"]]
    # One may be deleted meanwhile: others are served between two slices.
    existing = (by_id[identifier] for identifier in selected if identifier in by_id)
    described = await in_slices(
        existing,
        lambda sandbox: _describe_in_list(call, sandbox),
    )
    return {"data": described, "total": len(ids)}


def _ids_after(ids: list[str], after: str | None) -> list[str]:
    """Return the ids behind one of them, all for None. Raises Problem."""
    if after is None:
        return ids
    if after not in ids:
        raise invalid_value("after", after, "the id of a sandbox")
    place = ids.index(after)
    return ids[place + 1 :]


def get_sandbox(call: ControlCall) -> JsonObject:
    """GET /sandboxes/{sandbox}."""
    return describe_sandbox(call, call.sandbox)


def delete_sandbox(call: ControlCall) -> None:
    """DELETE /sandboxes/{sandbox}: with all that it holds; its keys are unknown from
    now on.
    """
    if call.sandbox.id == DEFAULT_SANDBOX_ID:
        detail = "the default sandbox always exists; expected another, or a reset of it"
        raise Problem("invalid_request", detail)
    call.plane.sandboxes.delete(call.sandbox)


async def reset_sandbox(call: ControlCall) -> JsonObject:
    """POST /reset: back to the start, where the default sandbox has what the option
    `given` lists.
    """
    reset_with_scenarios(call)
    sandbox = call.sandbox
    if call.plane.given is not None and sandbox.id == DEFAULT_SANDBOX_ID:
        given_call = replace(
            call,
            body=call.plane.given,
            query={"team": None, "file": call.plane.settings.given},
            now=engine.enter(sandbox),
            store=sandbox.store,
        )
        await give(given_call)
    return describe_sandbox(call, sandbox)


# How a new one begins ----------------------------------------------------------------


class _Beginning(Struct, frozen=True):
    """How a new sandbox begins."""

    options: SandboxOptions
    before_scenario: SandboxOptions
    """The options before a scenario of its own changed them."""


class _Named(Struct, frozen=True):
    """What a body names of how a sandbox begins, its scenario aside."""

    options: Mapping[str, Any]
    """By the fields of SandboxOptions."""
    world: World
    """Its changes of the built-in world."""


def _read_beginning(
    plane: ControlPlane,
    fields: Mapping[str, Any],
    file: str | None,
) -> _Beginning:
    """Read how a new sandbox begins; `file` is the name of the scenario's file.

    Raises:
        Problem: invalid_request or invalid_scenario.
        DocumentError: the world or the readings cannot be used.
    """
    named = _read_named(fields)
    options = structs.replace(plane.options, **named.options)
    if "scenario" not in fields:
        inherited = structs.replace(options, own_world=named.world)
        return _Beginning(inherited, inherited)
    scenario = plane.scenario_for_none
    if fields["scenario"] is not None:
        names = world_names(options.world)
        scenario = read_scenario(plane, fields["scenario"], names, file)
    with_own = with_scenario(plane.options, scenario)
    return _Beginning(
        options=structs.replace(with_own, **named.options),
        before_scenario=structs.replace(options, scenario=NO_SCENARIO),
    )


def _read_named(fields: Mapping[str, Any]) -> _Named:
    """Read what the schema of the body does not say it all about."""
    options = {
        name: value for name, value in fields.items() if name not in ("id", "scenario")
    }
    if "clock" in fields:
        options["clock"] = _read_clock(fields["clock"])
    if "readings" in fields:
        document = document_of({"readings": fields["readings"]}, "")
        options["readings"] = readings_of(document)
    if "world" not in fields:
        return _Named(options, World())
    document = document_of(fields["world"], "", "/world")
    changes = world_changes_of(document)
    options["world"] = built_in_world().changed(changes)
    return _Named(options, changes)


def _read_clock(clock: ClockSetting | Mapping[str, Any]) -> ClockSetting:
    """Return a clock setting, which may be an object of mode and rate."""
    if isinstance(clock, ClockSetting):
        return clock
    return setting_of(clock["mode"], clock.get("rate"), "/clock")


# As JSON -----------------------------------------------------------------------------


def describe_sandbox(call: ControlCall, sandbox: Sandbox) -> JsonObject:
    """Return a sandbox as JSON; `env` has the variables for a client of it."""
    now = engine.enter(sandbox)
    return {
        "id": sandbox.id,
        "base_url": call.origin + BASE_PATH,
        "env": {
            "IMAGE_WORKFLOW_BASE_URL": call.origin + BASE_PATH,
            "IMAGE_WORKFLOW_API_KEY": key_for_clients(sandbox, now),
            "EMULATOR_URL": call.origin,
            "EMULATOR_SANDBOX": sandbox.id,
        },
        "teams": describe_teams(sandbox),
        "clock": describe_clock(sandbox, now),
        "readings": list(chosen(sandbox.readings)),
    }


def _describe_in_list(call: ControlCall, sandbox: Sandbox) -> JsonObject:
    """Return a sandbox of the list as JSON.

    One whose state cannot be settled must not hide the others: of such a one the list
    has what needs no state, so that it can be found, reset and deleted.
    """
    try:
        return describe_sandbox(call, sandbox)
    except Exception:
        _LOGGER.exception("%s cannot be settled; reset or delete it", sandbox.id)
        return {
            "id": sandbox.id,
            "base_url": call.origin + BASE_PATH,
            "env": {"EMULATOR_URL": call.origin, "EMULATOR_SANDBOX": sandbox.id},
            "teams": [],
            "clock": describe_clock(sandbox, sandbox.clock.now()),
        }
