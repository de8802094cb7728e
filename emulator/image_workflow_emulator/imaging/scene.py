"""Whether a picture is an empty scene, or has a subject in front of it.

Owns one question asked of pixels (D30). Must not know what the answer is used for.

The colours of a scene reach its border on more than one side: a wall, a gradient, a texture, a beach from left to
right. So a subject is a patch of colours that the border does not have, or has only where the subject is cut off, with
an edge around it. The edge distinguishes it from a gradient, which also has other colours in the middle, but changes to
them slowly.
"""

from collections import Counter
from typing import Literal

from PIL import Image, ImageFilter

from image_workflow_emulator.imaging.decoding import load
from image_workflow_emulator.imaging.drawing import opaque

Scene = Literal["clean", "foreground"]

_EDGE = 64  # pixels an edge of the small picture that is examined
_SAMPLES = 16  # an edge of what becomes one pixel of it, where a transparent picture is large
_RING = 6  # pixels of it that count as border
_FINE, _COARSE = 12, 40  # levels of a channel that are one colour, in a calm and in a busy scene
_KNOWN_SHARE = 0.01  # of one side of the border: a colour as frequent as this, on two sides, is the scene's own
_LEAST_PATCH = 0.012  # of the picture: smaller patches are specks
_LEAST_STEP = 9  # levels between neighbours that make an edge
_STEP_SHARE = 0.25  # of a patch's contrast to the border, that an edge makes at once
_SHARP_SHARE = 0.3  # of a patch's outline
_HIDDEN = (255, 0, 255)  # what shows through transparent pixels: a colour that scenes seldom have

Rgb = tuple[int, int, int]


def examine_scene(image: Image.Image) -> Scene:
    """Whether a subject stands out from the picture's border; always the same for the same pixels. (D30)"""
    pixels = _small_pixels(image)
    patch = _patch(pixels)
    if len(patch) < _LEAST_PATCH * _EDGE * _EDGE:
        return "clean"
    outline = [max(steps) for place in patch if (steps := _steps(pixels, place, patch))]
    needed = max(_LEAST_STEP, _STEP_SHARE * _contrast(pixels, patch))
    sharp = sum(step >= needed for step in outline)
    return "foreground" if sharp >= max(1, _SHARP_SHARE * len(outline)) else "clean"


def examine_scene_of(data: bytes) -> Scene:
    """`examine_scene` of an encoded picture that `normalize` or `render` made."""
    return examine_scene(load(data, _EDGE * 2))


def _small_pixels(image: Image.Image) -> list[Rgb]:
    factor = max(1, min(image.size) // (_EDGE * 2))
    small = _reduced(image, factor) if factor > 1 else image
    small = opaque(small, _HIDDEN).convert("RGB").resize((_EDGE, _EDGE), Image.Resampling.BOX)
    data = small.tobytes()
    return list(zip(data[0::3], data[1::3], data[2::3], strict=True))


def _reduced(image: Image.Image, factor: int) -> Image.Image:
    """The picture reduced; of a large transparent one, which would be copied for that, only some pixels count."""
    step = max(1, factor // _SAMPLES) if image.mode == "RGBA" else 1
    if step > 1:
        image = image.resize((image.width // step, image.height // step), Image.Resampling.NEAREST)
    return image.reduce(factor // step)


def _is_border(place: int) -> bool:
    row, column = divmod(place, _EDGE)
    return not (_RING <= row < _EDGE - _RING and _RING <= column < _EDGE - _RING)


def _grain(pixels: list[Rgb]) -> int:
    """How many levels of a channel are one colour: more where the border is busy, as a texture is."""
    places = [place for place in range(len(pixels) - 1) if _is_border(place) and _is_border(place + 1)]
    steps = sum(abs(pixels[place][channel] - pixels[place + 1][channel]) for place in places for channel in range(3))
    return min(_COARSE, _FINE + steps // (6 * len(places)))


def _sides(colors: list[Rgb]) -> list[Counter[Rgb]]:
    """How often each colour stands on the left, right, upper and lower border; corners count for both of theirs."""
    rows, ring, rest = range(_EDGE), range(_RING), range(_EDGE - _RING, _EDGE)
    areas = ((rows, ring), (rows, rest), (ring, rows), (rest, rows))
    return [Counter(colors[y * _EDGE + x] for y in down for x in across) for down, across in areas]


def _patch(pixels: list[Rgb]) -> set[int]:
    """The places whose colours are not the scene's own, without single specks."""
    grain = _grain(pixels)
    colors = [(red // grain, green // grain, blue // grain) for red, green, blue in pixels]
    sides = _sides(colors)
    known = {color: _is_known(color, sides) for color in set(colors)}
    mask = Image.frombytes("L", (_EDGE, _EDGE), bytes(0 if known[color] else 255 for color in colors))
    calm = mask.filter(ImageFilter.MedianFilter(3)).tobytes()
    return {place for place, value in enumerate(calm) if value and not _is_border(place)}


def _is_known(color: Rgb, sides: list[Counter[Rgb]]) -> bool:
    """Whether two sides of the border have this colour, or a neighbouring one, more than by chance."""
    red, green, blue = color
    near = (-1, 0, 1)
    alike = [(red + r, green + g, blue + b) for r in near for g in near for b in near]
    least = _KNOWN_SHARE * _EDGE * _RING
    return sum(sum(side[color] for color in alike) >= least for side in sides) >= 2


def _contrast(pixels: list[Rgb], patch: set[int]) -> int:
    """The largest difference of a channel between the patch's mean and the border's."""
    border = _mean([color for place, color in enumerate(pixels) if _is_border(place)])
    return max(abs(a - b) for a, b in zip(border, _mean([pixels[place] for place in patch]), strict=True))


def _mean(colors: list[Rgb]) -> list[int]:
    return [sum(levels) // len(colors) for levels in zip(*colors, strict=True)]


def _steps(pixels: list[Rgb], place: int, patch: set[int]) -> list[int]:
    """The steps of each channel from a place at a patch's outline to what lies two pixels outside of it."""
    outside = [place + 2 * step for step in (-1, 1, -_EDGE, _EDGE) if place + step not in patch]
    return [abs(pixels[place][channel] - pixels[other][channel]) for other in outside for channel in range(3)]
