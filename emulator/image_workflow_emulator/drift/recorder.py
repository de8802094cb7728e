"""The recorder: a reverse proxy on the loopback, through which a client talks to the real service.

The links in answers (uploads, files, Location) are rewritten to lead through it too. Nothing of an exchange is written
before it is scrubbed (image_workflow_emulator.drift.secrets).
"""

import hashlib
import threading
from collections.abc import Mapping
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

import orjson

from image_workflow_emulator.contract import BASE_PATH
from image_workflow_emulator.drift.probes import exchanged
from image_workflow_emulator.testing.transport import Answer
from image_workflow_emulator.traffic.exchanges import RecordedExchange, RecordingError, json_of, with_leaves

_HOST: Final = "127.0.0.1"
_LINKS: Final = "/links/"
_OF_CONNECTION: Final = frozenset(
    {"host", "connection", "keep-alive", "transfer-encoding", "te", "trailer", "upgrade", "content-length"}
    | {"proxy-authorization", "proxy-connection", "accept-encoding", "expect"}
)
"""Headers that are about one connection, or that would have bodies compressed."""
_MAX_BODY_BYTES: Final = 80 * 1024 * 1024


class Recorder:
    """Passes requests on to the service under `target`, and keeps the exchanges. To be closed."""

    def __init__(self, target: str) -> None:
        """Begin to listen on a free port. Raises OSError."""
        self._target = target.rstrip("/")
        self.exchanges: list[RecordedExchange] = []
        """What was exchanged, with its secrets: to be scrubbed before anything of it is written."""
        self._links: dict[str, str] = {}
        self._server = ThreadingHTTPServer((_HOST, 0), _handler_of(self))
        self._server.daemon_threads = True
        self._origin = f"http://{_HOST}:{self._server.server_port}"
        self.base_url = self._origin + BASE_PATH
        """The base URL for the client."""
        self._thread = threading.Thread(target=self._server.serve_forever, name="recorder", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()

    # Passing on -----------------------------------------------------------------------------------------------------

    def pass_on(self, method: str, target: str, headers: Mapping[str, str], body: bytes | None) -> Answer:
        """Pass a request on to the service, and return the answer with links that lead back here."""
        url = self._url_of(target)
        if url is None:
            return Answer(
                404, {"content-type": "text/plain"}, b"This proxy passes on /v1 and the links in its answers.\n"
            )
        sent = {name: value for name, value in headers.items() if name.lower() not in _OF_CONNECTION}
        try:
            reply, exchange = exchanged(method, url, sent, body)
        except RecordingError as error:
            return Answer(502, {"content-type": "text/plain"}, f"{error}\n".encode())
        self.exchanges.append(exchange)
        return self._rewritten(reply)

    def _url_of(self, target: str) -> str | None:
        if target.startswith(BASE_PATH + "/"):
            return self._target + target.removeprefix(BASE_PATH)
        return self._links.get(target)

    def _rewritten(self, reply: Answer) -> Answer:
        headers = {name: value for name, value in reply.headers.items() if name not in _OF_CONNECTION}
        location, body = headers.get("location", ""), reply.body
        if location.startswith(self._target + "/"):
            headers["location"] = self.base_url + location.removeprefix(self._target)
        elif "://" in location:
            headers["location"] = self._link(location)
        if "json" in headers.get("content-type", "") and b"://" in body:
            with suppress(ValueError):
                body = orjson.dumps(with_leaves(json_of(body), self._lead_back))
        return Answer(reply.status, headers, body)

    def _lead_back(self, name: str, value: Any) -> Any:
        is_link = isinstance(value, str) and name.endswith(("url", "urls")) and "://" in value
        return self._link(value) if is_link else value

    def _link(self, url: str) -> str:
        """Return the address here that stands for a link; the same for the same link."""
        path = _LINKS + hashlib.blake2b(url.encode(), digest_size=16).hexdigest()
        self._links[path] = url
        return self._origin + path


def _handler_of(recorder: Recorder) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        """Reads one request after another from a connection."""

        protocol_version = "HTTP/1.1"

        def _handle(self) -> None:
            announced = self.headers.get("content-length", "0")
            if not announced.isdecimal() or int(announced) > _MAX_BODY_BYTES or "transfer-encoding" in self.headers:
                self.close_connection = True
                self._answer(Answer(411, {"content-type": "text/plain"}, b"A body needs a Content-Length.\n"))
                return
            body = self.rfile.read(int(announced)) if int(announced) else None
            self._answer(recorder.pass_on(self.command, self.path, dict(self.headers.items()), body))

        def _answer(self, reply: Answer) -> None:
            self.send_response_only(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            if reply.status not in (204, 304):
                self.send_header("content-length", str(len(reply.body)))
            self.end_headers()
            if self.command != "HEAD" and reply.status not in (204, 304):
                self.wfile.write(reply.body)

        do_GET = do_HEAD = do_POST = do_PATCH = do_PUT = do_DELETE = _handle  # noqa: N815

        def log_message(self, *_: Any) -> None:
            """Say nothing: the client's own output is what people look at."""

    return Handler
