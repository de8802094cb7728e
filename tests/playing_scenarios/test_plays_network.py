"""Plays of the library on the wire, against a server of its own: answers that are lost, late, halved or never given."""

import time
from collections import Counter
from collections.abc import Iterator
from http.client import HTTPConnection, IncompleteRead

import pytest

from tests.playing_scenarios.player import WORKFLOWS, generation_call, upscale_call
from tests.support.emulator_client import TERMINAL, Answer, Call, ingredient_body
from tests.support.pictures import picture
from tests.support.served import serving
from tests.support.served_client import IMPATIENT_SECONDS, SECONDS, ServedClient


@pytest.fixture
def client(request: pytest.FixtureRequest) -> Iterator[ServedClient]:
    """A client of a real server, which runs the scenario that the test plays."""
    plays = request.node.get_closest_marker("plays")
    assert plays
    with serving("--scenario", plays.args[0], "--clock", plays.kwargs.get("clock", "manual")) as server:
        client = ServedClient(server.base_url)
        yield client
        assert [] == [name for name, (_, fired) in client.rules().items() if not fired]


@pytest.mark.plays("answer-lost")
def test_the_same_key_gets_the_answer_that_was_lost_and_nothing_is_paid_for_twice(client: ServedClient) -> None:
    (asset_id,) = client.assets(1)
    for number, workflow in enumerate(WORKFLOWS, start=1):
        credits_before = client.credits()
        call = generation_call(workflow, asset_id, "k")
        with pytest.raises(ConnectionResetError) as lost:
            client.send(call)
        assert ConnectionResetError is lost.type  # not merely a connection that was closed
        assert credits_before - 1 == client.credits()  # it was admitted
        again = client.send(call)
        assert (202, workflow.replace("-", "_")) == (again.status, again.json["workflow"])
        generations = client.items("/generations")
        assert (again.id, number) == (generations[0]["id"], len(generations))
        assert credits_before - 1 == client.credits()


FAILURES: tuple[type[Exception], ...] = (ConnectionResetError, IncompleteRead, ValueError)
"""Broken off, half a body, and a body that is not JSON."""


class Persistent(ServedClient):
    """A client that sends a request again, with the same key, until it has a whole answer."""

    failures: Counter[type[Exception]]

    def send(self, call: Call, connection: HTTPConnection | None = None, seconds: float = SECONDS) -> Answer:
        for _ in range(10):
            try:
                answer = super().send(call, connection, seconds)
                if answer.body:
                    assert isinstance(answer.json, dict)
            except FAILURES as failure:
                self.failures[next(kind for kind in FAILURES if isinstance(failure, kind))] += 1
            else:
                return answer
        raise AssertionError(f"{call.method} {call.target} was never answered")


@pytest.mark.plays("flaky-network", clock="auto")
def test_a_client_that_retries_with_the_same_keys_comes_through_a_flaky_network(client: ServedClient) -> None:
    persistent = Persistent(f"http://{client.address}/v1")
    persistent.failures = Counter()
    (asset_id,) = persistent.assets(1)
    credits_before = persistent.credits()
    finished = []
    for number in range(12):
        work = persistent.send(upscale_call(asset_id, f"k{number}")).json
        while work["status"] not in TERMINAL:
            work = persistent.get(f"/generations/{work['id']}").json
        finished.append(work)
    assert {"completed"} == {work["status"] for work in finished}
    assert [work["id"] for work in finished] == [item["id"] for item in reversed(persistent.items("/generations"))]
    assert credits_before - 12 == persistent.credits()
    assert 1 == persistent.count("/assets?source=upload")
    assert set(FAILURES) == set(persistent.failures)


@pytest.mark.plays("silent-service")
def test_a_read_that_is_never_answered_is_given_up_and_tried_again(client: ServedClient) -> None:
    with pytest.raises(TimeoutError):
        client.send(Call("GET", "/team"), seconds=IMPATIENT_SECONDS)
    assert 200 == client.get("/team").status
    work = client.admitted_upscale()
    poll = Call("GET", f"/generations/{work['id']}")
    assert [200] * 3 == [client.send(poll).status for _ in range(3)]
    with pytest.raises(TimeoutError):
        client.send(poll, seconds=IMPATIENT_SECONDS)
    client.advance(10)
    assert "completed" == client.send(poll).json["status"]


@pytest.mark.plays("slow-service")
def test_a_slow_service_is_waited_for_and_polled_no_faster_than_told(client: ServedClient) -> None:
    (asset_id,) = client.assets(1)
    together = [client.connect() for _ in range(2)]

    def ask(*calls: Call) -> list[Answer]:
        for connection, call in zip(together, calls, strict=True):
            client.start(connection, call)
        return [client.finish(connection) for connection in together]

    began = time.monotonic()
    work = [
        answer.json
        for answer in ask(upscale_call(asset_id, "k"), Call("POST", "/poses", ingredient_body("pose", [asset_id])))
    ]
    assert time.monotonic() - began >= 0.3
    assert ["queued", "queued"] == [item["status"] for item in work]
    polls = [Call("GET", f"/{item['object']}s/{item['id']}") for item in work]
    client.advance(1)
    told = [(answer.json["status"], answer.retry_after) for answer in ask(*polls)]
    assert [("processing", 120), ("processing", 60)] == told
    client.advance(120)
    assert ["completed"] * 2 == [answer.json["status"] for answer in ask(*polls)]
    for connection in together:
        connection.close()


@pytest.mark.plays("upload-answer-lost")
def test_the_same_bytes_are_sent_again_to_the_same_address(client: ServedClient) -> None:
    for _ in range(2):
        session = client.open_upload(len(picture()))
        with pytest.raises(ConnectionResetError):
            client.send_bytes(session, picture())
        token = client.send_bytes(session, picture()).json["upload_token"]
        assert 201 == client.complete(session, token).status
    assert 2 == client.count("/assets")


@pytest.mark.plays("slow-downloads")
def test_a_file_that_stopped_half_way_is_asked_for_again_and_waited_for(client: ServedClient) -> None:
    url = client.upload(picture())["url"]
    with pytest.raises(IncompleteRead) as halved:
        client.fetch(url)
    slow = client.fetch(url)
    whole = slow.body
    assert "files come slowly" == slow.headers["emulator-rule"]
    assert whole.startswith(halved.value.partial)
    assert len(whole) // 2 == len(halved.value.partial)


@pytest.mark.plays("every-first-write-fails")
def test_every_write_is_repeated_with_its_key_until_the_credits_are_gone(client: ServedClient) -> None:
    (asset_id,) = client.assets(1)
    credits_before = client.credits()
    for number in range(2):
        call = upscale_call(asset_id, f"k{number}")
        assert [500, 202] == [client.send(call).status for _ in range(2)]
        # The third request, the first attempt of the second upscale, took all Credits away.
        assert (credits_before - 1 if number == 0 else 0) == client.credits()
    assert 402 == client.send(upscale_call(asset_id, "k2")).status
    assert 2 == client.count("/generations")
