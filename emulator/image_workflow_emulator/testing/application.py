"""An emulator in this process, as an ASGI application.

`httpx.ASGITransport` and Starlette's `TestClient` take it. Owns how its control plane is
asked: without a socket, synchronously, also while an event loop runs.
"""

import asyncio
import sys
import threading
from collections.abc import Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final
from weakref import finalize

from image_workflow_emulator.client.control_client import (
    Answer,
    ControlClient,
    lower_names,
)
from image_workflow_emulator.client.local_files import (
    NOT_STARTED,
    EmulatorError,
    is_refusal,
    unreadable,
)
from image_workflow_emulator.documents.complaints import DocumentError
from image_workflow_emulator.http.heads import Receive, Scope, Send
from image_workflow_emulator.settings import UsageError, read_settings
from image_workflow_emulator.testing.emulator import Emulator
from image_workflow_emulator.testing.option_texts import option_texts
from image_workflow_emulator.testing.sandbox import Sandbox
from image_workflow_emulator.web.wire import LostAnswerError

if TYPE_CHECKING:
    from image_workflow_emulator.app import Application

__tracebackhide__ = is_refusal

HOST: Final = "testserver"
"""The host that an emulator in this process is asked for: that of Starlette's TestClient."""
ORIGIN: Final = f"http://{HOST}"


class EmulatorApplication:
    """The emulator as an ASGI application.

    `sandbox` is its default sandbox, `emulator` all of it; neither needs a server.
    `create_app` makes one. An answer that a scenario loses is raised as a
    ConnectionResetError, which is an `httpx.RemoteProtocolError` too where httpx is
    imported.

        >>> app = create_app(clock="manual")
        >>> app.sandbox.team("Demo").credits
        100
    """

    def __init__(self, application: "Application") -> None:
        self._application = application
        self.close = finalize(self, application.close)
        """End the helper processes of its image work.

        They end with this process at the latest.
        """
        self._loop: asyncio.AbstractEventLoop | None = None
        """The event loop that served the last request."""
        self._loop_thread = 0

    async def __call__(
        self,
        scope: Scope,
        receive: Receive,
        send: Send,
    ) -> None:
        """Answer a request, or the events of a server's life."""
        self._loop = asyncio.get_running_loop()
        self._loop_thread = threading.get_ident()
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
        plane = ControlClient(url, settings.control_token, transport=self._answer)
        return Emulator(plane)

    @property
    def sandbox(self) -> Sandbox:
        """The default sandbox."""
        return self.emulator.default

    def _answer(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        content: bytes | None,
        seconds: float,
    ) -> Answer:
        """Answer a request of the control client."""
        target = url.removeprefix(self.emulator.url)
        asking = ask(self._application, method, target, headers, content or b"")
        return self._run(asking, seconds)

    def _run(self, coroutine: Coroutine[Any, Any, Answer], seconds: float) -> Answer:
        """Run a coroutine to its end from synchronous code.

        It runs in the event loop that serves requests, if that runs in another thread;
        else in one of its own.
        """
        loop = self._loop
        is_loop_here = self._loop_thread == threading.get_ident()
        if loop is not None and loop.is_running() and not is_loop_here:
            future = asyncio.run_coroutine_threadsafe(coroutine, loop)
            return future.result(seconds)
        with ThreadPoolExecutor(1) as pool:  # a loop may run in this thread
            return pool.submit(asyncio.run, coroutine).result()


def create_app(**options: Any) -> EmulatorApplication:
    """Return an emulator as an ASGI application.

    `httpx.ASGITransport` and Starlette's `TestClient` take it. `options` are those of
    `serve`, by name and as plain values: `clock="auto"`, `seed=7`, `rate_limits=False`,
    `world=Path("world.yaml")`. `world` and `scenario` may be mappings too.

    Raises TypeError for an unknown option, EmulatorError for an option or a file that
    cannot be used.

        >>> from starlette.testclient import TestClient
        >>> app = create_app(clock="auto")
        >>> headers = {"Authorization": f"Bearer {app.sandbox.api_key}"}
        >>> TestClient(app, headers=headers).get("/v1/team").json()["name"]
        'Demo'
    """
    from image_workflow_emulator.app import Application

    try:
        with option_texts(options) as texts:
            settings = read_settings(texts, {})
            application = EmulatorApplication(Application(settings))
            if settings.given is not None:
                application.sandbox.given.file(settings.given)
            return application
    except OSError as error:
        raise EmulatorError(NOT_STARTED, unreadable(error)) from error
    except (UsageError, DocumentError) as error:
        raise EmulatorError(NOT_STARTED, str(error)) from error


async def ask(
    application: "Application",
    method: str,
    target: str,
    headers: Mapping[str, str],
    content: bytes = b"",
) -> Answer:
    """Send a request to an application, and return its answer.

    `target` is a path with its query. Raises LostAnswerError if a scenario loses the
    answer.
    """
    length = str(len(content))
    scope = _scope_of(method, target, {**headers, "Content-Length": length})
    events = [{"type": "http.request", "body": content, "more_body": False}]
    messages: list[Any] = []

    async def receive() -> Any:
        if events:
            return events.pop()
        return await asyncio.Event().wait()  # the client stays

    async def send(message: Any) -> None:
        messages.append(message)

    await application(scope, receive, send)
    start = messages[0]
    pieces = [message.get("body", b"") for message in messages]
    pairs = [
        (name.decode("latin-1"), value.decode("latin-1"))
        for name, value in start["headers"]
    ]
    return Answer(
        status=start["status"],
        headers=lower_names(pairs),
        body=b"".join(pieces),
    )


def _scope_of(
    method: str,
    target: str,
    headers: Mapping[str, str],
) -> dict[str, Any]:
    """Return the ASGI scope of a request."""
    path, _, query = target.partition("?")
    sent_headers = {**headers, "Host": HOST}
    return {
        "type": "http",
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "headers": [
            (_header_bytes(name.lower()), _header_bytes(value))
            for name, value in sent_headers.items()
        ],
        "client": None,
        "server": (HOST, 80),
    }


def _header_bytes(text: str) -> bytes:
    return text.encode("latin-1", "replace")


def _as_transport_error(error: LostAnswerError) -> Exception:
    """Return what a client in this process sees of a lost answer.

    With httpx, it is an error that users of httpx catch.
    """
    bases: list[type[Exception]] = [LostAnswerError]
    for name in ("httpx", "httpx2"):  # TestClient takes either
        library = sys.modules.get(name)
        if library is not None:
            bases.append(library.RemoteProtocolError)
    members = {"__module__": LostAnswerError.__module__}
    error_class = type("LostAnswerError", tuple(bases), members)
    transport_error: Exception = error_class(str(error))
    return transport_error


async def _answer_lifespan(receive: Receive, send: Send) -> None:
    while True:
        event = await receive()
        kind = event["type"]
        await send({"type": f"{kind}.complete"})
        if kind == "lifespan.shutdown":
            return
