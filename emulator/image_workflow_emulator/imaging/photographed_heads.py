"""The heads in the pictures of Fashion Models, with the colour of their skin."""

from colorsys import rgb_to_hsv

from PIL import ImageStat

from image_workflow_emulator.imaging import masks
from image_workflow_emulator.imaging.canvas import disc
from image_workflow_emulator.imaging.colors import Color, whole_color
from image_workflow_emulator.imaging.cutouts import cut_out
from image_workflow_emulator.imaging.geometry import Box
from image_workflow_emulator.imaging.pictures import Mask, Picture, averaged, resized

NEUTRAL_SKIN: Color = (190, 178, 168)
"""Where a picture shows no skin."""
_SKIN_EDGE = 24
"""Pixels of the small picture in which skin is looked for."""
_SKIN_HUE = 0.14
"""The hue of skin, from red up to here."""
_PALEST_SKIN = 0.12
_GAUDIEST_SKIN = 0.75
"""Saturations between which skin is."""
_SKIN_BRIGHTNESS = 0.3
_LEAST_SKIN = 0.08
"""The share of a picture that must have the colours of skin."""

_HEAD_EDGE = 240
_HEAD_SHARE = 0.66
"""The share of a model's picture that is taken for the head."""
_ABOVE_HEAD = 0.2
"""The share of what remains that is above the head."""


def head_in(picture: Picture) -> Picture:
    """The head in a Fashion Model's picture: cut out if it has a plain ground, else in
    a circle.
    """
    edge = min(picture.size) * _HEAD_SHARE
    frame = Box.of_size(picture.width, picture.height)
    place = frame.place(edge, edge, down=_ABOVE_HEAD)
    head = resized(picture, (_HEAD_EDGE, _HEAD_EDGE), place.corners)
    return cut_out(head) or disc(head, _HEAD_EDGE)


def skin_of(head: Picture) -> Color:
    """The colour of the skin in a picture of a head; a neutral one if none is seen."""
    small = averaged(head.convert("RGB"), _SKIN_EDGE)
    mask = _skin_mask(small)
    if masks.share_of(mask) < _LEAST_SKIN:
        return NEUTRAL_SKIN
    statistics = ImageStat.Stat(small, mask)
    return whole_color(statistics.median)


def _skin_mask(small: Picture) -> Mask:
    data = small.tobytes()
    flags = []
    for start in range(0, len(data), 3):
        pixel = data[start : start + 3]
        flags.append(_is_skin(*pixel))
    return masks.of_flags(small.size, flags)


def _is_skin(
    red: int,
    green: int,
    blue: int,
) -> bool:
    """Whether a colour is one that skin has: reddish to yellowish, neither grey nor
    gaudy.
    """
    shares = (red / 255, green / 255, blue / 255)
    hue, saturation, brightness = rgb_to_hsv(*shares)
    if brightness < _SKIN_BRIGHTNESS or hue > _SKIN_HUE:
        return False
    return _PALEST_SKIN < saturation < _GAUDIEST_SKIN
