"""The client of the control plane, which the command line uses too: one request to `/_emulator`, its answer or its refusal.

Owns how a path of a sandbox is written, the control token, the connection and the wording of its failures. Must not know
what any path does. An exchange runs over HTTP here, and in this process in `emulator.testing.application`.
"""

import http.client
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from threading import Lock
from typing import Any, BinaryIO, Final, NamedTuple, Protocol
from urllib.parse import quote, urlencode, urlsplit

from emulator.contract import BASE_PATH
from emulator.control import PREFIX, REQUEST_ID_KIND
from emulator.settings import parse_url
from emulator.testing.errors import NO_ANSWER, EmulatorError, UnwritableError, is_refusal

__tracebackhide__ = is_refusal

ANSWER_SECONDS: Final = 30.0
"""How long an answer may take: moving a clock may fire hours of work."""
STATE_SECONDS: Final = 600.0
"""How long the emulator may be silent over a state file of any size."""
JSON: Final = "application/json"
YAML: Final = "application/yaml"
ZIP: Final = "application/zip"
_MOST_CHARACTERS: Final = 60_000
"""How long the path and the query of a request may be: an emulator takes no longer head."""
_PIECE_BYTES: Final = 256 * 1024
"""How much of a file is on its way at once."""


class Request(NamedTuple):
    """A request to be sent: `target` is a path below the emulator's address, with its query."""

    method: str
    target: str
    headers: Mapping[str, str]
    content: bytes | BinaryIO | None
    seconds: float
    """How long each silence of the emulator may last."""
    into: BinaryIO | None
    """Takes the body of a success, if there is one."""


class Answer(NamedTuple):
    """An answer; `body` is empty where it was written to a file."""

    status: int
    request_id: str
    body: bytes


class Transport(Protocol):
    """Takes a request to an emulator."""

    @property
    def url(self) -> str:
        """The address of the emulator, without a slash at its end."""

    def exchange(self, request: Request) -> Answer:
        """Send one request, and return the answer.

        Raises:
            OSError, HTTPException, ValueError: there is no answer in time.
            UnwritableError: the file cannot be written.
        """

    def close(self) -> None:
        """Close the connection."""


class HttpTransport:
    """A connection that is kept, straight to the address: proxies of the environment are not for one's own machine.

    Threads take turns.
    """

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        connect = http.client.HTTPSConnection if parts.scheme.lower() == "https" else http.client.HTTPConnection
        self.url = url.rstrip("/")
        self._path = parts.path.rstrip("/")
        self._connect = partial(connect, parts.hostname or "", parts.port, blocksize=_PIECE_BYTES)
        self._connection = self._connect()
        self._lock = Lock()

    def exchange(self, request: Request) -> Answer:
        """Send one request, and return the answer. Raises as the protocol says."""
        with self._lock:
            if request.into is not None or not isinstance(request.content, bytes | None):
                self._connection.close()  # a file can be sent only once: not where the server may be about to close
            is_kept = self._connection.sock is not None
            try:
                return self._exchange(request)
            except ConnectionError:
                if not is_kept:
                    raise
            # A server closes connections that are idle for a while.
            return self._exchange(request)

    def _exchange(self, request: Request) -> Answer:
        connection = self._connection
        connection.timeout = request.seconds
        if connection.sock is not None:
            connection.sock.settimeout(request.seconds)
        try:
            connection.request(request.method, self._path + request.target, request.content, dict(request.headers))
            response = connection.getresponse()
            if request.into is None or response.status >= 400:
                body = response.read()
            else:
                body = b""
                while piece := response.read(_PIECE_BYTES):
                    write_into(request.into, piece)
            return Answer(response.status, response.headers.get("request-id", ""), body)
        except BaseException:
            connection.close()
            raise

    def open(self, target: str, headers: Mapping[str, str], seconds: float) -> http.client.HTTPResponse:
        """Send a GET on a connection of its own, and return the answer while it still comes; `seconds` bounds each silence.

        Raises OSError, HTTPException or ValueError if there is none in time.
        """
        connection = self._connect(timeout=seconds)
        connection.request("GET", self._path + target, headers=dict(headers))
        return connection.getresponse()

    def close(self) -> None:
        """Close the connection; the next request opens another."""
        self._connection.close()

    def __del__(self) -> None:
        if hasattr(self, "_connection"):  # it may be that the address could not be read
            self._connection.close()


@dataclass(frozen=True, slots=True)
class ControlClient:
    """A client of the control plane, for one sandbox; None stands for `default`."""

    transport: Transport
    token: str | None = None
    sandbox: str | None = None

    def of(self, sandbox: str | None) -> "ControlClient":
        """Return the client for another sandbox of the same emulator; for None, that for the whole process."""
        return replace(self, sandbox=sandbox)

    def call(
        self,
        method: str,
        path: str = "",
        body: Mapping[str, Any] | None = None,
        *,
        query: Mapping[str, Any] | None = None,
        seconds: float = ANSWER_SECONDS,
    ) -> Any:
        """Send a request to a path below the sandbox and return the parsed answer, None for an empty one.

        Values of `query` that are None are left out. Raises EmulatorError: nothing answers, or the emulator refuses.
        """
        content = None if body is None else json.dumps(body).encode()
        answer = self.exchange(method, path, content, JSON, query=query, seconds=seconds)
        return json.loads(answer) if answer else None

    def exchange(
        self,
        method: str,
        path: str,
        content: bytes | BinaryIO | None = None,
        content_type: str = JSON,
        *,
        query: Mapping[str, Any] | None = None,
        seconds: float = ANSWER_SECONDS,
        into: BinaryIO | None = None,
    ) -> bytes:
        """Send bytes, or a file, to a path below the sandbox, and return the bytes that are answered, or write them.

        Raises as `call` does, and UnwritableError.
        """
        headers = self.headers()
        if content is not None:
            size_bytes = len(content) if isinstance(content, bytes) else os.fstat(content.fileno()).st_size
            headers = {**headers, "Content-Type": content_type, "Content-Length": str(size_bytes)}
        try:
            answer = self.transport.exchange(Request(method, self.target(path, query), headers, content, seconds, into))
            if not answer.request_id.startswith(REQUEST_ID_KIND):
                raise ValueError(f"something else answers there, with status {answer.status}")
            problem = json.loads(answer.body) if answer.status >= 400 else None
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise self._no_answer(error) from error
        if problem is not None:
            raise EmulatorError(str(problem.get("code")), str(problem.get("detail")), answer.status)
        return answer.body

    def target(self, path: str, query: Mapping[str, Any] | None = None) -> str:
        """Return the path and the query of a request to a path below the sandbox. Raises EmulatorError if they are too long."""
        prefix = f"{PREFIX}/sandboxes/{path_step(self.sandbox)}" if self.sandbox else PREFIX
        given = urlencode({name: value for name, value in (query or {}).items() if value is not None})
        target = "".join((prefix, f"/{path}" if path else "", f"?{given}" if given else ""))
        if len(target) > _MOST_CHARACTERS:
            found = f"found names of {len(target)} characters; expected at most {_MOST_CHARACTERS}"
            raise EmulatorError("invalid_request", found, 400)  # as an emulator would, in a form that it cannot
        return target

    def headers(self) -> dict[str, str]:
        """Return the headers of every request."""
        return {"Accept": JSON, **({"Authorization": f"Bearer {self.token}"} if self.token else {})}

    def health(self, seconds: float) -> None:
        """Ask whether the emulator is ready. Raises EmulatorError with the reason if it is not."""
        self.of(None).call("GET", "health", seconds=seconds)

    def _no_answer(self, error: Exception) -> EmulatorError:
        why = reason(error)
        return EmulatorError(
            NO_ANSWER,
            f"no emulator answers at {self.transport.url} ({why}); start one: image-workflow-emulator serve",
        )


def write_into(file: BinaryIO, piece: bytes) -> None:
    """Write what was answered. Raises UnwritableError."""
    try:
        file.write(piece)
    except OSError as error:  # which is not one of the connection
        raise UnwritableError(error) from error


def emulator_address(text: str) -> str:
    """Read the address of a running emulator; that of its page and its base URL stand for it. Raises ValueError."""
    url = parse_url(text)
    _ = urlsplit(url).port
    return url.removesuffix(PREFIX).removesuffix(BASE_PATH)


def path_step(text: str) -> str:
    """Return a text as one step of a path."""
    return quote(text, safe="")


def reason(error: BaseException) -> str:
    """Say why there was no answer."""
    return (isinstance(error, OSError) and error.strerror) or str(error) or type(error).__name__
