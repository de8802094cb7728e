"""From the bytes of an upload to the picture that an Asset stores.

Owns normalization (D17, D18) and the limits that are told from a header (D57). For any
bytes, the outcome is a NormalizedImage or an UnusableImage. Limits of time and memory
are those of the process.
"""

import contextlib
import io
import re
from collections.abc import Mapping

from msgspec import Struct
from PIL import ExifTags, Image, ImageChops, ImageCms

from image_workflow_emulator.domain.orders import MAX_UPLOAD_PIXELS, MEGAPIXEL
from image_workflow_emulator.domain.recipes import PictureFormat
from image_workflow_emulator.imaging import masks
from image_workflow_emulator.imaging.avif import MAX_AVIF_EDGE, clean_aperture
from image_workflow_emulator.imaging.codecs import (
    MAX_EDGE,
    READERS,
    SourceFormat,
    encode,
    name_of_content,
    size_of,
    sniff,
)
from image_workflow_emulator.imaging.pictures import Mask, Picture, Size, alpha_of
from image_workflow_emulator.imaging.png import alpha_of_deep_key
from image_workflow_emulator.imaging.scene import Scene, examine_scene

CONTENT_TYPES: Mapping[str, SourceFormat] = {
    f"image/{source}": source for source in READERS
}

_PIXEL_SHARES: Mapping[SourceFormat, float] = {
    "webp": 0.4,
    "avif": 0.4,
}
"""The share of the usual number of pixels, where the decoder takes more memory for
each.
"""
MAX_SCANS = 12
"""Scans of a progressive JPEG at the pixel limit; encoders make about 10.

Smaller ones may have more.
"""
MAX_FILL_BYTES = 2 << 20
"""Fill bytes of a JPEG, whose decoder reads them more than once."""

_START_OF_SCAN = b"\xff\xda"
_MAX_REASON_CHARACTERS = 120
_ADDRESS = re.compile(r" (object )?at 0x[0-9A-Fa-f]+")
"""Where in memory an object is, in the text of an exception."""
_TURNS: Mapping[int, Image.Transpose] = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
"""By EXIF orientation, what makes a picture upright."""


class UnusableImage(Exception):
    """Bytes that cannot become an Asset.

    The text is a sentence: what was found and what was expected.
    """


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
    """Return the normalized picture of an upload declared as `content_type` (D17, D18).

    Raises UnusableImage.
    """
    source = _checked_format(data, content_type)
    try:
        _check_size(size_of(data, source), source)
        image = _upright_srgb(data, source)
        target = stored_as or _target_format(source, image)
        file = encode(image, target)
        scene = examine_scene(image)
    except UnusableImage:
        raise
    except Exception as error:  # decoders raise nearly anything on hostile bytes
        raise UnusableImage(
            f"The bytes do not decode as {source.upper()}; "
            f"the file is damaged or cut off ({_reason(error)})."
        ) from error
    return NormalizedImage(
        format=target,
        width=image.width,
        height=image.height,
        data=file,
        scene=scene,
    )


def _checked_format(data: bytes, content_type: str) -> SourceFormat:
    """The format that is declared and that the bytes have. Raises UnusableImage."""
    declared = CONTENT_TYPES.get(content_type)
    if declared is None:
        expected = ", ".join(CONTENT_TYPES)
        raise UnusableImage(
            f"The content type is {content_type}; expected one of {expected}."
        )
    if sniff(data) != declared:
        content = name_of_content(data) or "no image of a known format"
        raise UnusableImage(
            f"The bytes are {content}; "
            f"expected {declared.upper()}, as declared by {content_type}."
        )
    return declared


def _reason(error: Exception) -> str:
    """The decoder's own words, in one line and without addresses of memory."""
    line = " ".join(str(error).split())
    words = _ADDRESS.sub("", line)
    if not words:
        return type(error).__name__
    if len(words) > _MAX_REASON_CHARACTERS:
        return words[:_MAX_REASON_CHARACTERS] + "..."
    return words.rstrip(".")


# Limits -------------------------------------------------------------------------------


def _check_size(size: Size, source: SourceFormat) -> None:
    width, height = size
    edge_limit = MAX_EDGE
    if source == "avif":
        edge_limit = MAX_AVIF_EDGE
    pixel_limit = MAX_UPLOAD_PIXELS * _PIXEL_SHARES.get(source, 1)
    if max(size) > edge_limit:
        expected = f"at most {edge_limit} an edge"
    elif width * height > pixel_limit:
        expected = f"at most {pixel_limit / MEGAPIXEL:g} megapixels"
    else:
        return
    raise UnusableImage(
        f"The image has {width} x {height} pixels; "
        f"expected {expected} in {source.upper()}."
    )


def _check_jpeg(data: bytes, opened: Picture) -> None:
    """Refuse a file that its decoder reads again and again. Raises UnusableImage."""
    scan_count = 1
    if "progressive" in opened.info:
        scan_count = data.count(_START_OF_SCAN)
    pixel_count = opened.width * opened.height
    if pixel_count * scan_count > MAX_UPLOAD_PIXELS * MAX_SCANS:
        raise UnusableImage(
            f"The image has {scan_count} scans; expected about ten, as encoders make."
        )
    fill_byte_count = 2 * data.count(b"\xff\xff")
    if fill_byte_count > MAX_FILL_BYTES:
        raise UnusableImage(
            f"The image has more than {MAX_FILL_BYTES} bytes that fill gaps; "
            "expected hardly any."
        )


# Pixels -------------------------------------------------------------------------------


def _upright_srgb(data: bytes, source: SourceFormat) -> Picture:
    """The first picture of a file, in mode L, RGB or RGBA."""
    image: Picture = READERS[source](data)
    if source == "jpeg":
        _check_jpeg(data, image)
    image.load()
    profile = image.info.get("icc_profile")
    turn = _turn_of(image)
    if source == "avif":
        aperture = clean_aperture(data)
        if aperture is not None:
            image = image.crop(aperture)
    deep_alpha = None
    if source == "png":
        deep_alpha = alpha_of_deep_key(image, data)
    if deep_alpha is None:
        image = _to_eight_bits(image)  # no longer what the decoder holds, which is more
    else:
        del image.info["transparency"]  # which Pillow would take for a key of 8 bits
        image = _with_alpha(_to_eight_bits(image), deep_alpha)
    image = _to_srgb(image, profile)
    if turn is None:
        return image
    return image.transpose(turn)


def _turn_of(image: Picture) -> Image.Transpose | None:
    """What makes a picture upright, by EXIF alone; broken EXIF turns nothing.

    Pillow's own function for this obeys XMP and a text of ImageMagick too. AVIF's
    reader says in EXIF what the container says.
    """
    exif = Image.Exif()
    orientation = 1
    with contextlib.suppress(Exception):  # broken metadata raises several of them
        exif.load(image.info.get("exif", b""))
        orientation = exif.get(ExifTags.Base.Orientation, 1)
    return _TURNS.get(orientation)


def _to_eight_bits(image: Picture) -> Picture:
    """The picture in L, RGB, RGBA or CMYK; transparency becomes an alpha channel."""
    if image.mode.startswith("I"):
        return image.point(lambda level: level / 256).convert("L")
    if image.has_transparency_data:
        mode = "RGBA"
    elif image.mode == "1":
        mode = "L"
    elif image.mode in ("L", "CMYK"):
        mode = image.mode
    else:
        mode = "RGB"
    if image.mode == mode:
        return image
    return image.convert(mode)


def _with_alpha(image: Picture, alpha: Mask) -> Picture:
    """A picture in L or RGB with an alpha channel, in RGBA."""
    if image.mode == "L":
        return Image.merge("RGBA", (image, image, image, alpha))
    red, green, blue = image.split()
    return Image.merge("RGBA", (red, green, blue, alpha))


def _to_srgb(image: Picture, profile: bytes | None) -> Picture:
    """The picture in sRGB.

    A profile that is broken, or of another colour space, is ignored.
    """
    if profile:
        with contextlib.suppress(Exception):  # broken profiles raise several of them
            color_profile = ImageCms.ImageCmsProfile(io.BytesIO(profile))
            image = _converted(image, color_profile)
    if image.mode == "CMYK":
        return image.convert("RGB")
    return image


def _converted(image: Picture, profile: ImageCms.ImageCmsProfile) -> Picture:
    """The picture in sRGB. Raises PyCMSError for a profile of another colour space."""
    srgb = ImageCms.createProfile("sRGB")
    if profile.profile.xcolor_space.strip() == "GRAY":
        return _converted_grey(image, profile)
    if image.mode in ("RGB", "RGBA"):
        ImageCms.profileToProfile(image, profile, srgb, inPlace=True)
        return image
    result = ImageCms.profileToProfile(image, profile, srgb, outputMode="RGB")
    return result or image


def _converted_grey(image: Picture, profile: ImageCms.ImageCmsProfile) -> Picture:
    """A picture that is grey throughout, in sRGB; its transparency stays."""
    grey = image.getchannel(0)
    color_channel_count = min(3, len(image.getbands()))
    for number in range(1, color_channel_count):
        difference = ImageChops.difference(grey, image.getchannel(number))
        if difference.getbbox():
            return image
    result = ImageCms.profileToProfile(
        grey,
        profile,
        ImageCms.createProfile("sRGB"),
        outputMode="RGB",
    )
    if result is None:
        return image
    if image.mode == "RGBA":
        result.putalpha(image.getchannel("A"))
    return result


def _target_format(source: SourceFormat, image: Picture) -> PictureFormat:
    if source == "gif":
        return "png"
    if source != "avif":
        return source
    alpha = alpha_of(image)
    if alpha is None or masks.is_everywhere(alpha):
        return "jpeg"
    return "png"
