"""Subjects: what a photo shows, cut out of its ground with its own shadow."""

from PIL import Image, ImageChops, ImageFilter, ImageOps, ImageStat

from image_workflow_emulator.imaging.canvas import SHADOW
from image_workflow_emulator.imaging.codecs import load
from image_workflow_emulator.imaging.colors import BLACK, WHITE, Color, mix, opaque
from image_workflow_emulator.imaging.memo import remembered

SUBJECT_EDGE = 960
"""Pixels of a subject that are enough."""
HELD_EDGE = 400
"""Pixels that are enough in somebody's hands."""

_ALIKE = 14
"""Levels of a channel: a smaller difference is none."""
_OTHER = 44
"""Levels of a channel: a larger difference is full."""
_SLOPE = [
    max(0, min(255, (level - _ALIKE) * 255 // (_OTHER - _ALIKE)))
    for level in range(256)
]
"""From a difference to the ground to the alpha of a subject."""
_FAINT = 6
"""Levels of alpha that are not seen."""
_SMALL_EDGE = 128
"""Pixels of the small picture in which outside and holes are found."""
_SHADOW_GREY = 20
"""Levels by which the channels of a shadow differ at most."""
_SHADOW_DEPTH = 150
"""Levels by which a shadow darkens at most."""
_PLAIN_SHARE = 0.75
"""Share of the border that must have one colour."""
_LEAST_SHARE = 0.01
_MOST_SHARE = 0.97
"""Shares of the picture that a subject takes."""
_LONGEST_OUTLINE = 260.0
"""Square of the length of an outline, by its area; a disc has 13, a shirt 35, a wall of
bricks thousands.
"""


@remembered
def subject_of(data: bytes, enough: int, color: Color | None) -> Image.Image:
    """The subject of a photo that may be needed again, in a colour if one is given.

    In RGBA if it is transparent or before a plain ground, else the photo in RGB.
    """
    photo = trimmed(load(data, enough))
    if photo.mode != "RGBA":
        subject = cut_out(photo, color, keeps_shadow=enough == SUBJECT_EDGE)
        if subject is not None:
            return subject
    if color is None:
        return photo
    return recolored(photo, color, _alpha_of(photo))


def trimmed(image: Image.Image) -> Image.Image:
    """A cut-out without the transparent room around it; without transparency, the
    picture in RGB.
    """
    if image.mode != "RGBA" or image.getchannel("A").getextrema() == (255, 255):
        return opaque(image)
    box = image.getbbox()
    if box is None:
        return opaque(image)
    return image.crop(box)


def cut_out(
    image: Image.Image, color: Color | None = None, *, keeps_shadow: bool = False
) -> Image.Image | None:
    """What is before a plain ground, without it, in RGBA and in a colour if one is
    given.

    None if there is no such ground, or no such thing.

    Grey that is lighter than the subject is its shadow. It becomes black with alpha,
    and so lies on any ground; a picture that keeps it says so in its info.
    """
    if min(image.size) < 2:
        return None
    small = image.reduce(2) if min(image.size) > 2 * _SMALL_EDGE else image
    ground = _ground_of(small)
    if ground is None:
        return None
    steps = _steps_from(small, ground)
    shadow = _shadow_in(small, ground)
    shaded = shadow.point([255 * (level > 0) for level in range(256)])
    steps.paste(
        0, mask=shaded.filter(ImageFilter.MinFilter(3))
    )  # not its edge to what it is of
    solid = ImageChops.lighter(steps.point(_SLOPE), _inside(steps))
    if not _is_whole(solid):
        return None
    seen = ImageChops.lighter(solid, shadow) if keeps_shadow else solid
    return _lifted(image, solid, seen, color)


def _lifted(
    image: Image.Image, solid: Image.Image, seen: Image.Image, color: Color | None
) -> Image.Image | None:
    """The part of a picture that is seen, with black where it is not solid."""
    box = seen.point([255 * (level > _FAINT) for level in range(256)]).getbbox()
    if box is None:
        return None
    scale = image.width // seen.width
    left, top, right, bottom = (edge * scale for edge in box)
    subject = image.crop(
        (left, top, min(right, image.width), min(bottom, image.height))
    )
    solid = solid.resize(subject.size, Image.Resampling.BILINEAR, box)
    seen = seen.resize(subject.size, Image.Resampling.BILINEAR, box)
    if color is not None:
        subject = recolored(subject, color, solid)
    if ImageChops.difference(solid, seen).getbbox():
        subject.paste(BLACK, mask=ImageChops.invert(solid))
        subject.info[SHADOW] = True
    subject.putalpha(seen)
    return subject


# Ground -------------------------------------------------------------------------------


def _ground_of(image: Image.Image) -> Color | None:
    """The colour of the border; None if it has several."""
    border = Image.new("L", image.size, 255)
    inset = max(1, min(image.size) // 32)
    border.paste(0, (inset, inset, image.width - inset, image.height - inset))
    red, green, blue = ImageStat.Stat(image, border).median
    ground = (red, green, blue)
    counts = _steps_from(image, ground).histogram(border)
    if sum(counts[: 2 * _ALIKE]) < _PLAIN_SHARE * sum(counts):
        return None
    return ground


def _steps_from(image: Image.Image, ground: Color) -> Image.Image:
    """The largest difference of a channel to a colour."""
    table: list[int] = []
    for plain in ground:
        table += [abs(level - plain) for level in range(256)]
    return _largest(image.point(table))


def _largest(steps: Image.Image) -> Image.Image:
    red, green, blue = steps.split()
    return ImageChops.lighter(ImageChops.lighter(red, green), blue)


def _least(steps: Image.Image) -> Image.Image:
    red, green, blue = steps.split()
    return ImageChops.darker(ImageChops.darker(red, green), blue)


def _shadow_in(image: Image.Image, ground: Color) -> Image.Image:
    """How much a shadow darkens each pixel; nothing if the subject itself is like one.

    A shadow takes the same share of each channel of the ground.
    """
    table: list[int] = []
    for plain in ground:
        bright = max(1, plain)
        table += [max(0, 255 - level * 255 // bright) for level in range(256)]
    losses = image.point(table)
    most = _largest(losses)
    least = _least(losses)
    is_even = ImageChops.subtract(most, least).point(_below(_SHADOW_GREY))
    is_shallow = least.point(_below(_SHADOW_DEPTH))
    is_shadow = ImageChops.darker(is_even, is_shallow).filter(
        ImageFilter.MedianFilter(3)
    )
    shadow = ImageChops.darker(least, is_shadow)
    subject = ImageChops.subtract(_steps_from(image, ground), is_shadow)
    if _LEAST_SHARE < _share(shadow.point(_SLOPE)) < _share(subject.point(_SLOPE)):
        return shadow
    return Image.new("L", image.size)


def _below(limit: int) -> list[int]:
    """A table that marks the levels below a limit."""
    return [255 * (level < limit) for level in range(256)]


def _share(mask: Image.Image) -> float:
    return ImageStat.Stat(mask).mean[0] / 255


# Shape --------------------------------------------------------------------------------


def _inside(steps: Image.Image) -> Image.Image:
    """A mask of what the ground does not reach from the border, except holes.

    A hole is enclosed ground with nothing in it, such as that in the handle of a mug.
    Ground with words in it is a label on a product.
    """
    edge = _SMALL_EDGE
    small = steps.resize((edge, edge), Image.Resampling.BOX)
    ground = small.point(_below(_ALIKE))
    frame = ImageOps.expand(Image.new("L", (edge - 2, edge - 2)), 1, 255)
    outside = _grown(frame, ground)
    enclosed = ImageChops.subtract(ground, outside)
    body = ImageChops.invert(ground)
    whole = _grown(
        ImageChops.darker(body, outside.filter(ImageFilter.MaxFilter(3))), body
    )
    islands = ImageChops.subtract(body, whole)
    labels = _grown(islands.filter(ImageFilter.MaxFilter(3)), enclosed)
    holes = ImageChops.subtract(enclosed, labels)
    empty = ImageChops.lighter(outside, _without_specks(holes))
    inside = ImageChops.invert(empty).filter(ImageFilter.MinFilter(5))
    return inside.resize(steps.size, Image.Resampling.BILINEAR)


def _grown(seed: Image.Image, room: Image.Image) -> Image.Image:
    """The parts of a room that touch a seed."""
    reached = ImageChops.darker(seed, room)
    while True:
        larger = ImageChops.darker(reached.filter(ImageFilter.MaxFilter(3)), room)
        if larger == reached:
            return reached
        reached = larger


def _without_specks(mask: Image.Image) -> Image.Image:
    """The parts that are more than a few pixels wide; a gleam is no hole."""
    cores = mask.filter(ImageFilter.MinFilter(5))
    return _grown(cores, mask)


def _is_whole(solid: Image.Image) -> bool:
    """Whether a mask is of one thing of a fair size, with an outline that is not long
    for its area.
    """
    share = _share(solid)
    if not _LEAST_SHARE < share < _MOST_SHARE:
        return False
    shape = solid.point([255 * (level > 127) for level in range(256)])
    outline = ImageChops.subtract(shape, shape.filter(ImageFilter.MinFilter(3)))
    length = outline.histogram()[255]
    area = shape.histogram()[255]
    return length**2 < _LONGEST_OUTLINE * area


# Colour -------------------------------------------------------------------------------


def recolored(
    image: Image.Image, color: Color, solid: Image.Image | None
) -> Image.Image:
    """A picture whose lights and shadows stay, and whose mean, where a mask is solid,
    is a colour.
    """
    grey = opaque(image).convert("L")
    middle = round(ImageStat.Stat(grey, solid).mean[0])
    dark = mix(color, BLACK, 0.8)
    light = mix(color, WHITE, 0.85)
    result = ImageOps.colorize(grey, dark, light, color, midpoint=middle)
    alpha = _alpha_of(image)
    if alpha is not None:
        result.putalpha(alpha)
    return result


def _alpha_of(image: Image.Image) -> Image.Image | None:
    return image.getchannel("A") if image.mode == "RGBA" else None
