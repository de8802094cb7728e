"""How whole figures hold arms and legs, by the names of Poses.

Places are in heights of the figure, from its middle line and its top.
"""

from msgspec import Struct

from image_workflow_emulator.imaging.geometry import Point


class Stance(Struct, frozen=True):
    """Where wrists and ankles are, those on the left first; an arm holds a product if
    `holds` allows it.
    """

    left_wrist: Point
    right_wrist: Point
    left_ankle: Point
    right_ankle: Point
    left_holds: bool = True
    right_holds: bool = True
    turn: float = 0.0
    """To the left below 0, to the right above 0, by three quarters at 1."""


_STANDING = Stance(
    left_wrist=Point(-0.14, 0.48),
    right_wrist=Point(0.14, 0.48),
    left_ankle=Point(-0.06, 0.95),
    right_ankle=Point(0.06, 0.95),
)
_STANCES = {
    "turn": Stance(
        left_wrist=Point(-0.10, 0.46),
        right_wrist=Point(0.14, 0.47),
        left_ankle=Point(-0.02, 0.95),
        right_ankle=Point(0.12, 0.94),
        turn=0.7,
    ),
    "walk": Stance(
        left_wrist=Point(-0.215, 0.45),
        right_wrist=Point(0.19, 0.45),
        left_ankle=Point(-0.18, 0.93),
        right_ankle=Point(0.125, 0.95),
        left_holds=False,
    ),
    "hip": Stance(
        left_wrist=Point(-0.15, 0.48),
        right_wrist=Point(0.085, 0.42),
        left_ankle=Point(-0.045, 0.95),
        right_ankle=Point(0.115, 0.94),
        right_holds=False,
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
