"""What a Photography Style does to a picture: its light, as a filter that one sees.

Owns which word of a name selects which look; a style without one of them has the look of its preview.
"""

from msgspec import Struct
from PIL import Image

from image_workflow_emulator.imaging.colors import WHITE, Color, mix


class Look(Struct, frozen=True):
    """`gamma` above 1 is darker, `contrast` above 1 is harder, `tint` is the colour of white."""

    tint: Color = WHITE
    gamma: float = 1.0
    contrast: float = 1.0


_LOOKS = {
    "daylight": Look((252, 254, 255), 0.82, 0.92),
    "flash": Look((246, 250, 255), 0.95, 1.45),
    "golden": Look((255, 206, 132), 0.9, 1.05),
    "low key": Look((150, 138, 132), 1.5, 1.1),
}


def named_look(words: str) -> Look | None:
    """The style of drawing that words name."""
    return next(
        (look for word, look in _LOOKS.items() if word in words.casefold()), None
    )


def look_of(preview: Image.Image) -> Look:
    """The look of a Photography Style from the mean colour of its preview."""
    mean = preview.resize((1, 1), Image.Resampling.BOX).convert("RGB").tobytes()
    peak = max(1, *mean)
    tint = (mean[0] * 255 // peak, mean[1] * 255 // peak, mean[2] * 255 // peak)
    return Look(mix(WHITE, tint, 0.6), 1.7 - peak / 255, 1.1)


def filtered(image: Image.Image, look: Look) -> Image.Image:
    """A picture in RGB or RGBA with a look; its transparency stays."""
    curve = [
        min(1.0, max(0.0, ((level / 255) ** look.gamma - 0.5) * look.contrast + 0.5))
        for level in range(256)
    ]
    table = [round(share * white) for white in look.tint for share in curve]
    return image.point([*table, *range(256)] if image.mode == "RGBA" else table)
