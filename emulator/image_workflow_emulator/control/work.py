"""Operations and Generations of all Teams, with the requests that admitted them."""

from collections.abc import Mapping
from typing import Any

from msgspec import structs

from image_workflow_emulator.control import JsonObject
from image_workflow_emulator.control.assets import newest, picture_url
from image_workflow_emulator.control.describing import describe_rule
from image_workflow_emulator.control.endpoint import ControlCall
from image_workflow_emulator.control.teams import describe_owner
from image_workflow_emulator.domain.resources import (
    Generation,
    Operation,
    Output,
    PlannedOutput,
    WorkError,
)
from image_workflow_emulator.kernel.timestamps import (
    format_timestamp,
    timestamp_or_none,
)
from image_workflow_emulator.service.records.record import RequestRecord
from image_workflow_emulator.service.sandbox.sandbox import Sandbox


def list_work(call: ControlCall) -> JsonObject:
    """GET /work: newest first."""
    sandbox = call.sandbox
    all_work: list[Operation | Generation] = [
        *sandbox.store.operations.items.values(),
        *sandbox.store.generations.items.values(),
    ]
    admissions: dict[str, RequestRecord] = {}
    for record in sandbox.journal.requests:
        if record.work_id:
            admissions[record.work_id] = record
    described = []
    for work in newest(all_work, call.query["limit"]):
        admission = admissions.get(work.id)
        described.append(_describe_work(sandbox, work, admission))
    return {"data": described}


def _describe_work(
    sandbox: Sandbox,
    work: Operation | Generation,
    admission: RequestRecord | None,
) -> JsonObject:
    """Return a piece of work as JSON; `admission` is the request that admitted it."""
    kind = "generation"
    if isinstance(work, Operation):
        kind = "operation"
    sequence = None
    rule = None
    if admission is not None:
        sequence = admission.sequence
        if admission.work_rule is not None:
            rule = describe_rule(admission.work_rule)
    described = {
        "object": kind,
        "team": describe_owner(sandbox, work.team_id),
        "credits": {"reserved": work.reserved_credits, "charged": work.charged_credits},
        "request": sequence,
        "rule": rule,
        "body": work.request,
        "names": _names_in(sandbox, work.request),
        "id": work.id,
        "status": work.status,
        "created_at": format_timestamp(work.created_at),
        "started_at": timestamp_or_none(work.started_at),
        "finished_at": timestamp_or_none(work.finished_at),
    }
    if isinstance(work, Operation):
        return {**described, **_describe_operation(sandbox, work)}
    return {**described, **_describe_generation(sandbox, work)}


def _describe_operation(sandbox: Sandbox, operation: Operation) -> JsonObject:
    ingredients = sandbox.store.ingredients[operation.ingredient_kind].items
    ingredient = ingredients.get(operation.result_id or "")
    pictures = []
    if ingredient is not None:
        pictures = [picture_url(sandbox, key) for key in ingredient.picture_keys]
    return {
        "type": operation.type,
        "error": _describe_error(operation.error),
        "result_id": operation.result_id,
        "starts_at": format_timestamp(operation.outcome.starts_at),
        "finishes_at": timestamp_or_none(operation.outcome.finishes_at),
        "pictures": pictures,
    }


def _describe_generation(sandbox: Sandbox, generation: Generation) -> JsonObject:
    slots = zip(generation.outputs, generation.plan, strict=True)
    outputs = []
    for slot, (output, planned) in enumerate(slots, start=1):
        outputs.append(_describe_output(sandbox, slot, output, planned))
    return {
        "workflow": generation.workflow,
        "starts_at": format_timestamp(generation.starts_at),
        "outputs": outputs,
    }


def _describe_output(
    sandbox: Sandbox,
    slot: int,
    output: Output,
    planned: PlannedOutput,
) -> JsonObject:
    return {
        "slot": slot,
        "url": picture_url(sandbox, output.asset_id),
        "status": output.status,
        "asset_id": output.asset_id,
        "error": _describe_error(output.error),
        "finishes_at": timestamp_or_none(planned.finishes_at),
    }


def _describe_error(error: WorkError | None) -> JsonObject | None:
    if error is None:
        return None
    return structs.asdict(error)


def _names_in(sandbox: Sandbox, value: Any) -> dict[str, str]:
    """Return the names of the Products and ingredients whose ids are in a value, by id;
    deleted ones are left out.
    """
    if isinstance(value, str):
        name = _name_of(sandbox, value)
        if name is None:
            return {}
        return {value: name}
    if isinstance(value, Mapping):
        value = list(value.values())
    names: dict[str, str] = {}
    if isinstance(value, list | tuple):
        for part in value:
            names.update(_names_in(sandbox, part))
    return names


def _name_of(sandbox: Sandbox, identifier: str) -> str | None:
    """Return the name of a Product or an ingredient; None if there is none."""
    product = sandbox.store.products.items.get(identifier)
    if product is not None:
        return product.name
    for ingredients in sandbox.store.ingredients.values():
        ingredient = ingredients.items.get(identifier)
        if ingredient is not None:
            return ingredient.name
    return None
