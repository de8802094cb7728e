"""Plays of the library on the wire, against a server of its own: answers that are lost, late, halved or never given."""

import time
from collections import Counter
from collections.abc import Iterator
from http.client import IncompleteRead
from typing import Any

import pytest

from tests.playing_scenarios.player import UPLOAD, WORKFLOWS, generation_body
from tests.support.emulator_client import TERMINAL, Answer, ingredient_body
from tests.support.pictures import picture
from tests.support.served import serving
from tests.support.wire import IMPATIENT_SECONDS, Wire


@pytest.fixture
def wire(request: pytest.FixtureRequest) -> Iterator[Wire]:
    """A client of a real server, which runs the scenario that the test plays."""
    plays = request.node.get_closest_marker("plays")
    assert plays
    with serving("--scenario", plays.args[0], "--clock", plays.kwargs.get("clock", "manual")) as server:
        wire = Wire(server.base_url)
        yield wire
        rules = wire.control("GET", "/scenario")["rules"]
        assert [] == [rule["name"] for rule in rules if not rule["fired"]]


@pytest.mark.plays("answer-lost")
def test_the_same_key_gets_the_answer_that_was_lost_and_nothing_is_paid_for_twice(wire: Wire) -> None:
    asset_id = wire.upload(picture())
    for number, workflow in enumerate(WORKFLOWS, start=1):
        request = ("POST", f"/generations/{workflow}", generation_body(workflow, asset_id), "k")
        with pytest.raises(ConnectionResetError) as lost:
            wire.ask(*request)
        assert ConnectionResetError is lost.type  # not merely a connection that was closed
        assert 100 - number == wire.ask("GET", "/team").json["credits"]  # it was admitted
        again = wire.ask(*request)
        assert (202, workflow.replace("-", "_")) == (again.status, again.json["workflow"])
        generations = wire.ask("GET", "/generations").json["data"]
        assert (again.id, number) == (generations[0]["id"], len(generations))
        assert 100 - number == wire.ask("GET", "/team").json["credits"]


FAILURES: tuple[type[Exception], ...] = (ConnectionResetError, IncompleteRead, ValueError)
"""Broken off, half a body, and a body that is not JSON."""


class Persistent:
    """A client that sends a request again, with the same key, until it has a whole answer."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self.failures: Counter[type[Exception]] = Counter()

    def ask(self, method: str, path: str, body: Any = None, idempotency_key: str | None = None) -> Answer:
        for _ in range(10):
            try:
                answer = self._wire.ask(method, path, body, idempotency_key)
                if answer.body:
                    assert isinstance(answer.json, dict)
            except FAILURES as failure:
                self.failures[next(kind for kind in FAILURES if isinstance(failure, kind))] += 1
            else:
                return answer
        raise AssertionError(f"{method} {path} was never answered")


@pytest.mark.plays("flaky-network", clock="auto")
def test_a_client_that_retries_with_the_same_keys_comes_through_a_flaky_network(wire: Wire) -> None:
    client = Persistent(wire)
    session = client.ask("POST", "/uploads", UPLOAD, "u").json
    token = wire.send_bytes(session, picture()).json["upload_token"]
    asset = client.ask("POST", f"/uploads/{session['id']}/complete", {"upload_token": token}, "c").json
    finished = []
    for number in range(12):
        answer = client.ask("POST", "/generations/upscale", generation_body("upscale", asset["id"]), f"k{number}")
        assert 202 == answer.status
        work = answer.json
        while work["status"] not in TERMINAL:
            work = client.ask("GET", f"/generations/{answer.id}").json
        finished.append(work)
    assert {"completed"} == {work["status"] for work in finished}
    listed = client.ask("GET", "/generations").json["data"]
    assert [work["id"] for work in finished] == [item["id"] for item in reversed(listed)]
    assert 88 == client.ask("GET", "/team").json["credits"]
    assert 1 == len(client.ask("GET", "/assets?source=upload").json["data"])
    assert set(FAILURES) == set(client.failures)


@pytest.mark.plays("silent-service")
def test_a_read_that_is_never_answered_is_given_up_and_tried_again(wire: Wire) -> None:
    with pytest.raises(TimeoutError):
        wire.ask("GET", "/team", seconds=IMPATIENT_SECONDS)
    assert 100 == wire.ask("GET", "/team").json["credits"]
    work = wire.ask("POST", "/generations/upscale", generation_body("upscale", wire.upload(picture())), "k").json
    path = f"/generations/{work['id']}"
    assert [200] * 3 == [wire.ask("GET", path).status for _ in range(3)]
    with pytest.raises(TimeoutError):
        wire.ask("GET", path, seconds=IMPATIENT_SECONDS)
    wire.control("POST", "/clock/advance", {"seconds": 10})
    assert "completed" == wire.ask("GET", path).json["status"]


@pytest.mark.plays("slow-service")
def test_a_slow_service_is_waited_for_and_polled_no_faster_than_told(wire: Wire) -> None:
    asset_id = wire.upload(picture())
    began = time.monotonic()
    together = [wire.connect() for _ in range(2)]
    wire.start(together[0], "POST", "/generations/upscale", generation_body("upscale", asset_id), "k")
    wire.start(together[1], "POST", "/poses", ingredient_body("pose", [asset_id]), "k")
    work = [wire.finish(connection).json for connection in together]
    assert time.monotonic() - began >= 0.3
    assert ["queued", "queued"] == [item["status"] for item in work]
    paths = [f"/{item['object']}s/{item['id']}" for item in work]
    wire.control("POST", "/clock/advance", {"seconds": 1})
    for connection, path in zip(together, paths, strict=True):
        wire.start(connection, "GET", path)
    polls = [wire.finish(connection) for connection in together]
    assert [("processing", 120), ("processing", 60)] == [(poll.json["status"], poll.retry_after) for poll in polls]
    wire.control("POST", "/clock/advance", {"seconds": 120})
    for connection, path in zip(together, paths, strict=True):
        wire.start(connection, "GET", path)
    assert ["completed"] * 2 == [wire.finish(connection).json["status"] for connection in together]
    for connection in together:
        connection.close()


@pytest.mark.plays("upload-answer-lost")
def test_the_same_bytes_are_sent_again_to_the_same_address(wire: Wire) -> None:
    for number in range(2):
        session = wire.ask("POST", "/uploads", UPLOAD, f"upload {number}").json
        with pytest.raises(ConnectionResetError):
            wire.send_bytes(session, picture())
        token = wire.send_bytes(session, picture()).json["upload_token"]
        path = f"/uploads/{session['id']}/complete"
        assert 201 == wire.ask("POST", path, {"upload_token": token}, f"complete {number}").status
    assert 2 == len(wire.ask("GET", "/assets").json["data"])


@pytest.mark.plays("slow-downloads")
def test_a_file_that_stopped_half_way_is_asked_for_again_and_waited_for(wire: Wire) -> None:
    url = wire.ask("GET", f"/assets/{wire.upload(picture())}").json["url"]
    with pytest.raises(IncompleteRead) as halved:
        wire.fetch(url)
    slow = wire.fetch(url)
    whole = slow.body
    assert "files come slowly" == slow.headers["emulator-rule"]
    assert whole.startswith(halved.value.partial)
    assert len(whole) // 2 == len(halved.value.partial)


@pytest.mark.plays("every-first-write-fails")
def test_every_write_is_repeated_with_its_key_until_the_credits_are_gone(wire: Wire) -> None:
    asset_id = wire.upload(picture())
    for number in range(2):
        request = ("POST", "/generations/upscale", generation_body("upscale", asset_id), f"k{number}")
        assert [500, 202] == [wire.ask(*request).status for _ in range(2)]
        credits_left = 99 if number == 0 else 0  # the third request, the first attempt of the second, took them away
        assert credits_left == wire.ask("GET", "/team").json["credits"]
    assert 402 == wire.ask("POST", "/generations/upscale", generation_body("upscale", asset_id), "k2").status
    assert 2 == len(wire.ask("GET", "/generations").json["data"])
