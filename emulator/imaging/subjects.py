"""Subject photos made ready to stand in a new picture: cut out of a plain backdrop, or framed as a print; tinted.

Must not know where the subject will stand.
"""

from dataclasses import dataclass
from itertools import accumulate

from PIL import Image, ImageChops, ImageFilter, ImageOps, ImageStat

from emulator.imaging.drawing import BLACK, WHITE, Color, mix, rounded_mask

_LOOK = 256  # pixels an edge, at which backdrops are judged
_FINER = 3  # how much larger the mask is made, so that its edge can be sharpened
_RING = 4  # pixels of the border that belong to the backdrop, at that size
_PLAIN = 30  # levels by which nearly all of a plain backdrop stays around the colours of its corners
_PLAIN_SHARE = 0.9
_OPAQUE = 250
_TINT = 0.88


@dataclass(frozen=True, slots=True)
class Subject:
    """A subject as RGB pixels and the mask to see it through, which may have fewer pixels.

    `is_framed` if it could not be cut out.
    """

    image: Image.Image
    mask: Image.Image
    is_framed: bool


def prepare(photo: Image.Image, tint: Color | None) -> Subject:
    """The subject of a photo, in `tint` if there is one."""
    image, mask = photo.convert("RGB"), _cut_out(photo)
    box = mask.getbbox() if mask else None
    if mask is None or box is None:
        return _framed(tinted(image, None, tint) if tint else image)
    across, down = image.width / mask.width, image.height / mask.height
    image = image.crop((int(box[0] * across), int(box[1] * down), round(box[2] * across), round(box[3] * down)))
    mask = mask.crop(box)
    return Subject(tinted(image, mask, tint) if tint else image, mask, False)


def tinted(image: Image.Image, mask: Image.Image | None, tint: Color) -> Image.Image:
    """The picture in shades of one colour: what was of middling lightness (within the mask) is now of this colour."""
    grey = image.convert("L")
    weight = mask.resize(grey.size) if mask else None
    middle = min(230, max(25, round(ImageStat.Stat(grey, weight).median[0])))
    shades = ImageOps.colorize(grey, mix(tint, BLACK, 0.85), mix(tint, WHITE, 0.85), tint, midpoint=middle)
    return Image.blend(image, shades, _TINT)


def _cut_out(photo: Image.Image) -> Image.Image | None:
    """A mask of what stands before a plain backdrop, with the photo's proportions; None if the backdrop is not plain."""
    if photo.mode == "RGBA" and sum(photo.getchannel("A").histogram()[:_OPAQUE]) > 0:
        return photo.getchannel("A")
    look = photo.reduce(max(1, max(photo.size) // _LOOK)).convert("RGB")
    look.thumbnail((_LOOK, _LOOK), Image.Resampling.BILINEAR)
    if min(look.size) < 4 * _RING:
        return None
    difference = _difference_from_backdrop(look)
    ring = _ring_histogram(difference)
    if sum(ring[:_PLAIN]) < _PLAIN_SHARE * sum(ring):
        return None
    # Pixels at the edge of a subject are half backdrop: the more it stands out, the more of it one must show to count.
    level = max(_level_below(ring, _PLAIN_SHARE) + 10, min(56, _level_below(difference.histogram(), 0.97) // 2))
    standing_out = difference.point([255 if value > level else 0 for value in range(256)])
    silhouette = _filled(standing_out.filter(ImageFilter.MedianFilter(3)))
    share = ImageStat.Stat(silhouette).mean[0] / 255
    if not 0.01 < share < 0.9:
        return None
    soft = silhouette.filter(ImageFilter.GaussianBlur(0.7))
    enlarged = soft.resize((look.width * _FINER, look.height * _FINER), Image.Resampling.BILINEAR)
    return enlarged.point([max(0, min(255, (value - 165) * 3)) for value in range(256)])


def _difference_from_backdrop(look: Image.Image) -> Image.Image:
    """How far each pixel is from a backdrop that runs smoothly between the colours of the corners."""
    corners = Image.new("RGB", (2, 2))
    for x in (0, 1):
        for y in (0, 1):
            left, top = x * (look.width - 2 * _RING), y * (look.height - 2 * _RING)
            corner = look.crop((left, top, left + 2 * _RING, top + 2 * _RING))
            red, green, blue = (round(value) for value in ImageStat.Stat(corner).median)
            corners.putpixel((x, y), (red, green, blue))
    backdrop = corners.resize(look.size, Image.Resampling.BILINEAR)
    red_part, green_part, blue_part = ImageChops.difference(look, backdrop).split()
    return ImageChops.lighter(ImageChops.lighter(red_part, green_part), blue_part)


def _ring_histogram(difference: Image.Image) -> list[int]:
    inside = difference.crop((_RING, _RING, difference.width - _RING, difference.height - _RING)).histogram()
    return [whole - inner for whole, inner in zip(difference.histogram(), inside, strict=True)]


def _level_below(histogram: list[int], share: float) -> int:
    """The level that this share of the pixels stays below."""
    enough = share * sum(histogram)
    return next(value for value, seen in enumerate(accumulate(histogram)) if seen >= enough)


def _filled(mask: Image.Image) -> Image.Image:
    """The mask without holes: what lies between marked pixels both along its row and along its column."""
    turned = mask.transpose(Image.Transpose.TRANSPOSE)
    columns = _filled_rows(turned).transpose(Image.Transpose.TRANSPOSE)
    return ImageChops.darker(_filled_rows(mask), columns)


def _filled_rows(mask: Image.Image) -> Image.Image:
    pixels = mask.tobytes()
    rows: list[bytes] = []
    for start in range(0, len(pixels), mask.width):
        row = pixels[start : start + mask.width]
        first, last = row.find(b"\xff"), row.rfind(b"\xff")
        rows.append(row if first < 0 else bytes(first) + b"\xff" * (last + 1 - first) + bytes(mask.width - 1 - last))
    return Image.frombytes("L", mask.size, b"".join(rows))


def _framed(image: Image.Image) -> Subject:
    """The whole photo as a print with a white border."""
    border = max(1, max(image.size) // 36)
    card = Image.new("RGB", (image.width + 2 * border, image.height + 2 * border), WHITE)
    card.paste(image, (border, border))
    return Subject(card, rounded_mask(card.width, card.height, border // 2), True)
