"""From the bytes of an upload to the picture an Asset stores.

Owns decoding and normalization (D17, D18). The only place that imports the AVIF plug-in. Whatever a client sends, the
outcome is a NormalizedImage or an UnusableImage. Safe to call from several threads at once.
"""

import io
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from PIL import GifImagePlugin, Image, ImageCms, ImageFile, JpegImagePlugin, PngImagePlugin, WebPImagePlugin
from PIL.ExifTags import Base as ExifTag

from emulator.imaging.recipes import PictureFormat
from emulator.imaging.scene import Scene, examine_scene

SourceFormat = Literal["jpeg", "png", "gif", "webp", "avif"]

CONTENT_TYPES: Mapping[str, SourceFormat] = {
    "image/jpeg": "jpeg",
    "image/png": "png",
    "image/gif": "gif",
    "image/webp": "webp",
    "image/avif": "avif",
}

PIXEL_LIMIT = 100_000_000  # D17
JPEG_QUALITY = 90

_TRANSPOSITIONS: Mapping[int, Image.Transpose] = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
"""By the EXIF orientation that they undo."""


class UnusableImage(Exception):
    """Bytes that cannot become an Asset. `reason` is a sentence: what was found and what was expected."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class NormalizedImage:
    """A still, upright, 8-bit sRGB picture without metadata; `data` is its file."""

    format: PictureFormat
    width: int
    height: int
    data: bytes
    scene: Scene


def normalize(data: bytes, content_type: str) -> NormalizedImage:
    """The normalized picture of an upload declared as `content_type` (D17, D18). Raises UnusableImage."""
    declared = CONTENT_TYPES.get(content_type)
    if declared is None:
        raise UnusableImage(f"The content type is {content_type}; expected one of {', '.join(CONTENT_TYPES)}.")
    found = sniff(data)
    if found != declared:
        what = f"The bytes are {found.upper()}" if found else "The bytes are no image of a known format"
        raise UnusableImage(f"{what}; expected {declared.upper()}, as declared by {content_type}.")
    try:
        return _normalize(data, declared)
    except UnusableImage:
        raise
    except Exception as error:  # decoders raise nearly anything on hostile bytes, from struct.error to MemoryError
        raise UnusableImage(f"The bytes do not decode as {declared.upper()} ({_short(error)}).") from error


def sniff(data: bytes) -> SourceFormat | None:
    """The image format that the first bytes announce, if it is one of the accepted five."""
    if data.startswith(b"\xff\xd8\xff"):
        return "jpeg"
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "png"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "gif"
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "webp"
    if data[4:8] == b"ftyp" and any(brand in data[8:64] for brand in (b"avif", b"avis")):
        return "avif"
    return None


def _normalize(data: bytes, source: SourceFormat) -> NormalizedImage:
    with _open(data, source) as opened:
        if opened.width * opened.height > PIXEL_LIMIT:
            raise UnusableImage(
                f"The image has {opened.width} x {opened.height} pixels; expected at most 100 megapixels."
            )
        orientation = _orientation(opened)
        opened.load()
        profile = opened.info.get("icc_profile")
        image = _to_srgb(_to_eight_bits(opened), profile)
    if orientation in _TRANSPOSITIONS:
        image = image.transpose(_TRANSPOSITIONS[orientation])
    target = _target_format(source, image)
    return NormalizedImage(target, image.width, image.height, _encode(image, target), examine_scene(image))


def _open(data: bytes, source: SourceFormat) -> ImageFile.ImageFile:
    """The lazily decoded picture. Not by Image.open, whose pixel limit is a global setting that warns."""
    file = io.BytesIO(data)
    if source == "jpeg":
        return JpegImagePlugin.JpegImageFile(file)
    if source == "png":
        return PngImagePlugin.PngImageFile(file)
    if source == "gif":
        return GifImagePlugin.GifImageFile(file)
    if source == "webp":
        return WebPImagePlugin.WebPImageFile(file)
    return _open_avif(file)


def _open_avif(file: io.BytesIO) -> ImageFile.ImageFile:
    try:
        from pillow_avif.AvifImagePlugin import AvifImageFile
    except ImportError:  # no wheel for this platform: Pillow's own reader serves
        from PIL.AvifImagePlugin import AvifImageFile
    opened: ImageFile.ImageFile = AvifImageFile(file)
    return opened


def _orientation(image: Image.Image) -> int:
    """The EXIF orientation, 1 (upright) where the metadata cannot be read."""
    try:
        return int(image.getexif().get(ExifTag.Orientation, 1))
    except Exception:  # broken metadata does not make a picture unusable
        return 1


def _to_eight_bits(image: Image.Image) -> Image.Image:
    """The picture in mode L, RGB, RGBA or CMYK; transparency of any kind becomes an alpha channel."""
    if image.mode in ("RGB", "L", "CMYK") and "transparency" not in image.info:
        return image
    if image.mode.startswith(("I", "F")):
        return image.convert("I").point(lambda value: value * (1 / 256)).convert("L")
    if image.has_transparency_data:
        return image.convert("RGBA")
    return image.convert("L" if image.mode == "1" else "RGB")


def _to_srgb(image: Image.Image, profile: bytes | None) -> Image.Image:
    if profile and image.mode != "RGBA":
        image = _apply_profile(image, profile)
    elif profile:
        alpha = image.getchannel("A")
        image = _apply_profile(image.convert("RGB"), profile)
        image.putalpha(alpha)
    return image.convert("RGB") if image.mode == "CMYK" else image


def _apply_profile(image: Image.Image, profile: bytes) -> Image.Image:
    """The picture's colours in sRGB; unchanged if the profile is sRGB already, broken, or of another colour space."""
    try:
        embedded = ImageCms.ImageCmsProfile(io.BytesIO(profile))
        if ImageCms.getProfileDescription(embedded).startswith("sRGB"):
            return image
        converted = ImageCms.profileToProfile(image, embedded, ImageCms.createProfile("sRGB"), outputMode="RGB")
    except Exception:
        return image
    return converted or image


def _target_format(source: SourceFormat, image: Image.Image) -> PictureFormat:
    if source == "gif":
        return "png"
    if source == "avif":
        is_transparent = image.mode == "RGBA" and sum(image.getchannel("A").histogram()[:255]) > 0
        return "png" if is_transparent else "jpeg"
    return source


def _encode(image: Image.Image, target: PictureFormat) -> bytes:
    image = image.copy()
    image.info.clear()
    buffer = io.BytesIO()
    if target == "jpeg":
        image.convert("RGB").save(buffer, "JPEG", quality=JPEG_QUALITY)
    elif target == "png":
        image.save(buffer, "PNG", compress_level=1)
    else:
        image.save(buffer, "WEBP", quality=JPEG_QUALITY, method=0)
    return buffer.getvalue()


def _short(error: Exception) -> str:
    return (str(error) or type(error).__name__)[:200]
