"""Opening encoded pictures without Pillow's global settings.

`Image.open` compares every picture with a process-wide pixel limit and warns; opening by format does not. Owns which
reader serves which format, and the one import of the AVIF plug-in.
"""

import io
from typing import Literal

from PIL import GifImagePlugin, Image, ImageFile, JpegImagePlugin, PngImagePlugin, WebPImagePlugin

SourceFormat = Literal["jpeg", "png", "gif", "webp", "avif"]


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


def open_as(data: bytes, source: SourceFormat) -> ImageFile.ImageFile:
    """The picture with its header read and its pixels still to decode. Decoders raise nearly anything."""
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


def load(data: bytes, enough: int | None = None) -> Image.Image:
    """A picture that this room made, in RGB or RGBA. Raises ValueError.

    With `enough`, a picture whose longest edge is twice as many pixels or more is reduced, quickly, to no less.
    """
    source = sniff(data)
    if source is None:
        raise ValueError("an input picture is of no known format")
    image: Image.Image = open_as(data, source)
    if enough is not None:
        image.draft("RGB", (enough * image.width // max(image.size), enough * image.height // max(image.size)))
        factor = max(image.size) // enough
        image = image.reduce(factor) if factor > 1 else image
    mode = "RGBA" if image.has_transparency_data else "RGB"
    image.load()
    return image if image.mode == mode else image.convert(mode)
