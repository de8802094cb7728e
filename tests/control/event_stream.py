"""A stream of server-sent events under test: opened, read event by event, and left."""

import asyncio
from collections.abc import Callable
from typing import Any, NamedTuple

import orjson

from tests.support.emulator_client import EmulatorUnderTest, Json, control_call

PATIENCE_SECONDS = 5


class Event(NamedTuple):
    kind: str
    number: int
    data: Json


class EventStream:
    """A client that watches an emulator. While its emulator's loop runs, what comes is taken unless `is_slow`."""

    def __init__(self, emulator: EmulatorUnderTest, path: str = "/events", last_event_id: str | None = None) -> None:
        self.status = 0
        self.headers: dict[str, str] = {}
        self.events: list[Event] = []
        self.last_event_id = ""
        self.comments = 0
        self.is_slow = False
        self.is_over = False
        self._emulator = emulator
        self._rest = b""
        self._gone = asyncio.Event()
        headers = {} if last_event_id is None else {"Last-Event-ID": last_event_id}
        self._scope = emulator.scope_of(control_call("GET", path, headers=headers))
        self._task = self._run(self._open())

    def read(self, count: int) -> list[Event]:
        """Wait for so many events, and take them."""
        try:
            self._run(self._until(lambda: len(self.events) >= count))
        except TimeoutError:
            raise AssertionError(f"expected {count} events, found {self.events}") from None
        taken, self.events = self.events[:count], self.events[count:]
        return taken

    def end(self) -> None:
        """Wait until the emulator ends the stream."""
        self._run(self._until(lambda: self.is_over))

    def leave(self) -> None:
        self._gone.set()
        self.end()

    def _run(self, coroutine: Any) -> Any:
        return self._emulator.run(coroutine)

    async def _open(self) -> "asyncio.Task[None]":
        task = asyncio.create_task(self._speak())
        await self._until(lambda: self.last_event_id != "" or self.is_over)
        return task

    async def _until(self, is_met: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not is_met():  # noqa: ASYNC110 (what is waited for is a state of two sides)
                await asyncio.sleep(0.001)

    async def _speak(self) -> None:
        requests = iter([{"type": "http.request", "body": b"", "more_body": False}])

        async def receive() -> Any:
            message = next(requests, None)
            if message is None:
                await self._gone.wait()
                return {"type": "http.disconnect"}
            return message

        async def send(message: Any) -> None:
            while self.is_slow:  # noqa: ASYNC110 (a test says when it is over)
                await asyncio.sleep(0.001)
            if message["type"] == "http.response.start":
                self.status = message["status"]
                self.headers = {name.decode(): value.decode() for name, value in message["headers"]}
            else:
                self._take(message["body"])

        await self._emulator.application(self._scope, receive, send)
        self.is_over = True

    def _take(self, chunk: bytes) -> None:
        *blocks, self._rest = (self._rest + chunk).split(b"\n\n")
        for block in blocks:
            fields = dict(line.split(": ", 1) for line in block.decode().split("\n"))
            self.last_event_id = fields.get("id", self.last_event_id)
            if "data" in fields:
                self.events.append(Event(fields["event"], int(fields["id"]), orjson.loads(fields["data"])))
            self.comments += "" in fields
