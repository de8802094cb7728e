"""An emulator in this process, as an ASGI application: for `httpx.ASGITransport` and Starlette's `TestClient`.

Owns how its control plane is asked without a socket, synchronously, also while an event loop runs.
"""

import asyncio
import sys
import threading
from collections.abc import Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final
from weakref import finalize

from image_workflow_emulator.documents.complaints import DocumentError
from image_workflow_emulator.settings import UsageError, read_settings
from image_workflow_emulator.testing.control_client import Answer, ControlClient, lower_names
from image_workflow_emulator.testing.emulator import Emulator
from image_workflow_emulator.testing.errors import NOT_STARTED, EmulatorError, is_refusal, unreadable
from image_workflow_emulator.testing.options import option_texts
from image_workflow_emulator.testing.sandbox import Sandbox
from image_workflow_emulator.web.wire import LostAnswerError

if TYPE_CHECKING:
    from image_workflow_emulator.app import Application
    from image_workflow_emulator.http.requests import Receive, Scope, Send

__tracebackhide__ = is_refusal

HOST: Final = "testserver"
"""The host that an emulator in this process is asked for: that of Starlette's TestClient."""
ORIGIN: Final = f"http://{HOST}"
_CLIENT_LIBRARIES: Final = ("httpx", "httpx2")
"""The libraries with transports for applications; TestClient takes either."""


class EmulatorApplication:
    """The emulator as an ASGI application. `sandbox` is its default sandbox, `emulator` all of it; neither needs a
    server.

    `create_app` makes one. An answer that a scenario loses is raised as a ConnectionResetError, which is an
    `httpx.RemoteProtocolError` too where httpx is imported.

        >>> app = create_app(clock="manual")
        >>> app.sandbox.team("Demo").credits
        100
    """

    def __init__(self, application: "Application") -> None:
        self._application = application
        self.close = finalize(self, application.close)
        """End the helper processes of its image work. They end with this process at the latest."""
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = 0

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Answer a request, or the events of a server's life."""
        self._loop, self._thread = asyncio.get_running_loop(), threading.get_ident()
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
        settings = self._application.settings
        url = settings.public_url or ORIGIN

        def transport(
            method: str, address: str, headers: Mapping[str, str], content: bytes | None, seconds: float
        ) -> Answer:
            target = address.removeprefix(url)
            return self._run(ask(self._application, method, target, headers, content or b""), seconds)

        return Emulator(ControlClient(url, settings.control_token, transport=transport))

    @property
    def sandbox(self) -> Sandbox:
        """The default sandbox."""
        return self.emulator.default

    def _run(self, coroutine: Coroutine[Any, Any, Answer], seconds: float) -> Answer:
        """Run a coroutine to its end from synchronous code.

        It runs in the event loop that serves requests, if that runs in another thread; else in one of its own.
        """
        loop = self._loop
        if loop is not None and loop.is_running() and self._thread != threading.get_ident():
            return asyncio.run_coroutine_threadsafe(coroutine, loop).result(seconds)
        with ThreadPoolExecutor(1) as thread:  # another thread, as this one may have a loop that runs
            return thread.submit(asyncio.run, coroutine).result()


def create_app(**options: Any) -> EmulatorApplication:
    """Return an emulator as an ASGI application, for `httpx.ASGITransport` or Starlette's `TestClient`.

    `options` are those of `serve`, by name and as plain values: `clock="auto"`, `seed=7`, `rate_limits=False`,
    `world=Path("world.yaml")`. `world` and `scenario` may be mappings too.

    Raises TypeError for an unknown option, EmulatorError for an option or a file that cannot be used.

        >>> from starlette.testclient import TestClient
        >>> app = create_app(clock="auto")
        >>> client = TestClient(app, headers={"Authorization": f"Bearer {app.sandbox.api_key}"})
        >>> client.get("/v1/team").json()["name"]
        'Demo'
    """
    from image_workflow_emulator.app import Application

    try:
        with option_texts(options) as texts:
            settings = read_settings(texts, {})
            made = EmulatorApplication(Application(settings))
            if settings.given is not None:
                made.sandbox.given.file(settings.given)
            return made
    except OSError as error:
        raise EmulatorError(NOT_STARTED, unreadable(error)) from error
    except (UsageError, DocumentError) as error:
        raise EmulatorError(NOT_STARTED, str(error)) from error


async def ask(
    application: "Application", method: str, target: str, headers: Mapping[str, str], content: bytes = b""
) -> Answer:
    """Send a request to an application, and return its answer. `target` is a path with its query.

    Raises LostAnswerError if a scenario loses the answer.
    """
    path, _, query = target.partition("?")
    sent = {**headers, "Host": HOST, "Content-Length": str(len(content))}
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "headers": [
            (name.lower().encode("latin-1", "replace"), value.encode("latin-1", "replace"))
            for name, value in sent.items()
        ],
        "client": None,
        "server": (HOST, 80),
    }
    pieces = [{"type": "http.request", "body": content, "more_body": False}]
    answered: list[Any] = []

    async def receive() -> Any:
        return pieces.pop() if pieces else await asyncio.Event().wait()  # the client stays

    async def send(message: Any) -> None:
        answered.append(message)

    await application(scope, receive, send)
    pairs = ((name.decode("latin-1"), value.decode("latin-1")) for name, value in answered[0]["headers"])
    return Answer(answered[0]["status"], lower_names(pairs), b"".join(message.get("body", b"") for message in answered))


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
