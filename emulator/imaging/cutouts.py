"""Subjects: what a photo shows, cut out of its ground, and in another colour."""

from PIL import Image, ImageChops, ImageFilter, ImageOps, ImageStat

from emulator.imaging.composition import stretched
from emulator.imaging.decoding import load, remembered
from emulator.imaging.drawing import BLACK, WHITE, Color, mix, opaque, trimmed

_SUBJECT_EDGE = 960  # pixels; more makes no visible difference
_SMALL_EDGE = 400
_EDGE = 64  # pixels of the small picture in which the outside is found
_ALIKE, _OTHER = 14, 44  # levels of a channel: a difference that is none, and one that is full
_PLAIN_SHARE = 0.75  # of the border, that must have one colour
_LEAST_SHARE, _MOST_SHARE = 0.01, 0.97  # of the picture, that a subject takes


@remembered
def subject_of(data: bytes) -> Image.Image:
    """The subject of a photo: cut out in RGBA if it is transparent or has a plain ground, else the photo in RGB."""
    image = trimmed(load(data, _SUBJECT_EDGE))
    return image if image.mode == "RGBA" else cut_out(image) or image


@remembered
def small_subject_of(data: bytes) -> Image.Image:
    """Likewise, no larger than a figure of moderate size holds it."""
    subject = subject_of(data)
    share = min(1.0, _SMALL_EDGE / max(subject.size))
    return stretched(subject, (max(1, round(subject.width * share)), max(1, round(subject.height * share))))


def cut_out(image: Image.Image) -> Image.Image | None:
    """What stands before a plain ground, without it, in RGBA; None if there is no such ground."""
    if min(image.size) < 2:
        return None
    small = image.reduce(2) if min(image.size) > 2 * _EDGE else image
    ring = Image.new("L", small.size, 255)
    inset = max(1, min(small.size) // 32)
    ring.paste(0, (inset, inset, small.width - inset, small.height - inset))
    red, green, blue = ImageStat.Stat(small, ring).median
    parts = ImageChops.difference(small, Image.new("RGB", small.size, (red, green, blue))).split()
    steps = ImageChops.lighter(ImageChops.lighter(parts[0], parts[1]), parts[2])
    if sum(steps.histogram(ring)[: _ALIKE * 2]) < _PLAIN_SHARE * ring.histogram()[255]:
        return None
    slope = [max(0, min(255, (level - _ALIKE) * 255 // (_OTHER - _ALIKE))) for level in range(256)]
    alpha = ImageChops.lighter(steps.point(slope), _inside(steps).resize(small.size, Image.Resampling.BILINEAR))
    alpha = alpha.resize(image.size, Image.Resampling.BILINEAR)
    box = alpha.point([255 * (level > _OTHER) for level in range(256)]).getbbox()
    if box is None or not _LEAST_SHARE < ImageStat.Stat(alpha).mean[0] / 255 < _MOST_SHARE:
        return None
    image = image.copy()
    image.putalpha(alpha)
    return image.crop(box)


def _inside(steps: Image.Image) -> Image.Image:
    """A small mask of what cannot be reached from the border through the ground: a label on a product is no hole."""
    ground = steps.resize((_EDGE, _EDGE), Image.Resampling.BOX).point([255 * (level < _ALIKE) for level in range(256)])
    outside, previous = ImageOps.expand(Image.new("L", (_EDGE - 2, _EDGE - 2)), 1, 255), None
    outside = ImageChops.darker(outside, ground)
    while previous is None or outside.tobytes() != previous:
        previous = outside.tobytes()
        for _ in range(8):
            outside = ImageChops.darker(outside.filter(ImageFilter.MaxFilter(3)), ground)
    return ImageChops.invert(outside).filter(ImageFilter.MinFilter(5))


def recolored(image: Image.Image, color: Color) -> Image.Image:
    """A subject whose lights and shadows stay, and whose middle is a colour."""
    alpha = image.getchannel("A") if image.mode == "RGBA" else None
    solid = alpha and alpha.point([255 * (level == 255) for level in range(256)])
    grey = opaque(image).convert("L")
    middle = round(ImageStat.Stat(grey, solid).mean[0]) if solid is None or solid.getbbox() else 128
    result = ImageOps.colorize(
        grey, mix(color, BLACK, 0.8), mix(color, WHITE, 0.85), color, midpoint=max(1, min(254, middle))
    )
    if alpha is not None:
        result.putalpha(alpha)
    return result
