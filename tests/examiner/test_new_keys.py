"""Who pays twice: orders that are sent again under a new key, and their Credits."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from typing import Any, Final

import httpx
import pytest

from image_workflow_emulator.testing import Emulator, Sandbox
from tests.support.emulator_client import Call
from tests.support.emulator_under_test import EmulatorUnderTest
from tests.support.every_operation import upscale_call
from tests.support.served_client import ServedClient

LATENCY_SECONDS: Final = 0.6
HANGS_UP_SECONDS: Final = 0.2
PATIENT_SECONDS: Final = 5.0
Order = Callable[[str, float], str]
"""Sends an order under a key, with a time limit in seconds; returns its work's path."""


def rules_broken(sandbox: Sandbox) -> list[str]:
    return [finding.rule for finding in sandbox.conduct().findings]


def late_orders(
    sandbox: Sandbox,
    nth: str,
    latency: float = LATENCY_SECONDS,
    **fault: Any,
) -> Order:
    """Let some upscales be answered late; return what orders one."""
    client = ServedClient(sandbox.base_url, sandbox.api_key)
    (asset_id,) = client.assets(1)
    body = upscale_call(asset_id, "").json
    rule = {
        "match": {"operation": "createUpscaleGeneration"},
        "when": {"nth": nth},
        "then": {"network": {"latency": f"{latency * 1000:.0f}ms"}, **fault},
    }
    sandbox.use({"scenario": "late", "rules": [rule]})

    def order(key: str, seconds: float) -> str:
        call = Call("POST", "/generations/upscale", body, idempotency_key=key)
        with suppress(TimeoutError):
            return f"/generations/{client.send(call, seconds=seconds).id}"
        return ""

    return order


def see_the_end(sandbox: Sandbox, *works: str) -> None:
    """See the end of all work in a list, and read some of it."""
    client = ServedClient(sandbox.base_url, sandbox.api_key)
    sandbox.clock.advance(60)
    client.get("/generations")
    for work in works:
        client.get(work)


# A client that hangs up ---------------------------------------------------------------


@pytest.mark.parametrize("moment", ["before_commit", "after_commit"])
def test_who_hangs_up_and_orders_under_a_new_key_pays_twice(
    sandbox: Sandbox,
    moment: str,
) -> None:
    order = late_orders(sandbox, "1-3", at=moment)

    order("one", HANGS_UP_SECONDS)
    order("two", HANGS_UP_SECONDS)
    order("three", PATIENT_SECONDS)
    see_the_end(sandbox)

    (finding,) = sandbox.conduct().findings
    assert finding.rule == "double-spend"
    assert len(finding.requests) == 3
    assert "not waited for" in finding.message
    assert "timeout of your own" in finding.remedy


def test_who_hangs_up_and_sends_the_same_key_is_clean(sandbox: Sandbox) -> None:
    order = late_orders(sandbox, "1")

    order("one", HANGS_UP_SECONDS)
    sandbox.clock.advance(10)
    order("one", PATIENT_SECONDS)
    see_the_end(sandbox)

    assert rules_broken(sandbox) == []


def test_who_waits_for_an_answer_may_order_the_same_again(sandbox: Sandbox) -> None:
    order = late_orders(sandbox, "1")

    order("one", PATIENT_SECONDS)
    sandbox.clock.advance(10)
    order("two", PATIENT_SECONDS)
    see_the_end(sandbox)

    assert rules_broken(sandbox) == []


def test_an_order_whose_client_hung_up_for_good_is_noted(
    server: Emulator,
    sandbox: Sandbox,
) -> None:
    order = late_orders(sandbox, "1")

    order("one", HANGS_UP_SECONDS)
    sandbox.clock.advance(60)
    wait_for_the_answer(server, sandbox)

    (finding,) = sandbox.conduct().findings
    assert finding.rule == "key-not-sent-again"
    assert finding.severity == "note"
    assert "hung up" in finding.message


def wait_for_the_answer(server: Emulator, sandbox: Sandbox) -> None:
    """Wait until the journal has the answer that nobody waited for."""
    events = f"{server.url}/_emulator/sandboxes/{sandbox.id}/events"
    headers = {"Last-Event-ID": "0"}
    with httpx.stream("GET", events, headers=headers) as stream:
        for line in stream.iter_lines():
            if '"status":202' in line:
                return


# Orders in flight at once -------------------------------------------------------------


def order_twice(
    order: Order,
    *keys: str,
    apart: float = 0.0,
) -> list[str]:
    """Order under each key before the first is answered; return the works' paths."""
    with ThreadPoolExecutor(len(keys)) as pool:
        sent: list[Future[str]] = []
        for key in keys:
            wait(sent, timeout=apart)
            sent.append(pool.submit(order, key, PATIENT_SECONDS))
        return [answer.result() for answer in sent]


def test_who_forgets_an_order_that_is_in_flight_pays_twice(sandbox: Sandbox) -> None:
    order = late_orders(sandbox, "1-2", latency=1.2)

    _, second = order_twice(order, "one", "two", apart=0.7)
    see_the_end(sandbox, second)

    assert rules_broken(sandbox) == ["double-spend"]


def test_who_reads_both_orders_is_noted(sandbox: Sandbox) -> None:
    order = late_orders(sandbox, "1-2", latency=1.2)

    works = order_twice(order, "one", "two", apart=0.7)
    see_the_end(sandbox, *works)

    assert rules_broken(sandbox) == ["hedged"]


def test_a_wish_under_two_keys_at_once_is_noted(sandbox: Sandbox) -> None:
    order = late_orders(sandbox, "1-2")

    order_twice(order, "one", "two")
    see_the_end(sandbox)

    assert rules_broken(sandbox) == ["hedged"]


def test_a_wish_that_is_sent_twice_with_its_key_is_clean(sandbox: Sandbox) -> None:
    order = late_orders(sandbox, "1-2")

    order_twice(order, "one", "one")
    see_the_end(sandbox)

    assert rules_broken(sandbox) == []


# Credits ------------------------------------------------------------------------------


def double_spend_message(
    emulator: EmulatorUnderTest,
    image_count: int,
    keys: list[str],
) -> str:
    """Order so many pictures under each key, of which only the last is answered."""
    (asset_id,) = emulator.assets(1)
    operation = "createProductPhotographyGeneration"
    hidden = {"problem": "internal_error", "at": "after_commit"}
    emulator.rule({"operation": operation}, hidden, {"nth": f"1-{len(keys) - 1}"})
    body = {
        "output_mode": "single_shots",
        "asset_ids": [asset_id],
        "image_count": image_count,
    }
    path = "/generations/product-photography"
    for key in keys:
        emulator.post(path, body, idempotency_key=key)
    (finding,) = [
        finding
        for finding in emulator.told("GET", "/conduct")["findings"]
        if finding["rule"] == "double-spend"
    ]
    return str(finding["message"])


@pytest.mark.parametrize(
    ("image_count", "keys", "cost"),
    [
        (1, ["one", "two"], "carried out 2 times, for 2 Credits in place of 1"),
        (3, ["one", "two"], "carried out 2 times, for 6 Credits in place of 3"),
        (
            1,
            ["one", "two", "three"],
            "carried out 3 times, for 3 Credits in place of 1",
        ),
    ],
)
def test_a_double_spend_says_what_it_cost(
    emulator: EmulatorUnderTest,
    image_count: int,
    keys: list[str],
    cost: str,
) -> None:
    assert cost in double_spend_message(emulator, image_count, keys)
