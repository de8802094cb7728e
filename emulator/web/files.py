"""The public files of pictures (section 1, rule 7; D19): found from the link alone, with ETag and ranges."""

import re
from hmac import compare_digest

from emulator.domain.problems import Problem, excerpt
from emulator.http.failures import internal_error
from emulator.http.requests import Receive, Request, Scope, Send
from emulator.http.responses import Header, Response, problem_response
from emulator.service import engine
from emulator.service.images import ImageStore
from emulator.service.sandbox import Sandbox
from emulator.service.sandboxes import Sandboxes
from emulator.web.links import EXTENSIONS, FILES_PREFIX, MEDIA_TYPES
from emulator.web.pictures import PictureWorker

_CHUNK_BYTES = 256 * 1024
_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})", re.ASCII | re.IGNORECASE)


class Files:
    """The ASGI application of picture files."""

    def __init__(self, sandboxes: Sandboxes, pictures: PictureWorker, public_url: str | None) -> None:
        self._sandboxes = sandboxes
        self._pictures = pictures
        self._public_url = public_url

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        request = Request(scope, self._public_url)
        sandbox_id, _, name = request.path.removeprefix(FILES_PREFIX).partition("/")
        sandbox = self._sandboxes.by_id.get(sandbox_id)
        home = sandbox or self._sandboxes.default
        journal, request_id = home.journal, home.identifiers.next("req")
        entry = journal.arrive(home.clock.now(), request_id, request.method, request.path)
        entry.note = "file of a picture"
        try:
            response = await self._answer(request, sandbox, name, request_id)
            entry.response_body_bytes = len(response.body)
        except Problem as problem:
            entry.problem = problem
            response = problem_response(problem, request_id, None)
            entry.response_body = response.body
            if problem.status == 416:
                response = response._replace(headers=(*response.headers, (b"content-range", problem.detail.encode())))
        except Exception as error:
            entry.problem = internal_error(error, request, request_id)
            response = problem_response(entry.problem, request_id, None)
            entry.response_body = response.body
        entry.status = response.status
        journal.leave(entry)
        await _send(send, response, is_head=request.method == "HEAD")

    async def _answer(self, request: Request, sandbox: Sandbox | None, name: str, request_id: str) -> Response:
        if sandbox is None:
            raise _no_such_file(name)
        engine.enter(sandbox)
        key, media_type = _read_name(sandbox, name)
        images = sandbox.images
        if request.method not in ("GET", "HEAD"):
            raise Problem(
                "invalid_request",
                f"{request.method}: expected GET or HEAD",
                status=405,
                allow="GET, HEAD",
                remedy="send it with the method GET or HEAD",
            )
        etag = b'"' + sandbox.signer.sign("etag", key).encode() + b'"'
        identified = ((b"request-id", request_id.encode()), (b"etag", etag), (b"accept-ranges", b"bytes"))
        if _matches(request.headers.get(b"if-none-match"), etag):
            return Response(304, identified, b"")
        data = await self._data(images, key)
        return _whole_or_part(request, data, etag, ((b"content-type", media_type), *identified))

    async def _data(self, images: ImageStore, key: str) -> bytes:
        data = images.pictures[key].data
        if data is None:
            images.hold([key])
            try:
                data = await self._pictures.data(images, key)
            finally:
                images.release([key])
        return data


def _read_name(sandbox: Sandbox, name: str) -> tuple[str, bytes]:
    """Find the picture of a link. Raises Problem not_found for anything but a link that was handed out and is alive."""
    stem, _, extension = name.rpartition(".")
    key, _, secret = stem.rpartition("-")
    picture = sandbox.images.public(key)
    if picture is None or not compare_digest(secret.encode(), picture.secret.encode()):
        raise _no_such_file(name)
    asset = sandbox.store.assets.items.get(key)
    if extension != EXTENSIONS[asset.format if asset else "png"]:  # all that is no Asset is a PNG
        raise _no_such_file(name)
    return key, MEDIA_TYPES[extension]


def _no_such_file(name: str) -> Problem:
    return Problem(
        "not_found",
        f"{excerpt(name)}: there is no such file; its Asset may be deleted",
        remedy="use the url that a live Asset shows, unchanged",
    )


def _matches(header: bytes | None, etag: bytes) -> bool:
    return header is not None and (
        header.strip() == b"*" or etag in [tag.strip().removeprefix(b"W/") for tag in header.split(b",")]
    )


def _whole_or_part(request: Request, data: bytes, etag: bytes, headers: tuple[Header, ...]) -> Response:
    """Answer with the file, or with the one range that was asked for.

    Raises:
        Problem: status 416, the range lies outside the file; its detail is the Content-Range to send.
    """
    asked = request.headers.get(b"range")
    condition = request.headers.get(b"if-range")
    match = _RANGE.fullmatch(asked.decode("latin-1").replace(" ", "")) if asked else None
    if match is None or not any(match.groups()) or (condition is not None and condition.strip() != etag):
        return Response(200, (*headers, (b"content-length", b"%d" % len(data))), data)  # a server may ignore a range
    first, last = match.groups()
    if first:
        start, end = int(first), min(int(last), len(data) - 1) if last else len(data) - 1
        if last and int(last) < int(first):
            return Response(200, (*headers, (b"content-length", b"%d" % len(data))), data)
    else:
        start, end = max(len(data) - int(last), 0), len(data) - 1
    if start > end:
        remedy = f"ask for a range that begins before byte {len(data)}"
        raise Problem("invalid_request", f"bytes */{len(data)}", status=416, remedy=remedy)
    part = data[start : end + 1]
    content_range = b"bytes %d-%d/%d" % (start, end, len(data))
    return Response(206, (*headers, (b"content-length", b"%d" % len(part)), (b"content-range", content_range)), part)


async def _send(send: Send, response: Response, is_head: bool) -> None:
    """Send an answer in pieces, so that a slow reader holds little memory and nobody else."""
    await send({"type": "http.response.start", "status": response.status, "headers": response.headers})
    body = b"" if is_head else response.body
    for start in range(0, len(body), _CHUNK_BYTES):
        piece = body[start : start + _CHUNK_BYTES]
        await send({"type": "http.response.body", "body": piece, "more_body": True})
    await send({"type": "http.response.body", "body": b""})
