"""From an image to the bytes of a JPEG, PNG or WebP file.

Owns how files are written: fast rather than small, and without metadata. Pillow compresses by libraries of its own, so the
bytes depend on its build, and not on the interpreter's zlib.
"""

import io
from collections.abc import Mapping
from typing import Any

from PIL import Image

from image_workflow_emulator.domain.recipes import PictureFormat
from image_workflow_emulator.imaging.drawing import opaque

_OPTIONS: Mapping[PictureFormat, Mapping[str, Any]] = {
    "png": {"compress_level": 1, "compress_type": 3},  # runs alone: faster, and smaller for what is drawn
    "jpeg": {"quality": 90},
    "webp": {"quality": 85, "alpha_quality": 90, "method": 0},
}


def encode(image: Image.Image, target: PictureFormat) -> bytes:
    """The file of an image in L, RGB or RGBA. JPEG has no transparency: flattened on white."""
    if target == "jpeg" and image.mode == "RGBA":
        image = opaque(image)
    image.info = {}  # Pillow would write a part of the metadata that it read
    buffer = io.BytesIO()
    image.save(buffer, target, **_OPTIONS[target])
    return buffer.getvalue()
