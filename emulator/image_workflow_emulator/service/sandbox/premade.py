"""The premade global ingredients: read-only to every Team, with pictures that are made
on demand (D65).
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

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

CARD_SIZE = (512, 640)
"""The size of every picture of an ingredient, a Team's own too, except premade
Backgrounds."""
_BACKGROUND_SIZE = (1024, 1280)
"""A card's ratio, and larger: it also stands behind the subjects of Generations."""

_PER_KIND = 4

_STYLES = (
    ("Soft daylight", "Even light from a large window, gentle shadows, true colours."),
    (
        "Hard studio flash",
        "One strong lamp from the side, crisp shadows, high contrast.",
    ),
    ("Golden hour", "Low warm sun, long shadows, a glow at the edges."),
    ("Moody low key", "Dark surroundings, one narrow beam on the subject."),
)
_BACKGROUNDS = (
    ("Seamless white", "backdrop", "A white paper roll without a horizon."),
    ("Warm grey gradient", "backdrop", "A grey wall that darkens towards its edges."),
    ("Sandy beach", "location", "Sand in front, sea and a bright sky behind."),
    ("Brick street", "location", "A brick wall beside a pavement in daylight."),
)
_POSES = (
    (
        "Standing front",
        ("close", "medium", "far"),
        "Upright, facing the camera, arms at the sides.",
    ),
    (
        "Three-quarter turn",
        ("medium", "far"),
        "Turned a little away, weight on one leg.",
    ),
    ("Walking", ("far",), "In mid stride, arms swinging."),
    ("Hand on hip", ("close", "medium"), "Facing the camera, one hand on the hip."),
)
_MODELS = (
    ("Ava", "18-25", "female"),
    ("Ben", "25-35", "male"),
    ("Cleo", "35-45", "neutral"),
    ("Dora", "55+", "female"),
)
_PREMADE: Sequence[
    tuple[type[Ingredient], Sequence[tuple[Any, ...]], Sequence[str], Sequence[str]]
] = (
    (PhotographyStyle, _STYLES, ("description",), ()),
    (
        Background,
        _BACKGROUNDS,
        ("background_kind", "description"),
        ("background_kind",),
    ),
    (Pose, _POSES, ("supported_camera_distances", "description"), ()),
    (FashionModel, _MODELS, ("age_range", "gender"), ("gender", "age_range")),
)
"""Each kind, its rows, the fields that follow the name in them, and those whose words
the pictures show."""


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
    for resource, rows, fields, shown in _PREMADE:
        for index, (name, *values) in enumerate([*rows] * rounds):
            ingredient = resource(
                id=identifiers.next(resource.prefix),
                team_id=None,
                name=name if index < _PER_KIND else f"{name} {index // _PER_KIND + 1}",
                source_asset_ids=(),
                created_at=now,
                updated_at=now,
                **dict(zip(fields, values, strict=True)),
            )
            store.ingredients[ingredient.kind].add(ingredient)
            attributes = tuple(getattr(ingredient, name) for name in shown)
            size = _BACKGROUND_SIZE if resource is Background else CARD_SIZE
            recipe = partial(PremadeRecipe, attributes=attributes)
            plan_pictures(
                images, ingredient, recipe, size, first=index * ingredient.picture_count
            )


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
    kind, name, (width, height) = ingredient.kind, ingredient.name, size
    for index, key in enumerate(ingredient.picture_keys, start=first):
        images.plan(
            key,
            recipe(
                kind=kind,
                name=name,
                index=index,
                width=width,
                height=height,
                format="png",
            ),
        )
