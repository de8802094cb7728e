"""Generations: creative work in output slots (sections 1, 3 and 4, D32 to D40). Owns
both ends of a Generation's life.

Everything is decided at admission: the subjects, the price (`plans`), and the outcome
of every slot and its time. Inputs are captured then too: their pictures are held until
the last slot is done, whatever is deleted meanwhile.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import structs

from image_workflow_emulator.domain import orders
from image_workflow_emulator.domain.intents import Intent
from image_workflow_emulator.domain.lifecycles import OUTPUT, WorkEvent
from image_workflow_emulator.domain.problems import Check
from image_workflow_emulator.domain.resources import (
    Generation,
    Output,
    PlannedOutput,
    WorkError,
)
from image_workflow_emulator.scenario.outcomes import WorkOutcome
from image_workflow_emulator.service.resources import plans, work
from image_workflow_emulator.service.resources.plans import Plan
from image_workflow_emulator.service.resources.products import add_asset
from image_workflow_emulator.service.sandbox.admission import (
    check_budget,
    check_credits,
    check_memory,
)
from image_workflow_emulator.service.sandbox.calls import Call, Handler, OwnCheck
from image_workflow_emulator.service.sandbox.sandbox import Sandbox

TIME_FACTOR_AT_4K: Final = 2


# Admission ----------------------------------------------------------------------------


def _admit(call: Call, plan: Plan) -> Generation:
    sandbox = call.sandbox
    outcome = work.decide(call, plan.workflow, len(plan.recipes))
    starts_at = call.now + work.queue_ms(sandbox)
    slots = _plan_slots(sandbox, plan, call.intent, outcome, starts_at)
    credential = call.caller.credential
    generation = Generation(
        id=sandbox.identifiers.next("gen"),
        workflow=plan.workflow,
        credential_id=credential.id,
        credential_name=credential.name,
        resolved_asset_ids=plan.resolved_asset_ids,
        outputs=(Output(),) * len(slots),
        starts_at=starts_at,
        plan=slots,
        **work.queued(call, plan.price),
    )
    work.admit(call, generation.id, plan, _last_end(slots))
    sandbox.store.generations.add(generation)
    _schedule(sandbox, generation)
    if work.skips_queue(sandbox):
        start_generation(sandbox, generation.id, call.now)
    return sandbox.store.generations.items[generation.id]


def _last_end(slots: Sequence[PlannedOutput]) -> int | None:
    """Return when the last slot ends; None for work that never ends."""
    ends = [slot.finishes_at for slot in slots if slot.finishes_at is not None]
    return max(ends, default=None)


def _schedule(sandbox: Sandbox, generation: Generation) -> None:
    """Schedule start and ends of a Generation, and hold its inputs until then."""
    timeline = sandbox.timeline
    if not work.skips_queue(sandbox):
        timeline.schedule(generation.starts_at, "generation_started", generation.id)
    for slot, planned in enumerate(generation.plan):
        sandbox.images.hold(planned.picture.inputs)
        if planned.finishes_at is not None:
            due = planned.finishes_at
            timeline.schedule(due, "output_finished", generation.id, slot)


def _plan_slots(
    sandbox: Sandbox,
    plan: Plan,
    intent: Intent,
    outcome: WorkOutcome,
    starts_at: int,
) -> tuple[PlannedOutput, ...]:
    """Decide when each slot ends and how: one after another (D76), unless the scenario
    says otherwise.
    """
    offsets_ms = _offsets_ms(sandbox, intent, len(plan.recipes), outcome.duration_ms)
    slots = []
    for index, recipe in enumerate(plan.recipes):
        finishes_at = None
        if not outcome.stall:
            finishes_at = starts_at + offsets_ms[index]
        failure = _failure(outcome, index + 1)
        slots.append(PlannedOutput(finishes_at, failure, recipe))
    return tuple(slots)


def _offsets_ms(
    sandbox: Sandbox,
    intent: Intent,
    slots: int,
    duration_ms: int | None,
) -> list[int]:
    """Return how long each slot takes from the start of the work.

    `duration_ms` is that of a scenario: the last slot ends then, and the others in
    proportion.
    """
    timings = sandbox.timings
    factor = 1
    if "4k" in (intent.get("resolution"), intent.get("target_resolution")):
        factor = TIME_FACTOR_AT_4K
    offsets_ms = []
    for slot in range(slots):
        usual_ms = timings.first_output_ms + slot * timings.next_output_ms
        offsets_ms.append(usual_ms * factor)
    if duration_ms is not None:
        offsets_ms = _scaled(offsets_ms, duration_ms)
    if sandbox.readings.slot_order == "shuffled":  # D76
        offsets_ms.reverse()
    return offsets_ms


def _scaled(offsets_ms: Sequence[int], last_ms: int) -> list[int]:
    """Return offsets in proportion, so that the last one is as given.

    Where the world takes no time for outputs, all of them are the last one's.
    """
    shares = [offset_ms or 1 for offset_ms in offsets_ms]
    last_share = shares[-1]
    return [last_ms * share // last_share for share in shares]


def _failure(outcome: WorkOutcome, slot: int) -> WorkError | None:
    """Return why a slot fails, counted from 1; None if it completes."""
    code = outcome.fail or outcome.outputs.get(slot)
    if code is None:
        return None
    return work.FAILURES[code]


# The end ------------------------------------------------------------------------------


def start_generation(
    sandbox: Sandbox,
    generation_id: str,
    now: int,
) -> None:
    """Start a Generation and all its slots: its time in the queue is over."""
    generations = sandbox.store.generations
    queued = generations.items[generation_id]
    started = structs.replace(
        work.started(queued, now),
        outputs=tuple(map(_started_output, queued.outputs)),
    )
    generations.replace(started)


def _started_output(output: Output) -> Output:
    status = OUTPUT.after(output.status, "started")
    return structs.replace(output, status=status)


def finish_output(
    sandbox: Sandbox,
    generation_id: str,
    slot: int,
    now: int,
) -> None:
    """Finish a slot, and with the last one the Generation (section 3, rule 1)."""
    generation = sandbox.store.generations.items[generation_id]
    outputs = list(generation.outputs)
    outputs[slot] = _finished_output(sandbox, generation, slot, now)
    account = sandbox.accounts[generation.team_id]
    account.budget.give_back_place(generation.id)
    changed = structs.replace(generation, outputs=tuple(outputs), updated_at=now)
    if all(output.status in OUTPUT.terminal for output in outputs):
        changed = _finished(sandbox, changed, now)
    sandbox.store.generations.replace(changed)


def _finished_output(
    sandbox: Sandbox,
    generation: Generation,
    slot: int,
    now: int,
) -> Output:
    """Return a slot that has ended; its picture becomes an Asset unless it failed."""
    planned = generation.plan[slot]
    event: WorkEvent = "failed"
    asset_id = None
    if planned.failure is None:
        event = "succeeded"
        team_id = generation.team_id
        asset = add_asset(sandbox, team_id, planned.picture, now, generation.id)
        asset_id = asset.id
    sandbox.images.release(planned.picture.inputs)
    status = OUTPUT.after(generation.outputs[slot].status, event)
    return Output(status, asset_id, planned.failure)


def _finished(
    sandbox: Sandbox,
    generation: Generation,
    now: int,
) -> Generation:
    """Return a Generation whose slots have all ended (D37)."""
    outputs = generation.outputs
    completed = sum(output.status == "completed" for output in outputs)
    charge = orders.generation_charge(
        generation.reserved_credits,
        completed,
        len(outputs),
        sandbox.readings.partial_charge,
    )
    if completed:
        return work.finished(sandbox, generation, "succeeded", charge, now)
    return work.finished(sandbox, generation, "failed", charge, now)


# The workflows ------------------------------------------------------------------------


def _handler(*planning: OwnCheck) -> Handler:
    """Return what admits a workflow; the last check of `planning` returns the plan."""
    checks: tuple[OwnCheck, ...] = (
        (Check.PAUSE, check_memory),
        *planning,
        (Check.CONCURRENCY, check_budget),
        (Check.CREDITS, check_credits),
    )
    return Handler(checks=checks, commit=_admit)


BY_WORKFLOW: Final[Mapping[str, Handler]] = {
    "product_photography": _handler(
        (Check.REFERENCES, plans.refer_photography),
        (Check.RULES, plans.plan_photography),
    ),
    "edit_images": _handler((Check.REFERENCES, plans.plan_edit)),
    "upscale": _handler(
        (Check.REFERENCES, plans.refer_upscale),
        (Check.RULES, plans.plan_upscale),
    ),
}
"""How each workflow is admitted."""
