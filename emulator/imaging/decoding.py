"""Opening encoded pictures without Pillow's global settings.

`Image.open` compares every picture with a process-wide pixel limit and warns; opening by format does not. Owns which
reader serves which format, and which AVIF plug-in is used.
"""

import io
from types import ModuleType
from typing import Literal

from PIL import GifImagePlugin, Image, ImageFile, JpegImagePlugin, PngImagePlugin, WebPImagePlugin

SourceFormat = Literal["jpeg", "png", "gif", "webp", "avif"]

_AVIF_THREADS = 2
_STAND_IN_COLOR = "#808080"


def sniff(data: bytes) -> SourceFormat | None:
    """The image format that the first bytes indicate, if it is one of the accepted five."""
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
    """The picture with its header read and its pixels still to decode. Decoders raise nearly any exception."""
    file = io.BytesIO(data)
    if source == "jpeg":
        return JpegImagePlugin.JpegImageFile(file)
    if source == "png":
        return PngImagePlugin.PngImageFile(file)
    if source == "gif":
        return GifImagePlugin.GifImageFile(file)
    if source == "webp":
        return WebPImagePlugin.WebPImageFile(file)
    opened: ImageFile.ImageFile = _avif_plugin().AvifImageFile(file)
    return opened


def _avif_plugin() -> ModuleType:
    try:
        from pillow_avif import AvifImagePlugin
    except ImportError:  # no wheel for this platform: Pillow's own reader serves
        from PIL import AvifImagePlugin
    return AvifImagePlugin  # type: ignore[no-any-return]


def limit_decoders() -> None:
    """Let no decoder start a thread for each of the machine's cores: each of them reserves address space of its own."""
    _avif_plugin().DEFAULT_MAX_THREADS = _AVIF_THREADS  # type: ignore[attr-defined]


def size_of(data: bytes) -> tuple[int, int]:
    """Width and height of a picture that this room made, from its header alone. Raises ValueError."""
    with _opened(data) as opened:
        return opened.size


def _opened(data: bytes) -> ImageFile.ImageFile:
    source = sniff(data)
    if source is None:
        raise ValueError("an input picture is of no known format")
    return open_as(data, source)


def load(data: bytes, enough: int | None = None) -> Image.Image:
    """A picture that this room made, in RGB or RGBA. Raises ValueError.

    With `enough`, a picture whose longest edge is twice as many pixels or more is reduced, quickly, to no less.
    A state file may bring bytes that no decoder takes: then a grey field stands where the picture would.
    """
    opened = _opened(data)
    try:
        return _decoded(opened, enough)
    except (OSError, SyntaxError, ValueError, EOFError):
        return Image.new("RGB", opened.size, _STAND_IN_COLOR)


def _decoded(image: Image.Image, enough: int | None) -> Image.Image:
    if enough is not None:
        width, height = (max(enough * edge // max(image.size), 1) for edge in image.size)
        image.draft("RGB", (width, height))
        factor = max(image.size) // enough
        image = image.reduce(factor) if factor > 1 else image
    mode = "RGBA" if image.has_transparency_data else "RGB"
    image.load()
    return image if image.mode == mode else image.convert(mode)
