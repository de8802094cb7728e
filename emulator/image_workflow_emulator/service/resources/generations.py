"""Generations: creative work in output slots (sections 1, 3 and 4, D32 to D40). Owns both ends of a Generation's life.

Everything is decided at admission: the subjects, the price, and the outcome of every slot and its time. Inputs are
captured then too: their pictures are held until the last slot is done, whatever is deleted meanwhile.
"""

from collections.abc import Mapping, Set

from msgspec import Struct, structs

from image_workflow_emulator.domain import orders, resources
from image_workflow_emulator.domain.intents import Intent
from image_workflow_emulator.domain.problems import Check, Problem, invalid_input
from image_workflow_emulator.domain.recipes import (
    EditRecipe,
    PhotographRecipe,
    Recipe,
    UpscaleRecipe,
)
from image_workflow_emulator.domain.resources import (
    Asset,
    Generation,
    Ingredient,
    Output,
    PlannedOutput,
    Pose,
    Product,
)
from image_workflow_emulator.kernel.wording import excerpt
from image_workflow_emulator.scenario.scenario import WorkOutcome
from image_workflow_emulator.service.resources import work
from image_workflow_emulator.service.resources.lookups import (
    ASSET,
    INGREDIENTS,
    PRODUCT,
    refer,
    refer_to_all,
)
from image_workflow_emulator.service.resources.products import add_asset
from image_workflow_emulator.service.sandbox.admission import (
    Order,
    check_budget,
    check_credits,
    check_memory,
)
from image_workflow_emulator.service.sandbox.calls import Call, Handler, OwnCheck
from image_workflow_emulator.service.sandbox.sandbox import Sandbox

TIME_FACTOR_AT_4K = 2


class Plan(Order, frozen=True):
    """The plan of a Generation: its subjects, and the recipe of each slot in order."""

    workflow: str
    resolved_asset_ids: tuple[str, ...]
    recipes: tuple[Recipe, ...]


class Chosen(Struct, frozen=True):
    """What an order of Product Photography refers to."""

    products: list[Product]
    style: Ingredient | None
    background: Ingredient | None
    models: list[Ingredient]
    pose: Ingredient | None


def _plan(
    call: Call, workflow: str, asset_ids: tuple[str, ...], recipes: tuple[Recipe, ...]
) -> Plan:
    places = (
        len(recipes) if call.sandbox.readings.concurrency_unit == "by-output" else 1
    )  # D40
    return Plan(
        orders.generation_price(workflow, call.intent),
        places,
        workflow,
        asset_ids,
        recipes,
    )


# Product Photography --------------------------------------------------------------------------------------------------


def _refer_photography(call: Call, _found: None) -> Chosen:
    intent = call.intent
    products = refer_to_all(call, PRODUCT, "/product_ids", intent["product_ids"])
    refer_to_all(call, ASSET, "/asset_ids", intent["asset_ids"])
    return Chosen(
        products=products,
        style=_ingredient(
            call,
            "photography_style",
            "/photography_style_id",
            intent.get("photography_style_id"),
        ),
        background=_ingredient(
            call,
            "background",
            "/background/background_id",
            intent["background"].get("background_id"),
        ),
        models=_models(call, intent["fashion_model"]),
        pose=_ingredient(call, "pose", "/pose_id", intent.get("pose_id")),
    )


def _ingredient(
    call: Call, kind: str, where: str, identifier: str | None
) -> Ingredient | None:
    """Return the ingredient that is referred to, if one is. Raises Problem invalid_reference."""
    return (
        None
        if identifier is None
        else refer(call, INGREDIENTS[kind], where, identifier)
    )


def _models(call: Call, chosen: Intent) -> list[Ingredient]:
    lookup = INGREDIENTS["fashion_model"]
    if chosen["type"] == "selected":
        return [
            refer(
                call,
                lookup,
                "/fashion_model/fashion_model_id",
                chosen["fashion_model_id"],
            )
        ]
    return refer_to_all(
        call,
        lookup,
        "/fashion_model/fashion_model_ids",
        chosen.get("fashion_model_ids", ()),
    )


def _plan_photography(call: Call, chosen: Chosen) -> Plan:
    """422: the camera distance is one of the pose's, and there are not too many subjects."""
    intent, products, style, pose = (
        call.intent,
        chosen.products,
        chosen.style,
        chosen.pose,
    )
    _check_camera_distance(intent, pose)
    _check_subjects(
        call,
        {photo for product in products for photo in product.asset_ids}.union(
            intent["asset_ids"]
        ),
    )
    subjects = orders.pack(
        [(product.primary_asset_id, product.asset_ids) for product in products],
        intent["asset_ids"],
    )
    background = chosen.background.picture_keys if chosen.background else []
    models = [key for model in chosen.models for key in model.picture_keys]
    width, height = orders.output_size(
        intent["aspect_ratio"], intent["resolution"], call.sandbox.readings.pixel_sizes
    )
    slots = intent["image_count"]
    swatches = [
        ingredient.picture_keys[0] for ingredient in (style, pose) if ingredient
    ]
    colorway = intent.get("colorway", {})
    people = {"automatic": 1, "none": 0}.get(
        intent["fashion_model"]["type"], len(models)
    )
    recipes = tuple(
        PhotographRecipe(
            width=width,
            height=height,
            format=intent["output_format"],
            inputs=(*subjects, *background, *models, *swatches),
            subject_count=len(subjects),
            background_kind="picture" if background else intent["background"]["type"],
            background_hex=intent["background"].get("color"),
            model_input_count=len(models),
            people=people,
            photography_style=style.name if style else None,
            pose=pose.name if pose else None,
            background_name=chosen.background.name if chosen.background else None,
            model_names=tuple(model.name for model in chosen.models),
            colorway=colorway.get("name"),
            colorway_hex=colorway.get("hex"),
            slot=slot,
            slot_count=slots,
            is_photoshoot=intent["output_mode"] == "photoshoot",
            product_names=tuple(product.name for product in products),
            aspect_ratio=intent["aspect_ratio"],
            resolution=intent["resolution"],
            camera_distance=intent.get("camera_distance"),
            directions=intent.get("custom_directions", ""),
        )
        for slot in range(1, slots + 1)
    )
    return _plan(call, "product_photography", subjects, recipes)


def _check_camera_distance(intent: Intent, pose: Ingredient | None) -> None:
    """A chosen distance must be one that the chosen pose supports (D34)."""
    distance = intent.get("camera_distance")
    if (
        isinstance(pose, Pose)
        and distance is not None
        and distance not in pose.supported_camera_distances
    ):
        supported = ", ".join(pose.supported_camera_distances)
        raise invalid_input(
            "/camera_distance",
            distance,
            f"one that the pose supports: {supported}",
            Check.RULES,
        )


def _check_subjects(call: Call, subjects: Set[str]) -> None:
    """More subjects than one Generation takes are cut (D32), or refused."""
    if (
        len(subjects) > orders.PACKED_PHOTOS
        and call.sandbox.readings.subject_cap == "refuses"
    ):
        found, expected = (
            sorted(subjects),
            f"at most {orders.PACKED_PHOTOS} photos in all",
        )
        raise invalid_input("/product_ids", found, expected, Check.RULES)


# Edit Images and Upscale ----------------------------------------------------------------------------------------------


def _plan_edit(call: Call, _found: None) -> Plan:
    """422: the Assets are there."""
    intent = call.intent
    refer_to_all(call, ASSET, "/asset_ids", intent["asset_ids"])
    width, height = orders.output_size(
        intent["aspect_ratio"], intent["resolution"], call.sandbox.readings.pixel_sizes
    )
    recipe = EditRecipe(
        width=width,
        height=height,
        format=intent["output_format"],
        inputs=tuple(intent["asset_ids"]),
        instructions=intent["instructions"],
        aspect_ratio=intent["aspect_ratio"],
        resolution=intent["resolution"],
    )
    return _plan(call, "edit_images", recipe.inputs, (recipe,))


def _refer_upscale(call: Call, _found: None) -> Asset:
    return refer(call, ASSET, "/asset_id", call.intent["asset_id"])


def _plan_upscale(call: Call, asset: Asset) -> Plan:
    """422: the target is above the Asset's resolution."""
    target = call.intent["target_resolution"]
    if orders.reaches(asset.width, asset.height, target):
        raise Problem(
            "already_at_target_resolution",
            f"/target_resolution: found {excerpt(target)} for an Asset of {asset.width} x {asset.height} pixels; "
            "expected a target above its longest edge",
        )
    width, height = orders.size_of_ratio(asset.width, asset.height, target)
    recipe = UpscaleRecipe(
        width=width,
        height=height,
        format=call.intent["output_format"],
        inputs=(asset.id,),
        resolution=target,
    )
    return _plan(call, "upscale", (asset.id,), (recipe,))


# Admission ------------------------------------------------------------------------------------------------------------


def _admit(call: Call, plan: Plan) -> Generation:
    sandbox, workflow = call.sandbox, plan.workflow
    outcome = work.decide(call, workflow, len(plan.recipes))
    starts_at = call.now + work.queue_ms(sandbox)
    slots = _plan_slots(sandbox, plan, call.intent, outcome, starts_at)
    generation = Generation(
        id=sandbox.identifiers.next("gen"),
        workflow=workflow,
        credential_id=call.caller.credential.id,
        credential_name=call.caller.credential.name,
        resolved_asset_ids=plan.resolved_asset_ids,
        outputs=(Output(),) * len(slots),
        starts_at=starts_at,
        plan=slots,
        **work.queued(call, plan.price),
    )
    finishes_at = (
        None if outcome.stall else max(slot.finishes_at or 0 for slot in slots)
    )
    work.admit(call, generation.id, plan, finishes_at)
    sandbox.store.generations.add(generation)
    if not work.skips_queue(sandbox):
        sandbox.timeline.schedule(starts_at, "generation_started", generation.id)
    for slot, planned in enumerate(slots):
        sandbox.images.hold(planned.picture.inputs)
        if planned.finishes_at is not None:
            sandbox.timeline.schedule(
                planned.finishes_at, "output_finished", generation.id, slot
            )
    if work.skips_queue(sandbox):
        start_generation(sandbox, generation.id, call.now)
    return sandbox.store.generations.items[generation.id]


def _plan_slots(
    sandbox: Sandbox, plan: Plan, intent: Intent, outcome: WorkOutcome, starts_at: int
) -> tuple[PlannedOutput, ...]:
    """Decide when each slot ends and how: one after another (D76), unless the scenario says otherwise."""
    timings = sandbox.timings
    factor = (
        TIME_FACTOR_AT_4K
        if "4k" in (intent.get("resolution"), intent.get("target_resolution"))
        else 1
    )
    usual_ms = [
        (timings.first_output_ms + slot * timings.next_output_ms) * factor
        for slot in range(len(plan.recipes))
    ]
    offsets_ms = usual_ms
    if (
        outcome.duration_ms is not None
    ):  # the last slot ends then, and the others in proportion
        offsets_ms = [
            outcome.duration_ms * (slot_ms or 1) // (usual_ms[-1] or 1)
            for slot_ms in usual_ms
        ]
    if sandbox.readings.slot_order == "shuffled":  # D76
        offsets_ms = offsets_ms[::-1]
    failures = (
        dict.fromkeys(range(1, len(plan.recipes) + 1), outcome.fail)
        if outcome.fail
        else outcome.outputs
    )
    return tuple(
        PlannedOutput(
            finishes_at=None if outcome.stall else starts_at + offset_ms,
            failure=work.failure(code) if (code := failures.get(slot)) else None,
            picture=recipe,
        )
        for slot, (recipe, offset_ms) in enumerate(
            zip(plan.recipes, offsets_ms, strict=True), start=1
        )
    )


def start_generation(sandbox: Sandbox, generation_id: str, now: int) -> None:
    """Start a Generation and all its slots: its time in the queue is over."""
    generations = sandbox.store.generations
    generation = work.started(generations.items[generation_id], now)
    outputs = tuple(
        structs.replace(output, status=resources.MOVES[output.status, "started"])
        for output in generation.outputs
    )
    generations.replace(structs.replace(generation, outputs=outputs))


def finish_output(sandbox: Sandbox, generation_id: str, slot: int, now: int) -> None:
    """Finish a slot, and with the last one the Generation (section 3, rule 1)."""
    generation = sandbox.store.generations.items[generation_id]
    planned = generation.plan[slot]
    event = "failed" if planned.failure else "succeeded"
    asset_id = None
    if planned.failure is None:
        asset_id = add_asset(
            sandbox, generation.team_id, planned.picture, now, generation.id
        ).id
    sandbox.images.release(planned.picture.inputs)
    output = Output(
        resources.MOVES[generation.outputs[slot].status, event],
        asset_id,
        planned.failure,
    )
    sandbox.accounts[generation.team_id].budget.give_back_place(generation.id)
    outputs = (*generation.outputs[:slot], output, *generation.outputs[slot + 1 :])
    changed = structs.replace(generation, outputs=outputs, updated_at=now)
    if all(output.status in resources.TERMINAL for output in outputs):
        completed = sum(output.status == "completed" for output in outputs)
        reading = sandbox.readings.partial_charge
        charge = orders.generation_charge(
            generation.reserved_credits, completed, len(outputs), reading
        )
        changed = work.finished(
            sandbox, changed, "succeeded" if completed else "failed", charge, now
        )
    sandbox.store.generations.replace(changed)


def _handler(*planning: OwnCheck) -> Handler:
    """Return what admits a workflow; the last of the checks that are its own finds the plan."""
    order = (Check.CONCURRENCY, check_budget), (Check.CREDITS, check_credits)
    return Handler(
        checks=((Check.PAUSE, check_memory), *planning, *order), commit=_admit
    )


BY_WORKFLOW: Mapping[str, Handler] = {
    "product_photography": _handler(
        (Check.REFERENCES, _refer_photography), (Check.RULES, _plan_photography)
    ),
    "edit_images": _handler((Check.REFERENCES, _plan_edit)),
    "upscale": _handler(
        (Check.REFERENCES, _refer_upscale), (Check.RULES, _plan_upscale)
    ),
}
"""How each workflow is admitted."""
