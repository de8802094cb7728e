"""The events of a sandbox: what is told, from where on, and that watching costs the service little."""

import asyncio
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import orjson
import pytest

from image_workflow_emulator.control import events
from image_workflow_emulator.service.records import feed
from tests.support.emulator_client import (
    FULL,
    START,
    UPLOAD,
    Call,
    EmulatorUnderTest,
    Json,
    control_call,
)

PATIENCE_SECONDS = 5
PHOTOSHOOT = {
    "given": [
        {"product": {"name": "Shirt"}},
        {"photoshoot": {"products": ["Shirt"], "finished": False}},
    ]
}


class Event(NamedTuple):
    kind: str
    number: int
    data: Json


class EventStream:
    """A client that watches an emulator. While its emulator's loop runs, what comes is taken unless `is_slow`."""

    def __init__(
        self,
        emulator: EmulatorUnderTest,
        path: str = "/events",
        last_event_id: str | None = None,
    ) -> None:
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
            raise AssertionError(
                f"expected {count} events, found {self.events}"
            ) from None
        taken, self.events = self.events[:count], self.events[count:]
        return taken

    def end(self) -> None:
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
                self.headers = {
                    name.decode(): value.decode() for name, value in message["headers"]
                }
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
                self.events.append(
                    Event(
                        fields["event"], int(fields["id"]), orjson.loads(fields["data"])
                    )
                )
            self.comments += "" in fields


Watch = Callable[..., EventStream]


@pytest.fixture
def watch(emulator: EmulatorUnderTest) -> Iterator[Watch]:
    opened: list[EventStream] = []

    def open_one(
        path: str = "/events", last_event_id: str | None = None
    ) -> EventStream:
        opened.append(EventStream(emulator, path, last_event_id))
        return opened[-1]

    yield open_one
    for stream in opened:
        stream.is_slow = False
        stream.leave()


def test_a_request_is_told_when_it_arrives_and_when_it_leaves(
    emulator: EmulatorUnderTest, watch: Watch
) -> None:
    emulator.get("/poses")  # before the stream begins
    answer = emulator.ask("HEAD", "/events")
    assert (200, b"") == (answer.status, answer.body)
    stream = watch()
    assert (stream.status, stream.headers["content-type"]) == (
        200,
        "text/event-stream; charset=utf-8",
    )
    assert stream.headers["cache-control"] == "no-store"
    emulator.get("/team")
    arrived, left = stream.read(2)
    assert (arrived.kind, left.kind, left.number) == (
        "request",
        "request",
        arrived.number + 1,
    )
    assert (
        arrived.data["status"],
        arrived.data["duration_ms"],
        arrived.data["path"],
    ) == (None, None, "/v1/team")
    assert arrived.data["operation"] == "getTeam"
    assert left.data == emulator.told("GET", "/requests")["data"][0]
    assert arrived.data.keys() == left.data.keys()


def test_a_request_in_flight_is_told_before_it_is_answered(
    emulator: EmulatorUnderTest, watch: Watch
) -> None:
    emulator.rule({"operation": "createUpload"}, {"hold": "10s"})
    stream = watch()
    emulator.together(
        Call("POST", "/uploads", UPLOAD),
        control_call("POST", "/clock/advance", {"seconds": 10}),
    )
    told = [(event.kind, event.data.get("status")) for event in stream.read(3)]
    assert told == [("request", None), ("clock", None), ("request", 201)]


def test_the_changes_of_work_are_told_in_their_order(
    emulator: EmulatorUnderTest, watch: Watch
) -> None:
    emulator.assets(1)
    stream = watch()
    emulator.told("POST", "/given", PHOTOSHOOT)
    emulator.told("POST", "/clock/advance", {"until_idle": True})
    told = stream.read(9)
    work = [event.data for event in told if event.kind == "work"]
    assert [data["status"] for data in work] == [
        "queued",
        *["processing"] * 4,
        "completed",
    ]
    assert {data["id"] for data in work} == {
        emulator.told("GET", "/work")["data"][0]["id"]
    }
    balances = [
        (event.data["credits"], event.data["reserved"])
        for event in told
        if event.kind == "team"
    ]
    assert balances[-1] == (emulator.credits(), 0)
    assert told[-1].kind == "clock"


@pytest.mark.parametrize(
    ("kind", "shown", "method", "path", "body"),
    [
        (
            "clock",
            {"now": "2026-01-01T00:00:10.000Z", "mode": "manual"},
            "POST",
            "/clock/advance",
            {"seconds": 10},
        ),
        ("clock", {"now": START, "mode": "auto"}, "PUT", "/clock", {"mode": "auto"}),
        (
            "team",
            {"name": "Demo", "credits": 7},
            "PATCH",
            "/teams/Demo",
            {"credits": 7},
        ),
        (
            "team",
            {"name": "Demo", "credits": 100},
            "PATCH",
            "/credentials/iwe_demo_full",
            {"state": "revoked"},
        ),
        ("scenario", {"scenario": None}, "PUT", "/admission", {"state": "paused"}),
    ],
)
def test_a_change_over_the_control_plane_is_told(
    emulator: EmulatorUnderTest,
    watch: Watch,
    kind: str,
    shown: Json,
    method: str,
    path: str,
    body: Json,
) -> None:
    stream = watch()
    emulator.told(method, path, body)
    (event,) = stream.read(1)
    assert (kind, shown) == (event.kind, {name: event.data[name] for name in shown})


def test_what_scenarios_change_is_told(
    emulator: EmulatorUnderTest, watch: Watch
) -> None:
    stream = watch()
    change = {"at": "5s", "set": {"team": "Demo", "subscription": "inactive"}}
    emulator.told("PUT", "/scenario", {"scenario": "lapse", "timeline": [change]})
    assert [(event.kind, event.data["scenario"]) for event in stream.read(1)] == [
        ("scenario", "lapse")
    ]
    emulator.told("POST", "/clock/advance", {"seconds": 5})
    told = stream.read(3)
    assert [event.kind for event in told] == ["team", "scenario", "clock"]
    assert told[1].data["timeline"][0]["done_at"] == "2026-01-01T00:00:05.000Z"
    emulator.ask("DELETE", "/scenario")
    assert [(event.kind, event.data["scenario"]) for event in stream.read(1)] == [
        ("scenario", None)
    ]


@pytest.mark.parametrize("how", ["reset", "load"])
def test_a_reset_is_told_and_what_comes_after_it(
    emulator: EmulatorUnderTest, watch: Watch, how: str
) -> None:
    state = emulator.ask("GET", "/state").body
    stream = watch()
    emulator.reset() if how == "reset" else emulator.told(
        "PUT", "/state", content=state
    )
    emulator.get("/poses")
    told = stream.read(3)
    assert [event.kind for event in told] == ["reset", "request", "request"]
    assert (
        told[0].data["id"],
        told[0].data["clock"]["now"],
        told[2].data["sequence"],
    ) == ("default", START, 1)


def test_each_sandbox_has_a_stream_of_its_own_which_ends_with_it(
    emulator: EmulatorUnderTest, watch: Watch
) -> None:
    emulator.make_sandbox("mine")
    stream = watch("/sandboxes/mine/events")
    emulator.get("/team")
    emulator.get("/team", key=f"{FULL}_mine")
    told = stream.read(2)
    assert told[1].data["credential"]["key"] == "iwe_demo…"
    assert (stream.events, [event.data["sequence"] for event in told]) == ([], [1, 1])
    emulator.ask("DELETE", "/sandboxes/mine")
    stream.end()


@pytest.mark.emulator(clock="x20")
def test_what_falls_due_on_a_real_clock_is_told_though_nobody_asks(
    emulator: EmulatorUnderTest, watch: Watch
) -> None:
    stream = watch()
    emulator.told("POST", "/given", PHOTOSHOOT)
    work = [event.data["status"] for event in stream.read(8) if event.kind == "work"]
    assert (work[0], work[-1]) == ("queued", "completed")


def test_a_stream_goes_on_where_another_stopped(
    emulator: EmulatorUnderTest, watch: Watch
) -> None:
    stream = watch()
    emulator.get("/team")
    seen = stream.read(2)
    stream.leave()
    emulator.get("/poses")
    emulator.told("PATCH", "/teams/Demo", {"credits": 7})
    told = watch(last_event_id=str(seen[0].number)).read(4)
    assert told[0] == seen[1]
    assert [event.kind for event in told] == ["request", "request", "request", "team"]
    assert [event.number for event in told] == list(
        range(seen[1].number, seen[1].number + 4)
    )


def test_a_stream_goes_back_as_far_as_the_journal(
    emulator: EmulatorUnderTest, watch: Watch
) -> None:
    began = watch().last_event_id
    emulator.get("/team")
    emulator.ask("DELETE", "/requests")
    emulator.get("/poses")
    told = watch(last_event_id=began).read(4)
    assert [event.kind for event in told] == ["gap", "cleared", "request", "request"]
    assert [told[0].data, told[1].data, told[2].data["path"]] == [
        {"missed": 2},
        {"last_sequence": 1},
        "/v1/poses",
    ]
    assert [event.kind for event in watch(last_event_id="999999").read(1)] == [
        "gap"
    ]  # of another life


@pytest.mark.parametrize("last_event_id", ["x", "-1", "1.5", "9" * 17, ""])
def test_an_id_that_none_can_be_is_refused(
    emulator: EmulatorUnderTest, last_event_id: str
) -> None:
    refused = emulator.refusal(
        "GET", "/events", headers={"Last-Event-ID": last_event_id}
    )
    assert refused[:2] == (400, "invalid_request")


def test_a_slow_reader_misses_some(
    emulator: EmulatorUnderTest, watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed, "MAX_CHANGES", 10)
    emulator.make_sandbox("mine")
    stream = watch("/sandboxes/mine/events")
    stream.is_slow = True
    for _ in range(20):
        emulator.get("/team", key=f"{FULL}_mine")
    stream.is_slow = False
    told = stream.read(1)
    while told[-1].data.get("sequence") != 20:
        told += stream.read(1)
    gap = [event for event in told if event.kind == "gap"]
    assert len(gap) == 1
    assert gap[0].data["missed"] >= 20


def test_a_stream_ends_when_it_is_left_and_with_the_emulator(
    emulator: EmulatorUnderTest, watch: Watch
) -> None:
    left, stays = watch(), watch()
    assert len(emulator.sandbox.feed.listeners) == 2
    left.leave()
    assert len(emulator.sandbox.feed.listeners) == 1
    emulator.application.stop()
    stays.end()


def test_a_silent_stream_shows_life(
    emulator: EmulatorUnderTest, watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "HEARTBEAT_SECONDS", 0.001)
    stream = watch()
    stream._run(stream._until(lambda: stream.comments > 2))
    assert stream.events == []


def test_streams_are_limited(
    emulator: EmulatorUnderTest, watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "MAX_STREAMS", 2)
    first, _ = watch(), watch()
    refused = emulator.ask("GET", "/events")
    assert (refused.outcome, refused.headers["retry-after"]) == (
        (503, "service_unavailable"),
        "5",
    )
    first.leave()
    assert watch().status == 200
