"""The format and size of a picture from its header alone, without decoding it."""

import io


def read_header(data: bytes) -> tuple[str, int, int] | None:
    """Return the format, in lower case, and the width and height in pixels; None if the bytes are no picture."""
    from PIL import Image

    try:
        with Image.open(io.BytesIO(data)) as image:
            return str(image.format).lower(), image.width, image.height
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError):
        return None
