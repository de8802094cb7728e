"""The events of a sandbox: what is told, from where on, and that watching costs the service little."""

import time
from collections.abc import Callable, Iterator

import pytest

from emulator.control import events
from emulator.service import feed
from tests.control.event_stream import Event, EventStream
from tests.support.emulator_client import FULL, START, Call, EmulatorUnderTest

UPLOAD = {"content_type": "image/png", "size_bytes": 5}
Watch = Callable[..., EventStream]


@pytest.fixture
def watch(control: EmulatorUnderTest) -> Iterator[Watch]:
    """Opens streams, which are left at the end."""
    opened: list[EventStream] = []

    def open_one(path: str = "/events", last_event_id: str | None = None) -> EventStream:
        opened.append(EventStream(control, path, last_event_id))
        return opened[-1]

    yield open_one
    for stream in opened:
        stream.is_slow = False
        stream.leave()


def kinds(told: list[Event]) -> list[str]:
    return [event.kind for event in told]


# What is told ---------------------------------------------------------------------------------------------------------


def test_a_stream_begins_at_once_and_tells_nothing_of_before(control: EmulatorUnderTest, watch: Watch) -> None:
    control.get("/team")
    stream = watch()
    assert (stream.status, stream.headers["content-type"]) == (200, "text/event-stream; charset=utf-8")
    assert stream.headers["cache-control"] == "no-store"
    control.get("/poses")
    assert stream.read(1)[0].data["path"] == "/v1/poses"


def test_a_request_is_told_when_it_arrives_and_when_it_leaves(control: EmulatorUnderTest, watch: Watch) -> None:
    stream = watch()
    control.get("/team")
    arrived, left = stream.read(2)
    assert (kinds([arrived, left]), left.number) == (["request", "request"], arrived.number + 1)
    assert (arrived.data["status"], arrived.data["duration_ms"], arrived.data["path"]) == (None, None, "/v1/team")
    assert arrived.data["operation"] == "getTeam"
    assert left.data == control.told("GET", "/requests")["data"][0]
    assert arrived.data.keys() == left.data.keys()


def test_a_request_in_flight_is_told_before_it_is_answered(control: EmulatorUnderTest, watch: Watch) -> None:
    rule = {"match": {"operation": "createUpload"}, "then": {"hold": "10s"}}
    control.told("PUT", "/scenario", {"scenario": "held", "rules": [rule]})
    stream = watch()
    move = Call("POST", "http://emulator.test/_emulator/clock/advance", {"seconds": 10}, key=None)
    control.together(Call("POST", "/uploads", UPLOAD), move)
    assert [(event.kind, event.data.get("status")) for event in stream.read(3)] == [
        ("request", None),
        ("clock", None),
        ("request", 201),
    ]


def test_the_changes_of_work_are_told_in_their_order(control: EmulatorUnderTest, watch: Watch) -> None:
    control.assets(1)
    stream = watch()
    control.told("POST", "/first-photoshoot")
    control.told("POST", "/clock/advance", {"until_idle": True})
    told = stream.read(9)
    work = [event.data for event in told if event.kind == "work"]
    assert [data["status"] for data in work] == ["queued", *["processing"] * 4, "completed"]
    assert {data["id"] for data in work} == {control.told("GET", "/work")["data"][0]["id"]}
    balances = [(event.data["credits"], event.data["reserved"]) for event in told if event.kind == "team"]
    assert balances[-1] == (98, 0)
    assert told[-1].kind == "clock"


def test_moves_of_the_clock_and_its_mode_are_told(control: EmulatorUnderTest, watch: Watch) -> None:
    stream = watch()
    for seconds in (10, 20):
        control.told("POST", "/clock/advance", {"seconds": seconds})
    control.told("PUT", "/clock", {"mode": "auto"})
    told = stream.read(3)
    assert kinds(told) == ["clock"] * 3
    assert [event.data["now"] for event in told] == [
        "2026-01-01T00:00:10.000Z",
        *["2026-01-01T00:00:30.000Z"] * 2,
    ]
    assert told[2].data["mode"] == "auto"


def test_changes_of_teams_and_credentials_are_told(control: EmulatorUnderTest, watch: Watch) -> None:
    credential = control.team()["credentials"][0]["id"]
    stream = watch()
    control.told("PATCH", "/teams/Demo", {"credits": 7})
    control.told("PATCH", f"/credentials/{credential}", {"state": "revoked"})
    told = stream.read(2)
    assert kinds(told) == ["team", "team"]
    assert told[1].data == control.team()


def test_what_scenarios_change_is_told(control: EmulatorUnderTest, watch: Watch) -> None:
    stream = watch()
    change = {"at": "5s", "set": {"team": "Demo", "subscription": "inactive"}}
    control.told("PUT", "/scenario", {"scenario": "lapse", "timeline": [change]})
    assert [(event.kind, event.data["scenario"]) for event in stream.read(1)] == [("scenario", "lapse")]
    control.told("POST", "/clock/advance", {"seconds": 5})
    told = stream.read(3)
    assert kinds(told) == ["team", "scenario", "clock"]
    assert told[1].data["timeline"][0]["done_at"] == "2026-01-01T00:00:05.000Z"
    control.ask("DELETE", "/scenario")
    control.told("PUT", "/admission", {"state": "paused"})
    assert [(event.kind, event.data["scenario"]) for event in stream.read(2)] == [("scenario", None)] * 2


@pytest.mark.parametrize("how", ["reset", "load"])
def test_a_reset_is_told_and_what_comes_after_it(control: EmulatorUnderTest, watch: Watch, how: str) -> None:
    state = control.ask("GET", "/state").body
    stream = watch()
    control.get("/team")
    assert kinds(stream.read(2)) == ["request", "request"]
    control.told("POST", "/reset") if how == "reset" else control.told("PUT", "/state", content=state)
    control.get("/poses")
    told = stream.read(3)
    assert kinds(told) == ["reset", "request", "request"]
    assert (told[0].data["id"], told[0].data["clock"]["now"], told[2].data["sequence"]) == ("default", START, 1)


def test_each_sandbox_has_a_stream_of_its_own_which_ends_with_it(control: EmulatorUnderTest, watch: Watch) -> None:
    control.told("POST", "/sandboxes", {"id": "mine"})
    stream = watch("/sandboxes/mine/events")
    control.get("/team")
    control.get("/team", key=f"{FULL}_mine")
    told = stream.read(2)
    assert told[1].data["credential"]["key"] == "iwe_demo…"
    assert (stream.events, [event.data["sequence"] for event in told]) == ([], [1, 1])
    control.ask("DELETE", "/sandboxes/mine")
    stream.end()


def test_bodies_that_have_lines_are_told_on_one(control: EmulatorUnderTest, watch: Watch) -> None:
    stream = watch()
    content = b'{"content_type":\r\n"image/png",\n\n"size_bytes": 5}'
    control.post("/uploads", content=content, headers={"Content-Type": "application/json"})
    assert stream.read(2)[1].data["request_body"] == UPLOAD


@pytest.mark.emulator(clock="x1000")
def test_what_falls_due_on_a_real_clock_is_told_though_nobody_asks(control: EmulatorUnderTest, watch: Watch) -> None:
    stream = watch()
    control.told("POST", "/first-photoshoot")
    work = [event.data["status"] for event in stream.read(8) if event.kind == "work"]
    assert (work[0], work[-1]) == ("queued", "completed")


# From where on --------------------------------------------------------------------------------------------------------


def test_a_stream_goes_on_where_another_stopped(control: EmulatorUnderTest, watch: Watch) -> None:
    stream = watch()
    control.get("/team")
    seen = stream.read(2)
    stream.leave()
    control.get("/poses")
    control.told("PATCH", "/teams/Demo", {"credits": 7})
    told = watch(last_event_id=str(seen[0].number)).read(4)
    assert told[0] == seen[1]
    assert kinds(told) == ["request", "request", "request", "team"]
    assert [event.number for event in told] == list(range(seen[1].number, seen[1].number + 4))


def test_a_stream_that_saw_no_event_can_go_on_as_well(control: EmulatorUnderTest, watch: Watch) -> None:
    stream = watch()
    stream.leave()
    control.get("/team")
    assert [event.data["status"] for event in watch(last_event_id=stream.last_event_id).read(2)] == [None, 200]


def test_a_stream_goes_back_as_far_as_the_journal(control: EmulatorUnderTest, watch: Watch) -> None:
    began = watch().last_event_id
    control.get("/team")
    control.ask("DELETE", "/requests")
    control.get("/poses")
    told = watch(last_event_id=began).read(3)
    assert kinds(told) == ["gap", "request", "request"]
    assert (told[0].data, told[1].data["path"]) == ({"missed": 2}, "/v1/poses")


def test_an_id_of_another_life_is_told_of_as_a_gap(control: EmulatorUnderTest, watch: Watch) -> None:
    stream = watch(last_event_id="999999")
    assert (stream.read(1)[0].kind, stream.read(0)) == ("gap", [])


@pytest.mark.parametrize("last_event_id", ["x", "-1", "1.5", "9" * 17, ""])
def test_an_id_that_none_can_be_is_refused(control: EmulatorUnderTest, last_event_id: str) -> None:
    refused = control.refusal("GET", "/events", headers={"Last-Event-ID": last_event_id})
    assert refused[:2] == (400, "invalid_request")


# What it costs --------------------------------------------------------------------------------------------------------


def test_a_slow_reader_misses_changes_and_costs_no_memory(
    control: EmulatorUnderTest, watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed, "MAXIMUM_CHANGES", 10)
    control.told("POST", "/sandboxes", {"id": "mine"})
    stream = watch("/sandboxes/mine/events")
    stream.is_slow = True
    for _ in range(20):
        control.get("/team", key=f"{FULL}_mine")
    stream.is_slow = False
    told = stream.read(1)
    while told[-1].data.get("sequence") != 20:
        told += stream.read(1)
    gap = [event for event in told if event.kind == "gap"]
    assert len(gap) == 1
    assert gap[0].data["missed"] >= 20


def test_nobody_is_told_once_a_stream_was_left(control: EmulatorUnderTest, watch: Watch) -> None:
    stream = watch()
    assert len(control.sandbox.feed.listeners) == 1
    stream.leave()
    assert not control.sandbox.feed.listeners


def test_an_open_stream_ends_with_the_emulator(control: EmulatorUnderTest, watch: Watch) -> None:
    stream = watch()
    control.application.stop()
    stream.end()


def test_a_silent_stream_is_seen_to_be_alive(
    control: EmulatorUnderTest, watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "HEARTBEAT_SECONDS", 0.001)
    stream = watch()
    stream._run(stream._until(lambda: stream.comments > 2))
    assert stream.events == []


def test_watching_a_burst_costs_the_service_little(control: EmulatorUnderTest, watch: Watch) -> None:
    """Told at a limited rate: what a burst adds to the work of its own time is bounded, whatever its size."""
    stream = watch()
    began = time.perf_counter()
    for _ in range(500):
        control.get("/team", key="nobody")
    spent = time.perf_counter() - began
    assert len(stream.events) <= (spent / events.PAUSE_SECONDS + 2) * events.BATCH
    assert len(stream.read(1000)) == 1000
