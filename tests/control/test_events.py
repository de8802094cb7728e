"""The stream of a sandbox's events: what is told, from where on, and its limits."""

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
    Json,
    advance_call,
    control_call,
)
from tests.support.emulator_under_test import EmulatorUnderTest

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
    """A client that watches an emulator.

    While its emulator's loop runs, it takes what comes, unless `is_slow`.
    """

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
        taken = self.events[:count]
        del self.events[:count]
        return taken

    def read_one(self) -> Event:
        (event,) = self.read(1)
        return event

    def wait_for_comments(self, count: int) -> None:
        self._run(self._until(lambda: self.comments >= count))

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
            # What is waited for is a state of two sides.
            while not is_met():  # noqa: ASYNC110
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
            # A test says when it is over.
            while self.is_slow:  # noqa: ASYNC110
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
                data = orjson.loads(fields["data"])
                self.events.append(Event(fields["event"], int(fields["id"]), data))
            if "" in fields:
                self.comments += 1


def kinds(events: list[Event]) -> list[str]:
    return [event.kind for event in events]


Watch = Callable[..., EventStream]


@pytest.fixture
def watch(emulator: EmulatorUnderTest) -> Iterator[Watch]:
    opened: list[EventStream] = []

    def open_stream(
        path: str = "/events",
        last_event_id: str | None = None,
    ) -> EventStream:
        opened.append(EventStream(emulator, path, last_event_id))
        return opened[-1]

    yield open_stream
    for stream in opened:
        stream.is_slow = False
        stream.leave()


# Requests ----------------------------------------------------------------------------


def test_a_stream_is_one_of_server_sent_events(watch: Watch) -> None:
    stream = watch()

    assert stream.status == 200
    assert stream.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert stream.headers["cache-control"] == "no-store"


def test_head_of_the_stream_ends_at_once(emulator: EmulatorUnderTest) -> None:
    answer = emulator.ask("HEAD", "/events")

    assert answer.status == 200
    assert answer.body == b""


def test_a_stream_begins_with_what_comes_after_it_was_opened(
    emulator: EmulatorUnderTest,
    watch: Watch,
) -> None:
    emulator.get("/poses")
    stream = watch()

    emulator.get("/team")

    assert stream.read_one().data["path"] == "/v1/team"


def test_a_request_is_told_when_it_arrives(
    emulator: EmulatorUnderTest,
    watch: Watch,
) -> None:
    stream = watch()

    emulator.get("/team")

    arrived = stream.read_one()
    assert arrived.kind == "request"
    assert arrived.data["path"] == "/v1/team"
    assert arrived.data["operation"] == "getTeam"
    assert arrived.data["status"] is None
    assert arrived.data["duration_ms"] is None


def test_a_request_is_told_again_as_the_journal_has_it_when_it_leaves(
    emulator: EmulatorUnderTest,
    watch: Watch,
) -> None:
    stream = watch()

    emulator.get("/team")

    arrived, left = stream.read(2)
    (entry,) = emulator.told("GET", "/requests")["data"]

    assert left.kind == "request"
    assert left.number == arrived.number + 1
    assert left.data == entry
    assert left.data.keys() == arrived.data.keys()


def test_a_request_in_flight_is_told_before_it_is_answered(
    emulator: EmulatorUnderTest,
    watch: Watch,
) -> None:
    emulator.rule({"operation": "createUpload"}, {"hold": "10s"})
    stream = watch()

    emulator.together(Call("POST", "/uploads", UPLOAD), advance_call(10))

    arrived, moved, left = stream.read(3)
    assert kinds([arrived, moved, left]) == ["request", "clock", "request"]
    assert arrived.data["status"] is None
    assert left.data["status"] == 201


# What changes ------------------------------------------------------------------------


def test_the_changes_of_work_are_told_in_their_order(
    emulator: EmulatorUnderTest,
    watch: Watch,
) -> None:
    emulator.assets(1)
    stream = watch()

    emulator.told("POST", "/given", PHOTOSHOOT)
    emulator.told("POST", "/clock/advance", {"until_idle": True})

    work = [event.data for event in stream.read(9) if event.kind == "work"]
    (photoshoot,) = emulator.told("GET", "/work")["data"]

    assert [data["status"] for data in work] == [
        "queued",
        "processing",
        "processing",
        "processing",
        "processing",
        "completed",
    ]
    assert {data["id"] for data in work} == {photoshoot["id"]}


def test_what_work_costs_is_told_before_the_move_of_the_clock_that_ended_it(
    emulator: EmulatorUnderTest,
    watch: Watch,
) -> None:
    emulator.assets(1)
    stream = watch()

    emulator.told("POST", "/given", PHOTOSHOOT)
    emulator.told("POST", "/clock/advance", {"until_idle": True})

    told = stream.read(9)
    last_balance = [event.data for event in told if event.kind == "team"][-1]

    assert last_balance["credits"] == emulator.credits()
    assert last_balance["reserved"] == 0
    assert told[-1].kind == "clock"


@pytest.mark.parametrize(
    ("method", "path", "body", "kind", "shown"),
    [
        (
            "POST",
            "/clock/advance",
            {"seconds": 10},
            "clock",
            {"now": "2026-01-01T00:00:10.000Z", "mode": "manual"},
        ),
        ("PUT", "/clock", {"mode": "auto"}, "clock", {"now": START, "mode": "auto"}),
        (
            "PATCH",
            "/teams/Demo",
            {"credits": 7},
            "team",
            {"name": "Demo", "credits": 7},
        ),
        (
            "PATCH",
            "/credentials/iwe_demo_full",
            {"state": "revoked"},
            "team",
            {"name": "Demo", "credits": 100},
        ),
        ("PUT", "/admission", {"state": "paused"}, "scenario", {"scenario": None}),
    ],
)
def test_a_change_over_the_control_plane_is_told(
    emulator: EmulatorUnderTest,
    watch: Watch,
    method: str,
    path: str,
    body: Json,
    kind: str,
    shown: Json,
) -> None:
    stream = watch()

    emulator.told(method, path, body)

    event = stream.read_one()
    assert event.kind == kind
    assert shown.items() <= event.data.items()


LAPSE = {
    "scenario": "lapse",
    "timeline": [{"at": "5s", "set": {"team": "Demo", "subscription": "inactive"}}],
}


def test_a_scenario_is_told_when_it_is_put(
    emulator: EmulatorUnderTest,
    watch: Watch,
) -> None:
    stream = watch()

    emulator.use(LAPSE)

    event = stream.read_one()
    assert event.kind == "scenario"
    assert event.data["scenario"] == "lapse"


def test_a_scenario_is_told_when_it_is_ended(
    emulator: EmulatorUnderTest,
    watch: Watch,
) -> None:
    emulator.use(LAPSE)
    stream = watch()

    emulator.without_scenario()

    event = stream.read_one()
    assert event.kind == "scenario"
    assert event.data["scenario"] is None


def test_what_a_scenario_changes_is_told(
    emulator: EmulatorUnderTest,
    watch: Watch,
) -> None:
    emulator.use(LAPSE)
    stream = watch()

    emulator.told("POST", "/clock/advance", {"seconds": 5})

    told = stream.read(3)
    assert kinds(told) == ["team", "scenario", "clock"]
    assert told[1].data["timeline"][0]["done_at"] == "2026-01-01T00:00:05.000Z"


@pytest.mark.parametrize("begins_anew_by", ["a reset", "a loaded state"])
def test_a_reset_is_told_and_what_comes_after_it(
    emulator: EmulatorUnderTest,
    watch: Watch,
    begins_anew_by: str,
) -> None:
    state = emulator.ask("GET", "/state").body
    stream = watch()

    if begins_anew_by == "a reset":
        emulator.reset()
    else:
        emulator.told("PUT", "/state", content=state)
    emulator.get("/poses")

    reset, arrived, left = stream.read(3)
    assert kinds([reset, arrived, left]) == ["reset", "request", "request"]
    assert reset.data["id"] == "default"
    assert reset.data["clock"]["now"] == START
    assert left.data["sequence"] == 1


def test_each_sandbox_has_a_stream_of_its_own(
    emulator: EmulatorUnderTest,
    watch: Watch,
) -> None:
    emulator.make_sandbox("mine")
    stream = watch("/sandboxes/mine/events")

    emulator.get("/team")
    emulator.get("/team", key=f"{FULL}_mine")

    arrived, left = stream.read(2)
    assert arrived.data["sequence"] == 1
    assert left.data["sequence"] == 1
    assert left.data["credential"]["key"] == "iwe_demo…"
    assert stream.events == []


def test_a_stream_ends_with_its_sandbox(
    emulator: EmulatorUnderTest,
    watch: Watch,
) -> None:
    emulator.make_sandbox("mine")
    stream = watch("/sandboxes/mine/events")

    emulator.ask("DELETE", "/sandboxes/mine")

    stream.end()


@pytest.mark.emulator(clock="x20")
def test_what_falls_due_on_a_real_clock_is_told_though_nobody_asks(
    emulator: EmulatorUnderTest,
    watch: Watch,
) -> None:
    stream = watch()

    emulator.told("POST", "/given", PHOTOSHOOT)

    told = stream.read(8)
    statuses = [event.data["status"] for event in told if event.kind == "work"]

    assert statuses[0] == "queued"
    assert statuses[-1] == "completed"


# From where on -----------------------------------------------------------------------


def test_a_stream_goes_on_where_another_stopped(
    emulator: EmulatorUnderTest,
    watch: Watch,
) -> None:
    stream = watch()
    emulator.get("/team")
    arrived, left = stream.read(2)
    stream.leave()
    emulator.get("/poses")
    emulator.told("PATCH", "/teams/Demo", {"credits": 7})

    told = watch(last_event_id=str(arrived.number)).read(4)

    first = left.number
    assert told[0] == left
    assert kinds(told) == ["request", "request", "request", "team"]
    assert [event.number for event in told] == list(range(first, first + 4))


def test_a_stream_goes_back_as_far_as_the_journal(
    emulator: EmulatorUnderTest,
    watch: Watch,
) -> None:
    began = watch().last_event_id
    emulator.get("/team")
    emulator.ask("DELETE", "/requests")
    emulator.get("/poses")

    gap, cleared, arrived, left = watch(last_event_id=began).read(4)

    assert kinds([gap, cleared, arrived, left]) == [
        "gap",
        "cleared",
        "request",
        "request",
    ]
    assert gap.data == {"missed": 2}
    assert cleared.data == {"last_sequence": 1}
    assert arrived.data["path"] == "/v1/poses"


def test_a_stream_from_an_event_of_another_life_begins_with_a_gap(
    watch: Watch,
) -> None:
    stream = watch(last_event_id="999999")

    assert stream.read_one().kind == "gap"


@pytest.mark.parametrize("last_event_id", ["x", "-1", "1.5", "9" * 17, ""])
def test_an_id_that_none_can_be_is_refused(
    emulator: EmulatorUnderTest,
    last_event_id: str,
) -> None:
    answer = emulator.ask("GET", "/events", headers={"Last-Event-ID": last_event_id})

    assert answer.status == 400
    assert answer.code == "invalid_request"


# Limits ------------------------------------------------------------------------------


def test_a_slow_reader_misses_some(
    emulator: EmulatorUnderTest,
    watch: Watch,
    monkeypatch: pytest.MonkeyPatch,
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
    (gap,) = [event for event in told if event.kind == "gap"]

    assert gap.data["missed"] >= 20


def test_a_stream_that_is_left_is_forgotten(
    emulator: EmulatorUnderTest,
    watch: Watch,
) -> None:
    stream = watch()
    watch()

    assert len(emulator.sandbox.feed.listeners) == 2

    stream.leave()

    assert len(emulator.sandbox.feed.listeners) == 1


def test_a_stream_ends_with_the_emulator(
    emulator: EmulatorUnderTest,
    watch: Watch,
) -> None:
    stream = watch()

    emulator.application.stop()

    stream.end()


def test_a_silent_stream_shows_life(
    watch: Watch,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(events, "HEARTBEAT_SECONDS", 0.001)
    stream = watch()

    stream.wait_for_comments(3)

    assert stream.events == []


def test_streams_are_limited(
    emulator: EmulatorUnderTest,
    watch: Watch,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(events, "MAX_STREAMS", 2)
    for _ in range(2):
        watch()

    answer = emulator.ask("GET", "/events")

    assert answer.status == 503
    assert answer.code == "service_unavailable"
    assert answer.headers["retry-after"] == "5"


def test_a_stream_that_is_left_makes_room_for_another(
    watch: Watch,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(events, "MAX_STREAMS", 1)
    stream = watch()

    stream.leave()

    assert watch().status == 200
