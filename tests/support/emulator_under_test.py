"""An emulator in the process of the tests, and the client of it.

`EmulatorUnderTest` speaks ASGI with an emulator of its own: what the tests see is what
a client sees, HTTP parsing aside. Time and the state of Teams are set by the few
methods that say so.
"""

import asyncio
import atexit
from collections.abc import (
    Callable,
    Coroutine,
    Iterator,
    MutableMapping,
    Sequence,
)
from functools import cache
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote

from msgspec import structs

from image_workflow_emulator.app import Application
from image_workflow_emulator.documents.values import parse_clock
from image_workflow_emulator.imaging.helpers import Helpers
from image_workflow_emulator.kernel.timestamps import parse_timestamp
from image_workflow_emulator.service import engine
from image_workflow_emulator.service.sandbox.sandbox import Sandbox
from image_workflow_emulator.settings import Settings
from tests.support.contract_check import ContractChecker, shipped_checker
from tests.support.emulator_client import Answer, Call, Client

Result = TypeVar("Result")


@cache
def shared_helpers() -> Helpers:
    helpers = Helpers()
    atexit.register(helpers.close)
    return helpers


class EmulatorUnderTest(Client):
    def __init__(
        self,
        settings: Settings,
        checker: ContractChecker | None = None,
    ) -> None:
        super().__init__(
            checker=checker or shipped_checker(is_closed=not settings.evolution)
        )
        self.application: Application = Application(settings, shared_helpers())
        self._runner = asyncio.Runner()

    def close(self) -> None:
        self._runner.close()

    def run(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        """Run a coroutine in the emulator's event loop.

        `Runner.run` would change signal handlers each time.
        """
        return self._runner.get_loop().run_until_complete(coroutine)

    def send(self, call: Call) -> Answer:
        answer = self.run(self._send(call))
        assert answer is not None, f"{call.method} {call.target} was not answered"
        return answer

    def leave(self, call: Call) -> None:
        call.disconnects = True
        answer = self.run(self._send(call))
        assert answer is None, "a client that has left was answered"

    def together(self, *calls: Call) -> list[Answer]:
        """Send requests at the same time, in this order, and wait for all answers."""

        async def gather() -> list[Answer | None]:
            return await asyncio.gather(*(self._send(call) for call in calls))

        answers = [answer for answer in self.run(gather()) if answer is not None]
        assert len(answers) == len(calls)
        return answers

    @property
    def sandbox(self) -> Sandbox:
        return self.application.sandboxes.default

    def now(self) -> int:
        return self.sandbox.clock.now()

    def advance(self, seconds: float) -> None:
        engine.advance(self.sandbox, self.now() + round(seconds * 1000))

    def set_team(
        self,
        name: str = "Demo",
        *,
        credits_available: int | None = None,
        **changes: Any,
    ) -> None:
        """Change a Team.

        Its available Credits, or fields such as `subscription_active` and
        `concurrency_limit`.
        """
        (account,) = self.sandbox.find_accounts(name)
        if credits_available is not None:
            missing = credits_available - account.ledger.available
            account.ledger.grant(missing, self.now(), "set")
        account.team = structs.replace(account.team, **changes)

    # The wire ------------------------------------------------------------------------

    def scope_of(self, call: Call) -> MutableMapping[str, Any]:
        """Return the head of a request as a server hands it on."""
        raw_path, query = self.place_of(call)
        return {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": call.method,
            "scheme": "http",
            "path": unquote(raw_path),
            "raw_path": raw_path.encode(),
            "root_path": "",
            "query_string": query.encode("utf-8", "surrogateescape"),
            "headers": self.headers_of(call),
            "client": ("127.0.0.1", 50000),
            "server": ("127.0.0.1", 8038),
        }

    async def _send(self, call: Call) -> Answer | None:
        pieces = call.pieces or [call.body or b""]
        answer = await _exchange(
            self.application,
            self.scope_of(call),
            pieces,
            call.disconnects,
        )
        if answer is not None:
            self.check(call, answer)
        return answer


MakeEmulator = Callable[..., EmulatorUnderTest]
"""Makes an emulator with options of its own: those of `settings_of`."""


async def _exchange(
    application: Application,
    scope: MutableMapping[str, Any],
    pieces: Sequence[bytes],
    disconnects: bool,
) -> Answer | None:
    """Speak ASGI with the application; None if it answered nothing."""
    messages = _messages(pieces, disconnects)
    taken = 0
    started: list[tuple[MutableMapping[str, Any], int]] = []
    chunks: list[bytes] = []

    async def receive() -> MutableMapping[str, Any]:
        nonlocal taken
        if taken:
            # The pieces of requests that are sent together come by turns.
            await asyncio.sleep(0)
        message = next(messages, None)
        if message is None:
            # Nothing more comes from a client that waits for its answer.
            await asyncio.Event().wait()
            raise AssertionError
        taken += message["type"] == "http.request"
        return message

    async def send(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            assert not started, "the answer began twice"
            started.append((message, taken))
        else:
            assert started, "the body came before the head"
            chunks.append(message.get("body", b""))

    async with asyncio.timeout(30):
        await application(scope, receive, send)
    if not started:
        return None
    ((head, taken_at_start),) = started
    return Answer(
        status=int(head["status"]),
        raw_headers=tuple(_header_text(*header) for header in head["headers"]),
        body=b"".join(chunks),
        pieces_taken=taken_at_start,
    )


def _header_text(name: bytes, value: bytes) -> tuple[str, str]:
    return name.decode("latin-1").lower(), value.decode("latin-1")


def _messages(
    pieces: Sequence[bytes],
    disconnects: bool,
) -> Iterator[MutableMapping[str, Any]]:
    for index, piece in enumerate(pieces):
        more = disconnects or index < len(pieces) - 1
        yield {"type": "http.request", "body": piece, "more_body": more}
    if disconnects:
        yield {"type": "http.disconnect"}


def settings_of(
    folder: Path = Path(),
    *,
    clock: str = "manual",
    start: str | None = None,
    **options: Any,
) -> Settings:
    """Return the settings of a test's emulator.

    The texts of `world` and `scenario` are put into files of a folder.
    """
    for name in options.keys() & {"world", "scenario"}:
        file = folder / f"{name}.yaml"
        file.write_text(options[name], encoding="utf-8")
        options[name] = str(file)
    instant = None
    if start is not None:
        instant = parse_timestamp(start)
    return Settings(
        clock=parse_clock(clock),
        start=instant,
        **options,
    )
