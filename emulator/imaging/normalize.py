"""From the bytes of an upload to the picture an Asset stores.

Owns normalization (D17, D18). For any bytes, the outcome is a NormalizedImage or an UnusableImage. Limits of time and
memory are those of the process.
"""

import io
import re
import struct
from collections.abc import Mapping

from msgspec import Struct
from PIL import Image, ImageChops, ImageCms

from emulator.domain.recipes import PictureFormat
from emulator.imaging.containers import Contents, contents_of
from emulator.imaging.decoding import SourceFormat, open_as, sniff
from emulator.imaging.encoding import encode, picture_of
from emulator.imaging.exif import UPRIGHT, orientation_of
from emulator.imaging.scene import Scene, examine_scene

CONTENT_TYPES: Mapping[str, SourceFormat] = {
    "image/jpeg": "jpeg",
    "image/png": "png",
    "image/gif": "gif",
    "image/webp": "webp",
    "image/avif": "avif",
}

PIXEL_LIMIT = 100_000_000  # D17
EDGE_LIMITS: Mapping[SourceFormat, int] = {"jpeg": 65_500, "avif": 32_768}
"""Pixels that the longer edge may have, where the decoder takes less than the format can say (D57)."""

_TRANSPOSITIONS: Mapping[int, Image.Transpose] = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
"""By EXIF orientation, the operations that undo it."""

_AVIF_EXTENT = re.compile(b"ispe")
_KEPT_MODES = ("L", "RGB", "RGBA")
_LONGEST_REASON = 200  # characters of a decoder's message


class UnusableImage(Exception):
    """Bytes that cannot become an Asset. `reason` is a sentence: what was found and what was expected."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class HeavyImageError(Exception):
    """An image may be usable, and has more pixels than are to be decoded here."""


class NormalizedImage(Struct, frozen=True):
    """A still, upright, 8-bit sRGB picture without metadata; `data` is its file."""

    format: PictureFormat
    width: int
    height: int
    data: bytes
    scene: Scene


def normalize(data: bytes, content_type: str, pixels_at_once: int = PIXEL_LIMIT) -> NormalizedImage:
    """Return the normalized picture of an upload declared as `content_type` (D17, D18).

    Raises:
        UnusableImage: there is none.
        HeavyImageError: its header announces more pixels than `pixels_at_once`; nothing was decoded.
    """
    declared = CONTENT_TYPES.get(content_type)
    if declared is None:
        raise UnusableImage(f"The content type is {content_type}; expected one of {', '.join(CONTENT_TYPES)}.")
    found = sniff(data)
    if found != declared:
        what = f"The bytes are {found.upper()}" if found else "The bytes are no image of a known format"
        raise UnusableImage(f"{what}; expected {declared.upper()}, as declared by {content_type}.")
    try:
        return _normalize(data, declared, pixels_at_once)
    except (UnusableImage, HeavyImageError):
        raise
    except Exception as error:  # decoders raise nearly anything on hostile bytes, from struct.error to MemoryError
        words = " ".join((str(error) or type(error).__name__)[:_LONGEST_REASON].split())
        raise UnusableImage(f"The bytes do not decode as {declared.upper()}: {words}.") from error


def _normalize(data: bytes, source: SourceFormat, pixels_at_once: int) -> NormalizedImage:
    contents = contents_of(data, source)
    for width, height in [(contents.width, contents.height)] if contents else _announced_sizes(data):
        _check_edges(width, height, source)
        _check_pixels(width, height, pixels_at_once)
    if contents:
        data = contents.data  # what is kept is what was decoded
    opened = open_as(data, source)
    _check_pixels(opened.width, opened.height, pixels_at_once)
    orientation = _orientation(opened, contents)
    profile = contents.icc_profile if contents else opened.info.get("icc_profile")
    opened.load()
    image = _to_srgb(_to_eight_bits(opened), profile)
    if contents and contents.is_plain and image is opened and orientation == UPRIGHT and source != "gif":
        return _normalized(image, source, data)
    del opened  # and with it what the decoder holds, which is more than the picture
    if orientation in _TRANSPOSITIONS:
        image = image.transpose(_TRANSPOSITIONS[orientation])
    target = _target_format(source, image)
    return _normalized(image, target, encode(picture_of(image), target))


def _normalized(image: Image.Image, target: str, data: bytes) -> NormalizedImage:
    return NormalizedImage(target, image.width, image.height, data, examine_scene(image))  # type: ignore[arg-type]


def _check_pixels(width: int, height: int, pixels_at_once: int) -> None:
    if width < 1 or height < 1:
        raise UnusableImage(f"The image has {width} x {height} pixels; expected at least one.")
    if width * height > PIXEL_LIMIT:
        raise UnusableImage(f"The image has {width} x {height} pixels; expected at most 100 megapixels.")
    if width * height > pixels_at_once:
        raise HeavyImageError


def _check_edges(width: int, height: int, source: SourceFormat) -> None:
    limit = EDGE_LIMITS.get(source)
    if limit is not None and max(width, height) > limit:
        size = f"{width} x {height} pixels"
        raise UnusableImage(f"The image has {size}; expected at most {limit} an edge of {source.upper()}.")


def _announced_sizes(data: bytes) -> list[tuple[int, int]]:
    """Return the sizes in the boxes `ispe` of an AVIF, whose decoder does not say which one it refuses."""
    head = data[: data.find(b"mdat")]
    return [struct.unpack_from(">II", head, match.end() + 4) for match in _AVIF_EXTENT.finditer(head[:-12])]


def _orientation(opened: Image.Image, contents: Contents | None) -> int:
    raw = contents.exif if contents else opened.info.get("exif")
    return orientation_of(raw) if raw else UPRIGHT


def _to_eight_bits(image: Image.Image) -> Image.Image:
    """The picture in mode L, RGB, RGBA or CMYK; transparency of any kind becomes an alpha channel."""
    if image.mode in (*_KEPT_MODES, "CMYK") and "transparency" not in image.info:
        return image
    if image.mode.startswith(("I", "F")):
        return _from_sixteen_bits(image)
    if image.has_transparency_data:
        return image.convert("RGBA")
    return image.convert("L" if image.mode == "1" else "RGB")


def _from_sixteen_bits(image: Image.Image) -> Image.Image:
    wide = image.convert("I")
    narrow = wide.point(lambda value: value * (1 / 256)).convert("L")
    hidden = image.info.get("transparency")
    if not isinstance(hidden, int):
        return narrow
    # Only linear functions work on such wide values: far from the hidden one, both of these are out of an 8-bit range.
    above = wide.point(lambda value: value * 255 + -255 * hidden).convert("L")
    below = wide.point(lambda value: value * -255 + 255 * hidden).convert("L")
    narrow = narrow.convert("RGBA")
    narrow.putalpha(ImageChops.lighter(above, below))
    return narrow


def _to_srgb(image: Image.Image, profile: bytes | None) -> Image.Image:
    if profile and image.mode == "RGBA":
        converted = _apply_profile(image.convert("RGB"), profile)
        if converted is not None:
            converted.putalpha(image.getchannel("A"))
            return converted
    elif profile:
        return _apply_profile(image, profile) or _without_ink(image)
    return _without_ink(image)


def _without_ink(image: Image.Image) -> Image.Image:
    return image.convert("RGB") if image.mode == "CMYK" else image


def _apply_profile(image: Image.Image, profile: bytes) -> Image.Image | None:
    """The picture's colours in sRGB; None if the profile is sRGB already, broken, or of another colour space."""
    try:
        embedded = ImageCms.ImageCmsProfile(io.BytesIO(profile))
        if ImageCms.getProfileDescription(embedded).startswith("sRGB"):
            return None
        return ImageCms.profileToProfile(image, embedded, ImageCms.createProfile("sRGB"), outputMode="RGB")
    except Exception:  # a picture with a broken profile is shown without it
        return None


def _target_format(source: SourceFormat, image: Image.Image) -> PictureFormat:
    if source == "gif":
        return "png"
    if source == "avif":
        is_transparent = image.mode == "RGBA" and sum(image.getchannel("A").histogram()[:255]) > 0
        return "png" if is_transparent else "jpeg"
    return source
