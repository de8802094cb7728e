"""The premade global ingredients: read-only to every Team, with pictures that are made on demand (D65)."""

from typing import Any

from emulator.domain.recipes import PremadeRecipe
from emulator.domain.resources import Background, CameraDistance, FashionModel, Ingredient, PhotographyStyle, Pose
from emulator.kernel.identifiers import Identifiers
from emulator.service.images import ImageStore
from emulator.service.store import Store

CARD_SIZE = (512, 640)
"""Of every picture of an ingredient, a Team's own too, but for premade Backgrounds."""
_BACKGROUND_SIZE = (1024, 1024)
"""Larger than a card: it also stands behind the subjects of Generations."""

_PER_KIND = 4

_STYLES = (
    ("Soft daylight", "Even light from a large window, gentle shadows, true colours."),
    ("Hard studio flash", "One strong lamp from the side, crisp shadows, high contrast."),
    ("Golden hour", "Low warm sun, long shadows, a glow at the edges."),
    ("Moody low key", "Dark surroundings, one narrow beam on the subject."),
)
_BACKGROUNDS = (
    ("Seamless white", "backdrop", "A white paper roll without a horizon."),
    ("Warm grey gradient", "backdrop", "A grey wall that darkens towards its edges."),
    ("Sandy beach", "location", "Sand in front, sea and a bright sky behind."),
    ("Brick street", "location", "A brick wall beside a pavement in daylight."),
)
_POSES: tuple[tuple[str, tuple[CameraDistance, ...], str], ...] = (
    ("Standing front", ("close", "medium", "far"), "Upright, facing the camera, arms at the sides."),
    ("Three-quarter turn", ("medium", "far"), "Turned a little away, weight on one leg."),
    ("Walking", ("far",), "In mid stride, arms swinging."),
    ("Hand on hip", ("close", "medium"), "Facing the camera, one hand on the hip."),
)
_MODELS = (
    ("Ava", "18-25", "female"),
    ("Ben", "25-35", "male"),
    ("Cleo", "35-45", "neutral"),
    ("Dora", "55+", "female"),
)


def add_premade_ingredients(
    store: Store, images: ImageStore, identifiers: Identifiers, now: int, rounds: int = 1
) -> None:
    """Add four of each kind in each round, created before anything else; their pictures are planned, not drawn."""

    def common(prefix: str, name: str) -> dict[str, Any]:
        return {
            "id": identifiers.next(prefix),
            "team_id": None,
            "name": name,
            "source_asset_ids": (),
            "created_at": now,
            "updated_at": now,
            "version": 1,
        }

    def add(ingredient: Ingredient, index: int, attributes: tuple[str, ...]) -> None:
        store.ingredients[ingredient.kind].add(ingredient)
        width, height = _BACKGROUND_SIZE if ingredient.kind == "background" else CARD_SIZE
        for preview, key in enumerate(ingredient.picture_keys):
            recipe = PremadeRecipe(
                kind=ingredient.kind,  # type: ignore[arg-type]  # one of the four kinds
                name=ingredient.name,
                attributes=attributes,
                index=index * ingredient.picture_count + preview,
                width=width,
                height=height,
                format="png",
            )
            images.plan(key, recipe)

    for index, (name, description) in enumerate(_STYLES * rounds):
        add(PhotographyStyle(**common("sty", _numbered(name, index)), description=description), index, ())
    for index, (name, kind, description) in enumerate(_BACKGROUNDS * rounds):
        described = Background(
            **common("bkg", _numbered(name, index)),
            description=description,
            background_kind=kind,  # type: ignore[arg-type]  # one of the two kinds
        )
        add(described, index, (kind,))
    for index, (name, distances, description) in enumerate(_POSES * rounds):
        common_fields = common("pos", _numbered(name, index))
        add(Pose(**common_fields, description=description, supported_camera_distances=distances), index, ())
    for index, (name, age_range, gender) in enumerate(_MODELS * rounds):
        described_model = FashionModel(**common("fmd", _numbered(name, index)), age_range=age_range, gender=gender)
        add(described_model, index, (gender, age_range))


def _numbered(name: str, index: int) -> str:
    """Return the name, with a number from the second round on."""
    number = index // _PER_KIND + 1
    return name if number == 1 else f"{name} {number}"
