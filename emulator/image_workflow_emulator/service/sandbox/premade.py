"""The premade global ingredients: read-only to every Team, with pictures that are made
on demand (D65).
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, TypeVar

from msgspec import structs

from image_workflow_emulator.domain.recipes import CardRecipe, PremadeRecipe
from image_workflow_emulator.domain.resources import (
    Background,
    FashionModel,
    Ingredient,
    PhotographyStyle,
    Pose,
)
from image_workflow_emulator.kernel.seed import Identifiers
from image_workflow_emulator.service.sandbox.images import ImageStore
from image_workflow_emulator.service.sandbox.store import Store

SomeIngredient = TypeVar("SomeIngredient", bound=Ingredient)

CARD_SIZE: Final = (512, 640)
"""The size of every picture of an ingredient, a Team's own too, except premade
Backgrounds."""
_BACKGROUND_SIZE: Final = (1024, 1280)
"""A card's ratio, and larger: it also stands behind the subjects of Generations."""


def _premade(
    ingredient: type[SomeIngredient],
    name: str,
    **attributes: Any,
) -> SomeIngredient:
    """Return a premade ingredient that no sandbox has yet: without an id and a time."""
    return ingredient(
        id="",
        team_id=None,
        name=name,
        source_asset_ids=(),
        created_at=0,
        updated_at=0,
        **attributes,
    )


_STYLES: Final = (
    _premade(
        PhotographyStyle,
        "Soft daylight",
        description="Even light from a large window, gentle shadows, true colours.",
    ),
    _premade(
        PhotographyStyle,
        "Hard studio flash",
        description="One strong lamp from the side, crisp shadows, high contrast.",
    ),
    _premade(
        PhotographyStyle,
        "Golden hour",
        description="Low warm sun, long shadows, a glow at the edges.",
    ),
    _premade(
        PhotographyStyle,
        "Moody low key",
        description="Dark surroundings, one narrow beam on the subject.",
    ),
)
_BACKGROUNDS: Final = (
    _premade(
        Background,
        "Seamless white",
        background_kind="backdrop",
        description="A white paper roll without a horizon.",
    ),
    _premade(
        Background,
        "Warm grey gradient",
        background_kind="backdrop",
        description="A grey wall that darkens towards its edges.",
    ),
    _premade(
        Background,
        "Sandy beach",
        background_kind="location",
        description="Sand in front, sea and a bright sky behind.",
    ),
    _premade(
        Background,
        "Brick street",
        background_kind="location",
        description="A brick wall beside a pavement in daylight.",
    ),
)
_POSES: Final = (
    _premade(
        Pose,
        "Standing front",
        supported_camera_distances=("close", "medium", "far"),
        description="Upright, facing the camera, arms at the sides.",
    ),
    _premade(
        Pose,
        "Three-quarter turn",
        supported_camera_distances=("medium", "far"),
        description="Turned a little away, weight on one leg.",
    ),
    _premade(
        Pose,
        "Walking",
        supported_camera_distances=("far",),
        description="In mid stride, arms swinging.",
    ),
    _premade(
        Pose,
        "Hand on hip",
        supported_camera_distances=("close", "medium"),
        description="Facing the camera, one hand on the hip.",
    ),
)
_MODELS: Final = (
    _premade(FashionModel, "Ava", age_range="18-25", gender="female"),
    _premade(FashionModel, "Ben", age_range="25-35", gender="male"),
    _premade(FashionModel, "Cleo", age_range="35-45", gender="neutral"),
    _premade(FashionModel, "Dora", age_range="55+", gender="female"),
)
_KINDS: Final[Sequence[Sequence[Ingredient]]] = (
    _STYLES,
    _BACKGROUNDS,
    _POSES,
    _MODELS,
)


def add_premade_ingredients(
    store: Store,
    images: ImageStore,
    identifiers: Identifiers,
    now: int,
    rounds: int = 1,
) -> None:
    """Add four of each kind in each round, created before anything else; their pictures
    are planned, not drawn.

    From the second round on, names have its number.
    """
    for premade in _KINDS:
        picture_index = 0
        for round_number in range(1, rounds + 1):
            for unnumbered in premade:
                name = unnumbered.name
                if round_number > 1:
                    name = f"{name} {round_number}"
                ingredient = structs.replace(
                    unnumbered,
                    id=identifiers.next(unnumbered.prefix),
                    name=name,
                    created_at=now,
                    updated_at=now,
                )
                store.ingredients[ingredient.kind].add(ingredient)
                _plan_premade_pictures(images, ingredient, picture_index)
                picture_index += ingredient.picture_count


def _plan_premade_pictures(
    images: ImageStore,
    ingredient: Ingredient,
    first: int,
) -> None:
    recipe = partial(PremadeRecipe, attributes=_attributes_in_picture(ingredient))
    size = CARD_SIZE
    if isinstance(ingredient, Background):
        size = _BACKGROUND_SIZE
    plan_pictures(images, ingredient, recipe, size, first)


def _attributes_in_picture(ingredient: Ingredient) -> tuple[str, ...]:
    """Return the attributes whose words the pictures of an ingredient show."""
    match ingredient:
        case Background():
            return (ingredient.background_kind,)
        case FashionModel():
            return (ingredient.gender, ingredient.age_range)
        case _:
            return ()


def plan_pictures(
    images: ImageStore,
    ingredient: Ingredient,
    recipe: Callable[..., PremadeRecipe | CardRecipe],
    size: tuple[int, int] = CARD_SIZE,
    first: int = 0,
) -> None:
    """Plan the card or previews of an ingredient; `first` is the index of the first, by
    which a recipe tells them apart.
    """
    width, height = size
    for index, key in enumerate(ingredient.picture_keys, start=first):
        planned = recipe(
            kind=ingredient.kind,
            name=ingredient.name,
            index=index,
            width=width,
            height=height,
            format="png",
        )
        images.plan(key, planned)
