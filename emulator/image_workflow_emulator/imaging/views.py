"""From which side, and how near, a slot shows its scene.

A photoshoot is one scene from four sides; each single shot is a scene of its own.
"""

from msgspec import Struct

from image_workflow_emulator.domain.recipes import PhotographRecipe


class View(Struct, frozen=True):
    """How a scene is seen.

    Above 1 of `share`, products alone are seen, beyond the edges of the picture.
    """

    bottom: float
    """How much of a figure, from its top, is in the picture."""
    share: float
    """How much of the room products, or a group of people, take."""
    across: float = 0.5
    """The place of both, from 0 (left) to 1 (right)."""
    turn: float = 0.0
    """As in `Figure`."""

    @property
    def is_detail(self) -> bool:
        """Whether the picture shows no more than a part of a product."""
        return self.share > 1


_FULL = View(bottom=1.02, share=0.74)
_CLOSE = View(bottom=0.5, share=1.0)
_MEDIUM = View(bottom=0.6, share=0.82)
_FAR = View(bottom=1.5, share=0.55)
_DETAIL = View(bottom=0.5, share=1.7)
_THREE_QUARTER = View(
    bottom=0.6,
    share=0.84,
    across=0.3,
    turn=1.0,
)
_DISTANCES = {
    "close": _CLOSE,
    "medium": _MEDIUM,
    "far": _FAR,
}
_PHOTOSHOOT = (
    _FULL,
    _CLOSE,
    _THREE_QUARTER,
    _DETAIL,
)
"""By slot."""
_PLACES = (0.5, 0.2, 0.8, 0.35, 0.65, 0.5)
"""Of single shots, by slot, as `across`."""
_RETREAT = 0.05
"""By how much each single shot is smaller than the one before."""


def view_of(recipe: PhotographRecipe) -> View:
    """The view of a slot, by the camera distance or by its place among the slots."""
    number = recipe.slot - 1
    distance = _DISTANCES[recipe.camera_distance or "medium"]
    if not recipe.is_photoshoot:
        return _single_view(distance, number % len(_PLACES))
    if recipe.camera_distance is not None and number == 0:
        return distance
    return _PHOTOSHOOT[number % len(_PHOTOSHOOT)]


def _single_view(distance: View, number: int) -> View:
    """A scene of its own: smaller than the one before, and in another place."""
    share = 1 - _RETREAT * number
    across = _PLACES[number]
    turn = 1.0 - 2 * across
    return View(
        bottom=distance.bottom / share,
        share=distance.share * share,
        across=across,
        turn=turn,
    )
