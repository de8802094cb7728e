"""Generations: creative work in output slots (sections 1, 3 and 4, D32 to D40). Owns both ends of a Generation's life.

All is decided at admission: the subjects, the price, and what every slot will come to and when. Inputs are captured
then too: their pictures are held until the last slot is done, whatever is deleted meanwhile.
"""

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from emulator.domain import lifecycles
from emulator.domain.intents import Intent
from emulator.domain.pixels import output_size, reaches, size_of_ratio
from emulator.domain.pricing import generation_charge, generation_price
from emulator.domain.problems import Check, Problem, excerpt, invalid_input, invalid_reference
from emulator.domain.product_photos import pack
from emulator.domain.recipes import EditRecipe, PhotographRecipe, Recipe, UpscaleRecipe
from emulator.domain.resources import Asset, Generation, Ingredient, Output, PlannedOutput, Pose, Product
from emulator.scenario.faults import WorkOutcome
from emulator.service import scenarios, work
from emulator.service.accounts import Caller
from emulator.service.authoring import remedy_for_ingredient
from emulator.service.library import check_assets, remedy_for_asset, remedy_for_product
from emulator.service.sandbox import Sandbox

TIME_FACTOR_AT_4K = 2
LARGEST_TARGET = "4k"


@dataclass(frozen=True, slots=True)
class Plan:
    """What a workflow makes of its intent: the subjects, and the recipe of each slot in order."""

    resolved_asset_ids: tuple[str, ...]
    recipes: tuple[Recipe, ...]


def get(caller: Caller, generation_id: str) -> Generation:
    """Return a Generation of the Team. Raises Problem not_found."""
    generation = caller.sandbox.store.generations.visible(caller.team_id, generation_id)
    if generation is None:
        item = caller.sandbox.store.generations.items.get(generation_id)
        raise Problem(
            "not_found",
            f"generation_id: found {excerpt(generation_id)}; expected one of this Team's",
            remedy=caller.remedy_for_absent(item, "use the id of a Generation that GET /generations lists"),
        )
    return generation


def create_product_photography(caller: Caller, intent: Intent, now: int) -> Generation:
    """Admit single shots or a photoshoot.

    Raises:
        Problem: invalid_reference, invalid_input, concurrency_limit_reached, insufficient_credits, service_unavailable.
    """
    return _admit(caller, "product_photography", intent, _plan_photography, now)


def create_edit_images(caller: Caller, intent: Intent, now: int) -> Generation:
    """Admit one picture made from one to eight Assets and an instruction; raises as product photography does."""
    return _admit(caller, "edit_images", intent, _plan_edit, now)


def create_upscale(caller: Caller, intent: Intent, now: int) -> Generation:
    """Admit the enlargement of an Asset; also raises Problem already_at_target_resolution."""
    return _admit(caller, "upscale", intent, _plan_upscale, now)


def _plan_photography(caller: Caller, intent: Intent) -> Plan:
    products = _products(caller, intent["product_ids"])
    check_assets(caller, "/asset_ids", intent["asset_ids"])
    style = _ingredient(caller, "photography_style", "/photography_style_id", intent.get("photography_style_id"))
    background = _background_keys(caller, intent["background"])
    models = _model_keys(caller, intent["fashion_model"])
    pose = _ingredient(caller, "pose", "/pose_id", intent.get("pose_id"))
    _check_camera_distance(caller, intent)

    subjects = pack([(product.primary_asset_id, product.asset_ids) for product in products], intent["asset_ids"])
    width, height = output_size(intent["aspect_ratio"], intent["resolution"])
    slots = intent["image_count"]
    swatches = [chosen.picture_keys[0] for chosen in (style, pose) if chosen]
    colorway = intent.get("colorway", {})
    people = {"automatic": 1, "none": 0}.get(intent["fashion_model"]["type"], len(models))
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
            colorway=colorway.get("name"),
            colorway_hex=colorway.get("hex"),
            slot=slot,
            slot_count=slots,
            resolution=intent["resolution"],
            camera_distance=intent.get("camera_distance"),
            directions=intent.get("custom_directions", ""),
        )
        for slot in range(1, slots + 1)
    )
    return Plan(subjects, recipes)


def _plan_edit(caller: Caller, intent: Intent) -> Plan:
    check_assets(caller, "/asset_ids", intent["asset_ids"])
    width, height = output_size(intent["aspect_ratio"], intent["resolution"])
    recipe = EditRecipe(
        width=width,
        height=height,
        format=intent["output_format"],
        inputs=tuple(intent["asset_ids"]),
        instructions=intent["instructions"],
        resolution=intent["resolution"],
    )
    return Plan(recipe.inputs, (recipe,))


def _plan_upscale(caller: Caller, intent: Intent) -> Plan:
    asset_id, target = intent["asset_id"], intent["target_resolution"]
    asset: Asset | None = caller.sandbox.store.assets.visible(caller.team_id, asset_id)
    if asset is None:
        raise invalid_reference("/asset_id", asset_id, "a live Asset of this Team", remedy_for_asset(caller, asset_id))
    if reaches(asset.width, asset.height, target):
        raise Problem(
            "already_at_target_resolution",
            f"/target_resolution: found {excerpt(target)} for an Asset of {asset.width} x {asset.height} pixels; "
            "expected a target above its longest edge",
            remedy=_remedy_at_target(asset),
        )
    width, height = size_of_ratio(asset.width, asset.height, target)
    recipe = UpscaleRecipe(width=width, height=height, format=intent["output_format"], inputs=(asset_id,))
    return Plan((asset_id,), (recipe,))


def _remedy_at_target(asset: Asset) -> str:
    larger = not reaches(asset.width, asset.height, LARGEST_TARGET)
    return f"let /target_resolution be {LARGEST_TARGET}" if larger else "use the Asset as it is"


def _products(caller: Caller, product_ids: Sequence[str]) -> list[Product]:
    products = []
    for index, product_id in enumerate(product_ids):
        product = caller.sandbox.store.products.visible(caller.team_id, product_id)
        if product is None:
            remedy = remedy_for_product(caller, product_id)
            raise invalid_reference(f"/product_ids/{index}", product_id, "a Product of this Team", remedy)
        products.append(product)
    return products


def _ingredient(caller: Caller, kind: str, where: str, identifier: str | None) -> Ingredient | None:
    """Return the ingredient that is referred to, if one is. Raises Problem invalid_reference."""
    if identifier is None:
        return None
    ingredient = caller.sandbox.store.ingredients[kind].visible(caller.team_id, identifier)
    if ingredient is None:
        remedy = remedy_for_ingredient(caller, kind, identifier)
        raise invalid_reference(where, identifier, f"a {kind.replace('_', ' ')} that the Team can use", remedy)
    return ingredient


def _background_keys(caller: Caller, background: Intent) -> list[str]:
    chosen = _ingredient(caller, "background", "/background/background_id", background.get("background_id"))
    return chosen.picture_keys if chosen else []


def _model_keys(caller: Caller, chosen: Intent) -> list[str]:
    where, identifiers = "/fashion_model/fashion_model_id", chosen.get("fashion_model_ids", ())
    references = {f"{where}s/{index}": identifier for index, identifier in enumerate(identifiers)}
    if chosen["type"] == "selected":
        references = {where: chosen["fashion_model_id"]}
    models = [_ingredient(caller, "fashion_model", *reference) for reference in references.items()]
    return [key for model in models if model for key in model.picture_keys]


def _check_camera_distance(caller: Caller, intent: Intent) -> None:
    """A chosen distance must be one that the chosen pose supports (D34)."""
    if "pose_id" not in intent or "camera_distance" not in intent:
        return
    pose = caller.sandbox.store.ingredients["pose"].items[intent["pose_id"]]
    assert isinstance(pose, Pose)
    if intent["camera_distance"] not in pose.supported_camera_distances:
        supported = ", ".join(pose.supported_camera_distances)
        raise invalid_input(
            "/camera_distance",
            intent["camera_distance"],
            f"one that the pose supports: {supported}",
            Check.RULES,
            remedy=f"let /camera_distance be {supported.replace(', ', ' or ')}",
        )


def _admit(
    caller: Caller, workflow: str, intent: Intent, plan_of: Callable[[Caller, Intent], Plan], now: int
) -> Generation:
    sandbox = caller.sandbox
    sandbox.check_memory()
    plan = plan_of(caller, intent)
    work.check_budget(caller, now)
    price = generation_price(workflow, intent)
    work.check_credits(caller, price)
    caller.before_commit()

    decision = scenarios.decide_work(caller, workflow, now)
    starts_at = now + sandbox.timings.queue_ms
    slots = _plan_slots(sandbox, plan, intent, decision.outcome, starts_at)
    generation = Generation(
        id=sandbox.identifiers.next("gen"),
        team_id=caller.team_id,
        workflow=workflow,
        status="queued",
        credential_id=caller.credential.id,
        credential_name=caller.credential.name,
        request=intent,
        resolved_asset_ids=plan.resolved_asset_ids,
        outputs=(Output(),) * len(slots),
        reserved_credits=price,
        charged_credits=None,
        created_at=now,
        updated_at=now,
        started_at=None,
        finished_at=None,
        starts_at=starts_at,
        plan=slots,
    )
    last = slots[-1].finishes_at
    work.admit(caller, generation.id, price, last, now, decision.rule)
    sandbox.store.generations.add(generation)
    sandbox.timeline.schedule(starts_at, "generation_started", generation.id)
    for slot, planned in enumerate(slots):
        sandbox.images.hold(planned.picture.inputs)
        if planned.finishes_at is not None:
            sandbox.timeline.schedule(planned.finishes_at, "output_finished", generation.id, slot)
    return generation


def _plan_slots(
    sandbox: Sandbox, plan: Plan, intent: Intent, outcome: WorkOutcome, starts_at: int
) -> tuple[PlannedOutput, ...]:
    """Decide when each slot ends and how: one after another (interfaces, section 4), unless the scenario says otherwise."""
    timings = sandbox.timings
    factor = TIME_FACTOR_AT_4K if "4k" in (intent.get("resolution"), intent.get("target_resolution")) else 1
    usual_ms = [(timings.first_output_ms + slot * timings.next_output_ms) * factor for slot in range(len(plan.recipes))]
    offsets_ms = usual_ms
    if outcome.duration_ms is not None:
        count = len(usual_ms)
        offsets_ms = [outcome.duration_ms * (usual_ms[slot] or 1) // (usual_ms[-1] or 1) for slot in range(count)]
    failures = dict.fromkeys(range(1, len(plan.recipes) + 1), outcome.fail) if outcome.fail else outcome.outputs
    return tuple(
        PlannedOutput(
            finishes_at=None if outcome.stall else starts_at + offset_ms,
            failure=work.failure(code) if (code := failures.get(slot)) else None,
            picture=recipe,
        )
        for slot, (recipe, offset_ms) in enumerate(zip(plan.recipes, offsets_ms, strict=True), start=1)
    )


def start_generation(sandbox: Sandbox, generation_id: str, now: int) -> None:
    """The queue has let a Generation through: its slots start together."""
    generation = sandbox.store.generations.items[generation_id]
    outputs = tuple(
        dataclasses.replace(output, status=lifecycles.move(lifecycles.OUTPUT, output.status, "started"))
        for output in generation.outputs
    )
    sandbox.store.generations.replace(
        dataclasses.replace(
            generation,
            status=lifecycles.move(lifecycles.WORK, generation.status, "started"),
            outputs=outputs,
            started_at=now,
            updated_at=now,
        )
    )


def finish_output(sandbox: Sandbox, generation_id: str, slot: int, now: int) -> None:
    """A slot has come to its end; with the last one the Generation has too (section 3, rule 1)."""
    generation = sandbox.store.generations.items[generation_id]
    planned = generation.plan[slot]
    event = "failed" if planned.failure else "succeeded"
    asset_id = None if planned.failure else _add_asset(sandbox, generation, planned.picture, now)
    sandbox.images.release(planned.picture.inputs)
    output = Output(
        lifecycles.move(lifecycles.OUTPUT, generation.outputs[slot].status, event), asset_id, planned.failure
    )
    outputs = (*generation.outputs[:slot], output, *generation.outputs[slot + 1 :])
    changed = dataclasses.replace(generation, outputs=outputs, updated_at=now)
    if lifecycles.generation_status(generation.status, outputs) in lifecycles.TERMINAL:
        changed = _finish(sandbox, changed, now)
    sandbox.store.generations.replace(changed)


def _add_asset(sandbox: Sandbox, generation: Generation, recipe: Recipe, now: int) -> str:
    asset = Asset(
        id=sandbox.identifiers.next("ast"),
        team_id=generation.team_id,
        source="generation",
        source_generation_id=generation.id,
        format=recipe.format,
        width=recipe.width,
        height=recipe.height,
        created_at=now,
    )
    sandbox.images.plan(asset.id, recipe)
    sandbox.store.assets.add(asset)
    return asset.id


def _finish(sandbox: Sandbox, generation: Generation, now: int) -> Generation:
    completed = sum(output.status == "completed" for output in generation.outputs)
    charge = generation_charge(generation.workflow, generation.request, completed, len(generation.outputs))
    work.finish(sandbox.accounts[generation.team_id], generation.id, charge, now)
    event = "succeeded" if completed else "failed"
    return dataclasses.replace(
        generation,
        status=lifecycles.move(lifecycles.WORK, generation.status, event),
        charged_credits=charge,
        finished_at=now,
    )
