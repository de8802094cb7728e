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
"""Makes a sandbox with rules for requests, each an operation, `then` and `when`; returns its client."""
NEVER = {"latency": "1h"}


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving("--clock", "manual") as server:
        yield server


@pytest.fixture
def play(server: Server) -> Play:
    def make(*rules: tuple[Any, ...]) -> ServedClient:
        told = [
            {
                "match": {"operation": operation},
                "then": then,
                "when": when[0] if when else {},
            }
            for operation, then, *when in rules
        ]
        sandbox = {"scenario": {"scenario": "on the wire", "rules": told}}
        made = ServedClient(server.base_url).told("POST", "/sandboxes", sandbox)
        return ServedClient(server.base_url, made["env"]["IMAGE_WORKFLOW_API_KEY"])

    return make


@pytest.mark.parametrize(
    ("at", "remaining"), [("before_commit", 1), ("after_commit", 0)]
)
def test_an_answer_that_has_no_body_is_truncated_before_it_begins(
    play: Play, at: str, remaining: int
) -> None:
    client = play(("deleteProduct", {"network": "truncate", "at": at}))
    product = client.product(*client.assets(1))
    with pytest.raises(
        ConnectionResetError
    ):  # RemoteDisconnected, which tells that nothing came, is one
        client.delete(f"/products/{product['id']}")
    assert remaining == client.count("/products")


@pytest.mark.parametrize(
    ("network", "at"),
    [
        ("garbage", "before_commit"),
        ("garbage", "after_commit"),
        ("corrupt", "after_commit"),
    ],
)
def test_garbage_is_a_whole_body_that_is_no_json(
    play: Play, network: str, at: str
) -> None:
    client = play(("*", {"network": network, "at": at}))
    with closing(client.connect()) as connection:
        for call in (
            Call("GET", "/team"),
            Call("POST", "/uploads", UPLOAD),
            Call("GET", "/poses"),
        ):
            answer = client.send(
                call, connection
            )  # whole answers, so the connection goes on
            assert answer.status in (200, 201)
            assert str(len(answer.body)) == answer.headers["content-length"]
            assert (
                answer.headers["content-type"] == "application/json"
            ) or network == "garbage"
            with pytest.raises(ValueError, match=r"."):
                json.loads(answer.body)


def test_an_answer_can_come_late_and_slowly_and_break_off(play: Play) -> None:
    network = {"latency": "50ms-60ms", "rate": 4096, "truncate": True}
    client = play(("listPoses", {"network": network, "at": "after_commit"}))
    began_at = time.perf_counter()
    with pytest.raises(IncompleteRead) as short:
        client.get("/poses")
    half = len(short.value.partial)
    assert half - (short.value.expected or 0) in (0, -1)
    assert (
        time.perf_counter() - began_at >= 0.05 + (half - 1024) / 4096
    )  # less a piece, which may come at once


@pytest.mark.parametrize(
    ("at", "expected"), [("before_commit", 0), ("after_commit", 1)]
)
@pytest.mark.parametrize(
    "network", ["reset", "truncate", "stall", "garbage", "corrupt", NEVER], ids=str
)
def test_only_after_the_commit_a_lost_write_was_carried_out(
    play: Play, network: Any, at: str, expected: int
) -> None:
    client = play(("createProduct", {"network": network, "at": at}))
    (asset_id,) = client.assets(1)
    body = {"name": "Shirt", "asset_ids": [asset_id], "primary_asset_id": asset_id}
    creation = Call("POST", "/products", body, idempotency_key="k")
    for _ in range(
        2
    ):  # a replay is lost like a first answer, and still nothing is done twice
        with suppress(ConnectionResetError, IncompleteRead, TimeoutError):
            client.send(creation, seconds=IMPATIENT_SECONDS)
        assert expected == client.count("/products")


@pytest.mark.parametrize("network", ["stall", NEVER], ids=str)
@pytest.mark.parametrize("at", ["before_commit", "after_commit"])
def test_one_stalled_or_slow_connection_delays_nobody_else(
    play: Play, network: Any, at: str
) -> None:
    client = play(("createUpload", {"network": network, "at": at}))
    stuck = [client.connect() for _ in range(5)]
    for connection in stuck:
        client.start(connection, Call("POST", "/uploads", UPLOAD))
    # Were one of them in the way, these would come only after an hour.
    assert 200 == client.get("/team").status
    assert 200 == play().get("/team").status
    assert "ok" == client.told("GET", "/health")["status"]
    for connection in stuck:
        connection.close()
    assert 200 == client.get("/team").status
