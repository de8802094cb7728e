"""What a Photography Style does to a picture: its light, as a filter that one sees.

Owns which word of a name selects which look; a style without one of them has the look
of its preview.
"""

from msgspec import Struct

from image_workflow_emulator.imaging.colors import WHITE, Color, mix, whole_color
from image_workflow_emulator.imaging.masks import LEVELS
from image_workflow_emulator.imaging.pictures import Picture, averaged

_MIDDLE = 0.5
"""The light that contrast leaves as it is."""


class Look(Struct, frozen=True):
    """`gamma` above 1 is darker, `contrast` above 1 is harder, `tint` is the colour of
    white.
    """

    tint: Color = WHITE
    gamma: float = 1.0
    contrast: float = 1.0

    def level(self, level: int) -> float:
        """What becomes of a level of a channel, from 0 to 1."""
        light = level / 255
        darkened = float(light**self.gamma)
        hardened = (darkened - _MIDDLE) * self.contrast + _MIDDLE
        return min(1.0, max(0.0, hardened))


_LOOKS = {
    "daylight": Look(
        tint=(252, 254, 255),
        gamma=0.82,
        contrast=0.92,
    ),
    "flash": Look(
        tint=(246, 250, 255),
        gamma=0.95,
        contrast=1.45,
    ),
    "golden": Look(
        tint=(255, 206, 132),
        gamma=0.9,
        contrast=1.05,
    ),
    "low key": Look(
        tint=(150, 138, 132),
        gamma=1.5,
        contrast=1.1,
    ),
}


def named_look(name: str) -> Look | None:
    """The look whose word the name of a style contains."""
    for word, look in _LOOKS.items():
        if word in name.casefold():
            return look
    return None


def look_of(preview: Picture) -> Look:
    """The look of a Photography Style from the mean colour of its preview."""
    pixel = averaged(preview, edge=1).convert("RGB")
    mean = pixel.tobytes()
    peak = max(1, *mean)
    brightest = whole_color(level * 255 // peak for level in mean)
    return Look(
        tint=mix(WHITE, brightest, 0.6),
        gamma=1.7 - peak / 255,
        contrast=1.1,
    )


def filtered(image: Picture, look: Look) -> Picture:
    """A picture in RGB or RGBA with a look; its transparency stays."""
    curve = [look.level(level) for level in LEVELS]
    table: list[int] = []
    for white in look.tint:
        table += [round(share * white) for share in curve]
    if image.mode == "RGBA":
        table += LEVELS
    return image.point(table)
