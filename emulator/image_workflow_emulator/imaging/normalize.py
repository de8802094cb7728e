"""From the bytes of an upload to the picture an Asset stores.

Owns normalization (D17, D18) and the limits that are told from a header (D57). For any bytes, the outcome is a
NormalizedImage or an UnusableImage. Limits of time and memory are those of the process.
"""

import contextlib
import io
from collections.abc import Mapping

from msgspec import Struct
from PIL import Image, ImageCms, ImageOps

from image_workflow_emulator.domain.orders import MAX_UPLOAD_PIXELS, MEGAPIXEL
from image_workflow_emulator.domain.recipes import PictureFormat
from image_workflow_emulator.imaging.codecs import (
    FORMATS,
    MAX_AVIF_EDGE,
    MAX_EDGE,
    SourceFormat,
    encode,
    open_as,
    size_of,
    sniff,
)
from image_workflow_emulator.imaging.scene import Scene, examine_scene

CONTENT_TYPES: Mapping[str, SourceFormat] = {
    f"image/{source}": source for source in FORMATS
}

_DEMANDING: Mapping[SourceFormat, float] = {"webp": 0.4, "avif": 0.4}
"""Formats whose decoders take more memory for each pixel, and what share of the usual number of pixels they
may have.
"""
MAX_SCANS = 12
"""Limit of the scans of a progressive JPEG at the pixel limit; smaller ones may have more. Encoders make about 10."""
MAX_FILL_BYTES = 2 << 20
"""Limit of the fill bytes of a JPEG, whose decoder reads them more than once."""

_START_OF_SCAN = b"\xff\xda"


class UnusableImage(Exception):
    """Bytes that cannot become an Asset. The text is a sentence: what was found and what was expected."""


class NormalizedImage(Struct, frozen=True):
    """A still, upright, 8-bit sRGB picture without metadata; `data` is its file."""

    format: PictureFormat
    width: int
    height: int
    data: bytes
    scene: Scene


def normalize(
    data: bytes,
    content_type: str,
    stored_as: PictureFormat | None = None,
) -> NormalizedImage:
    """Return the normalized picture of an upload declared as `content_type` (D17, D18). Raises UnusableImage."""
    declared = CONTENT_TYPES.get(content_type)
    if declared is None:
        raise UnusableImage(
            f"The content type is {content_type}; expected one of {', '.join(CONTENT_TYPES)}."
        )
    found = sniff(data)
    if found != declared:
        what = (
            f"The bytes are {found.upper()}"
            if found
            else "The bytes are no image of a known format"
        )
        raise UnusableImage(
            f"{what}; expected {declared.upper()}, as declared by {content_type}."
        )
    try:
        _check_size(size_of(data, declared), declared)
        return _normalized(data, declared, stored_as)
    except UnusableImage:
        raise
    except Exception as error:  # decoders raise nearly anything on hostile bytes, in words of their own
        raise UnusableImage(
            f"The bytes do not decode as {declared.upper()}; the file is damaged or cut off."
        ) from error


def _check_size(size: tuple[int, int], source: SourceFormat) -> None:
    width, height = size
    limit, edge = (
        MAX_UPLOAD_PIXELS * _DEMANDING.get(source, 1),
        MAX_AVIF_EDGE if source == "avif" else MAX_EDGE,
    )
    what = f"The image has {width} x {height} pixels"
    if max(width, height) > edge:
        raise UnusableImage(
            f"{what}; expected at most {edge} an edge in {source.upper()}."
        )
    if width * height > limit:
        raise UnusableImage(
            f"{what}; expected at most {limit / MEGAPIXEL:g} megapixels in {source.upper()}."
        )


def _normalized(
    data: bytes, source: SourceFormat, stored_as: PictureFormat | None
) -> NormalizedImage:
    image: Image.Image = open_as(data, source)
    if source == "jpeg":
        _check_jpeg(data, image)
    profile = image.info.get("icc_profile")
    image.load()
    with contextlib.suppress(Exception):  # broken metadata raises several of them
        ImageOps.exif_transpose(image, in_place=True)
    image = _to_eight_bits(
        image
    )  # and no longer what the decoder holds, which is more than the picture
    image = _to_srgb(image, profile)
    target = stored_as or _target_format(source, image)
    return NormalizedImage(
        target, image.width, image.height, encode(image, target), examine_scene(image)
    )


def _check_jpeg(data: bytes, opened: Image.Image) -> None:
    """Refuse a file that its decoder goes over again and again. Raises UnusableImage."""
    scans = data.count(_START_OF_SCAN) if "progressive" in opened.info else 1
    if opened.width * opened.height * scans > MAX_UPLOAD_PIXELS * MAX_SCANS:
        raise UnusableImage(
            f"The image has {scans} scans; expected about ten, as encoders make."
        )
    if 2 * data.count(b"\xff\xff") > MAX_FILL_BYTES:
        raise UnusableImage(
            f"The image has more than {MAX_FILL_BYTES} bytes that fill gaps; expected hardly any."
        )


def _to_eight_bits(image: Image.Image) -> Image.Image:
    """The picture in mode L, RGB, RGBA or CMYK; transparency of any kind becomes an alpha channel."""
    if image.mode.startswith("I"):
        return image.point(lambda level: level / 256).convert("L")
    if image.has_transparency_data:
        return image if image.mode == "RGBA" else image.convert("RGBA")
    if image.mode in ("L", "RGB", "CMYK"):
        return image
    return image.convert("L" if image.mode == "1" else "RGB")


def _to_srgb(image: Image.Image, profile: bytes | None) -> Image.Image:
    """The picture in sRGB. A profile that is broken, or of another colour space, is ignored."""
    if profile:
        with contextlib.suppress(Exception):  # so do broken profiles
            embedded, srgb = io.BytesIO(profile), ImageCms.createProfile("sRGB")
            if image.mode in ("RGB", "RGBA"):
                ImageCms.profileToProfile(image, embedded, srgb, inPlace=True)
            else:
                image = (
                    ImageCms.profileToProfile(image, embedded, srgb, outputMode="RGB")
                    or image
                )
    return image.convert("RGB") if image.mode == "CMYK" else image


def _target_format(source: SourceFormat, image: Image.Image) -> PictureFormat:
    if source == "avif":
        is_transparent = image.mode == "RGBA" and image.getchannel(
            "A"
        ).getextrema() != (255, 255)
        return "png" if is_transparent else "jpeg"
    return "png" if source == "gif" else source
