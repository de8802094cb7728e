"""The container of AVIF: what its decoder leaves to the program that calls it.

The decoder ignores the clean aperture (clap), refuses a picture whose size the
container does not announce (ispe), and keeps to itself the size of one that is too
large. Boxes are those of ISO/IEC 14496-12 and 23008-12. Functions return None or their
input for what they cannot read: the decoder says why.
"""

import contextlib
import io
import struct
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from msgspec import Struct
from PIL import ImageFile

from image_workflow_emulator.imaging.av1 import PixelSize, size_of_bitstream
from image_workflow_emulator.imaging.bits import BitReader

try:
    from pillow_avif import AvifImagePlugin
except ImportError:  # no wheel for this platform: Pillow's own reader serves
    from PIL import AvifImagePlugin

# One for each core would take address space of its own.
AvifImagePlugin.DEFAULT_MAX_THREADS = 2

MAX_AVIF_EDGE = 32_768
"""Pixels; the limit of the decoder (D57)."""
MAX_AVIF_PIXELS = 16_384 * 16_384
"""Likewise."""

_MAX_BOXES = 1_000
"""Limit of the boxes in one box; pictures have a few dozen."""
_HEAD_BYTES = 8
_FULL_BOX_BYTES = 4
"""Version and flags, with which some boxes begin."""


class _Box(NamedTuple):
    """A box by its places in a file; `body` is where its content begins."""

    data: bytes
    kind: bytes
    start: int
    body: int
    end: int

    @property
    def content(self) -> bytes:
        return self.data[self.body : self.end]

    @property
    def content_with_head(self) -> bytes:
        return self.data[self.start : self.end]

    def reader(self) -> BitReader:
        """A reader of the content; it does not stop where that ends."""
        return BitReader(self.data, self.body)

    def children(self, skipped: int = 0) -> Iterator["_Box"]:
        """The boxes in this one, after some bytes that belong to itself."""
        start = self.body + skipped
        for _ in range(_MAX_BOXES):
            body = start + _HEAD_BYTES
            if body > self.end:
                return
            length, kind = struct.unpack_from(">I4s", self.data, start)
            if length == 1:
                (length,) = struct.unpack_from(">Q", self.data, body)
                body += 8
            if length == 0:
                length = self.end - start
            end = start + length
            if end > self.end or body > end:
                return
            yield _Box(
                data=self.data,
                kind=kind,
                start=start,
                body=body,
                end=end,
            )
            start = end

    def child(self, kind: bytes) -> "_Box":
        """The first box of a kind in this one. Raises StopIteration if there is
        none.
        """
        return next(box for box in self.children() if box.kind == kind)


def _whole_file(data: bytes) -> _Box:
    """A file as a box without a head."""
    return _Box(
        data=data,
        kind=b"",
        start=0,
        body=0,
        end=len(data),
    )


class _Association(NamedTuple):
    """A property of a picture, by its number from 1; a reader must know an essential
    one.
    """

    is_essential: int
    number: int

    def packed(self) -> bytes:
        """The entry in a box `ipma` of version 1."""
        return struct.pack(">H", self.is_essential << 15 | self.number)


class _Item(Struct):
    """A picture of the container."""

    id: int
    associations: list[_Association]


class _Container(Struct):
    """The boxes that describe the pictures of a file."""

    meta: _Box
    children: Mapping[bytes, _Box]
    properties: Sequence[_Box]
    items: Sequence[_Item]

    def property_of(self, item: _Item, kind: bytes) -> _Box | None:
        for association in item.associations:
            if not 0 < association.number <= len(self.properties):
                continue
            box = self.properties[association.number - 1]
            if box.kind == kind:
                return box
        return None

    def primary_item(self) -> _Item:
        """Raises KeyError or StopIteration if there is none."""
        reader = self.children[b"pitm"].reader()
        version = reader.read(32) >> 24
        bit_count = 16
        if version > 0:
            bit_count = 32
        identifier = reader.read(bit_count)
        return next(item for item in self.items if item.id == identifier)


def open_avif(data: bytes) -> ImageFile.ImageFile:
    """The picture with its header read. Raises nearly anything for a broken one."""
    image: ImageFile.ImageFile = AvifImagePlugin.AvifImageFile(
        io.BytesIO(_with_announced_size(data))
    )
    return image


class Aperture(NamedTuple):
    """The part of a picture that is seen, in pixels from its upper left corner."""

    left: int
    top: int
    right: int
    bottom: int


def announced_size(data: bytes) -> PixelSize | None:
    """The size of the largest picture that the container announces."""
    sizes: list[PixelSize] = []
    with contextlib.suppress(Exception):
        container = _read_container(data)
        extents = [box for box in container.properties if box.kind == b"ispe"]
        sizes = [_size_in(box) for box in extents]
    return max(sizes, key=lambda size: size.area, default=None)


def _size_in(extents: _Box) -> PixelSize:
    """The size in a box `ispe`."""
    reader = extents.reader()
    reader.read(8 * _FULL_BOX_BYTES)
    width = reader.read(32)
    height = reader.read(32)
    return PixelSize(width, height)


def clean_aperture(data: bytes) -> Aperture | None:
    """The part of the decoded picture that is meant to be seen.

    It is applied before the picture is turned. One that has fractions of pixels, or is
    not within the picture, counts for nothing.
    """
    with contextlib.suppress(Exception):
        container = _read_container(data)
        item = container.primary_item()
        aperture = container.property_of(item, b"clap")
        extents = container.property_of(item, b"ispe")
        if aperture is not None and extents is not None:
            return _read_aperture(aperture.reader(), _size_in(extents))
    return None


def _read_aperture(reader: BitReader, size: PixelSize) -> Aperture | None:
    width = _read_fraction(reader)
    height = _read_fraction(reader)
    from_center = _read_fraction(reader)
    from_middle = _read_fraction(reader)
    left = from_center + (size.width - width) / 2
    top = from_middle + (size.height - height) / 2
    right = left + width
    bottom = top + height
    edges = (left, top, right, bottom)
    if any(edge.denominator != 1 for edge in edges):
        return None
    aperture = Aperture(*map(int, edges))
    if aperture.left < 0 or aperture.top < 0:
        return None
    if aperture.right > size.width or aperture.bottom > size.height:
        return None
    if width < 1 or height < 1:
        return None
    return aperture


def _read_fraction(reader: BitReader) -> Fraction:
    numerator = reader.read_signed(32)
    denominator = reader.read_signed(32)
    return Fraction(numerator, denominator)


def _with_announced_size(data: bytes) -> bytes:
    """The file with the size from the bitstream, if its container announces none for
    its pictures.

    The box `meta` is written again at the end, so that all places that it names stay
    right.
    """
    try:
        container = _read_container(data)
        primary = container.primary_item()
        if container.property_of(primary, b"ispe") is not None:
            return data
        start = _place_of(container, primary)
        size = size_of_bitstream(BitReader(data, start))
        meta = _meta_with_size(container, size)
    except Exception:  # a container that cannot be read
        return data
    name = container.meta.start + 4
    after_name = name + 4
    return data[:name] + b"free" + data[after_name:] + meta


def _meta_with_size(container: _Container, size: PixelSize) -> bytes:
    version_and_flags = container.meta.content[:_FULL_BOX_BYTES]
    pieces = [version_and_flags]
    for box in container.children.values():
        if box.kind == b"iprp":
            pieces.append(_lists_with_size(container, box, size))
        else:
            pieces.append(box.content_with_head)
    return _boxed(b"meta", b"".join(pieces))


def _lists_with_size(
    container: _Container,
    lists: _Box,
    size: PixelSize,
) -> bytes:
    """The box `iprp` with a size, which becomes the last of the properties."""
    old_properties = lists.child(b"ipco").content
    extents = _boxed(b"ispe", struct.pack(">III", 0, *size))
    properties = _boxed(b"ipco", old_properties + extents)
    size_number = len(container.properties) + 1
    associations = _associations_with(container, size_number)
    return _boxed(b"iprp", properties + associations)


def _associations_with(container: _Container, new_number: int) -> bytes:
    """The box `ipma` with one more property for each picture, which comes first.

    Version 1 has numbers of pictures in 32 bits, flag 1 those of properties in 15.
    """
    head = struct.pack(">BBH", 1, 0, 1)
    count = struct.pack(">I", len(container.items))
    pieces = [head, count]
    added = _Association(is_essential=0, number=new_number)
    for item in container.items:
        associations = [added, *item.associations]
        pieces.append(struct.pack(">IB", item.id, len(associations)))
        pieces += [association.packed() for association in associations]
    return _boxed(b"ipma", b"".join(pieces))


def _boxed(kind: bytes, content: bytes) -> bytes:
    length = _HEAD_BYTES + len(content)
    return struct.pack(">I4s", length, kind) + content


# Reading ------------------------------------------------------------------------------


def _read_container(data: bytes) -> _Container:
    """Raises nearly any exception for a broken file."""
    meta = _whole_file(data).child(b"meta")
    children = {box.kind: box for box in meta.children(_FULL_BOX_BYTES)}
    lists = children[b"iprp"]
    properties = lists.child(b"ipco")
    associations = lists.child(b"ipma")
    return _Container(
        meta=meta,
        children=children,
        properties=list(properties.children()),
        items=_read_items(associations),
    )


def _read_items(associations: _Box) -> list[_Item]:
    reader = associations.reader()
    version = reader.read(8)
    flags = reader.read(24)
    identifier_bits = 16 if version == 0 else 32
    number_bits = 15 if flags & 1 else 7
    item_count = min(reader.read(32), _MAX_BOXES)
    items = []
    for _ in range(item_count):
        identifier = reader.read(identifier_bits)
        item = _Item(identifier, associations=[])
        association_count = reader.read(8)
        for _ in range(association_count):
            is_essential = reader.read(1)
            number = reader.read(number_bits)
            item.associations.append(_Association(is_essential, number))
        items.append(item)
    return items


# Places -------------------------------------------------------------------------------


class _Location(NamedTuple):
    """Where the bytes of a picture are: an entry of the box `iloc`."""

    identifier: int
    method: int
    """0 counts from the beginning of the file."""
    base: int
    offsets: Sequence[int]


class _LocationWidths(Struct, frozen=True):
    """How many bits the numbers of an entry have."""

    identifier: int
    offset: int
    length: int
    base: int
    index: int


def _place_of(container: _Container, item: _Item) -> int:
    """Where the bitstream of a picture begins.

    Raises ValueError if the box `iloc` does not say.
    """
    for location in _locations(container.children[b"iloc"]):
        if location.identifier != item.id:
            continue
        if location.method == 0 and location.offsets:
            return location.base + location.offsets[0]
    raise ValueError("the picture has no place")


def _locations(box: _Box) -> Iterator[_Location]:
    reader = box.reader()
    version = reader.read(32) >> 24
    widths = _LocationWidths(
        identifier=16 if version < 2 else 32,
        offset=8 * reader.read(4),
        length=8 * reader.read(4),
        base=8 * reader.read(4),
        index=8 * reader.read(4),
    )
    location_count = reader.read(widths.identifier)
    for _ in range(location_count):
        yield _read_location(reader, version, widths)


def _read_location(
    reader: BitReader,
    version: int,
    widths: _LocationWidths,
) -> _Location:
    identifier = reader.read(widths.identifier)
    method = 0
    if version > 0:
        method = reader.read(16)
    reader.read(16)  # data_reference_index
    base = reader.read(widths.base)
    extent_count = reader.read(16)
    offsets = []
    for _ in range(extent_count):
        if version > 0:
            reader.read(widths.index)
        offsets.append(reader.read(widths.offset))
        reader.read(widths.length)
    return _Location(
        identifier=identifier,
        method=method,
        base=base,
        offsets=offsets,
    )
