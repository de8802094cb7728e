"""Sandboxes: created, shown, given what a client should find, reset, deleted, saved as a file and loaded from one.

What a sandbox is given is made by the operations of `/v1`, off the record: each entry goes through their checks as a
request of the Team would, but no journal has it, no rate counts it, and no rule of a scenario for requests is asked.
Work takes its time by the clock, which is moved to its end. Photos are drawn, as those of the sample of a first
photoshoot. Must not know what an operation checks.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any, Final

import orjson
from msgspec import structs
from starlette.concurrency import iterate_in_threadpool
from starlette.responses import Response, StreamingResponse

from image_workflow_emulator.contract import (
    BASE_PATH,
    Contract,
    OperationContract,
    enforcing_unique_items,
)
from image_workflow_emulator.control import PREFIX
from image_workflow_emulator.control.clock import clock_of, describe_clock, move_to
from image_workflow_emulator.control.dispatch import (
    JSON,
    ControlCall,
    ControlPlane,
    in_slices,
)
from image_workflow_emulator.control.dispatch import contract as control_contract
from image_workflow_emulator.control.scenarios import (
    read_scenario,
    reset_with_scenarios,
    with_scenario,
)
from image_workflow_emulator.control.teams import describe_teams, find_account
from image_workflow_emulator.documents.complaints import nearest
from image_workflow_emulator.documents.document import (
    Document,
    document_of,
    read_document,
)
from image_workflow_emulator.documents.schemas import Schemas
from image_workflow_emulator.domain.intents import PHOTOGRAPHY_DEFAULTS
from image_workflow_emulator.domain.orders import PHOTOSHOOT_SLOTS
from image_workflow_emulator.domain.problems import Problem
from image_workflow_emulator.domain.readings import chosen
from image_workflow_emulator.domain.recipes import PremadeRecipe
from image_workflow_emulator.domain.resources import INGREDIENT_KINDS, operation_id
from image_workflow_emulator.http.answers import json_bytes
from image_workflow_emulator.scenario.scenario import NO_SCENARIO
from image_workflow_emulator.scenario.world import readings_of, world_names, world_of
from image_workflow_emulator.service import engine
from image_workflow_emulator.service.resources.products import add_asset
from image_workflow_emulator.service.sandbox.calls import full_keys, key_for_clients
from image_workflow_emulator.service.sandbox.sandbox import (
    DEFAULT_SANDBOX_ID,
    Sandbox,
    SandboxOptions,
)
from image_workflow_emulator.service.sandbox.sandboxes import SandboxConflictError


async def create_sandbox(call: ControlCall) -> Response:
    """POST /sandboxes: defaults are the options of the process, except that no scenario runs."""
    plane = call.plane
    read_options = partial(_read_options, plane, call.fields, call.query["file"])
    created_with, options = await plane.read_aside(len(call.body), read_options)
    identifier = call.fields.get("id") or next(
        name for name in plane.names if name not in plane.sandboxes.by_id
    )
    try:
        sandbox = plane.sandboxes.create(identifier, options)
    except SandboxConflictError as conflict:
        raise Problem("invalid_request", f"(body): {conflict}", status=409) from None
    sandbox.created_with = created_with
    headers = {"Location": f"{PREFIX}/sandboxes/{identifier}"}
    return Response(orjson.dumps(describe(call, sandbox)), 201, headers, JSON)


def _read_options(
    plane: ControlPlane, fields: Mapping[str, Any], file: str | None
) -> tuple[SandboxOptions, SandboxOptions]:
    """Read how a new sandbox begins: without its scenario, and with it.

    Raises:
        Problem, DocumentError: the scenario, or another field, cannot be used.
    """
    given = {
        name: value for name, value in fields.items() if name not in ("id", "scenario")
    }
    for name, read_field in _READERS.items():
        if name in given:
            given[name] = read_field(given[name])
    scenario = NO_SCENARIO
    if fields.get("scenario") is not None:
        names = world_names(given.get("world", plane.options.world))
        scenario = read_scenario(plane, fields["scenario"], names, file)
    created_with = structs.replace(plane.options, **given)
    options = structs.replace(with_scenario(plane.options, scenario), **given)
    return created_with, options


async def list_sandboxes(call: ControlCall) -> dict[str, Any]:
    """GET /sandboxes: described some at a time, between which other requests are served."""
    by_id = call.plane.sandboxes.by_id
    existing = (
        by_id[identifier] for identifier in list(by_id) if identifier in by_id
    )  # one may be deleted meanwhile
    return {"data": await in_slices(existing, lambda sandbox: describe(call, sandbox))}


def get_sandbox(call: ControlCall) -> dict[str, Any]:
    """GET /sandboxes/{sandbox}."""
    return describe(call, call.sandbox)


def delete_sandbox(call: ControlCall) -> None:
    """DELETE /sandboxes/{sandbox}: with all that it holds; its keys are unknown from now on."""
    if call.sandbox.id == DEFAULT_SANDBOX_ID:
        raise Problem(
            "invalid_request",
            "the default sandbox always exists; expected another, or a reset of it",
        )
    call.plane.sandboxes.delete(call.sandbox)


async def reset_sandbox(call: ControlCall) -> dict[str, Any]:
    """POST /reset: back to the start, where the default sandbox has what the option `given` lists."""
    reset_with_scenarios(call)
    content, sandbox = call.plane.given, call.sandbox
    if content is not None and sandbox.id == DEFAULT_SANDBOX_ID:
        query, now = (
            {"team": None, "file": call.plane.settings.given},
            engine.enter(sandbox),
        )
        await give(
            replace(call, body=content, query=query, now=now, store=sandbox.store)
        )
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


# Given ----------------------------------------------------------------------------------------------------------------


PHOTOSHOOT: Final = "photoshoot"
_DEFAULTS: Final[Mapping[str, Mapping[str, Any]]] = {
    "fashion_model": {"age_range": "25-35", "gender": "neutral"},
    "background": {"kind": "backdrop"},
    PHOTOSHOOT: {"output_mode": "photoshoot", **PHOTOGRAPHY_DEFAULTS},
}
"""What is sent unless an entry says otherwise: under some readings the service fills in nothing (D33)."""
_ONE_SOURCE: Final = ("background", "pose")
"""The kinds that are made from one Asset, and not from several."""

Names = Mapping[tuple[str, str], str]
"""The ids of what was made above, by kind and name."""


async def give(call: ControlCall) -> dict[str, Any]:
    """POST /given: make each entry in turn; what was made before a refused one stays.

    Raises:
        Problem: invalid_request for entries that cannot be read, before anything is made; else that of the service.
    """
    read = partial(read_given, call.plane.contract, call.body, call.query["file"] or "")
    document = await call.plane.read_aside(len(call.body), read)
    call.check_unchanged()
    team_id = find_account(call.sandbox, call.query["team"]).team.id
    made, names = [], dict[tuple[str, str], str]()
    for entry in document.data["given"]:
        ((kind, fields),) = entry.items()
        resource = await _make(call, team_id, kind, fields, names)
        made.append(resource)
        if "name" in fields:
            names[kind, fields["name"]] = resource["id"]
    return {"data": made}


def read_given(contract: Contract, text: bytes, file: str) -> Document:
    """Read the entries, YAML or JSON. Raises DocumentError with every complaint, by file and line."""
    document = read_document(text, file)
    document.check(_schemas(contract), "#/components/schemas/Given")
    above: dict[str, None] = {}
    for index, entry in enumerate(document.data["given"]):
        ((kind, fields),) = entry.items()
        for place, product in enumerate(
            fields.get("products", ()) if kind == PHOTOSHOOT else ()
        ):
            if product not in above and not product.startswith("prd_"):
                steps = ("given", index, kind, "products", place)
                document.complain(
                    steps,
                    "the name of a Product above, or an id",
                    suggestions=partial(nearest, product, tuple(above)),
                )
        if kind == "product":
            above[fields["name"]] = None
    document.raise_complaints()
    return document


@lru_cache(maxsize=1)
def _schemas(contract: Contract) -> Schemas:
    """Return the schemas of entries: the fields of the body under `/v1`, and those that only seeding has."""
    bodies, own = (
        enforcing_unique_items(contract.document["components"]["schemas"]),
        control_contract()["components"],
    )
    entry, entries = own["schemas"]["GivenEntry"], dict[str, Any]()
    for kind, reference in entry["properties"].items():
        body, added = (
            bodies[_operation(contract, kind).body],
            own["schemas"][reference["$ref"].rpartition("/")[2]],
        )
        fields = {
            name: one
            for name, one in body["properties"].items()
            if name != "product_ids"
        }
        entries[kind] = {
            **body,
            "required": added["required"],
            "properties": added["properties"] | fields,
        }
    given = {
        "Given": own["schemas"]["Given"],
        "GivenEntry": {**entry, "properties": entries},
    }
    return Schemas({"components": {"schemas": bodies | given}}, formats={})


def _operation(contract: Contract, kind: str) -> OperationContract:
    """Return the operation that makes an entry of a kind."""
    identifier = (
        "createProductPhotographyGeneration"
        if kind == PHOTOSHOOT
        else operation_id("create", kind)
    )
    return contract.operations[identifier]


async def _make(
    call: ControlCall, team_id: str, kind: str, fields: Mapping[str, Any], names: Names
) -> Any:
    """Make one entry, and return the resource as `/v1` shows it. Raises Problem."""
    path = _operation(call.plane.contract, kind).path
    made = await _ask(
        call, team_id, "POST", path, _body(call, team_id, kind, fields, names)
    )
    if kind == "product" or not fields.get("finished", True):
        return made
    await _finish(call, team_id, made["id"])
    if kind == PHOTOSHOOT:
        return await _ask(call, team_id, "GET", f"/generations/{made['id']}")
    ended = await _ask(call, team_id, "GET", f"/operations/{made['id']}")
    if ended["error"]:
        detail = f"{fields['name']}: its Operation failed: {ended['error']['code']}"
        raise Problem("invalid_request", detail, status=409)
    return await _ask(call, team_id, "GET", f"{path}/{ended['result']['id']}")


def _body(
    call: ControlCall, team_id: str, kind: str, fields: Mapping[str, Any], names: Names
) -> dict[str, Any]:
    """Return the body under `/v1`, for which photos are added."""
    body = {
        **_DEFAULTS.get(kind, {}),
        **{name: _with_ids(name, value, names) for name, value in fields.items()},
    }
    photos = body.pop("photos", 3 if kind == "photography_style" else 1)
    if kind == PHOTOSHOOT:
        body.pop("finished", None)
        body.setdefault(
            "image_count",
            PHOTOSHOOT_SLOTS if body["output_mode"] == "photoshoot" else 1,
        )
        body["product_ids"] = [
            names.get(("product", product), product) for product in body.pop("products")
        ]
    elif kind in _ONE_SOURCE:
        body["asset_id"] = (
            body.get("asset_id") or _photos(call, team_id, kind, body["name"], 1)[0]
        )
    else:
        body["asset_ids"] = body.get("asset_ids") or _photos(
            call, team_id, kind, body["name"], photos
        )
    if kind == "product":
        body.setdefault("primary_asset_id", body["asset_ids"][0])
    return body


def _with_ids(name: str, value: Any, names: Names) -> Any:
    """Put ids for the names of what was made above, where a field refers to another resource."""
    if isinstance(value, Mapping):
        return {inner: _with_ids(inner, one, names) for inner, one in value.items()}
    if isinstance(value, list):
        return [_with_ids(name.removesuffix("s"), one, names) for one in value]
    return (
        names.get((name.removesuffix("_id"), value), value)
        if name.endswith("_id")
        else value
    )


def _photos(
    call: ControlCall, team_id: str, kind: str, name: str, number: int
) -> list[str]:
    """Add Assets without uploads: of a product shirts, else premade pictures of its kind; return their ids."""
    shown, what = (kind, "") if kind in INGREDIENT_KINDS else ("background", " shirt")
    names = [f"{kind} {name} {photo}{what}" for photo in range(1, number + 1)]
    sample = PremadeRecipe(kind=shown, name="", width=1024, height=1024, format="png")
    return [
        add_asset(
            call.sandbox, team_id, structs.replace(sample, name=each), call.now
        ).id
        for each in names
    ]


async def _ask(
    call: ControlCall,
    team_id: str,
    method: str,
    path: str,
    body: Mapping[str, Any] | None = None,
) -> Any:
    """Ask `/v1` as the Team, off the record. Raises Problem."""
    keys = full_keys(call.sandbox, team_id, call.now)
    if not keys:
        name = call.sandbox.accounts[team_id].team.name
        raise Problem(
            "invalid_request",
            f"the Team {name!r} has no full and active credential; add one",
        )
    content = b"" if body is None else json_bytes(body)
    answer = await call.plane.ask_off_record(
        call.sandbox, call.head.scope, keys[0], method, f"/v1{path}", content
    )
    call.check_unchanged()
    return answer


async def _finish(call: ControlCall, team_id: str, work_id: str) -> None:
    """Move the clock to the end of some work. Raises Problem with status 409 where a scenario stalls it."""
    ends_at = call.sandbox.accounts[team_id].budget.finishes_at.get(
        work_id, call.now
    )  # unless it has ended (D71)
    if ends_at is None:
        raise Problem(
            "invalid_request",
            f"{work_id}: a scenario stalls it; expected work that ends",
            status=409,
        )
    await move_to(call.sandbox, ends_at)
    call.check_unchanged()


# State files ----------------------------------------------------------------------------------------------------------


def save_state(call: ControlCall) -> StreamingResponse:
    """GET /state: as it is now, whatever happens while the file is on its way."""
    from image_workflow_emulator.service.state import (
        archive,
    )  # 50 ms that a process without state files need not spend

    headers = {
        "Content-Disposition": f'attachment; filename="{call.sandbox.id}-state.zip"'
    }
    pieces = iterate_in_threadpool(archive.save(call.sandbox, call.now))
    return StreamingResponse(pieces, headers=headers, media_type="application/zip")


async def load_state(call: ControlCall) -> dict[str, Any]:
    """PUT /state: the sandbox becomes the one in the file, as a whole or not at all."""
    from image_workflow_emulator.service.state import archive

    plane = call.plane
    try:
        max_bytes, is_over = plane.settings.max_memory, lambda: plane.stop.has_begun
        loaded = await asyncio.to_thread(
            archive.load, call.body, call.sandbox.id, max_bytes, plane.contract, is_over
        )
        shown = describe(call, loaded)
        plane.sandboxes.replace(loaded)
    except (archive.StateError, SandboxConflictError) as error:
        raise Problem("invalid_request", f"(body): {error}") from None
    return shown
