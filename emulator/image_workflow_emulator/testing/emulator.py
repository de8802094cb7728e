"""A whole emulator: one that is started for a test, one that runs already, or one in this process, as an ASGI
application for `httpx.ASGITransport` and Starlette's `TestClient`.

Owns the options of `serve` as Python has them, and how the control plane of an emulator in this process is asked:
without a socket, synchronously, also while an event loop runs.
"""

import asyncio
import json
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Coroutine, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self
from weakref import finalize

from image_workflow_emulator import DEFAULT_URL
from image_workflow_emulator.client import control_client
from image_workflow_emulator.client.control_client import (
    Answer,
    ControlClient,
    lower_names,
)
from image_workflow_emulator.client.local_files import (
    NO_ANSWER,
    NOT_STARTED,
    EmulatorError,
    is_refusal,
    unreadable,
)
from image_workflow_emulator.documents.complaints import DocumentError
from image_workflow_emulator.http.heads import Receive, Scope, Send
from image_workflow_emulator.settings import OPTIONS, UsageError, read_settings
from image_workflow_emulator.testing.sandbox import Sandbox
from image_workflow_emulator.web.wire import LostAnswerError

if TYPE_CHECKING:
    from image_workflow_emulator.app import Application

__tracebackhide__ = is_refusal

HOST: Final = "testserver"
"""The host that an emulator in this process is asked for: that of Starlette's TestClient."""
ORIGIN: Final = f"http://{HOST}"

_LAUNCHER: Final = """\
import os, signal, sys, threading

def end_with_parent():
    while os.read(0, 1024):
        pass
    os.kill(os.getpid(), signal.SIGTERM)

threading.Thread(target=end_with_parent, daemon=True).start()
sys.path.append(sys.argv.pop(1))
for name in [name for name in os.environ if name.startswith("EMULATOR_")]:
    del os.environ[name]
from image_workflow_emulator.cli.main import main
sys.exit(main())
"""
"""Runs the command: its options alone count, not the environment's. Standard input ends with the process that
holds it.
"""


class Emulator:
    """A running emulator. As a context manager it is closed at the end: one that was started here stops then.

    `Emulator.start` makes one, `Emulator.connect` uses one that runs already, and `create_app(...).emulator` is one in
    this process.

        >>> emulator = create_app().emulator
        >>> with emulator.sandbox(id="checkout") as sandbox:
        ...     sandbox.key("iwe_demo_read")
        'iwe_demo_read_checkout'
    """

    def __init__(
        self, plane: ControlClient, close: Callable[[], None] = lambda: None
    ) -> None:
        self._plane = plane.of(None)
        self._close = finalize(self, close)
        self.default = Sandbox(
            plane.of(control_client.DEFAULT_SANDBOX), control_client.DEFAULT_SANDBOX
        )
        """The sandbox that always exists."""

    @classmethod
    def start(cls, **options: Any) -> Self:
        """Start one in a process of its own, on a free port unless `port` is given. It ends with this process at the
        latest.

        `options` are those of `create_app`. The variables `EMULATOR_...` of the environment do not count.

        Raises TypeError for an unknown option, EmulatorError if it does not start; `detail` says why.

            >>> with Emulator.start(clock="manual") as emulator:
            ...     emulator.default.clock.mode
            'manual'
        """
        with option_texts({"port": 0, "access_log": False, **options}) as texts:
            url, stop = _start_server(texts)
        return cls(ControlClient(url, options.get("control_token")), stop)

    @classmethod
    def connect(cls, url: str, control_token: str | None = None) -> Self:
        """Use one that runs already. It goes on when this object is closed.

        `url`: its address, such as `http://127.0.0.1:8038`; a base URL that ends in `/v1` will do. `control_token`: the
        token that it was started with.

        Raises EmulatorError (`no_answer`) if none answers there.

            >>> with Emulator.start() as emulator:
            ...     Emulator.connect(f"{emulator.url}/v1").url == emulator.url
            True
        """
        try:
            plane = ControlClient(control_client.emulator_address(url), control_token)
        except ValueError:
            raise EmulatorError(
                NO_ANSWER,
                f"found the address {url!r}; expected one such as {DEFAULT_URL}",
            ) from None
        plane.call("GET", "health", seconds=10)
        return cls(plane)

    @property
    def url(self) -> str:
        """Its address, such as `http://127.0.0.1:8038`."""
        return self._plane.url

    def sandbox(self, **options: Any) -> Sandbox:
        """Make a sandbox. As a context manager it is deleted at the end.

        `options`: `id`, `seed`, `clock`, `start` (a timestamp or an aware datetime), `world` (a mapping or a YAML
        file), `scenario` (a name of the library, a mapping or a YAML file), `rate_limits`, `evolution`, and `readings`
        (a text as `--readings` takes it, a mapping by decision, or a readings file). What is not given is as the
        emulator was started.

        Raises EmulatorError for what cannot be used; of a bad file, `detail` has file, line and column.

            >>> with create_app().emulator.sandbox(clock="manual", scenario="rate-limited") as sandbox:
            ...     sandbox.scenario
            'rate-limited'
        """
        made = self._plane.create_sandbox(options)
        return Sandbox(self._plane.of(made["id"]), made["id"])

    def close(self) -> None:
        """Close it: an emulator that was started here stops. Raises nothing, also the second time."""
        self._close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


# A process of its own -------------------------------------------------------------------------------------------------


def _start_server(options: Mapping[str, str]) -> tuple[str, Callable[[], None]]:
    """Start `serve` with the texts of options, by their fields; when it is ready, return its address and what stops it.

    Raises EmulatorError if it does not start.
    """
    folder = str(Path(__file__).parents[2])
    arguments = [
        f"{option.flag}={options[option.field]}"
        for option in OPTIONS
        if option.field in options
    ]
    with tempfile.TemporaryFile() as complaints:
        process = subprocess.Popen(  # noqa: S603
            [sys.executable, "-P", "-c", _LAUNCHER, folder, "serve", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=complaints,
            start_new_session=True,  # Ctrl-C is for the tests, which end it when they have cleaned up
        )
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith(b"ready "):
                return line.decode().removeprefix("ready ").rpartition("/")[0], partial(
                    _stop, process
                )
        _stop(process)
        complaints.seek(0)
        text = (
            complaints.read()
            .decode(errors="replace")
            .replace("image-workflow-emulator: ", "")
            .strip()
        )
    raise EmulatorError(
        NOT_STARTED, text or f"the emulator ended with status {process.returncode}"
    )


def _stop(process: "subprocess.Popen[bytes]") -> None:
    """End it, and wait for its end."""
    with process:  # which closes its streams and waits
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()


# In this process ------------------------------------------------------------------------------------------------------


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

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
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
        return Emulator(
            ControlClient(url, settings.control_token, transport=self._answer)
        )

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
        target = url.removeprefix(self.emulator.url)
        return self._run(
            ask(self._application, method, target, headers, content or b""), seconds
        )

    def _run(self, coroutine: Coroutine[Any, Any, Answer], seconds: float) -> Answer:
        """Run a coroutine to its end from synchronous code.

        It runs in the event loop that serves requests, if that runs in another thread; else in one of its own.
        """
        loop = self._loop
        if (
            loop is not None
            and loop.is_running()
            and self._thread != threading.get_ident()
        ):
            return asyncio.run_coroutine_threadsafe(coroutine, loop).result(seconds)
        with ThreadPoolExecutor(
            1
        ) as thread:  # another thread, as this one may have a loop that runs
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
    application: "Application",
    method: str,
    target: str,
    headers: Mapping[str, str],
    content: bytes = b"",
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
            (
                name.lower().encode("latin-1", "replace"),
                value.encode("latin-1", "replace"),
            )
            for name, value in sent.items()
        ],
        "client": None,
        "server": (HOST, 80),
    }
    pieces = [{"type": "http.request", "body": content, "more_body": False}]
    answered: list[Any] = []

    async def receive() -> Any:
        return (
            pieces.pop() if pieces else await asyncio.Event().wait()
        )  # the client stays

    async def send(message: Any) -> None:
        answered.append(message)

    await application(scope, receive, send)
    pairs = (
        (name.decode("latin-1"), value.decode("latin-1"))
        for name, value in answered[0]["headers"]
    )
    return Answer(
        answered[0]["status"],
        lower_names(pairs),
        b"".join(message.get("body", b"") for message in answered),
    )


def _as_transport_error(error: LostAnswerError) -> Exception:
    """Return what a client in this process is to see of a lost answer: with httpx, an error that its users catch."""
    libraries = filter(
        None, map(sys.modules.get, ("httpx", "httpx2"))
    )  # TestClient takes either
    bases = (LostAnswerError, *(library.RemoteProtocolError for library in libraries))
    lost: Exception = type(
        "LostAnswerError", bases, {"__module__": LostAnswerError.__module__}
    )(str(error))
    return lost


async def _answer_lifespan(receive: Receive, send: Send) -> None:
    while True:
        kind = (await receive())["type"]
        await send({"type": f"{kind}.complete"})
        if kind == "lifespan.shutdown":
            return


# The options of `serve` as Python has them ----------------------------------------------------------------------------


@contextmanager
def option_texts(options: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    """Give the text of each option that is given, by its field: True is `on`, a list is its members with commas
    between.

    An option has the name of its flag, such as `allowed_host`; one that can be repeated also that of all its values. A
    world or a scenario that is a mapping is a file while this lasts.

    Raises TypeError for an option that `serve` does not have.
    """
    names = {
        option.flag.removeprefix("--").replace("-", "_"): option.field
        for option in OPTIONS
    }
    fields = {**names, **{field: field for field in names.values()}}
    unknown = sorted(options.keys() - fields.keys())
    if unknown:
        raise TypeError(
            f"unknown option {unknown[0]!r}; expected one of: {', '.join(names)}"
        )
    with tempfile.TemporaryDirectory() as folder:
        texts = {}
        for name, value in options.items():
            if name in ("world", "scenario") and isinstance(value, Mapping):
                file = Path(folder, f"{name}.json")
                file.write_text(
                    json.dumps(value, indent=2, ensure_ascii=False), encoding="utf-8"
                )
                texts[fields[name]] = str(file)
            elif value is not None:
                texts[fields[name]] = _value_text(value)
        yield texts


def _value_text(value: Any) -> str:
    """Return one value as the command line takes it."""
    match value:
        case bool():
            return "on" if value else "off"
        case datetime():
            return control_client.timestamp_text(value)
        case Mapping():  # readings by decision
            return (
                ",".join(f"{decision}={reading}" for decision, reading in value.items())
                or "plain"
            )
        case list() | tuple():
            return ",".join(map(_value_text, value))
    return str(value)
