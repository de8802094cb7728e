"""Recipes: pictures to be made, described as plain data.

Owns the shape of every picture the service can hand out, before it is drawn, and the
form in which a helper process is asked for it. Must not import Pillow or know how a
picture is drawn: admitting work needs only this module.
"""

from typing import Annotated, Literal, TypeAlias

from msgspec import Meta, Struct

from image_workflow_emulator.domain.orders import LONGEST_EDGE, PACKED_PHOTOS

PictureFormat = Literal["jpeg", "png", "webp"]
IngredientKind = Literal["photography_style", "background", "pose", "fashion_model"]

_DrawnEdge: TypeAlias = Annotated[int, Meta(ge=1, le=max(LONGEST_EDGE.values()))]
_Color: TypeAlias = Annotated[str, Meta(pattern="^#?[0-9A-Fa-f]{6}$")]
_Ratio: TypeAlias = Annotated[str, Meta(pattern="^([1-9][0-9]?:[1-9][0-9]?)?$")]
_Slot: TypeAlias = Annotated[int, Meta(ge=1, le=6)]
_Models: TypeAlias = Annotated[int, Meta(ge=0, le=3)]


class _Picture(
    Struct, frozen=True, kw_only=True, gc=False, tag=True, tag_field="recipe"
):
    """What every recipe says: exact pixel size, file format, and the keys of its
    input pictures in drawing order.
    """

    width: _DrawnEdge
    height: _DrawnEdge
    format: PictureFormat
    inputs: tuple[str, ...] = ()


class PhotographRecipe(_Picture, frozen=True, kw_only=True, gc=False):
    """One output slot of a Product Photography.

    `inputs` are the packed subject photos, then the background picture if
    `background_kind` is "picture", then the pictures of the chosen Fashion Models, then
    one of the Photography Style and one of the Pose if these are chosen.
    """

    subject_count: Annotated[int, Meta(ge=1, le=PACKED_PHOTOS)]
    background_kind: Literal["automatic", "color", "picture", "transparent"] = (
        "automatic"
    )
    background_hex: _Color | None = None
    model_input_count: _Models = 0
    people: _Models = 0
    """How many are in the picture; those beyond the chosen Fashion Models are the
    service's choice.
    """
    photography_style: str | None = None
    """The name of the chosen one; likewise of those below."""
    pose: str | None = None
    background_name: str | None = None
    model_names: tuple[str, ...] = ()
    colorway: str | None = None
    colorway_hex: _Color | None = None
    slot: _Slot = 1
    slot_count: _Slot = 1
    is_photoshoot: bool = False
    """Whether the slots are one scene from four sides, instead of independent
    pictures.
    """
    product_names: tuple[str, ...] = ()
    aspect_ratio: _Ratio = ""
    resolution: str = "1k"
    camera_distance: str | None = None
    directions: str = ""


class EditRecipe(_Picture, frozen=True, kw_only=True, gc=False):
    """The one output of an Edit Images: 1 to 8 inputs, and the instructions,
    unobeyed.
    """

    instructions: str
    aspect_ratio: _Ratio = ""
    resolution: str = "1k"


class UpscaleRecipe(_Picture, frozen=True, kw_only=True, gc=False):
    """The one output of an Upscale: its one input resampled to `width` x `height`."""

    resolution: str = "2k"


class PremadeRecipe(_Picture, frozen=True, kw_only=True, gc=False):
    """A picture of a premade global ingredient, drawn from nothing.

    `attributes` are words of the ingredient that show in the picture: a Background's
    kind, a Fashion Model's gender and age range. `index` tells the pictures of one kind
    apart.
    """

    kind: IngredientKind
    name: str
    attributes: tuple[str, ...] = ()
    index: int = 0


class CardRecipe(_Picture, frozen=True, kw_only=True, gc=False):
    """The card or preview picture of a Team-owned ingredient, made from its 1 to 5
    source pictures.
    """

    kind: IngredientKind
    name: str
    index: int = 0


Recipe = PhotographRecipe | EditRecipe | UpscaleRecipe | PremadeRecipe | CardRecipe
"""In JSON, the field `recipe` has the name of the class."""
