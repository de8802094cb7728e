"""The surface of public picture files (section 1, rule 7; D19): found from the link alone,
with ETag and ranges.
"""

import re
from hmac import compare_digest
from typing import Final, NamedTuple
from urllib.parse import parse_qsl

from image_workflow_emulator.domain.problems import BYTE_CODES, Check, Problem
from image_workflow_emulator.domain.recipes import PictureFormat
from image_workflow_emulator.http.answers import NOSNIFF, Answer, Header
from image_workflow_emulator.http.heads import Head
from image_workflow_emulator.http.surfaces import FILES_PREFIX
from image_workflow_emulator.kernel.wording import excerpt
from image_workflow_emulator.service.sandbox.sandbox import Sandbox
from image_workflow_emulator.service.sandbox.sandboxes import Sandboxes
from image_workflow_emulator.web.exchange import (
    Destination,
    Exchange,
    Route,
    Step,
    allowing,
)
from image_workflow_emulator.web.links import EXTENSIONS

_RANGE: Final = re.compile(r"bytes=(\d{0,18})-(\d{0,18})", re.ASCII | re.IGNORECASE)
_MEDIA_TYPES: Final = {
    "jpg": b"image/jpeg",
    "png": b"image/png",
    "webp": b"image/webp",
}
"""The media types of files, by the end of their names."""
TARGET_LIFETIME_MS: Final = 60_000
"""How long the address lives that a redirect gives (D19)."""


class _FileName(NamedTuple):
    """What the name of a file says."""

    key: str
    """The image store's key of the picture."""
    secret: str
    extension: str


def _parse_name(name: str) -> _FileName:
    stem, _, extension = name.rpartition(".")
    key, _, secret = stem.rpartition("-")
    return _FileName(key, secret, extension)


def _key_of(name: str) -> str:
    """Return the image store's key in the name of a file."""
    return _parse_name(name).key


def find(sandboxes: Sandboxes, head: Head) -> Destination:
    """Find the sandbox and the name of the file by the link."""
    path = head.path.removeprefix(FILES_PREFIX)
    sandbox_id, _, name = path.partition("/")
    sandbox = sandboxes.by_id.get(sandbox_id)
    return Destination(sandbox, None, _DOWNLOAD, name)


# Checks -------------------------------------------------------------------------------


def _check_link(exchange: Exchange) -> None:
    """404: the link was handed out, and its picture is alive."""
    sandbox = exchange.home
    name = exchange.resource_id
    if sandbox is None:
        raise _no_such_file(name)
    file_name = _parse_name(name)
    picture = sandbox.images.public(file_name.key)
    if picture is None or not _is_same(file_name.secret, picture.secret):
        raise _no_such_file(name)
    picture_format = _format_of(sandbox, file_name.key)
    if file_name.extension != EXTENSIONS[picture_format]:
        raise _no_such_file(name)


def _is_same(secret: str, own_secret: str) -> bool:
    """Compare secrets, in a time that tells nothing about them."""
    return compare_digest(secret.encode(), own_secret.encode())


def _format_of(sandbox: Sandbox, key: str) -> PictureFormat:
    asset = sandbox.store.assets.items.get(key)
    if asset is None:
        return "png"  # a picture of an ingredient
    return asset.format


def _check_target(exchange: Exchange) -> None:
    """404: the address that a redirect gave is alive."""
    is_plain = exchange.sandbox.readings.file_delivery == "plain"
    query_string = exchange.head.query_string
    if is_plain or not query_string:
        return
    query = dict(parse_qsl(query_string.decode("latin-1")))
    name = exchange.resource_id
    until = query.get("until", "")
    signature = query.get("signature", "")
    signer = exchange.sandbox.signer
    is_signed = until.isdecimal() and signer.verify(signature, "target", name, until)
    if not is_signed or exchange.now >= int(until):
        raise _no_such_file(name)


def _no_such_file(name: str) -> Problem:
    return Problem(
        "not_found",
        f"{excerpt(name)}: there is no such file; its Asset may be deleted",
        remedy="use the url that a live Asset shows, unchanged",
    )


# Answers ------------------------------------------------------------------------------


async def _render(exchange: Exchange, key: object) -> Answer:
    """Answer with the file, a part of it, or that the client's copy is still good."""
    assert isinstance(key, str)
    head = exchange.head
    is_redirected = exchange.sandbox.readings.file_delivery == "redirects"
    if is_redirected and not head.query_string:
        return _redirect(exchange)
    signature = exchange.sandbox.signer.sign("etag", key)
    etag = b'"%b"' % signature.encode()
    headers: tuple[Header, ...] = (
        (b"request-id", exchange.request_id.encode()),
        (b"etag", etag),
        (b"accept-ranges", b"bytes"),
    )
    if _has_copy(head, etag):
        return Answer(304, headers, b"")
    images = exchange.sandbox.images
    data = images.pictures[key].data
    if data is None:
        data = await exchange.pictures.data(images, key)
    extension = _parse_name(exchange.resource_id).extension
    media_type = (b"content-type", _MEDIA_TYPES[extension])
    return _file_answer(head, data, etag, (media_type, NOSNIFF, *headers))


def _file_answer(
    head: Head,
    data: bytes,
    etag: bytes,
    headers: tuple[Header, ...],
) -> Answer:
    """Answer with the file, or the part of it that was asked for."""
    size = len(data)
    part = _find_part(head, size, etag)
    if part is None:
        length = (b"content-length", b"%d" % size)
        return Answer(200, (*headers, length), data)
    last = part.stop - 1
    place = (b"content-range", b"bytes %d-%d/%d" % (part.start, last, size))
    length = (b"content-length", b"%d" % len(part))
    content = data[part.start : part.stop]
    return Answer(206, (*headers, place, length), content)


def _redirect(exchange: Exchange) -> Answer:
    """Answer with an address of the file that lives for a short while (D19)."""
    name = exchange.resource_id
    until = exchange.now + TARGET_LIFETIME_MS
    signature = exchange.sandbox.signer.sign("target", name, until)
    address = exchange.head.origin + exchange.head.path
    target = f"{address}?until={until}&signature={signature}"
    headers = (
        (b"location", target.encode()),
        (b"content-length", b"0"),
        (b"request-id", exchange.request_id.encode()),
    )
    return Answer(302, headers, b"")


def _has_copy(head: Head, etag: bytes) -> bool:
    """Return whether the client has the file already (If-None-Match)."""
    header = head.headers.get(b"if-none-match", b"")
    tags = [tag.strip().removeprefix(b"W/") for tag in header.split(b",")]
    return etag in tags or tags == [b"*"]


def _find_part(
    head: Head,
    size: int,
    etag: bytes,
) -> range | None:
    """Return the one range that was asked for; None for the whole file: a server may
    ignore a range.

    Raises:
        Problem: status 416, the range lies outside the file.
    """
    header = head.headers.get(b"range", b"").decode("latin-1")
    match = _RANGE.fullmatch(header.replace(" ", ""))
    required_etag = head.headers.get(b"if-range", etag).strip()
    if match is None or required_etag != etag:
        return None
    first, last = match.groups()
    part = _range_of(first, last, size)
    if part is not None and not part:
        raise Problem(
            "invalid_request",
            f"Range: found {excerpt(header)}; expected a part of {size} bytes",
            status=416,
            headers=(("Content-Range", f"bytes */{size}"),),
            remedy=f"ask for a range that begins before byte {size}",
        )
    return part


def _range_of(
    first: str,
    last: str,
    size: int,
) -> range | None:
    """Return a range from its two numbers, of which one may be missing; None for a range
    that means nothing.
    """
    if not first and not last:
        return None
    if not first:  # the last bytes
        begin = max(size - int(last), 0)
        return range(begin, size)
    begin = int(first)
    if not last:
        return range(begin, size)
    if int(last) < begin:
        return None
    end = min(int(last) + 1, size)
    return range(begin, end)


_DOWNLOAD: Final = Route(
    byte_surface="download",
    codes=BYTE_CODES,
    entrance=(
        Step(Check.RESOURCE, _check_link),
        Step(Check.RESOURCE, _check_target),
        allowing("GET", "HEAD"),
    ),
    after_admission=(Step(Check.RESOURCE, _check_link),),
    commit=lambda exchange, _: _key_of(exchange.resource_id),
    render=_render,
    resource_of=_key_of,
)
