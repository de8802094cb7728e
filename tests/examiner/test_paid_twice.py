"""Work that is paid twice: by clients that hang up, and by those that send a wish under two keys at once."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from typing import Any, Final

import httpx
import pytest

from image_workflow_emulator.testing import Emulator, Sandbox
from tests.playing_scenarios.player import upscale_call
from tests.support.emulator_client import Call
from tests.support.pictures import picture
from tests.support.served_client import ServedClient

LATE: Final = {"network": {"latency": "600ms"}}


def late(sandbox: Sandbox, nth: str, **fault: Any) -> dict[str, Any]:
    """Let upscales be answered late; return what orders one."""
    (asset_id,) = ServedClient(sandbox.base_url, sandbox.api_key).assets(1)
    rule = {"match": {"operation": "createUpscaleGeneration"}, "when": {"nth": nth}, "then": {**LATE, **fault}}
    sandbox.use({"scenario": "late", "rules": [rule]})
    return dict(upscale_call(asset_id, "").json)


def send(sandbox: Sandbox, body: dict[str, Any], key: str, limit: float = 5.0) -> str:
    """Order, on a connection of its own, and hang up after a time limit; return the path of the work."""
    client = ServedClient(sandbox.base_url, sandbox.api_key)
    with suppress(TimeoutError):
        answer = client.send(Call("POST", "/generations/upscale", body, idempotency_key=key), seconds=limit)
        return f"/generations/{answer.id}"
    return ""


def see(sandbox: Sandbox, *paths: str) -> None:
    """See the end of all work, in a list, and read some of it."""
    sandbox.clock.advance(60)
    for path in ("/generations", *paths):
        ServedClient(sandbox.base_url, sandbox.api_key).get(path)


@pytest.mark.parametrize("moment", ["before_commit", "after_commit"])
def test_who_hangs_up_and_orders_under_a_new_key_pays_twice(sandbox: Sandbox, moment: str) -> None:
    body = late(sandbox, "1-3", at=moment)
    for key, limit in (("one", 0.2), ("two", 0.2), ("three", 5.0)):
        send(sandbox, body, key, limit)
    see(sandbox)
    (finding,) = sandbox.conduct().findings
    assert ("double-spend", 3) == (finding.rule, len(finding.requests))
    assert "not waited for" in finding.message
    assert "timeout of your own" in finding.remedy


@pytest.mark.parametrize("orders", [(("one", 0.2), ("one", 5.0)), (("one", 5.0), ("two", 5.0))])
def test_a_repeated_key_and_two_orders_one_after_the_other_are_clean(
    sandbox: Sandbox, orders: tuple[tuple[str, float], ...]
) -> None:
    body = late(sandbox, "1")
    for key, limit in orders:
        send(sandbox, body, key, limit)
        sandbox.clock.advance(10)
    see(sandbox)
    assert [] == list(map(str, sandbox.conduct().findings))


@pytest.mark.parametrize(
    ("reads_the_first", "found"),
    [(False, ["double-spend"]), (True, ["hedged"])],
    ids=["forgets the first", "reads both"],
)
def test_a_timeout_that_does_not_end_the_request_and_a_new_key_pay_twice(
    sandbox: Sandbox, reads_the_first: bool, found: list[str]
) -> None:
    body = late(sandbox, "1-2", network={"latency": "1200ms"})
    with ThreadPoolExecutor(2) as pool:
        sent = [pool.submit(send, sandbox, body, "one")]
        wait(sent, timeout=0.7)
        sent.append(pool.submit(send, sandbox, body, "two"))
        works = [done.result() for done in sent]
    see(sandbox, *(works if reads_the_first else works[1:]))
    assert found == [finding.rule for finding in sandbox.conduct().findings]


def test_an_order_whose_client_hung_up_for_good_is_noted(server: Emulator, sandbox: Sandbox) -> None:
    send(sandbox, late(sandbox, "1"), "one", 0.2)
    sandbox.clock.advance(60)
    events = f"{server.url}/_emulator/sandboxes/{sandbox.id}/events"
    with httpx.stream("GET", events, headers={"Last-Event-ID": "0"}) as stream:
        assert any('"status":202' in line for line in stream.iter_lines())  # its record is complete
    (finding,) = sandbox.conduct().findings
    assert ("key-not-sent-again", "note") == (finding.rule, finding.severity)
    assert "hung up" in finding.message


@pytest.mark.parametrize(("keys", "found"), [(("one", "two"), ["hedged"]), (("one", "one"), [])])
def test_a_wish_under_two_keys_at_once_is_noted(sandbox: Sandbox, keys: tuple[str, str], found: list[str]) -> None:
    body = late(sandbox, "1-2")
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda key: send(sandbox, body, key), keys))
    see(sandbox)
    assert found == [finding.rule for finding in sandbox.conduct().findings]


Leak = Callable[[Sandbox, str], object]
LEAKS: Final[dict[str, Leak]] = {
    "another header": lambda sandbox, url: httpx.get(url, headers={"X-Api-Key": sandbox.api_key}),
    "a cookie": lambda sandbox, url: httpx.get(url, headers={"Cookie": f"session={sandbox.api_key}"}),
    "the query": lambda sandbox, url: httpx.get(url, params={"key": sandbox.api_key}),
    "the Referer": lambda sandbox, url: httpx.get(url, headers={"Referer": f"http://app/?key={sandbox.api_key}"}),
}


@pytest.mark.parametrize("leak", LEAKS.values(), ids=LEAKS)
def test_a_credential_anywhere_in_a_request_for_bytes_is_found(sandbox: Sandbox, leak: Leak) -> None:
    url = str(ServedClient(sandbox.base_url, sandbox.api_key).upload(picture())["url"])
    assert [] == sandbox.conduct().findings
    leak(sandbox, url)
    (finding,) = sandbox.conduct().findings
    assert ("credential-sent-to-bytes", "error") == (finding.rule, finding.severity)
    assert sandbox.api_key not in str(finding)


def test_a_credential_in_an_idempotency_key_is_found(sandbox: Sandbox) -> None:
    body = late(sandbox, "9")
    send(sandbox, body, f"{sandbox.api_key}-1")
    see(sandbox)
    assert ["credential-in-request"] == [finding.rule for finding in sandbox.conduct().findings]
