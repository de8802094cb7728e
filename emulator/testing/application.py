"""An emulator in this process, as an ASGI application: for `httpx.ASGITransport` and Starlette's `TestClient`.

Owns how its control plane is asked without a socket, synchronously, also while an event loop runs.
"""

import asyncio
import sys
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final
from weakref import finalize

from emulator.documents.complaints import DocumentError
from emulator.settings import UsageError, read_settings
from emulator.testing.control import Answer, ControlClient, Request, write_into
from emulator.testing.emulator import Emulator
from emulator.testing.errors import NOT_STARTED, EmulatorError, is_refusal, unreadable
from emulator.testing.options import option_texts
from emulator.testing.sandbox import Sandbox
from emulator.web.wire import LostAnswerError

if TYPE_CHECKING:
    from emulator.app import Application
    from emulator.http.requests import Receive, Scope, Send

__tracebackhide__ = is_refusal

_CLIENT_LIBRARIES: Final = ("httpx", "httpx2")
"""The libraries with transports for applications; TestClient takes either."""
HOST: Final = "testserver"
"""The host in the addresses of its sandboxes: the host that Starlette's TestClient asks for."""

Run = Callable[[Coroutine[Any, Any, None], float], None]


class EmulatorApplication:
    """The emulator as an ASGI application. `sandbox` is its default sandbox, `emulator` all of it; neither needs a server."""

    def __init__(self, application: "Application") -> None:
        self._application = application
        self.close = finalize(self, application.close)
        """End the helper processes of its image work. They end with this process at the latest."""
        self._loop: asyncio.AbstractEventLoop | None = None

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Answer a request, or the events of a server's life."""
        self._loop = asyncio.get_running_loop()
        if scope["type"] == "lifespan":
            await _answer_lifespan(receive, send)
            return
        try:
            await self._application(scope, receive, send)
        except LostAnswerError as error:
            raise _as_transport_error(error) from None

    @cached_property
    def emulator(self) -> Emulator:
        """The whole emulator, for more sandboxes."""
        transport = _InProcess(self._application, self._run)
        return Emulator(ControlClient(transport, self._application.settings.control_token), transport.close)

    @property
    def sandbox(self) -> Sandbox:
        """The default sandbox."""
        return self.emulator.default

    def _run(self, coroutine: Coroutine[Any, Any, None], seconds: float) -> None:
        """Run a coroutine to its end from synchronous code.

        It runs in the event loop that serves requests, if that runs in another thread; else in one of its own.
        """
        loop = self._loop
        if loop is not None and loop.is_running() and loop is not _running_loop():
            asyncio.run_coroutine_threadsafe(coroutine, loop).result(seconds)
        else:  # in another thread, as this one may have a loop that runs
            with ThreadPoolExecutor(1) as thread:
                thread.submit(asyncio.run, coroutine).result()


def create_app(**options: Any) -> EmulatorApplication:
    """Return an emulator as an ASGI application, with options as those of `serve`, by name and as plain values.

    `world` and `scenario` may be mappings too. Raises TypeError for an unknown option, EmulatorError for one, or for a file,
    that cannot be used.
    """
    from emulator.app import Application

    try:
        with option_texts(options) as texts:
            return EmulatorApplication(Application(read_settings(texts, {})))
    except OSError as error:
        raise EmulatorError(NOT_STARTED, unreadable(error)) from error
    except (UsageError, DocumentError) as error:
        raise EmulatorError(NOT_STARTED, str(error)) from error


class _InProcess:
    """Hands requests to the application, without a socket."""

    def __init__(self, application: "Application", run: Run) -> None:
        self._application = application
        self._run = run
        self.url = application.settings.public_url or f"http://{HOST}"

    def exchange(self, request: Request) -> Answer:
        """Send one request and return the answer."""
        path, _, query = request.target.partition("?")
        content = request.content
        body = content if isinstance(content, bytes) else content.read() if content else b""
        sent = {**request.headers, "Host": HOST, "Content-Length": str(len(body))}
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": request.method,
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "root_path": "",
            "headers": [(name.lower().encode(), value.encode("latin-1")) for name, value in sent.items()],
            "client": None,
            "server": (HOST, 80),
        }
        answered: list[Any] = []
        pieces = [{"type": "http.request", "body": body, "more_body": False}]

        async def receive() -> Any:
            return pieces.pop() if pieces else await asyncio.Event().wait()  # the client stays

        async def send(message: Any) -> None:
            answered.append(message)

        self._run(self._application(scope, receive, send), request.seconds)
        start = dict(answered[0]["headers"])
        told = b"".join(message.get("body", b"") for message in answered[1:])
        if request.into is not None and answered[0]["status"] < 400:
            write_into(request.into, told)
            told = b""
        return Answer(answered[0]["status"], start.get(b"request-id", b"").decode(), told)

    def close(self) -> None:
        """There is nothing to close."""


def _as_transport_error(error: LostAnswerError) -> Exception:
    """Return what a client in this process is to see of a lost answer: with httpx, an error that its users catch."""
    libraries = filter(None, map(sys.modules.get, _CLIENT_LIBRARIES))
    bases = (LostAnswerError, *(library.RemoteProtocolError for library in libraries))
    lost: Exception = type("LostAnswerError", bases, {"__module__": LostAnswerError.__module__})(str(error))
    return lost


async def _answer_lifespan(receive: "Receive", send: "Send") -> None:
    while True:
        kind = (await receive())["type"]
        await send({"type": f"{kind}.complete"})
        if kind == "lifespan.shutdown":
            return


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
