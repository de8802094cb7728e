"""Network faults as a client sees them on the wire, against one real server; each test has a sandbox of its own."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from http.client import IncompleteRead
from typing import Any

import pytest

from tests.support.emulator_client import UPLOAD, Call
from tests.support.served import Server, serving
from tests.support.served_client import IMPATIENT_SECONDS, ServedClient

Play = Callable[..., ServedClient]
"""Makes a sandbox with a rule: for an operation, and with what it does by name.

Returns a client of the sandbox.
"""
NEVER = {"latency": "1h"}


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving("--clock", "manual") as server:
        yield server


@pytest.fixture
def play(server: Server) -> Play:
    operator = ServedClient(server.base_url)

    def make(operation: str, **then: Any) -> ServedClient:
        rule = {
            "match": {"operation": operation},
            "then": then,
        }
        scenario = {
            "scenario": "on the wire",
            "rules": [rule],
        }
        sandbox = operator.told("POST", "/sandboxes", {"scenario": scenario})
        key = sandbox["env"]["IMAGE_WORKFLOW_API_KEY"]
        return ServedClient(server.base_url, key)

    return make


@pytest.mark.parametrize(
    ("at", "remaining"),
    [("before_commit", 1), ("after_commit", 0)],
)
def test_an_answer_that_has_no_body_is_truncated_before_it_begins(
    play: Play,
    at: str,
    remaining: int,
) -> None:
    client = play("deleteProduct", network="truncate", at=at)
    (asset_id,) = client.assets(1)
    product = client.product(asset_id)
    path = f"/products/{product['id']}"

    # RemoteDisconnected, which tells that nothing came, is one.
    with pytest.raises(ConnectionResetError):
        client.delete(path)

    assert client.count("/products") == remaining


@pytest.mark.parametrize(
    ("network", "at"),
    [
        ("garbage", "before_commit"),
        ("garbage", "after_commit"),
        ("corrupt", "after_commit"),
    ],
)
@pytest.mark.parametrize(
    "call",
    [
        Call("GET", "/team"),
        Call("POST", "/uploads", UPLOAD),
        Call("GET", "/poses"),
    ],
    ids=["read", "write", "list"],
)
def test_garbage_is_a_whole_body_that_is_no_json(
    play: Play,
    call: Call,
    network: str,
    at: str,
) -> None:
    client = play("*", network=network, at=at)

    answer = client.send(call)

    assert answer.status < 300
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["content-length"] == str(len(answer.body))
    with pytest.raises(ValueError, match=r"."):
        json.loads(answer.body)


def test_garbage_in_place_of_an_empty_answer_is_a_body_too(play: Play) -> None:
    client = play("deleteProduct", network="garbage", at="after_commit")
    (asset_id,) = client.assets(1)
    product = client.product(asset_id)

    answer = client.delete(f"/products/{product['id']}")

    assert answer.status == 200
    assert answer.headers["content-length"] == str(len(answer.body))
    assert answer.body != b""


def test_a_corrupt_read_has_the_length_of_the_true_answer(
    server: Server,
    play: Play,
) -> None:
    client = play("getTeam", network="corrupt")
    true_answer = ServedClient(server.base_url).get("/team")

    answer = client.get("/team")

    assert len(answer.body) == len(true_answer.body)
    assert answer.body != true_answer.body


@pytest.mark.parametrize("network", ["garbage", "corrupt"])
def test_a_damaged_answer_keeps_its_rate(play: Play, network: str) -> None:
    client = play("getTeam", network={"rate": 100, network: True})

    began_at = time.perf_counter()
    answer = client.get("/team")
    seconds = time.perf_counter() - began_at

    pieces = len(answer.body) // 10
    assert seconds >= (pieces - 2) / 10  # a piece of 10 bytes may come at once


@pytest.mark.parametrize("at", ["before_commit", "after_commit"])
def test_a_stalled_answer_never_comes(play: Play, at: str) -> None:
    client = play("getTeam", network="stall", at=at)

    with pytest.raises(TimeoutError):
        client.send(Call("GET", "/team"), seconds=IMPATIENT_SECONDS)


def test_a_connection_goes_on_after_garbage(play: Play) -> None:
    client = play("*", network="garbage")

    with closing(client.connect()) as connection:
        first = client.send(Call("GET", "/team"), connection)
        second = client.send(Call("GET", "/poses"), connection)

    assert first.status == 200
    assert second.status == 200


def test_an_answer_can_come_late_and_slowly_and_break_off(play: Play) -> None:
    network = {
        "latency": "50ms-60ms",
        "rate": 4096,
        "truncate": True,
    }
    client = play("listPoses", network=network, at="after_commit")

    began_at = time.perf_counter()
    with pytest.raises(IncompleteRead) as short:
        client.get("/poses")
    seconds = time.perf_counter() - began_at

    received = len(short.value.partial)
    missing = short.value.expected
    least_seconds = 0.05 + (received - 1024) / 4096  # a piece may come at once
    assert missing is not None
    assert 0 <= missing - received <= 1
    assert seconds >= least_seconds


def test_a_truncated_answer_keeps_its_rate_before_the_commit_too(play: Play) -> None:
    network = {"rate": 100, "truncate": True}
    client = play("listPoses", network=network)

    began_at = time.perf_counter()
    with pytest.raises(IncompleteRead) as short:
        client.get("/poses")
    seconds = time.perf_counter() - began_at

    received = len(short.value.partial)
    assert received == 50
    assert seconds >= 0.4  # of 50 bytes, a piece of 10 may come at once


@pytest.mark.parametrize(
    ("at", "expected"),
    [("before_commit", 0), ("after_commit", 1)],
)
@pytest.mark.parametrize(
    "network",
    [
        "reset",
        "truncate",
        "stall",
        "garbage",
        "corrupt",
        NEVER,
    ],
    ids=str,
)
def test_only_after_the_commit_a_lost_write_was_carried_out(
    play: Play,
    network: Any,
    at: str,
    expected: int,
) -> None:
    client = play("createProduct", network=network, at=at)
    (asset_id,) = client.assets(1)
    body = {
        "name": "Shirt",
        "asset_ids": [asset_id],
        "primary_asset_id": asset_id,
    }
    creation = Call("POST", "/products", body, idempotency_key="k")

    # A replay is lost like a first answer, and still nothing is done twice.
    for _ in range(2):
        with suppress(ConnectionResetError, IncompleteRead, TimeoutError):
            client.send(creation, seconds=IMPATIENT_SECONDS)

        assert client.count("/products") == expected


@pytest.mark.parametrize("network", ["stall", NEVER], ids=str)
@pytest.mark.parametrize("at", ["before_commit", "after_commit"])
def test_one_stalled_or_slow_connection_delays_nobody_else(
    server: Server,
    play: Play,
    network: Any,
    at: str,
) -> None:
    client = play("createUpload", network=network, at=at)
    of_another_sandbox = ServedClient(server.base_url)
    write = Call("POST", "/uploads", UPLOAD)
    stuck = [client.connect() for _ in range(5)]

    for connection in stuck:
        client.start(connection, write)

    # Were one of them in the way, these would come only after an hour.
    health = client.told("GET", "/health")
    assert client.get("/team").status == 200
    assert of_another_sandbox.get("/team").status == 200
    assert health["status"] == "ok"

    for connection in stuck:
        connection.close()
    assert client.get("/team").status == 200
