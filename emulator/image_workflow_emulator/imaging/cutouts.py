"""Subjects: what a photo shows, cut out of its ground with its own shadow, and in another colour."""

from PIL import Image, ImageChops, ImageFilter, ImageOps, ImageStat

from image_workflow_emulator.imaging.codecs import load
from image_workflow_emulator.imaging.colors import BLACK, WHITE, Color, mix, opaque
from image_workflow_emulator.imaging.drawing import SHADOW, trimmed
from image_workflow_emulator.imaging.memo import remembered

SUBJECT_EDGE, HELD_EDGE = (
    960,
    400,
)  # pixels; more makes no visible difference, by itself and in somebody's hands
_EDGE = 64  # pixels of the small picture in which the outside is found
_ALIKE, _OTHER = (
    14,
    44,
)  # levels of a channel: a difference that is none, and one that is full
_SLOPE = [
    max(0, min(255, (level - _ALIKE) * 255 // (_OTHER - _ALIKE)))
    for level in range(256)
]
_FAINT = 6  # levels of alpha that are not seen
_GREY, _DEEPEST = (
    20,
    150,
)  # levels: the most that the channels of a shadow differ, and the darkest shadow
_PLAIN_SHARE = 0.75  # of the border, that must have one colour
_LEAST_SHARE, _MOST_SHARE = 0.01, 0.97  # of the picture, that a subject takes


@remembered
def subject_of(
    data: bytes, enough: int = SUBJECT_EDGE, color: Color | None = None
) -> Image.Image:
    """The subject of a photo that may be needed again, in a colour if one is given."""
    return subject_in(load(data, enough), color, keeps_shadow=enough == SUBJECT_EDGE)


def subject_in(
    photo: Image.Image, color: Color | None = None, *, keeps_shadow: bool = True
) -> Image.Image:
    """The subject of a photo: cut out in RGBA if it is transparent or has a plain ground, else the photo in RGB."""
    image = trimmed(photo)
    subject = (
        None
        if image.mode == "RGBA"
        else cut_out(image, color, keeps_shadow=keeps_shadow)
    )
    return subject or (recolored(image, color) if color else image)


def cut_out(
    image: Image.Image, color: Color | None = None, *, keeps_shadow: bool = False
) -> Image.Image | None:
    """What stands before a plain ground, without it, in RGBA; None if there is no such ground.

    Grey that is lighter than the subject is its shadow. It becomes black with alpha, and so lies on any ground; a
    picture that keeps it says so in its info.
    """
    if min(image.size) < 2:
        return None
    small = image.reduce(2) if min(image.size) > 2 * _EDGE else image
    ring = Image.new("L", small.size, 255)
    inset = max(1, min(small.size) // 32)
    ring.paste(0, (inset, inset, small.width - inset, small.height - inset))
    ground = ImageStat.Stat(small, ring).median
    red, green, blue = small.point(
        [abs(level - plain) for plain in ground for level in range(256)]
    ).split()
    steps = ImageChops.lighter(ImageChops.lighter(red, green), blue)
    if sum(steps.histogram(ring)[: _ALIKE * 2]) < _PLAIN_SHARE * ring.histogram()[255]:
        return None
    shadow = _shadow_in(steps, ImageChops.darker(ImageChops.darker(red, green), blue))
    steps = ImageChops.subtract(steps, shadow)
    inside = _inside(steps).resize(small.size, Image.Resampling.BILINEAR)
    solid = ImageChops.lighter(steps.point(_SLOPE), inside)
    seen = ImageChops.lighter(solid, shadow) if keeps_shadow else solid
    box = seen.point([255 * (level > _FAINT) for level in range(256)]).getbbox()
    if (
        box is None
        or not _LEAST_SHARE < ImageStat.Stat(solid).mean[0] / 255 < _MOST_SHARE
    ):
        return None
    left, top, right, bottom = (edge * image.width // small.width for edge in box)
    subject = image.crop((left, top, right, min(bottom, image.height)))
    solid, seen = (
        mask.resize(subject.size, Image.Resampling.BILINEAR, box)
        for mask in (solid, seen)
    )
    if color:
        subject = recolored(subject, color, solid)
    if keeps_shadow and shadow.getbbox():
        subject.paste(BLACK, mask=ImageChops.invert(solid))
        subject.info[SHADOW] = True
    subject.putalpha(seen)
    return subject


def _shadow_in(steps: Image.Image, least: Image.Image) -> Image.Image:
    """How much a shadow darkens each pixel, all alike in each channel; nothing if the subject itself is light grey."""
    grey = ImageChops.subtract(steps, least).point(
        [255 * (level < _GREY) for level in range(256)]
    )
    shallow = least.point([255 * (level < _DEEPEST) for level in range(256)])
    mask = ImageChops.darker(grey, shallow).filter(ImageFilter.MedianFilter(3))
    shadow = ImageChops.darker(least, mask)
    area, rest = (
        ImageStat.Stat(image.point(_SLOPE)).mean[0] / 255
        for image in (shadow, ImageChops.subtract(steps, mask))
    )
    return shadow if _LEAST_SHARE < area < rest else Image.new("L", steps.size)


def _inside(steps: Image.Image) -> Image.Image:
    """A small mask of what cannot be reached from the border through the ground: a label on a product is no hole."""
    ground = steps.resize((_EDGE, _EDGE), Image.Resampling.BOX).point(
        [255 * (level < _ALIKE) for level in range(256)]
    )
    outside, reached = (
        None,
        ImageChops.darker(
            ground, ImageOps.expand(Image.new("L", (_EDGE - 2, _EDGE - 2)), 1, 255)
        ),
    )
    while outside != reached:
        outside, reached = (
            reached,
            ImageChops.darker(ground, reached.filter(ImageFilter.MaxFilter(3))),
        )
    return ImageChops.invert(reached).filter(ImageFilter.MinFilter(5))


def recolored(
    image: Image.Image, color: Color, solid: Image.Image | None = None
) -> Image.Image:
    """A picture whose lights and shadows stay, and whose mean is a colour; the mean is that of its `solid` part."""
    alpha = image.getchannel("A") if image.mode == "RGBA" else None
    grey = opaque(image).convert("L")
    middle = round(ImageStat.Stat(grey, solid or alpha).mean[0])
    result = ImageOps.colorize(
        grey, mix(color, BLACK, 0.8), mix(color, WHITE, 0.85), color, midpoint=middle
    )
    if alpha is not None:
        result.putalpha(alpha)
    return result
