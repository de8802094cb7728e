"""Where one program cannot be told from another, nothing is said: programs that open a connection for each request."""

from collections.abc import Callable
from contextlib import closing
from email.message import Message
from http.client import HTTPConnection
from typing import Final, cast
from urllib.parse import urlsplit

import httpx
import pytest

from image_workflow_emulator.examiner.history import History, Works
from image_workflow_emulator.service.records.record import RequestRecord
from image_workflow_emulator.testing import Emulator, Sandbox
from tests.examiner.test_false_alarms import admitted

MISSING: Final = "/products/prd_none"


def limited(sandbox: Sandbox) -> None:
    """Let every read of the Team be refused for ten seconds."""
    rule = {
        "match": {"operation": "getTeam"},
        "when": {"nth": "1-9"},
        "then": {"problem": "rate_limited", "retry_after": 10},
    }
    sandbox.use({"scenario": "limited", "rules": [rule]})


def get(sandbox: Sandbox, path: str) -> Message:
    """Read something, on a connection of its own, and return the headers of the answer."""
    url = urlsplit(sandbox.base_url + path)
    with closing(HTTPConnection(url.netloc)) as connection:
        connection.request("GET", url.path, headers={"Authorization": f"Bearer {sandbox.api_key}"})
        return connection.getresponse().headers


def two_programs_are_limited(sandbox: Sandbox) -> None:
    """Two programs, of which each waits as long as it is told."""
    limited(sandbox)
    for pause in (0, 3, 7, 3, 7):
        sandbox.clock.advance(pause)
        get(sandbox, "/team")


def two_programs_poll(sandbox: Sandbox) -> None:
    """Two programs wait for the same work, each as it is told."""
    path, due = admitted(sandbox), {0: 0.0, 1: 0.7}
    now = 0.0
    while due:
        program = min(due, key=lambda one: due[one])
        sandbox.clock.advance(due[program] - now)
        now = due[program]
        headers = get(sandbox, path)
        if "retry-after" in headers:
            due[program] += float(headers["retry-after"])
        else:
            del due[program]


def five_people_open_a_result(sandbox: Sandbox) -> None:
    """Five people open the same finished result."""
    path = admitted(sandbox)
    sandbox.clock.advance(30)
    for _ in range(5):
        get(sandbox, path)


def three_jobs_see_a_404(sandbox: Sandbox) -> None:
    """Three jobs ask once for what is missing."""
    for _ in range(3):
        get(sandbox, MISSING)


def hedged_write_is_refused(sandbox: Sandbox) -> None:
    """A program sends a write on two connections, of which one is limited: nothing was done, and it asks anew."""
    match = {"operation": "createProduct"}
    answers = [{"problem": "rate_limited", "retry_after": 1}, {"problem": "internal_error"}]
    rules = [{"match": match, "when": {"nth": nth}, "then": then} for nth, then in enumerate(answers, start=1)]
    sandbox.use({"scenario": "hedged", "rules": rules})
    headers = {"Authorization": f"Bearer {sandbox.api_key}"}
    [asset] = sandbox.given.product("Hat")["asset_ids"]
    body = {"name": "Shirt", "asset_ids": [asset], "primary_asset_id": asset}
    with closing(httpx.Client(headers=headers)) as one, closing(httpx.Client(headers=headers)) as other:
        for client in (one, other):
            client.get(f"{sandbox.base_url}/team")
        for client, key, pause in ((one, "first", 0), (other, "first", 0), (one, "second", 9)):
            sandbox.clock.advance(pause)
            client.post(f"{sandbox.base_url}/products", json=body, headers={"Idempotency-Key": key})


def hammers(sandbox: Sandbox) -> None:
    """A program that does not wait, and opens a connection for each attempt."""
    limited(sandbox)
    for _ in range(10):
        get(sandbox, "/team")


def polls_at_once(sandbox: Sandbox) -> None:
    """A program that polls without a pause, on a connection each time."""
    path = admitted(sandbox)
    for _ in range(10):
        get(sandbox, path)
    sandbox.clock.advance(30)
    get(sandbox, path)


def polls_five_times_as_often(sandbox: Sandbox) -> None:
    """A program that polls evenly, on a connection each time, and sees the end."""
    path = admitted(sandbox)
    told = float(get(sandbox, path)["retry-after"])
    for _ in range(9):
        sandbox.clock.advance(told / 5)
        get(sandbox, path)
    sandbox.clock.advance(30)
    get(sandbox, path)


def repeats_a_404(sandbox: Sandbox) -> None:
    """A program whose two workers repeat what is missing, by turns."""
    workers = [httpx.Client(headers={"Authorization": f"Bearer {sandbox.api_key}"}) for _ in range(2)]
    for _ in range(3):
        for worker in workers:
            worker.get(sandbox.base_url + MISSING)
    for worker in workers:
        worker.close()


SOUND: Final = (
    two_programs_are_limited,
    two_programs_poll,
    five_people_open_a_result,
    three_jobs_see_a_404,
    hedged_write_is_refused,
)
UNSOUND: Final = {
    hammers: "retry-before-retry-after",
    polls_at_once: "poll-before-retry-after",
    polls_five_times_as_often: "poll-before-retry-after",
    repeats_a_404: "retry-of-the-hopeless",
}


@pytest.mark.parametrize("act", SOUND, ids=lambda act: act.__name__)
def test_nobody_is_accused_of_what_another_program_did(server: Emulator, act: Callable[[Sandbox], None]) -> None:
    with server.sandbox(clock="manual") as sandbox:
        act(sandbox)
        assert [] == list(map(str, sandbox.conduct().findings))


@pytest.mark.parametrize(("act", "rule"), UNSOUND.items(), ids=lambda one: getattr(one, "__name__", None))
def test_one_program_is_found_whatever_its_connections(
    server: Emulator, act: Callable[[Sandbox], None], rule: str
) -> None:
    with server.sandbox(clock="manual") as sandbox:
        act(sandbox)
        assert [rule] == [finding.rule for finding in sandbox.conduct().findings]


Sent = tuple[str, float, float]
"""A request: its connection, when that was made, and when it came, in milliseconds. The answer takes one."""


@pytest.mark.parametrize(
    ("earlier", "keys", "knows"),
    [
        ((("one", 0.0, 1.0), ("two", 3.0, 4.0)), "abc", True),
        ((("one", 0.0, 1.0), ("two", 3.0, 4.0)), "   ", True),
        ((("one", 0.0, 1.0), ("two", 3.0, 4.0)), "abb", False),
        ((("one", 0.0, 1.0), ("two", 0.5, 4.0)), "abc", False),
        ((("one", 0.0, 1.0), ("two", 1.5, 4.0)), "abc", False),
    ],
    ids=["opened after the answer", "without a key", "with one key", "opened together", "opened before the answer"],
)
def test_a_program_that_does_one_thing_after_another_knows_each_answer(
    earlier: tuple[Sent, ...], keys: str, knows: bool
) -> None:
    records = [
        RequestRecord(
            at=0,
            request_id="",
            method="POST",
            path="/products",
            sequence=number,
            connection=connection,
            connected_ms=connected_ms,
            arrived_ms=arrived_ms,
            duration_ms=1.0,
            last_arrival=number,
            key_header=key.strip().encode() or None,
        )
        for number, ((connection, connected_ms, arrived_ms), key) in enumerate(
            zip((*earlier, ("one", 0.0, 6.0)), keys, strict=True), start=1
        )
    ]
    history = History(records, cast(Works, None), 0, has_ended=True)
    assert knows == history.knows(records[-1], records[-2])
