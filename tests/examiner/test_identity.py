"""One program is told from several by what it sends: who polls too often, repeats, pays twice or leaks a key."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack, suppress
from threading import Lock
from typing import Any, Final, NamedTuple

import httpx
import pytest

from image_workflow_emulator.testing import Emulator, Sandbox
from tests.support.emulator_client import UPLOAD, Call
from tests.support.every_operation import upscale_call
from tests.support.pictures import picture
from tests.support.served_client import ServedClient

MISSING: Final = "/products/prd_none"
WORK: Final = "the path of admitted work"
LEFT_OPEN: Final = "abandoned-upload"
"""A finding about all of these programs, which is not the point here."""
EARLY, POLLS_EARLY, HOPELESS = (
    "retry-before-retry-after",
    "poll-before-retry-after",
    "retry-of-the-hopeless",
)


@pytest.fixture
def client(sandbox: Sandbox) -> ServedClient:
    """A client with a connection for each request."""
    return ServedClient(sandbox.base_url, sandbox.api_key)


def limited(seconds: int, **operations: str) -> dict[str, Any]:
    """Return a scenario that refuses some calls of operations for some seconds."""
    then = {"problem": "rate_limited", "retry_after": seconds}
    rules = [
        {"match": {"operation": name}, "when": {"nth": nth}, "then": then}
        for name, nth in operations.items()
    ]
    return {"scenario": "limited", "rules": rules}


def found(sandbox: Sandbox) -> list[str]:
    return [
        finding.rule
        for finding in sandbox.conduct().findings
        if finding.rule != LEFT_OPEN
    ]


class Reads(NamedTuple):
    """One path is read again and again, each time after a pause; and the rule that is found broken."""

    path: str
    pauses: Sequence[float]
    broken: list[str]
    scenario: Any = None


TEAM_IS_LIMITED: Final = limited(10, getTeam="1-9")
READS: Final = {
    "two programs wait as long as each is told": Reads(
        "/team", [0, 3, 7, 3, 7], [], TEAM_IS_LIMITED
    ),
    "five people open the same result": Reads(WORK, [30, 0, 0, 0, 0], []),
    "three jobs ask once for what is missing": Reads(MISSING, [0, 0, 0], []),
    "one does not wait": Reads("/team", [0] * 10, [EARLY], TEAM_IS_LIMITED),
    "one polls without a pause": Reads(WORK, [0] * 10 + [30], [POLLS_EARLY]),
    "one polls ten times as often as it is told": Reads(
        WORK, [0] + [0.1] * 19 + [30], [POLLS_EARLY]
    ),
    "one polls each second": Reads(WORK, [0] + [1] * 8, [POLLS_EARLY]),
    "one polls for `completed` alone": Reads(
        WORK, [30] + [5] * 39, ["poll-after-terminal"], "all-outputs-fail"
    ),
    "one waits for what is not there": Reads(MISSING, [0] + [2] * 7, [HOPELESS]),
}


@pytest.mark.parametrize("reads", READS.values(), ids=READS)
def test_reads_accuse_a_program_only_if_it_is_one(
    sandbox: Sandbox, client: ServedClient, reads: Reads
) -> None:
    if reads.scenario:
        sandbox.use(reads.scenario)
    path = (
        f"/generations/{client.admitted_upscale()['id']}"
        if reads.path == WORK
        else reads.path
    )
    for pause in reads.pauses:
        sandbox.clock.advance(pause)
        client.get(path)
    assert reads.broken == found(sandbox)
    assert all(sandbox.conduct().checked[rule] for rule in reads.broken)


@pytest.mark.parametrize(
    ("keeps", "share", "broken"),
    [(False, 1.0, []), (True, 1.0, []), (True, 0.5, [POLLS_EARLY])],
)
def test_two_workers_at_the_same_work_are_judged_one_by_one(
    sandbox: Sandbox, client: ServedClient, keeps: bool, share: float, broken: list[str]
) -> None:
    path = f"{sandbox.base_url}/generations/{client.admitted_upscale()['id']}"
    headers = {"Authorization": f"Bearer {sandbox.api_key}"}
    with ExitStack() as stack:
        kept = [stack.enter_context(httpx.Client()) for _ in range(2)]
        due, now = [0.0, 0.7], 0.0
        while min(due) < 100:
            number = due.index(min(due))
            sandbox.clock.advance(due[number] - now)
            now = due[number]
            answer = kept[number].get(
                path, headers=headers if keeps else headers | {"Connection": "close"}
            )
            due[number] += share * float(answer.headers.get("retry-after", 1_000))
    assert broken == found(sandbox)


def hedges_a_write_that_is_refused(sandbox: Sandbox, client: ServedClient) -> None:
    """A program sends a write on two connections, of which one is limited: nothing was done, and it asks anew."""
    match = {"operation": "createProduct"}
    answers = [
        {"problem": "rate_limited", "retry_after": 1},
        {"problem": "internal_error"},
    ]
    rules = [
        {"match": match, "when": {"nth": nth}, "then": then}
        for nth, then in enumerate(answers, start=1)
    ]
    sandbox.use({"scenario": "hedged", "rules": rules})
    headers = {"Authorization": f"Bearer {sandbox.api_key}"}
    [asset] = sandbox.given.product("Hat")["asset_ids"]
    body = {"name": "Shirt", "asset_ids": [asset], "primary_asset_id": asset}
    with httpx.Client(headers=headers) as one, httpx.Client(headers=headers) as other:
        for kept in (one, other):
            kept.get(f"{sandbox.base_url}/team")
        for kept, key, pause in (
            (one, "first", 0),
            (other, "first", 0),
            (one, "second", 9),
        ):
            sandbox.clock.advance(pause)
            kept.post(
                f"{sandbox.base_url}/products",
                json=body,
                headers={"Idempotency-Key": key},
            )


def does_the_same_as_four_others(sandbox: Sandbox, client: ServedClient) -> None:
    """Five programs do the same errand at the same time, each as it is told, and each asks for what is missing."""
    path, clock = f"/generations/{client.admitted_upscale()['id']}", Lock()
    sandbox.use(limited(9, getTeam="2-4", createUpload="1-3"))

    def insist(ask: Callable[[], Any]) -> None:
        while (wait := ask().retry_after) is not None:
            with clock:
                sandbox.clock.advance(wait)

    def run(number: int) -> None:
        insist(lambda: client.get("/team"))
        insist(lambda: client.post("/uploads", UPLOAD, idempotency_key=f"of {number}"))
        client.get(MISSING)
        insist(lambda: client.get(path))

    with ThreadPoolExecutor(5) as pool:
        list(pool.map(run, range(5)))


def takes_a_new_key_too_early(sandbox: Sandbox, client: ServedClient) -> None:
    sandbox.use(limited(9, createUpload="1"))
    for _ in range(2):
        client.post("/uploads", UPLOAD)
        sandbox.clock.advance(1)


def repeats_a_422(sandbox: Sandbox, client: ServedClient) -> None:
    """A program sends again what was refused for good, each time with a new key."""
    for _ in range(6):
        client.post("/products", {"name": "Shirt", "asset_ids": []})


def repeats_a_404_by_turns(sandbox: Sandbox, client: ServedClient) -> None:
    """Two workers of a program repeat what is missing."""
    headers = {"Authorization": f"Bearer {sandbox.api_key}"}
    with httpx.Client(headers=headers) as one, httpx.Client(headers=headers) as other:
        for worker in (one, other) * 3:
            worker.get(sandbox.base_url + MISSING)


def repeats_a_hedged_write_once(sandbox: Sandbox, client: ServedClient) -> None:
    """A program sends a write, and then sends it again on two connections at once."""
    path = f"{sandbox.base_url}/uploads/upl_{0:038}/complete"
    headers = {"Authorization": f"Bearer {sandbox.api_key}", "Idempotency-Key": "one"}
    with httpx.Client(headers=headers) as one, httpx.Client(headers=headers) as other:
        one.get(f"{sandbox.base_url}/team")
        other.post(path)
        sandbox.clock.advance(9)
        one.post(path)
        other.post(path)


@pytest.mark.parametrize(
    ("act", "broken"),
    [
        (hedges_a_write_that_is_refused, []),
        (repeats_a_hedged_write_once, []),
        (does_the_same_as_four_others, []),
        (takes_a_new_key_too_early, [EARLY]),
        (repeats_a_422, [HOPELESS]),
        (repeats_a_404_by_turns, [HOPELESS]),
    ],
)
def test_a_program_is_found_by_what_it_did_itself(
    sandbox: Sandbox,
    client: ServedClient,
    act: Callable[[Sandbox, ServedClient], None],
    broken: list[str],
) -> None:
    act(sandbox, client)
    assert broken == found(sandbox)


LATE: Final = {"network": {"latency": "600ms"}}


def late(sandbox: Sandbox, nth: str, **fault: Any) -> dict[str, Any]:
    """Let upscales be answered late; return what orders one."""
    (asset_id,) = ServedClient(sandbox.base_url, sandbox.api_key).assets(1)
    rule = {
        "match": {"operation": "createUpscaleGeneration"},
        "when": {"nth": nth},
        "then": {**LATE, **fault},
    }
    sandbox.use({"scenario": "late", "rules": [rule]})
    return dict(upscale_call(asset_id, "").json)


def send(sandbox: Sandbox, body: dict[str, Any], key: str, limit: float = 5.0) -> str:
    """Order, on a connection of its own, and hang up after a time limit; return the path of the work."""
    client = ServedClient(sandbox.base_url, sandbox.api_key)
    with suppress(TimeoutError):
        answer = client.send(
            Call("POST", "/generations/upscale", body, idempotency_key=key),
            seconds=limit,
        )
        return f"/generations/{answer.id}"
    return ""


def see(sandbox: Sandbox, *paths: str) -> None:
    """See the end of all work, in a list, and read some of it."""
    sandbox.clock.advance(60)
    for path in ("/generations", *paths):
        ServedClient(sandbox.base_url, sandbox.api_key).get(path)


@pytest.mark.parametrize("moment", ["before_commit", "after_commit"])
def test_who_hangs_up_and_orders_under_a_new_key_pays_twice(
    sandbox: Sandbox, moment: str
) -> None:
    body = late(sandbox, "1-3", at=moment)
    for key, limit in (("one", 0.2), ("two", 0.2), ("three", 5.0)):
        send(sandbox, body, key, limit)
    see(sandbox)
    (finding,) = sandbox.conduct().findings
    assert ("double-spend", 3) == (finding.rule, len(finding.requests))
    assert "not waited for" in finding.message
    assert "timeout of your own" in finding.remedy


@pytest.mark.parametrize(
    "orders", [(("one", 0.2), ("one", 5.0)), (("one", 5.0), ("two", 5.0))]
)
def test_a_repeated_key_and_orders_in_turn_are_clean(
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
def test_an_unended_request_and_a_new_key_pay_twice(
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


def test_an_order_whose_client_hung_up_for_good_is_noted(
    server: Emulator, sandbox: Sandbox
) -> None:
    send(sandbox, late(sandbox, "1"), "one", 0.2)
    sandbox.clock.advance(60)
    events = f"{server.url}/_emulator/sandboxes/{sandbox.id}/events"
    with httpx.stream("GET", events, headers={"Last-Event-ID": "0"}) as stream:
        assert any(
            '"status":202' in line for line in stream.iter_lines()
        )  # its record is complete
    (finding,) = sandbox.conduct().findings
    assert ("key-not-sent-again", "note") == (finding.rule, finding.severity)
    assert "hung up" in finding.message


@pytest.mark.parametrize(
    ("keys", "found"), [(("one", "two"), ["hedged"]), (("one", "one"), [])]
)
def test_a_wish_under_two_keys_at_once_is_noted(
    sandbox: Sandbox, keys: tuple[str, str], found: list[str]
) -> None:
    body = late(sandbox, "1-2")
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda key: send(sandbox, body, key), keys))
    see(sandbox)
    assert found == [finding.rule for finding in sandbox.conduct().findings]


Leak = Callable[[Sandbox, str], object]
LEAKS: Final[dict[str, Leak]] = {
    "another header": lambda sandbox, url: httpx.get(
        url, headers={"X-Api-Key": sandbox.api_key}
    ),
    "a cookie": lambda sandbox, url: httpx.get(
        url, headers={"Cookie": f"session={sandbox.api_key}"}
    ),
    "the query": lambda sandbox, url: httpx.get(url, params={"key": sandbox.api_key}),
    "the Referer": lambda sandbox, url: httpx.get(
        url, headers={"Referer": f"http://app/?key={sandbox.api_key}"}
    ),
}


@pytest.mark.parametrize("leak", LEAKS.values(), ids=LEAKS)
def test_a_credential_anywhere_in_a_request_for_bytes_is_found(
    sandbox: Sandbox, leak: Leak
) -> None:
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
    assert ["credential-in-request"] == [
        finding.rule for finding in sandbox.conduct().findings
    ]
