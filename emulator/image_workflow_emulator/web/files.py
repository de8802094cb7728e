"""The surface of public picture files (section 1, rule 7; D19): found from the link alone, with ETag and ranges."""

import re
from hmac import compare_digest
from urllib.parse import parse_qsl

from image_workflow_emulator.domain.problems import BYTE_CODES, Check, Problem
from image_workflow_emulator.http.answers import NOSNIFF, Answer, Header
from image_workflow_emulator.http.heads import Head
from image_workflow_emulator.http.surfaces import FILES_PREFIX
from image_workflow_emulator.kernel.wording import excerpt
from image_workflow_emulator.service.sandbox.sandboxes import Sandboxes
from image_workflow_emulator.web.exchange import (
    Destination,
    Exchange,
    Route,
    Step,
    allowing,
)
from image_workflow_emulator.web.rendering import EXTENSIONS

_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})", re.ASCII | re.IGNORECASE)
_MEDIA_TYPES = {"jpg": b"image/jpeg", "png": b"image/png", "webp": b"image/webp"}
TARGET_LIFETIME_MS = 60_000
"""How long the address lives that a redirect gives (D19)."""


def find(sandboxes: Sandboxes, request: Head) -> Destination:
    """Find the sandbox and the name of the file by the link."""
    sandbox_id, _, name = request.path.removeprefix(FILES_PREFIX).partition("/")
    return Destination(sandboxes.by_id.get(sandbox_id), None, _DOWNLOAD, name)


def _check_link(exchange: Exchange) -> None:
    """404: the link was handed out, and its picture is alive."""
    sandbox, name = exchange.home, exchange.resource_id
    stem, _, extension = name.rpartition(".")
    key, _, secret = stem.rpartition("-")
    picture = None if sandbox is None else sandbox.images.public(key)
    if (
        sandbox is None
        or picture is None
        or not compare_digest(secret.encode(), picture.secret.encode())
    ):
        raise _no_such_file(name)
    asset = sandbox.store.assets.items.get(key)
    if (
        extension != EXTENSIONS[asset.format if asset else "png"]
    ):  # pictures of ingredients are PNG
        raise _no_such_file(name)


def _key_of(name: str) -> str:
    return name.rpartition(".")[0].rpartition("-")[0]


async def _render(exchange: Exchange, key: object) -> Answer:
    """Answer with the file, a part of it, or that the client's copy is still good."""
    assert isinstance(key, str)
    images, request = exchange.sandbox.images, exchange.head
    if (
        exchange.sandbox.readings.file_delivery == "redirects"
        and not request.query_string
    ):
        return _redirect(exchange)
    etag = b'"' + exchange.sandbox.signer.sign("etag", key).encode() + b'"'
    headers: tuple[Header, ...] = (
        (b"request-id", exchange.request_id.encode()),
        (b"etag", etag),
        (b"accept-ranges", b"bytes"),
    )
    known = [
        tag.strip().removeprefix(b"W/")
        for tag in request.headers.get(b"if-none-match", b"").split(b",")
    ]
    if etag in known or known == [b"*"]:
        return Answer(304, headers, b"")
    data = images.pictures[key].data or await exchange.pictures.data(images, key)
    media_type = _MEDIA_TYPES[exchange.resource_id.rpartition(".")[2]]
    status, size, part = 200, len(data), _find_part(request, len(data), etag)
    if part is not None:
        status, data = 206, data[part.start : part.stop]
        headers = (
            *headers,
            (b"content-range", b"bytes %d-%d/%d" % (part.start, part.stop - 1, size)),
        )
    length = (b"content-length", b"%d" % len(data))
    return Answer(
        status, ((b"content-type", media_type), NOSNIFF, *headers, length), data
    )


def _redirect(exchange: Exchange) -> Answer:
    """Answer with an address of the file that lives for a short while (D19)."""
    until = exchange.now + TARGET_LIFETIME_MS
    signature = exchange.sandbox.signer.sign("target", exchange.resource_id, until)
    target = f"{exchange.head.origin}{exchange.head.path}?until={until}&signature={signature}"
    request_id = (b"request-id", exchange.request_id.encode())
    return Answer(
        302,
        ((b"location", target.encode()), (b"content-length", b"0"), request_id),
        b"",
    )


def _check_target(exchange: Exchange) -> None:
    """404: the address that a redirect gave is alive."""
    if (
        exchange.sandbox.readings.file_delivery == "plain"
        or not exchange.head.query_string
    ):
        return
    asked = dict(parse_qsl(exchange.head.query_string.decode("latin-1")))
    until, signature = asked.get("until", ""), asked.get("signature", "")
    is_signed = until.isdecimal() and exchange.sandbox.signer.verify(
        signature, "target", exchange.resource_id, until
    )
    if not is_signed or exchange.now >= int(until):
        raise _no_such_file(exchange.resource_id)


_DOWNLOAD = Route(
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


def _no_such_file(name: str) -> Problem:
    return Problem(
        "not_found",
        f"{excerpt(name)}: there is no such file; its Asset may be deleted",
        remedy="use the url that a live Asset shows, unchanged",
    )


def _find_part(request: Head, size: int, etag: bytes) -> range | None:
    """Return the one range that was asked for; None for the whole file: a server may ignore a range.

    Raises:
        Problem: status 416, the range lies outside the file.
    """
    asked = request.headers.get(b"range", b"").decode("latin-1")
    match = _RANGE.fullmatch(asked.replace(" ", ""))
    first, last = match.groups() if match else ("", "")
    is_backwards = first and last and int(last) < int(first)
    if (
        not (first or last)
        or is_backwards
        or request.headers.get(b"if-range", etag).strip() != etag
    ):
        return None
    start = int(first) if first else max(size - int(last), 0)
    part = range(start, min(int(last) + 1, size) if first and last else size)
    if not part:
        raise Problem(
            "invalid_request",
            f"Range: found {excerpt(asked)}; expected a part of {size} bytes",
            status=416,
            headers=(("Content-Range", f"bytes */{size}"),),
            remedy=f"ask for a range that begins before byte {size}",
        )
    return part
