"""The EXIF orientation of a picture.

Owns reading that one number, which is all of the metadata that matters (D18). Pillow reads all of it, and writes
warnings about broken metadata to the server's standard error.
"""

import struct

UPRIGHT = 1

_PREFIX = b"Exif\0\0"
_BYTE_ORDERS = {b"II*\0": "<", b"MM\0*": ">"}
_ENTRY_BYTES = 12
_ORIENTATION_TAG = 0x0112
_LAYOUTS = {3: "H", 4: "I"}
"""Of the value of an entry, by its type: SHORT, and LONG, which some writers take for it."""


def orientation_of(exif: bytes) -> int:
    """The orientation in the first directory of a block of EXIF; upright where there is none or the block is broken."""
    exif = exif.removeprefix(_PREFIX)
    order = _BYTE_ORDERS.get(exif[:4])
    if order is None:
        return UPRIGHT
    try:
        (start,) = struct.unpack_from(f"{order}I", exif, 4)
        (count,) = struct.unpack_from(f"{order}H", exif, start)
        for position in range(start + 2, start + 2 + count * _ENTRY_BYTES, _ENTRY_BYTES):
            tag, kind = struct.unpack_from(f"{order}HH", exif, position)
            if tag == _ORIENTATION_TAG and kind in _LAYOUTS:
                (orientation,) = struct.unpack_from(f"{order}{_LAYOUTS[kind]}", exif, position + 8)
                return int(orientation)
    except struct.error:  # it points beyond its end
        return UPRIGHT
    return UPRIGHT
