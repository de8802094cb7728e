"""From pixels to the bytes of a JPEG, PNG or WebP file, without blocking other threads.

Owns how files are written. Pictures come as horizontal bands, painted one at a time, so that neither the memory nor the
time in which Pillow holds the interpreter lock grows with the picture (WebP, which has no bands, aside). Must not know
what is in the picture. No metadata is ever written.
"""

import io
import struct
import zlib
from collections.abc import Callable, Iterator

from msgspec import Struct
from PIL import Image, ImageChops

from emulator.domain.recipes import PictureFormat

JPEG_QUALITY = 90
WEBP_QUALITY = 85

_BAND_PIXELS = 1 << 18
_BAND_STEP = 16  # rows of a JPEG unit; every band but the last holds whole ones
_MOST_BAND_ROWS = 512
_SEGMENT = struct.Struct(">HH")  # marker and length of a JPEG segment
_FILTER_SUB = b"\x01"
_FILTER_UP = b"\x02"


class Picture(Struct, frozen=True):
    """A picture that is painted on demand: `band(top, bottom)` gives these rows as an image of `mode` RGB, RGBA or L."""

    width: int
    height: int
    mode: str
    band: Callable[[int, int], Image.Image]

    @property
    def band_rows(self) -> int:
        """Rows of a band: about a mebibyte of pixels."""
        rows = min(_MOST_BAND_ROWS, _BAND_PIXELS // self.width)
        return max(_BAND_STEP, rows // _BAND_STEP * _BAND_STEP)

    def bands(self) -> Iterator[Image.Image]:
        """The whole picture in bands of equal height (the last may be less), from the top."""
        for top in range(0, self.height, self.band_rows):
            yield self.band(top, min(top + self.band_rows, self.height))

    def flattened(self) -> "Picture":
        """The picture, which is of mode RGB or RGBA, in RGB, white where it is transparent."""
        if self.mode == "RGB":
            return self

        def band(top: int, bottom: int) -> Image.Image:
            painted = self.band(top, bottom)
            ground = Image.new("RGB", painted.size, "white")
            ground.paste(painted, mask=painted)
            return ground

        return Picture(self.width, self.height, "RGB", band)


def picture_of(image: Image.Image) -> Picture:
    """A picture that is already there as a whole."""
    return Picture(image.width, image.height, image.mode, lambda top, bottom: image.crop((0, top, image.width, bottom)))


def encode(picture: Picture, target: PictureFormat) -> bytes:
    """The picture's file. JPEG has no transparency: flattened on white."""
    if target == "png":
        return _encode_png(picture)
    if target == "jpeg":
        return _encode_jpeg(picture if picture.mode == "L" else picture.flattened())
    return _encode_webp(picture)


# ------------------------------------------------------------------------------------------------------------------ PNG


def _encode_png(picture: Picture) -> bytes:
    """Fast rather than small: differences along the row, runs only. zlib lets other threads work meanwhile."""
    color_type = {"L": 0, "RGB": 2, "RGBA": 6}[picture.mode]
    header = struct.pack(">IIBBBBB", picture.width, picture.height, 8, color_type, 0, 0, 0)
    deflate = zlib.compressobj(1, zlib.DEFLATED, zlib.MAX_WBITS, zlib.DEF_MEM_LEVEL, zlib.Z_RLE)
    pieces: list[bytes] = []
    above = b""
    for band in picture.bands():
        filtered, above = _filter_rows(band, above)
        pieces.append(deflate.compress(filtered))
    pieces.append(deflate.flush())
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", header) + _chunk(b"IDAT", b"".join(pieces)) + _chunk(b"IEND", b"")


def _chunk(kind: bytes, body: bytes) -> bytes:
    return b"".join((struct.pack(">I", len(body)), kind, body, struct.pack(">I", zlib.crc32(body, zlib.crc32(kind)))))


def _filter_rows(band: Image.Image, above: bytes) -> tuple[bytes, bytes]:
    """The band's rows as PNG stores them, and its last row. A row like the one above it becomes zeros."""
    raw = band.tobytes()
    length = len(raw) // band.height
    unchanged = _FILTER_UP + bytes(length)
    rows: list[bytes] = []
    differences = b""
    for start in range(0, len(raw), length):
        row = raw[start : start + length]
        if row == above:
            rows.append(unchanged)
        else:
            differences = differences or _differences(band)
            rows.append(_FILTER_SUB)
            rows.append(differences[start : start + length])
        above = row
    return b"".join(rows), above


def _differences(band: Image.Image) -> bytes:
    """Every pixel less its left neighbour."""
    shifted = Image.new(band.mode, band.size, 0)
    shifted.paste(band, (1, 0))
    return ImageChops.subtract_modulo(band, shifted).tobytes()


# ----------------------------------------------------------------------------------------------------------------- JPEG


def _encode_jpeg(picture: Picture) -> bytes:
    """Bands encoded one by one and joined by restart markers, since Pillow's encoder lets no other thread work."""
    head = b""
    scans: list[bytes] = []
    for band in picture.bands():
        buffer = io.BytesIO()
        band.save(buffer, "JPEG", quality=JPEG_QUALITY)
        data = buffer.getvalue()
        scan = _scan_start(data)
        head = head or data[:scan]
        scans.append(data[scan:-2])  # without its end marker
    pieces = [_jpeg_head(head, picture)]
    for number, entropy in enumerate(scans):
        if number:
            pieces.append(bytes((0xFF, 0xD0 + (number - 1) % 8)))
        pieces.append(entropy)
    pieces.append(b"\xff\xd9")
    return b"".join(pieces)


def _scan_start(data: bytes) -> int:
    """Where the entropy-coded data of a baseline file begins."""
    position = 2
    while True:
        marker, length = _SEGMENT.unpack_from(data, position)
        position += 2 + int(length)
        if marker == 0xFFDA:
            return position


def _jpeg_head(head: bytes, picture: Picture) -> bytes:
    """The first band's head, made to announce the whole picture and a restart after every band."""
    pieces = [head[:2]]
    position = 2
    while position < len(head):
        marker, length = _SEGMENT.unpack_from(head, position)
        segment = head[position : position + 2 + length]
        if marker == 0xFFC0:
            sampling = segment[11] if picture.mode != "L" else 0x11
            unit_width, unit_height = 8 * (sampling >> 4), 8 * (sampling & 15)
            segment = segment[:5] + struct.pack(">HH", picture.height, picture.width) + segment[9:]
        if marker == 0xFFDA:
            units = -(-picture.width // unit_width) * (picture.band_rows // unit_height)
            pieces.append(struct.pack(">HHH", 0xFFDD, 4, units))
        pieces.append(segment)
        position += 2 + length
    return b"".join(pieces)


# ----------------------------------------------------------------------------------------------------------------- WebP


def _encode_webp(picture: Picture) -> bytes:
    whole = Image.new("RGB" if picture.mode == "L" else picture.mode, (picture.width, picture.height))
    top = 0
    for band in picture.bands():
        whole.paste(band, (0, top))
        top += band.height
    buffer = io.BytesIO()
    whole.save(buffer, "WEBP", quality=WEBP_QUALITY, method=0, alpha_quality=90)
    return buffer.getvalue()
