"""What a Generation will be: its subjects, its price, and the recipe of each slot
(section 4, D32 to D36).

Owns the checks of the three workflows and their plans. Changes nothing: `generations`
admits what is planned here.
"""

from collections.abc import Set

from msgspec import Struct, structs

from image_workflow_emulator.domain import orders
from image_workflow_emulator.domain.intents import Intent
from image_workflow_emulator.domain.problems import Check, Problem, invalid_input
from image_workflow_emulator.domain.recipes import (
    EditRecipe,
    PhotographRecipe,
    Recipe,
    UpscaleRecipe,
)
from image_workflow_emulator.domain.resources import Asset, Ingredient, Pose, Product
from image_workflow_emulator.kernel.wording import excerpt
from image_workflow_emulator.service.resources.lookups import (
    ASSET,
    INGREDIENTS,
    PRODUCT,
    refer,
    refer_to_all,
)
from image_workflow_emulator.service.sandbox.admission import Order
from image_workflow_emulator.service.sandbox.calls import Call


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
    call: Call,
    workflow: str,
    asset_ids: tuple[str, ...],
    recipes: tuple[Recipe, ...],
) -> Plan:
    places = 1
    if call.sandbox.readings.concurrency_unit == "by-output":  # D40
        places = len(recipes)
    return Plan(
        price=orders.generation_price(workflow, call.intent),
        places=places,
        workflow=workflow,
        resolved_asset_ids=asset_ids,
        recipes=recipes,
    )


def _output_size(call: Call) -> tuple[int, int]:
    """Return the pixel size of an output that has an aspect ratio and a resolution."""
    return orders.output_size(
        aspect_ratio=call.intent["aspect_ratio"],
        resolution=call.intent["resolution"],
        reading=call.sandbox.readings.pixel_sizes,
    )


# Product Photography ------------------------------------------------------------------


def refer_photography(call: Call, _checked: None) -> Chosen:
    """422: what the order refers to is there. Return it."""
    intent = call.intent
    products = refer_to_all(call, PRODUCT, "/product_ids", intent["product_ids"])
    refer_to_all(call, ASSET, "/asset_ids", intent["asset_ids"])
    style = _ingredient(
        call,
        "photography_style",
        where="/photography_style_id",
        identifier=intent.get("photography_style_id"),
    )
    background = _ingredient(
        call,
        "background",
        where="/background/background_id",
        identifier=intent["background"].get("background_id"),
    )
    models = _models(call, intent["fashion_model"])
    pose = _ingredient(
        call,
        "pose",
        where="/pose_id",
        identifier=intent.get("pose_id"),
    )
    return Chosen(products, style, background, models, pose)


def _ingredient(
    call: Call,
    kind: str,
    where: str,
    identifier: str | None,
) -> Ingredient | None:
    """Return the ingredient that is referred to, if one is.

    Raises:
        Problem: invalid_reference.
    """
    if identifier is None:
        return None
    return refer(call, INGREDIENTS[kind], where, identifier)


def _models(call: Call, choice: Intent) -> list[Ingredient]:
    lookup = INGREDIENTS["fashion_model"]
    if choice["type"] == "selected":
        where = "/fashion_model/fashion_model_id"
        return [refer(call, lookup, where, choice["fashion_model_id"])]
    where = "/fashion_model/fashion_model_ids"
    return refer_to_all(call, lookup, where, choice.get("fashion_model_ids", ()))


def plan_photography(call: Call, chosen: Chosen) -> Plan:
    """422: the camera distance is one of the pose's, and there are not too many
    subjects. Return the plan.
    """
    intent = call.intent
    _check_camera_distance(intent, chosen.pose)
    _check_subjects(call, _subjects_of(chosen, intent))
    photos = [
        (product.primary_asset_id, product.asset_ids) for product in chosen.products
    ]
    subjects = orders.pack(photos, intent["asset_ids"])
    first_slot = _photograph(call, chosen, subjects)
    slots = range(1, intent["image_count"] + 1)
    recipes = tuple(_in_slot(first_slot, slot) for slot in slots)
    return _plan(call, "product_photography", subjects, recipes)


def _subjects_of(chosen: Chosen, intent: Intent) -> set[str]:
    subjects = set(intent["asset_ids"])
    for product in chosen.products:
        subjects.update(product.asset_ids)
    return subjects


def _check_camera_distance(intent: Intent, pose: Ingredient | None) -> None:
    """A chosen distance must be one that the chosen pose supports (D34)."""
    distance = intent.get("camera_distance")
    if distance is None or not isinstance(pose, Pose):
        return
    if distance not in pose.supported_camera_distances:
        supported = ", ".join(pose.supported_camera_distances)
        expected = f"one that the pose supports: {supported}"
        raise invalid_input("/camera_distance", distance, expected, Check.RULES)


def _check_subjects(call: Call, subjects: Set[str]) -> None:
    """More subjects than one Generation takes are cut (D32), or refused."""
    is_refused = call.sandbox.readings.subject_cap == "refuses"
    if is_refused and len(subjects) > orders.PACKED_PHOTOS:
        expected = f"at most {orders.PACKED_PHOTOS} photos in all"
        raise invalid_input("/product_ids", sorted(subjects), expected, Check.RULES)


def _photograph(
    call: Call,
    chosen: Chosen,
    subjects: tuple[str, ...],
) -> PhotographRecipe:
    """Return the recipe of the first slot."""
    intent = call.intent
    width, height = _output_size(call)
    background_pictures: list[str] = []
    background_kind = intent["background"]["type"]
    if chosen.background is not None:
        background_pictures = chosen.background.picture_keys
        background_kind = "picture"
    model_pictures: list[str] = []
    for model in chosen.models:
        model_pictures += model.picture_keys
    swatches = [
        ingredient.picture_keys[0]
        for ingredient in (chosen.style, chosen.pose)
        if ingredient is not None
    ]
    colorway = intent.get("colorway", {})
    return PhotographRecipe(
        width=width,
        height=height,
        format=intent["output_format"],
        inputs=(*subjects, *background_pictures, *model_pictures, *swatches),
        subject_count=len(subjects),
        background_kind=background_kind,
        background_hex=intent["background"].get("color"),
        model_input_count=len(model_pictures),
        people=_people(intent["fashion_model"], model_pictures),
        photography_style=_name_of(chosen.style),
        pose=_name_of(chosen.pose),
        background_name=_name_of(chosen.background),
        model_names=tuple(model.name for model in chosen.models),
        colorway=colorway.get("name"),
        colorway_hex=colorway.get("hex"),
        slot_count=intent["image_count"],
        is_photoshoot=intent["output_mode"] == "photoshoot",
        product_names=tuple(product.name for product in chosen.products),
        aspect_ratio=intent["aspect_ratio"],
        resolution=intent["resolution"],
        camera_distance=intent.get("camera_distance"),
        directions=intent.get("custom_directions", ""),
    )


def _in_slot(recipe: PhotographRecipe, slot: int) -> PhotographRecipe:
    return structs.replace(recipe, slot=slot)


def _people(choice: Intent, model_pictures: list[str]) -> int:
    """Return how many people are in the picture."""
    if choice["type"] == "automatic":
        return 1
    if choice["type"] == "none":
        return 0
    return len(model_pictures)


def _name_of(ingredient: Ingredient | None) -> str | None:
    if ingredient is None:
        return None
    return ingredient.name


# Edit Images and Upscale --------------------------------------------------------------


def plan_edit(call: Call, _checked: None) -> Plan:
    """422: the Assets are there. Return the plan."""
    intent = call.intent
    refer_to_all(call, ASSET, "/asset_ids", intent["asset_ids"])
    width, height = _output_size(call)
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


def refer_upscale(call: Call, _checked: None) -> Asset:
    """422: the Asset is there. Return it."""
    return refer(call, ASSET, "/asset_id", call.intent["asset_id"])


def plan_upscale(call: Call, asset: Asset) -> Plan:
    """422: the target is above the Asset's resolution. Return the plan."""
    target = call.intent["target_resolution"]
    if orders.reaches(asset.width, asset.height, target):
        size = f"{asset.width} x {asset.height}"
        raise Problem(
            "already_at_target_resolution",
            f"/target_resolution: found {excerpt(target)} for an Asset of {size} "
            "pixels; expected a target above its longest edge",
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
