"""Sandboxes: created, shown, reset, deleted, saved as a file and loaded from one."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

import orjson
from msgspec import structs
from starlette.concurrency import iterate_in_threadpool
from starlette.responses import Response, StreamingResponse

from image_workflow_emulator.contract import BASE_PATH
from image_workflow_emulator.control import PREFIX
from image_workflow_emulator.control.clock import clock_of, describe_clock
from image_workflow_emulator.control.dispatch import JSON, ControlCall, in_slices
from image_workflow_emulator.control.given import give
from image_workflow_emulator.control.scenarios import read_scenario, reset_with_scenarios, with_scenario
from image_workflow_emulator.control.teams import describe_teams
from image_workflow_emulator.documents.document import document_of
from image_workflow_emulator.domain.problems import Problem
from image_workflow_emulator.domain.readings import chosen
from image_workflow_emulator.scenario.format import readings_of
from image_workflow_emulator.scenario.scenario import NO_SCENARIO
from image_workflow_emulator.scenario.world import world_names, world_of
from image_workflow_emulator.service import engine
from image_workflow_emulator.service.sandbox.calls import key_for_clients
from image_workflow_emulator.service.sandbox.sandbox import DEFAULT_SANDBOX_ID, Sandbox
from image_workflow_emulator.service.sandbox.sandboxes import SandboxConflictError


async def create_sandbox(call: ControlCall) -> Response:
    """POST /sandboxes: defaults are the options of the process, except that no scenario runs."""
    fields, plane = call.fields, call.plane
    given = {name: value for name, value in fields.items() if name not in ("id", "scenario")}
    given |= {name: read(given[name]) for name, read in _READERS.items() if name in given}
    names = world_names(given.get("world", plane.options.world))
    scenario = NO_SCENARIO
    if fields.get("scenario") is not None:
        scenario = await asyncio.to_thread(read_scenario, plane, fields["scenario"], names, call.query["file"])
    options = structs.replace(with_scenario(plane.options, scenario), **given)
    identifier = fields.get("id") or next(name for name in plane.names if name not in plane.sandboxes.by_id)
    try:
        sandbox = plane.sandboxes.create(identifier, options)
    except SandboxConflictError as conflict:
        raise Problem("invalid_request", f"(body): {conflict}", status=409) from None
    sandbox.created_with = structs.replace(plane.options, **given)
    headers = {"Location": f"{PREFIX}/sandboxes/{identifier}"}
    return Response(orjson.dumps(describe(call, sandbox)), 201, headers, JSON)


async def list_sandboxes(call: ControlCall) -> dict[str, Any]:
    """GET /sandboxes: described some at a time, between which other requests are served."""
    by_id = call.plane.sandboxes.by_id
    existing = (by_id[identifier] for identifier in list(by_id) if identifier in by_id)  # one may be deleted meanwhile
    return {"data": await in_slices(existing, lambda sandbox: describe(call, sandbox))}


def get_sandbox(call: ControlCall) -> dict[str, Any]:
    """GET /sandboxes/{sandbox}."""
    return describe(call, call.sandbox)


def delete_sandbox(call: ControlCall) -> None:
    """DELETE /sandboxes/{sandbox}: with all that it holds; its keys are unknown from now on."""
    if call.sandbox.id == DEFAULT_SANDBOX_ID:
        raise Problem("invalid_request", "the default sandbox always exists; expected another, or a reset of it")
    call.plane.sandboxes.delete(call.sandbox)


async def reset_sandbox(call: ControlCall) -> dict[str, Any]:
    """POST /reset: back to the start, where the default sandbox has what the option `given` lists."""
    reset_with_scenarios(call)
    content, sandbox = call.plane.given, call.sandbox
    if content is not None and sandbox.id == DEFAULT_SANDBOX_ID:
        query, now = {"team": None, "file": call.plane.settings.given}, engine.enter(sandbox)
        await give(replace(call, body=content, query=query, now=now, store=sandbox.store))
    return describe(call, call.sandbox)


def describe(call: ControlCall, sandbox: Sandbox) -> dict[str, Any]:
    """Return a sandbox as the control plane shows it; `env` has the variables for a client of it."""
    now = engine.enter(sandbox)
    return {
        "id": sandbox.id,
        "base_url": call.head.origin + BASE_PATH,
        "env": {
            "IMAGE_WORKFLOW_BASE_URL": call.head.origin + BASE_PATH,
            "IMAGE_WORKFLOW_API_KEY": key_for_clients(sandbox, now),
            "EMULATOR_URL": call.head.origin,
            "EMULATOR_SANDBOX": sandbox.id,
        },
        "teams": describe_teams(sandbox),
        "clock": describe_clock(sandbox, now),
        "readings": list(chosen(sandbox.readings)),
    }


_READERS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "clock": lambda clock: clock_of(clock, "/clock"),
    "readings": lambda readings: readings_of(document_of({"readings": readings}, "")),
    "world": lambda world: world_of(document_of(world, "", "/world")),
}
"""What the fields of a new sandbox mean of which its schema does not say it all."""


# State files ----------------------------------------------------------------------------------------------------------


def save_state(call: ControlCall) -> StreamingResponse:
    """GET /state: as it is now, whatever happens while the file is on its way."""
    from image_workflow_emulator.service.state import archive  # 50 ms that a process without state files need not spend

    headers = {"Content-Disposition": f'attachment; filename="{call.sandbox.id}-state.zip"'}
    pieces = iterate_in_threadpool(archive.save(call.sandbox, call.now))
    return StreamingResponse(pieces, headers=headers, media_type="application/zip")


async def load_state(call: ControlCall) -> dict[str, Any]:
    """PUT /state: the sandbox becomes the one in the file, as a whole or not at all."""
    from image_workflow_emulator.service.state import archive

    plane = call.plane
    try:
        max_bytes, is_over = plane.settings.max_memory, lambda: plane.stop.has_begun
        loaded = await asyncio.to_thread(archive.load, call.body, call.sandbox.id, max_bytes, plane.contract, is_over)
        shown = describe(call, loaded)
        plane.sandboxes.replace(loaded)
    except (archive.StateError, SandboxConflictError) as error:
        raise Problem("invalid_request", f"(body): {error}") from None
    return shown
