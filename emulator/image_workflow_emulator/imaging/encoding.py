"""From an image to the bytes of a JPEG, PNG or WebP file.

Owns how files are written: fast rather than small, and without metadata but an order. Pillow compresses by libraries of its own, so
the bytes depend on its build, and not on the interpreter's zlib.
"""

import io
from collections.abc import Mapping
from typing import Any
from xml.sax.saxutils import quoteattr

from PIL import Image, PngImagePlugin

from image_workflow_emulator.domain.recipes import PictureFormat
from image_workflow_emulator.imaging.drawing import opaque

_MAX_FACT_CHARACTERS = 600  # characters
_XMP = (
    '<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/">'
    '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about=""'
    ' xmlns:order="urn:image-workflow-emulator:order"{}/></rdf:RDF></x:xmpmeta><?xpacket end="r"?>'
)
_OPTIONS: Mapping[PictureFormat, Mapping[str, Any]] = {
    "png": {"compress_level": 1, "compress_type": 3},  # runs alone: faster, and smaller for what is drawn
    "jpeg": {"quality": 90},
    "webp": {"quality": 85, "alpha_quality": 90, "method": 0},
}


def encode(image: Image.Image, target: PictureFormat, order: Mapping[str, object] | None = None) -> bytes:
    """The file of an image in L, RGB or RGBA. JPEG has no transparency: flattened on white.

    The metadata says what was ordered, by the names of its facts: in XMP, and in PNG in a text for each as well.
    """
    if target == "jpeg" and image.mode == "RGBA":
        image = opaque(image)
    image.info = {}  # Pillow would write a part of the metadata that it read
    options = dict(_OPTIONS[target])
    if order:
        facts = {name: _printable(value) for name, value in order.items() if value not in (None, "", (), False)}
        attributes = "".join(f" order:{name}={quoteattr(value)}" for name, value in facts.items())
        packet = _XMP.format(attributes)
        if target == "png":
            options["pnginfo"] = info = PngImagePlugin.PngInfo()
            for name, value in (*facts.items(), ("XML:com.adobe.xmp", packet)):
                info.add_itxt(name, value)
        else:
            options["xmp"] = packet.encode()
    buffer = io.BytesIO()
    image.save(buffer, target, **options)
    return buffer.getvalue()


def _printable(value: object) -> str:
    text = ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
    return "".join(filter(str.isprintable, text[:_MAX_FACT_CHARACTERS]))
