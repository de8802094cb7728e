"""How whole figures hold arms and legs, by the names of Poses.

Places are in heights of the figure, from its middle line and its top.
"""

from msgspec import Struct

from image_workflow_emulator.imaging.geometry import Point


class Limbs(Struct, frozen=True):
    """Where wrist and ankle of one side are; the arm holds a product if `holds` allows
    it.
    """

    wrist: Point
    ankle: Point
    holds: bool = True


class Stance(Struct, frozen=True):
    """How somebody stands or walks."""

    left: Limbs
    right: Limbs
    turn: float = 0.0
    """To the left below 0, to the right above 0, by three quarters at 1."""

    def limbs(self, side: int) -> Limbs:
        """Those on the left (-1) or on the right (1)."""
        if side < 0:
            return self.left
        return self.right


_STANDING = Stance(
    left=Limbs(
        wrist=Point(-0.14, 0.48),
        ankle=Point(-0.06, 0.95),
    ),
    right=Limbs(
        wrist=Point(0.14, 0.48),
        ankle=Point(0.06, 0.95),
    ),
)
_STANCES = {
    "turn": Stance(
        left=Limbs(
            wrist=Point(-0.10, 0.46),
            ankle=Point(-0.02, 0.95),
        ),
        right=Limbs(
            wrist=Point(0.14, 0.47),
            ankle=Point(0.12, 0.94),
        ),
        turn=0.7,
    ),
    "walk": Stance(
        left=Limbs(
            wrist=Point(-0.215, 0.45),
            ankle=Point(-0.18, 0.93),
            holds=False,
        ),
        right=Limbs(
            wrist=Point(0.19, 0.45),
            ankle=Point(0.125, 0.95),
        ),
    ),
    "hip": Stance(
        left=Limbs(
            wrist=Point(-0.15, 0.48),
            ankle=Point(-0.045, 0.95),
        ),
        right=Limbs(
            wrist=Point(0.085, 0.42),
            ankle=Point(0.115, 0.94),
            holds=False,
        ),
    ),
}
"""By a part of a Pose's name."""


def stance_of(name: str | None) -> Stance:
    """The stance that the name of a Pose contains; else that of standing."""
    if name is not None:
        for word, stance in _STANCES.items():
            if word in name.casefold():
                return stance
    return _STANDING
